"""Taking over a folder: all of it, refs that follow, nothing twice, and nothing there is touched."""

from __future__ import annotations

import contextlib
import shutil
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest

from nebula import amend, clock, night, transfer
from nebula.errors import FileUnusable, NothingToUndo, WriteFailed, WrongUsage
from nebula.mind import Mind
from nebula.mindlib import files
from nebula.mindlib.record import FAR, MAX_ID
from nebula.mindlib.store import Store
from nebula.recall.hit import Filters
from tests.invented import Drawn, DrawnEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from nebula.mindlib.record import Memory

SAMPLE = Path(__file__).parent / "data" / "original"
NOW = datetime(2026, 5, 1, 9)


def opened(folder: Path) -> Mind:
    mind = Mind(folder, now=lambda: NOW)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def held(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")
    }


def laid(folder: Path, **ledgers: Sequence[dict[str, Any]]) -> Path:
    """A folder with these lines in its ledgers."""
    folder.mkdir()
    for name, lines in ledgers.items():
        (folder / f"{name}.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return folder


def own(mind: Mind, count: int) -> list[Memory]:
    """The notes that this mind wrote before it imported any, as they stand."""
    return mind.store.read_all(kinds=["notes"]).memories[:count]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "original"))


def test_everything_comes_along(source: Path, tmp_path: Path) -> None:
    """Fields, inline depth, hits and valid_to, unknown fields, times as they were written, ids where they are free."""
    done = transfer.import_folder(opened(tmp_path / "mind"), source)
    assert done.records == {"notes": 5, "profile": 1, "promises": 1, "tacts": 1, "thoughts": 1, "summaries": 1}
    assert (done.longterm, done.settings, done.damages) == ("added", "added", [])
    mind = opened(tmp_path / "mind")
    n1, n2, n7 = (mind.get(ref) for ref in ("n1", "n2", "n7"))
    assert (n1.depth, n1.hits, n1.last_hit, n1.w, n1.imp) == (3, 4, "2026-02-01T10:00:00", 4.6, 0.65)
    assert (n2.at, n2.via, n2.imp, n2.captured, n2.by) == ("2025-11-03", "他说的", 0.5, True, "import")
    assert (n7.emo, n7.e, n7.w_why, dict(n7.extra)) == ("happy", 0.4, "激素×1.16", {"vec_id": 17})
    assert mind.get("p1").pinned
    assert mind.get("o1").due == "等他来信"
    assert mind.get("n4").is_old(clock.seconds(NOW))
    assert mind.settings.recall.k == 10
    assert (tmp_path / "mind" / "longterm.md").read_text(encoding="utf-8") == "# 长期\n\n住在海边。\n"


def test_repeated_ids_get_their_own_and_refs_follow(source: Path, tmp_path: Path) -> None:
    """The second n4 becomes n8; what names the first still names it."""
    transfer.import_folder(opened(tmp_path / "mind"), source)
    mind = opened(tmp_path / "mind")
    second = mind.get("n8")
    assert (second.text, second.supersedes, second.extra["lang"]) == ("渡轮改到七点开", "n4", "zh")
    assert mind.get("s1").covers == ("n4", "n7")


def test_into_a_mind_that_has_its_own(source: Path, tmp_path: Path) -> None:
    """Ids that are taken give way, and every ref in records and side ledgers follows."""
    mind = opened(tmp_path / "mind")
    for number in range(9):
        mind.add(f"自己的第{number}条")
    (tmp_path / "mind" / "longterm.md").write_text("我自己的\n", encoding="utf-8")
    done = transfer.import_folder(mind, source)
    assert done.longterm == "kept"
    found = {memory.text: memory for memory in mind.list(Filters(old=True), None).memories}
    telescope, ferry = found["顾先生会修望远镜"], found["渡轮早上六点开"]
    assert found["渡轮改到七点开"].supersedes == ferry.ref != "n4"
    assert found["渡轮改点；顾先生会修望远镜"].covers == (ferry.ref, telescope.ref)
    assert found["也许该学修望远镜"].echo_of == telescope.ref
    assert found["灯塔的看守姓顾"].captured
    assert not mind.get("n2").captured
    tags = [line.obj["ref"] for line in mind.store.scan("tags.jsonl").lines]
    assert telescope.ref in tags
    assert (tmp_path / "mind" / "longterm.md").read_text(encoding="utf-8") == "我自己的\n"


