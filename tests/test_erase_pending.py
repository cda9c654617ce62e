"""An erase that the disk does not let come to its end holds all the same: nothing that reads shows what is to go."""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from nebula import candidates, erase, export, longterm, merge, moods, stores, transfer
from nebula.cli import main
from nebula.errors import EraseUnfinished, NebulaError, UnknownRef, WriteFailed
from nebula.mind import Mind
from nebula.mindlib import files
from nebula.mindlib.store import ERASING, INDEX
from tests.test_erase import HARMLESS, SECRET, eight_grams, files_with, lived_in, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: A question for it, in other words: a question may be repeated.
ASKED = "体检报告里左肺的结节"
#: What a person may ask of a mind; none changes it on purpose.
QUESTIONS = (
    *(
        ["list", "--all"],
        ["recall", ASKED],
        ["recall", "--nearest", ASKED],
        ["context", "--query", ASKED],
        ["show", "n1"],
    ),
    *(["longterm", "show"], ["longterm", "history"], ["mood"], ["mood", "history"], ["why", "n1", ASKED]),
    *(["list", "--all", "--json"], ["recall", "--json", "--explain", ASKED], ["doctor"], ["export", "-"]),
    *(["sky"], ["stats"], ["log"], ["forecast"], ["promises"], ["surface"], ["map", "--out", "-"]),
)


