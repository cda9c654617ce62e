"""The index against the ledgers: however it came about, it holds the same; and the plain routes are its twin."""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import shutil
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nebula import clock
from nebula.index import catchup, parts
from nebula.index.cache import Cache
from nebula.index.catchup import Embedder
from nebula.mind import Mind
from nebula.mindlib import files, prefix
from nebula.mindlib.changes import hit_line, set_line
from nebula.mindlib.record import LEDGERS, Memory
from nebula.mindlib.store import CHANGES, Store
from nebula.recall import asking
from nebula.recall.hit import Filters
from nebula.recall.mapped import MappedSearch
from nebula.recall.plain import PlainSearch
from nebula.recall.ranking import Ranking
from nebula.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nebula.index.view import Index

START = datetime(2026, 3, 1, 8)
WORDS = [
    "灯塔",
    "看守",
    "望远镜",
    "渡轮",
    "潮汐表",
    "自行车",
    "图书馆",
    "电影院",
    "妈妈",
    "医院",
    "海鸥",
    "备份脚本",
    "github",
    "python",
    "密钥",
    "青岛",
    "天文台",
    "土星",
]


def embed(texts: Sequence[str]) -> list[Any]:
    """Unit vectors that depend on the text alone; texts with the same first word are near."""
    made = []
    for text in texts:
        base = np.random.default_rng(int(hashlib.sha256(text[:2].encode()).hexdigest()[:8], 16)).normal(size=16)
        own = np.random.default_rng(int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)).normal(size=16)
        vector = base + 0.3 * own
        made.append((vector / np.linalg.norm(vector)).astype(np.float32)[None, :])
    return made


EMBEDDER = Embedder("fake", embed)


def memories(seed: int, n: int) -> list[Memory]:
    draw = random.Random(seed)
    made = []
    for number in range(n):
        text = "".join(draw.sample(WORDS, draw.randint(2, 5))) + str(number % 7)
        at = clock.write(START + timedelta(minutes=draw.randint(0, 60 * 24 * 60)))
        tag = draw.choice(["", "海", "家"])
        made.append(Memory(draw.choice(["notes", "thoughts", "profile"]), 0, at, text, tag=tag, uid=f"{number:016x}"))
    return made


def fill(folder: Path, made: Sequence[Memory], cuts: int) -> Store:
    """Write them in `cuts` goes, the index following each."""
    store = Store(folder)
    draw = random.Random(cuts)
    bounds = sorted({0, len(made), *(draw.randint(0, len(made)) for _ in range(cuts - 1))})
    for low, high in itertools.pairwise(bounds):
        for memory in made[low:high]:
            store.append(memory.ledger, [memory])
        Cache(store, "test", "full").open(EMBEDDER)
    return store


def content(index: Index) -> dict[str, Any]:
    """What an index holds, told by uid, whatever its numbering of rows."""
    column = index.table.column
    uid = [f"{int(u):016x}" for u in column("uid")]
    edges: set[Any] = set()
    for part in index.segments:
        edges |= {(frozenset((uid[a], uid[b])), 0) for a, b in zip(part["edge_a"], part["edge_b"], strict=True)}
        for a, b, said in zip(part["said_a"], part["said_b"], part["said_words"], strict=True):
            edges.add(((uid[a], uid[b]), tuple(sorted(said.tolist()))))
    near = index.stored_edges().near
    runs = {}
    for token in ("灯塔", "灯", "github", "土星", "渡轮"):
        from nebula.index.hashing import h64

        rows, tf = index.postings.run(h64(token))
        runs[token] = {uid[row]: int(count) for row, count in zip(rows, tf, strict=True)}
    return {
        "rows": {u: (int(column("at")[r]), float(column("w")[r])) for r, u in enumerate(uid)},
        "edges": edges,
        "near": {u: sorted(uid[x] for x in near[r] if x >= 0) for r, u in enumerate(uid)},
        "runs": runs,
    }


@pytest.mark.parametrize("seed", range(4))
def test_any_way_of_growing_gives_the_same(tmp_path: Path, seed: int) -> None:
    """At once, in cuts, and after the folder was deleted: same rows, runs, edges and nearest."""
    made = memories(seed, 60)
    store = fill(tmp_path / "cuts", made, 7)
    grown = content(Cache(store, "test", "full").open(EMBEDDER))
    fresh = content(Cache(store, "other", "full").open(EMBEDDER))
    assert grown == fresh
    assert len(grown["rows"]) == 60
    assert grown["edges"]