def test_twice_adds_nothing(source: Path, tmp_path: Path) -> None:
    transfer.import_folder(opened(tmp_path / "mind"), source)
    before = held(tmp_path / "mind")
    again = transfer.import_folder(opened(tmp_path / "mind"), source)
    assert (again.records, again.here, again.lines) == ({}, 10, {})
    assert held(tmp_path / "mind") == before


def test_a_dry_run_tells_and_writes_nothing(source: Path, tmp_path: Path) -> None:
    told = transfer.import_folder(opened(tmp_path / "mind"), source, dry_run=True)
    assert not (tmp_path / "mind").exists()
    done = transfer.import_folder(opened(tmp_path / "mind"), source)
    assert (told.records, told.lines, told.longterm, told.settings) == (
        done.records,
        done.lines,
        done.longterm,
        done.settings,
    )


@pytest.mark.parametrize("after", range(9))
def test_cut_short_and_done_again(source: Path, tmp_path: Path, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed at each append in turn: the next import adds the rest, and all is as if undisturbed."""
    transfer.import_folder(opened(tmp_path / "calm"), source)
    true_append = files.Appender.append
    left = after

    def append(self: files.Appender, lines: bytes, *, durable: bool = True) -> int:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        return true_append(self, lines, durable=durable)

    with monkeypatch.context() as patch:
        patch.setattr(files.Appender, "append", append)
        with contextlib.suppress(KeyboardInterrupt):
            transfer.import_folder(opened(tmp_path / "mind"), source)
    transfer.import_folder(opened(tmp_path / "mind"), source)

    def told(folder: Path) -> list[object]:
        return [(m.ref, m.text, m.w, m.supersedes, m.covers, m.captured) for m in Store(folder).read_all().memories]

    assert told(tmp_path / "mind") == told(tmp_path / "calm")


def test_the_source_is_only_read(source: Path, tmp_path: Path) -> None:
    """Read-only it serves as well, and not a byte changes."""
    before = held(source)
    source.chmod(0o500)
    try:
        assert transfer.import_folder(opened(tmp_path / "mind"), source).records
    finally:
        source.chmod(0o700)
    assert held(source) == before


def test_damaged_lines_stay_behind_and_are_named(source: Path, tmp_path: Path) -> None:
    with (source / "notes.jsonl").open("ab") as file:
        file.write(b'{"id": 9, "text"\n')
    done = transfer.import_folder(opened(tmp_path / "mind"), source)
    assert [(damage.path.name, damage.line) for damage in done.damages] == [("notes.jsonl", 6)]
    assert done.records["notes"] == 5


def test_settings_that_can_not_be_used_stay_behind(source: Path, tmp_path: Path) -> None:
    (source / "mind-config.json").write_text('{"K": "ten"}', encoding="utf-8")
    assert transfer.import_folder(opened(tmp_path / "mind"), source).settings == "unusable"
    assert not (tmp_path / "mind" / "mind-config.json").exists()


def test_no_mind_there(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "nowhere"):
        with pytest.raises(FileUnusable):
            transfer.import_folder(opened(tmp_path / "mind"), folder)
    opened(tmp_path / "mind").add("一条")
    with pytest.raises(WrongUsage):
        transfer.import_folder(opened(tmp_path / "mind"), tmp_path / "mind")


def test_one_undo_takes_it_back(source: Path, tmp_path: Path) -> None:
    mind = opened(tmp_path / "mind")
    mind.add("自己的")
    transfer.import_folder(mind, source)
    assert len(amend.undo(mind).written) == 10
    assert [m.text for m in mind.list().memories] == ["自己的"]


def test_runs_of_there_are_not_runs_of_here(tmp_path: Path) -> None:
    """An undo that was written there takes back nothing here; nights there are no nights of this mind."""
    other = opened(tmp_path / "other")
    other.add("灯塔的看守换人了", at="2025-01-01")
    night.consolidate(other)
    night.undo(other)
    mind = opened(tmp_path / "mind")
    mind.add("旧事", at="2025-01-01")
    night.consolidate(mind)
    deep = mind.get("n1").depth
    assert deep > 1
    transfer.import_folder(mind, tmp_path / "other")
    assert mind.get("n1").depth == deep
    assert night.last_night(mind) == "2026-05-01T09:00:00"
    assert mind.get("n2").depth == 1


def test_vectors_are_reused(tmp_path: Path) -> None:
    """From an index of ours by the same model: no text is embedded twice."""
    other = opened(tmp_path / "other")
    other.add_many([{"text": f"第{n}条记忆"} for n in range(5)])
    asked: list[str] = []

    class Counting(DrawnEncoder):
        def encode(self, texts: Sequence[str]) -> Drawn:
            asked.extend(texts)
            return super().encode(texts)

    mind = opened(tmp_path / "mind")
    mind._encoder = Counting()  # type: ignore[assignment]
    done = transfer.import_folder(mind, tmp_path / "other")
    assert (done.vectors, asked) == (5, [])
    assert mind.peek().present == 5
    mind = opened(tmp_path / "third")
    another = Counting()
    another.key = "another"
    mind._encoder = another  # type: ignore[assignment]
    assert transfer.import_folder(mind, tmp_path / "other").vectors == 0
    assert len(asked) == 5


def test_no_room_for_vectors_keeps_no_memory_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a disk that is nearly full what is derived is left out, and made when there is room."""
    other = opened(tmp_path / "other")
    other.add_many([{"text": f"第{n}条记忆"} for n in range(5)])
    mind = opened(tmp_path / "mind")

    def full(*_: object) -> int:
        raise WriteFailed(mind.folder / ".index", "disk full")

    with monkeypatch.context() as patched:
        patched.setattr(Mind, "adopt_vectors", full)
        done = transfer.import_folder(mind, tmp_path / "other")
    assert (done.records, done.vectors) == ({"notes": 5}, 0)
    assert mind.build().present == 5


def test_hits_and_changes_are_kept_once_each(tmp_path: Path) -> None:
    """Two recalls in one second are two lines that say the same: both come, and come once."""
    other = opened(tmp_path / "other")
    other.add("灯塔的看守换人了")
    other.recall("灯塔")
    other.recall("灯塔")
    amend.change(other, ["n1"], {"imp": 0.9}, "set")
    mind = opened(tmp_path / "mind")
    mind.add("自己的")
    for _ in range(2):
        transfer.import_folder(mind, tmp_path / "other")
    assert (mind.get("n2").hits, mind.get("n2").imp) == (2, 0.9)
    lines = [orjson.loads(line) for line in (tmp_path / "mind" / "changes.jsonl").read_bytes().splitlines()]
    assert sum("hit" in line for line in lines) == 2


def test_a_ref_that_names_nothing_there_names_nothing_here(tmp_path: Path) -> None:
    """In no record and no line is it taken for a memory of this mind; lines that speak of nothing else stay behind."""
    mind, at = opened(tmp_path / "mind"), clock.write(NOW)
    for number in range(6):
        mind.add(f"自己的第{number}条", at="2025-01-01")
    lost = {"supersedes": "n5", "echo_of": "n5", "summarised": "s1", "covers": ["n5", "n1"]}
    folder = laid(
        tmp_path / "other",
        notes=[{"id": 1, "at": at, "text": "灯塔", **lost}, {"id": 2, "at": at, "text": "渡轮", "covers": ["n5", 1]}],
        changes=[
            {"at": at, "ref": "n5", "set": {"valid_to": at}},
            {"at": at, "hit": ["n5", "n1"]},
            {"at": at, "hit": ["n5"]},
            {"at": at, "ref": "n1", "set": {"imp": 0.9, "summarised": "s1"}},
            {"at": at, "ref": "n5", "by": "n1", "factor": 1.12},
            {"at": at, "ref": "n5", "surfaced": ""},
        ],
        captured=[{"at": at, "ref": ref, "by": by, "factor": 1.1} for ref, by in (("n5", "n1"), ("n1", "n5"))],
        tags=[{"at": at, "ref": ref, "until": at, "keys": ["灯塔"]} for ref in ("n5", "n1")],
    )
    before = own(mind, 6)
    lines = {"changes.jsonl": 2, "captured.jsonl": 1, "tags.jsonl": 1}
    for dry_run in (True, False):
        assert transfer.import_folder(mind, folder, dry_run=dry_run).lines == lines
    assert own(mind, 6) == before
    came = mind.get("n7")
    assert [came.supersedes, came.echo_of, came.summarised, came.covers] == ["", "", "", ("n7",)]
    assert (came.hits, came.imp, came.captured) == (1, 0.9, True)
    assert "covers" not in mind.get("n8").extra
    night.consolidate(mind)
    assert not any(memory.valid_to for memory in own(mind, 6))
    written = held(tmp_path / "mind")
    assert transfer.import_folder(mind, folder).lines == {}
    assert held(tmp_path / "mind") == written


def test_a_ref_into_a_later_ledger_follows_too(tmp_path: Path) -> None:
    """It has no id when the line is written: its uid names it. A uid that reads as a ref is not taken for one."""
    mind, at = opened(tmp_path / "mind"), clock.write(NOW)
    mind.add("自己的念想", ledger="thoughts")
    notes = [{"id": 1, "at": at, "text": f"回声{ref}", "echo_of": ref} for ref in ("h1", "h2")]
    thoughts = [{"id": 1, "at": at, "text": "一"}, {"id": 2, "at": at, "text": "二", "uid": "h1"}]
    transfer.import_folder(mind, laid(tmp_path / "other", notes=notes, thoughts=thoughts))
    echoes = [memory.echo_of for memory in mind.store.read("notes").memories]
    assert [mind.get(ref).text for ref in echoes] == ["一", "二"]


def test_undo_takes_back_the_import_and_no_run_of_there(tmp_path: Path) -> None:
    """Its records and its lines together; then the commands of here, one by one; nights of there are none."""
    other = opened(tmp_path / "other")
    other.add("灯塔的看守换人了", at="2025-01-01")
    amend.change(other, ["n1"], {"tag": "海"}, "set")
    amend.undo(other)
    amend.change(other, ["n1"], {"imp": 0.9}, "set")
    night.consolidate(other)
    with (tmp_path / "other" / "notes.jsonl").open("ab") as file:
        file.write(orjson.dumps({"id": 2, "at": "2025-01-01", "text": "渡轮", "run": 7}) + b"\n")
    mind = opened(tmp_path / "mind")
    mind.add("自己的", imp=0.3)
    amend.change(mind, ["n1"], {"imp": 0.4}, "set")
    before = own(mind, 1)
    transfer.import_folder(mind, tmp_path / "other")
    came = mind.get("n3")  # n2 was free for the other
    assert (came.imp, came.tag, came.depth) == (0.9, "", other.get("n1").depth)
    assert (own(mind, 1), night.last_night(mind)) == (before, "")
    with pytest.raises(NothingToUndo):
        night.undo(mind)
    assert sorted(amend.undo(mind).written) == ["n2", "n3"]
    assert ([m.ref for m in mind.list().memories], own(mind, 1)) == (["n1"], before)
    assert (mind.get("n3").imp, mind.get("n3").depth) == (0.5, 1)
    written = held(tmp_path / "mind")
    transfer.import_folder(mind, tmp_path / "other")
    assert held(tmp_path / "mind") == written
    assert list(amend.undo(mind).changed) == ["n1"]
    assert mind.get("n1").imp == 0.3


@pytest.mark.parametrize("number", [MAX_ID, MAX_ID - 1, FAR])
def test_an_id_far_off_is_given_anew(tmp_path: Path, number: int) -> None:
    """What is written later can still be read, and refs follow. An id that is none is a damage, and no ref names it."""
    far = [{"id": 1, "text": "近"}, {"id": number, "text": "远"}, {"id": MAX_ID + 1, "text": "太远"}]
    changed = [{"ref": f"n{n}", "set": {"imp": 0.9}} for n in (number, MAX_ID + 1, MAX_ID - 2)]
    mind = opened(tmp_path / "mind")
    done = transfer.import_folder(mind, laid(tmp_path / "other", notes=far, changes=changed))
    assert (done.records, len(done.damages), done.lines) == ({"notes": 2}, 1, {"changes.jsonl": 1})
    assert (mind.get("n2").text, mind.get("n2").imp) == ("远", 0.9)
    assert mind.add("后来的").memories[0].ref == "n3"
    assert mind.get("n3").text == "后来的"


def test_an_older_copy_of_this_very_mind_brings_only_what_is_missing(tmp_path: Path) -> None:
    mind = opened(tmp_path / "mind")
    mind.add("渡轮六点开")
    amend.change(mind, ["n1"], {"imp": 0.3}, "set")
    mind.recall("渡轮")
    shutil.copytree(tmp_path / "mind", tmp_path / "copy")
    amend.change(mind, ["n1"], {"imp": 0.9}, "set")
    before = (tmp_path / "mind" / "changes.jsonl").read_bytes()
    transfer.import_folder(mind, tmp_path / "copy")
    assert (tmp_path / "mind" / "changes.jsonl").read_bytes() == before
    assert (mind.get("n1").imp, mind.get("n1").hits) == (0.9, 1)