@contextmanager
def full_disk(patch: pytest.MonkeyPatch, room: int = 0) -> Iterator[None]:
    """The disk takes so many writes more, and then none; what is removed goes."""
    left = room

    def until_full(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(first: Any, *rest: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise WriteFailed(getattr(first, "path", first), "No space left on device")
            return real(first, *rest, **named)

        return call

    with patch.context() as full:
        full.setattr(files, "replace_with", until_full(files.replace_with))
        full.setattr(files.Appender, "append", until_full(files.Appender.append))
        yield


def begun(folder: Path, patch: pytest.MonkeyPatch, room: int) -> bool:
    """A mind with an erase of n1 for which there was room for so many writes; -> whether it was cut short."""
    mind = lived_in(folder)
    what = erase.plan(mind, ["n1"])
    with full_disk(patch, room):
        try:
            erase.erase(mind, what)
        except EraseUnfinished:
            return True
        except WriteFailed:
            assert not (folder / ERASING).exists()
            assert opened(folder).get("n1").text == SECRET, "what is not on record did not begin"
    return False


@pytest.fixture(scope="module")
def pending(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A mind with an erase of n1 on record of which nothing more is done."""
    folder = tmp_path_factory.mktemp("pending") / "mind"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder.parent / "data"))
        assert begun(folder, patch, 1)
    return folder


def told(mind: Mind) -> list[str]:
    """All that a mind's own reading says."""
    said = [repr(memory) for memory in mind.store.read_all().memories]
    said += [longterm.read(mind), repr(longterm.history(mind)), repr(moods._events(mind, 0)), repr(mind.mood())]
    said += [repr(mind.recall(query, touch=False)) for query in (ASKED, HARMLESS[1])]
    said += [mind.context(ASKED, touch=False).text, repr(mind.list(n=None))]
    return said


def none_of_it(said: str) -> bool:
    return not any(gram in said for gram in eight_grams(SECRET))


def test_wherever_the_disk_is_full_reading_goes_on_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each write of an erase in turn: what is read is what is read when it is over."""
    over = lived_in(tmp_path / "over")
    erase.erase(over, erase.plan(over, ["n1"]))
    cut_short = 0
    for room in range(60):
        folder = tmp_path / f"mind{room}"
        if not begun(folder, monkeypatch, room):
            if (folder / ERASING).exists() or room < 2:
                continue
            break
        cut_short += 1
        with full_disk(monkeypatch):
            mind = opened(folder)
            assert [notice.code for notice in mind.notices] == ["erase_pending"]
            assert all(none_of_it(said) for said in told(mind)), room
            assert [(m.ref, m.text, m.summarised) for m in mind.list(n=None).memories] == [
                (m.ref, m.text, m.summarised) for m in over.list(n=None).memories
            ]
            assert longterm.read(mind) == longterm.read(over)
            assert mind.recall(HARMLESS[1], touch=False).hits[0].memory.text == HARMLESS[1]
            with pytest.raises(UnknownRef):
                mind.get("n1")
        assert opened(folder).notices == []
        assert files_with(folder, SECRET) == {}, room
    assert cut_short > 5


def test_without_the_cover_it_would_be_shown(pending: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: with the files read as they lie there, each of the readings tells it."""
    monkeypatch.setattr("nebula.mindlib.store.Store.cover", lambda _: None)
    with full_disk(monkeypatch):
        assert not all(none_of_it(said) for said in told(opened(pending)))
        assert not none_of_it(export.pack(opened(pending)).decode())


@pytest.mark.parametrize("question", QUESTIONS, ids=" ".join)
def test_no_command_shows_it(
    question: list[str], pending: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with full_disk(monkeypatch):
        code = main([*question, "--mind", str(pending)])
    said = capsys.readouterr()
    assert code in {0, 1, 2}, said.err
    assert none_of_it(said.out), question
    assert none_of_it(said.err)
    if question[0] != "doctor":
        assert "抹去" in said.err


def test_completion_offers_nothing_meanwhile(pending: Path) -> None:
    assert candidates.refs(pending, "n") == []
    assert candidates.tags(pending, "") == []


def test_without_numpy_too(pending: Path, monkeypatch: pytest.MonkeyPatch, lose_numpy: Callable[[], None]) -> None:
    lose_numpy()
    with full_disk(monkeypatch):
        mind = Mind(pending)
        assert none_of_it(repr(mind.recall(ASKED, touch=False)))
        assert mind.recall(HARMLESS[1], touch=False).hits[0].memory.text == HARMLESS[1]


def test_an_index_tells_of_nothing_and_takes_nothing_up(pending: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a route nor the graph knows the memory, and the index on disk is left for the erase to clear."""
    before = files_with(pending / INDEX, SECRET).keys(), sorted(p.name for p in (pending / INDEX).rglob("*"))
    with full_disk(monkeypatch):
        mind = opened(pending)
        index = mind.index()
        assert index.row("n1") == -1
        texts = [memory.text for row in range(index.table.n) if (memory := index.memory(row))]
        assert sorted(texts) == sorted(HARMLESS)
    assert before == (files_with(pending / INDEX, SECRET).keys(), sorted(p.name for p in (pending / INDEX).rglob("*")))


def test_adding_goes_on_where_there_is_room_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An id is not given again, and what was added stays when the erase comes to its end."""
    folder = tmp_path / "mind"
    assert begun(folder, monkeypatch, 1)
    with monkeypatch.context() as patch:
        patch.setattr(files, "rewrite", partial(_refused, "rewrite"))
        added = opened(folder).add("潮水退了").memories[0]
        assert added.ref == "n6"
        assert opened(folder).notices
    assert opened(folder).get(added.ref).text == "潮水退了"
    assert files_with(folder, SECRET) == {}


def _refused(_: str, path: Path, *__: object) -> bool:
    raise WriteFailed(path, "No space left on device")


@pytest.mark.parametrize("way", ["import", "merge", "copy", "zip"])
def test_what_is_to_go_does_not_come_to_another_mind(way: str, pending: Path, tmp_path: Path) -> None:
    """From a folder with an erase on record the rest is taken; the folder itself is not touched."""
    there = tmp_path / "there"
    shutil.copytree(pending, there)
    before = {path: path.read_bytes() for path in there.rglob("*") if path.is_file()}
    here = opened(tmp_path / "here")
    if way == "import":
        transfer.import_folder(here, there)
    elif way == "merge":
        here.add("这边自己的一条")
        longterm.write(here, "这边自己的\n", "")
        merge.merge(here, there)
    elif way == "copy":
        with pytest.MonkeyPatch.context() as patch, full_disk(patch):
            source = opened(there)
        stores.copy(source, here)
    else:
        with pytest.MonkeyPatch.context() as patch, full_disk(patch):
            packed = export.pack(opened(there), as_zip=True)
        (tmp_path / "packed.zip").write_bytes(packed)
        export.import_file(here, tmp_path / "packed.zip")
    assert files_with(here.folder, SECRET) == {}
    assert {m.text for m in here.list(n=None).memories} >= set(HARMLESS)
    assert before == {path: path.read_bytes() for path in there.rglob("*") if path.is_file() and path in before}
    with pytest.raises(NebulaError):
        here.get("n1") if way != "merge" else here.get("n99")


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
def test_a_pipe_in_the_notes_place_does_not_stop_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no text in it that could be cut: the erase comes to its end all the same."""
    import os

    folder = tmp_path / "mind"
    assert begun(folder, monkeypatch, 1)
    (folder / longterm.NAME).unlink()
    os.mkfifo(folder / longterm.NAME)
    assert opened(folder).notices == []
    assert not (folder / ERASING).exists()
    assert files_with(folder, SECRET) == {}


def test_the_refusal_says_that_it_holds_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mind"
    lived_in(folder)
    with full_disk(monkeypatch, 1):
        assert main(["erase", "n1", "--yes", "--mind", str(folder)]) == 3
    said = capsys.readouterr().err
    assert "记录在案" in said
    assert "下一条命令" in said


def test_the_doctor_names_what_is_not_over(
    pending: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with full_disk(monkeypatch):
        main(["doctor", "--mind", str(pending)])
    assert "抹去还没做完" in capsys.readouterr().out


def test_the_panel_and_an_agent_are_told_too(pending: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With every answer while it is so, as a person is with every command; and not of it once it is over."""
    from nebula.mcp import server as mcp
    from nebula.panel.server import Panel

    sound = opened(pending.parent / "sound")
    sound.add(HARMLESS[0])
    with full_disk(monkeypatch):
        for mind, expected in ((opened(pending), 1), (sound, 0)):
            tools = mcp.Tools(mind, None)
            recall, show = (mcp._refusing(tool, tools) for tool in (tools.recall, tools.show))
            for answer in (recall(ASKED), recall(HARMLESS[0]), show(mind.list().memories[0].ref)):
                texts = [one.text for one in answer.content if one.type == "text"]
                assert sum("抹去" in text for text in texts) == expected
                assert none_of_it(repr(answer))
            assert tools.told() == []
            panel = Panel(mind, "t" * 43)
            for shown in (panel.state(), panel.recall({"query": ASKED})):
                assert sum("抹去" in notice for notice in shown["notices"]) == expected