@pytest.mark.parametrize("largest", [8, 40])
def test_slices_and_bounded_parts_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, largest: int) -> None:
    """A ledger read some lines at a time, parts of a few rows: same content; compacting again has nothing to do."""
    store = fill(tmp_path / "whole", memories(5, 60), 1)
    whole = content(Cache(store, "test", "full").open(EMBEDDER))
    monkeypatch.setattr(catchup, "SLICE", 700)
    monkeypatch.setattr(catchup, "CHUNK_ROWS", 5)
    monkeypatch.setattr(catchup, "CHUNK_TEXTS", 4)
    monkeypatch.setattr(parts, "LARGEST", largest)
    sliced = Cache(store, "sliced", "full").open(EMBEDDER, compact=True)
    assert content(sliced) == whole
    found = parts.load(tmp_path / "whole" / ".index" / "sliced")
    sizes = [len(arrays["id"]) for _, arrays in found.rows]
    assert sum(sizes) == 60
    assert len(sizes) > 1
    assert max(sizes) <= largest
    assert all(a + b > largest for a, b in itertools.pairwise(sizes))
    assert not found.compacts


def test_a_line_longer_than_a_slice_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catchup, "SLICE", 50)
    store = fill(tmp_path, memories(6, 9), 3)
    assert Cache(store, "sliced", "full").open(EMBEDDER).table.n == 9


def test_nearest_equals_brute_force(tmp_path: Path) -> None:
    """The three nearest of every row by cosine, ties to the smaller ref."""
    made = memories(9, 50)
    index = Cache(fill(tmp_path / "mind", made, 5), "test", "full").open(EMBEDDER)
    vectors, owner = index.vectors.of_rows(np.arange(index.table.n))
    cosine = np.round((vectors[np.argsort(owner)] @ vectors[np.argsort(owner)].T) / 1e-5)
    order = index.table.order()
    near = index.stored_edges().near
    for row in range(index.table.n):
        others = sorted((r for r in range(index.table.n) if r != row), key=lambda r: (-cosine[row, r], order[r]))
        assert near[row].tolist() == others[:3]


def test_vectors_are_those_of_the_rows_asked_for(tmp_path: Path) -> None:
    """In whatever order, over segments, with gaps, repeated: each as it stands alone."""
    index = Cache(fill(tmp_path / "mind", memories(9, 40), 5), "test", "full").open(EMBEDDER)
    alone = [index.vectors.of_rows(np.array([row]))[0] for row in range(index.table.n)]
    rng = np.random.default_rng(3)
    chosen = [rng.permutation(np.arange(low, high)) for low, high in ((0, 40), (3, 9), (20, 40), (0, 5))]
    # a run whose ends are where a run's ends would be, and whose middle is not in order
    for rows in (*chosen, np.array([0, 2, 1, 3]), np.array([10, 13, 12, 11, 14]), np.array([4, 30, 17, 4])):
        vectors, owner = index.vectors.of_rows(rows)
        for place, row in enumerate(rows.tolist()):
            assert np.array_equal(vectors[owner == place], alone[row])
            assert len(alone[row])


@pytest.mark.parametrize("damage", ["manifest", "rows", "vec", "noise"])
def test_damaged_cache_is_built_again(tmp_path: Path, damage: str) -> None:
    """Deleted, cut or filled with noise: the same content, no error."""
    store = fill(tmp_path / "mind", memories(3, 30), 4)
    cache = Cache(store, "test", "full")
    before = content(cache.open(EMBEDDER))
    for path in cache.folder.iterdir():
        if damage == "manifest" and path.name == "manifest.json":
            path.unlink()
        elif damage == "noise" and path.name != "lock":
            path.write_bytes(random.Random(1).randbytes(200))
        elif path.name.startswith(damage):
            path.write_bytes(path.read_bytes()[:100])
    assert content(cache.open(EMBEDDER)) == before


def test_ledger_edited_by_hand(tmp_path: Path) -> None:
    """An edited, a shortened and a replaced ledger are noticed; unchanged text is not embedded again."""
    store = fill(tmp_path / "mind", memories(4, 20), 2)
    path = next(store.path(name) for name in ("notes", "thoughts", "profile") if store.path(name).exists())
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]).replace("灯塔".encode(), "灯笼".encode()))
    counted: list[str] = []

    def counting(texts: Sequence[str]) -> list[Any]:
        counted.extend(texts)
        return embed(texts)

    index = Cache(store, "test", "full").open(Embedder("fake", counting))
    assert index.table.n == 19
    assert all("灯笼" in text for text in counted)
    assert index.missing == 0


def _moved(folder: Path, to: Path) -> Store:
    """A copy under new inodes and times; what it was copied from is no longer there."""
    shutil.copytree(folder, to, copy_function=shutil.copyfile)
    shutil.rmtree(folder)
    return Store(to)


def _reading(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Each stretch of a ledger that becomes rows from now on: (ledger, from which byte)."""
    read: list[tuple[str, int]] = []
    scan_on = Store.scan_on

    def noted(self: Store, name: str, start: int, *given: Any) -> Any:
        read.append((name, start))
        return scan_on(self, name, start, *given)

    monkeypatch.setattr(Store, "scan_on", noted)
    return read


@pytest.mark.parametrize("block", [7, 100, 1 << 16])
def test_a_copy_is_known_by_what_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """A copied mind is read on from where its index ends; one that was edited by as much as a byte is read anew."""
    monkeypatch.setattr(prefix, "BLOCK", block)
    monkeypatch.setattr(prefix, "READ", 3 * block)
    monkeypatch.setattr(files, "TAIL", 10)  # so that an edit is seldom within it
    store = fill(tmp_path / "first", memories(5, 30), 4)
    before = content(Cache(store, "test", "full").open(EMBEDDER))
    store = _moved(store.folder, tmp_path / "second")
    read = _reading(monkeypatch)
    assert content(Cache(store, "test", "full").open(EMBEDDER)) == before
    assert all(start == store.stamp(name)[0] for name, start in read)
    read.clear()
    Cache(store, "test", "full").open(EMBEDDER)
    assert not read

    at = store.path("notes").read_bytes().find("灯塔".encode())
    for number, (old, new) in enumerate([("灯塔", "灯笼"), ("灯笼", "灯塔")]):
        store = _moved(store.folder, tmp_path / f"edited-{number}")
        path = store.path("notes")
        path.write_bytes(path.read_bytes().replace(old.encode(), new.encode(), 1))
        read.clear()
        index = Cache(store, "test", "full").open(EMBEDDER)
        assert at > 0
        assert ("notes", 0) in read
        assert content(index) == content(Cache(store, "test", "full").open(EMBEDDER))
    assert content(index) == before


def test_a_copy_that_grew_or_was_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that came into a copy are read alone; a ledger with a new time and the same bytes is not read at all."""
    made = memories(6, 20)
    store = fill(tmp_path / "first", made[:15], 2)
    Cache(store, "test", "full").open(EMBEDDER)
    store = _moved(store.folder, tmp_path / "second")
    ends = {kind.name: store.stamp(kind.name)[0] for kind in LEDGERS}
    for memory in made[15:]:
        store.append(memory.ledger, [memory])
    read = _reading(monkeypatch)
    grown = content(Cache(store, "test", "full").open(EMBEDDER))
    assert read
    assert all(start == ends[name] for name, start in read)
    for kind in LEDGERS:
        if store.path(kind.name).exists():
            os.utime(store.path(kind.name), ns=(1, 1))
    read.clear()
    assert content(Cache(store, "test", "full").open(EMBEDDER)) == grown
    assert all(start == store.stamp(name)[0] for name, start in read)


def test_what_was_hashed_and_edited_since_has_no_hash(tmp_path: Path) -> None:
    """A file edited in the block that is hashed on is not taken for what was read before; an unknown hash stays so."""
    path = tmp_path / "file"
    path.write_bytes(b"0123456789" * 20_000)
    half = prefix.whole(path, 100_000)
    rest = path.read_bytes()[100_000:]
    assert prefix.longer(path, half, 100_000, rest) == prefix.whole(path, 200_000)
    assert prefix.longer(path, "", 100_000, rest) == ""
    for at, known in [(70_000, False), (1, True)]:
        path.write_bytes(path.read_bytes()[:at] + b"x" + path.read_bytes()[at + 1 :])
        found = prefix.longer(path, half, 100_000, rest)
        assert bool(found) is known
        assert found != prefix.whole(path, 200_000)
        path.write_bytes(b"0123456789" * 20_000)


def test_ids_are_never_given_twice(tmp_path: Path) -> None:
    """After the last line was removed by hand the next id is above it: the index remembers."""
    mind = Mind(tmp_path / "mind")
    for number in range(3):
        mind.add(f"第{number}条")
    path = mind.store.path("notes")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    assert mind.add("新的一条").memories[0].ref == "n4"


@pytest.mark.parametrize("seed", range(3))
def test_changes_folded_into_the_state_equal_the_records(tmp_path: Path, seed: int) -> None:
    """More changes than are kept as a tail, with undo: columns and records tell the same."""
    store = fill(tmp_path / "mind", memories(seed, 12), 1)
    draw = random.Random(seed)
    refs = [memory.ref for memory in store.read_all().memories]
    at = clock.write(START)
    lines: list[dict[str, Any]] = []
    for number in range(400):
        ref = draw.choice(refs)
        run = draw.choice(["", "r1", "r2"])
        change = {"depth": draw.randint(0, 4), "w": draw.random() * 8, "pinned": draw.random() < 0.5}
        name = draw.choice(sorted(change))
        lines.append(hit_line(at, [ref]) if number % 3 == 0 else set_line(at, ref, {name: change[name]}, "test", run))
    store.append_lines(CHANGES, lines[:300], durable=False)
    Cache(store, "test", "full").open(EMBEDDER)
    store.append_lines(CHANGES, [*lines[300:], {"at": at, "undo": "r1"}, {"at": at, "unknown": 1}], durable=False)
    index = Cache(store, "test", "full").open(EMBEDDER)
    by_uid = {memory.uid: memory for memory in store.read_all().memories}
    for row in range(index.table.n):
        seen = index.memory(row)
        assert seen is not None
        told = by_uid[seen.uid]
        assert (seen.depth, seen.w, seen.pinned, seen.hits) == (told.depth, told.w, told.pinned, told.hits)


def test_locked_index_is_completed_in_memory(tmp_path: Path) -> None:
    """Another process holds the lock: the reader still sees everything, and writes nothing."""
    store = fill(tmp_path / "mind", memories(5, 10), 1)
    store.append("notes", [Memory("notes", 0, clock.write(START), "灯塔里的新消息", uid="f" * 16)])
    cache = Cache(store, "test", "full")
    before = {path.name: path.read_bytes() for path in cache.folder.iterdir()}
    with files.job_lock(cache.folder / "lock"):
        assert cache.open(EMBEDDER).table.n == 11
    assert {path.name: path.read_bytes() for path in cache.folder.iterdir()} == before


@pytest.mark.parametrize("seed", range(4))
def test_plain_routes_are_the_twin(tmp_path: Path, seed: int) -> None:
    """Lexical and graph: the same rows, the same scores to 1e-9, without the edges of meaning."""
    store = fill(tmp_path / "mind", memories(seed, 60), 3)
    index = Cache(store, "plain", "full").open(None)
    now = clock.seconds(START + timedelta(days=61))

    def ageing(ledger: str, imp: float, at: int, core: bool) -> tuple[float, int]:
        return 1.0, 1

    mapped = MappedSearch(index, Settings(), now, Filters(), ageing)
    plain = PlainSearch(store.read_all().memories, Settings(), now, Filters(), ageing)
    for query in ("灯塔看守", "github 密钥", "妈妈去医院", "1月2日灯塔的密钥"):
        asked = asking.asked(query, Settings().recall, START)
        left, right = mapped.lexical(asked, 200), plain.lexical(asked, 200)
        assert [mapped.ref(row) for row in left.ids] == [plain.ref(row) for row in right.ids]
        assert left.scores == pytest.approx(right.scores, abs=1e-9)
        seeds = Ranking(left.ids[:20], left.scores[:20]), Ranking(right.ids[:20], right.scores[:20])
        walked, twin = mapped.graph(seeds[0], 200), plain.graph(seeds[1], 200)
        scores = {plain.ref(row): score for row, score in zip(twin.ids, twin.scores, strict=True)}
        assert {mapped.ref(row) for row in walked.ids} == set(scores)
        for row, score in zip(walked.ids, walked.scores, strict=True):
            assert score == pytest.approx(scores[mapped.ref(row)], abs=1e-9)


@pytest.mark.parametrize("value", ["2026-04-20", "someday", None])
def test_valid_to_comes_back_as_it_was_written(tmp_path: Path, value: str | None) -> None:
    """A column holds seconds, the record its own words: a bare day stays a bare day, inline or by a change."""
    store = fill(tmp_path / "mind", memories(6, 3), 1)
    refs = [memory.ref for memory in store.read_all().memories]
    store.append_lines(CHANGES, [set_line("2026-04-01T00:00:00", refs[0], {"valid_to": value}, "test")], durable=False)
    index = Cache(store, "test", "full").open(EMBEDDER)
    seen = {memory.uid: memory.valid_to for row in range(3) if (memory := index.memory(row))}
    assert seen == {memory.uid: memory.valid_to for memory in store.read_all().memories}


class TestWordsOfHalfTheMind:
    """Section 4: a word that half the mind shares joins nothing, by neither kind of edge of words."""

    def edges(self, folder: Path, texts: Sequence[str]) -> set[tuple[int, int, int]]:
        store = Store(folder)
        for number, text in enumerate(texts):  # far apart in time, no category: no other kind joins them
            at = clock.write(START + timedelta(days=number))
            store.append("notes", [Memory("notes", 0, at, text, uid=f"{number:016x}")])
        index = Cache(store, "test", "full").open(None)
        now = clock.seconds(START + timedelta(days=1000))
        edges = MappedSearch(index, Settings(), now, Filters(), lambda *_: (1.0, 1)).edges.of(np.arange(len(texts)))
        plain = PlainSearch(store.read_all().memories, Settings(), now, Filters(), lambda *_: (1.0, 1)).edges
        ends = zip(edges.start.tolist(), edges.end.tolist(), edges.kind.tolist(), strict=True)
        found = {(a, b, kind) for a, b, kind in ends if a < b}
        assert found == {(a, b, kind) for a, b, _, kind in plain}
        return found

    def test_speakers_join_nothing(self, tmp_path: Path) -> None:
        """Twenty turns of two speakers, each naming the other, about twenty different things: no edge at all."""
        assert self.edges(tmp_path / "mind", [f"Caroline: Melanie topic{chr(97 + n)}x" for n in range(20)]) == set()

    def test_what_fewer_share_still_joins(self, tmp_path: Path) -> None:
        """Two of them share two more words: these are joined, by both kinds; nothing else is."""
        texts = [f"Caroline: Melanie topic{chr(97 + n)}x" for n in range(20)]
        texts[3] += " lighthouse telescope"
        texts[7] += " lighthouse telescope"
        assert self.edges(tmp_path / "mind", texts) == {(3, 7, 0), (3, 7, 1)}

    def test_in_a_handful_every_shared_word_counts(self, tmp_path: Path) -> None:
        """Below 16 memories nothing is everybody's."""
        assert self.edges(tmp_path / "mind", ["lighthouse telescope a1", "lighthouse telescope b2"]) == {
            (0, 1, 0),
            (0, 1, 1),
        }


@pytest.mark.parametrize("goes", [1, 2, 4])
def test_derived_uids_are_those_of_the_ledger(tmp_path: Path, goes: int) -> None:
    """A line without a uid gets the same one from the index as from the ledger, whatever stands beside it."""
    at = clock.write(START)
    rows: list[dict[str, Any]] = [
        {"id": 1, "at": at, "text": "同一句", "uid": "a" * 16},
        {"id": 1, "at": at, "text": "同一句"},
        {"id": 2, "at": at, "text": "同一句"},
        {"id": 2, "at": at, "text": "同一句"},
    ]
    store = Store(tmp_path / "mind")
    for start in range(0, 4, 4 // goes):
        store.append_lines("notes.jsonl", rows[start : start + 4 // goes], durable=False)
        index = Cache(store, "test", "full").open(None)
    seen = [memory.ref for row in range(4) if (memory := index.memory(row))]
    assert sorted(seen) == sorted(memory.ref for memory in store.read_all().memories)
    assert len(set(seen)) == 4


def test_another_format_costs_no_vector_and_no_id(tmp_path: Path) -> None:
    """An index of a format that is not ours is read anew, but no text is embedded twice and no id is given twice."""
    import orjson

    store = fill(tmp_path / "mind", memories(8, 20), 3)
    cache = Cache(store, "test", "full")
    before = content(cache.open(EMBEDDER))
    path = cache.folder / "manifest.json"
    manifest = orjson.loads(path.read_bytes())
    path.write_bytes(orjson.dumps({"format": 2, **{k: manifest[k] for k in ("model", "vectors", "next_id", "serial")}}))
    asked: list[str] = []

    def counting(texts: Sequence[str]) -> list[Any]:
        asked.extend(texts)
        return embed(texts)

    assert content(cache.open(Embedder("fake", counting))) == before
    assert asked == []
    assert orjson.loads(path.read_bytes())["format"] == manifest["format"]
    assert orjson.loads(path.read_bytes())["next_id"] == manifest["next_id"]
