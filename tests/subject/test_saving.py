"""A save is all or nothing, twice is once, and cut short anywhere it is finished by the next command."""

from __future__ import annotations

import json
import multiprocessing
import os
from typing import TYPE_CHECKING, Any

import pytest

from nebula.errors import BadRecord, BadValue, EmptyText, FileUnusable
from nebula.mindlib import files
from nebula.subject import cast, records, saving
from nebula.subject.files import EVENTS, HISTORY, MEMORY
from tests.subject.conftest import NOW

if TYPE_CHECKING:
    from pathlib import Path

    from nebula.subject.files import Lived
    from nebula.subject.project import Project

SAVE: dict[str, Any] = {
    "tick": "t2",
    "events": [{"text": "她说她叫林汐。"}, {"text": "雨停了。", "time": "傍晚", "mood": 3}],
    "memory": [
        {"op": "set", "topic": "撑蓝伞的姑娘", "view": "不知道是谁"},
        {"op": "set", "topic": "林汐", "view": "她把伞分了我一半"},
        {"op": "merge", "topic": "撑蓝伞的姑娘", "into": "林汐", "why": "认出来了"},
    ],
}


@pytest.fixture
def folder(project: Project) -> Path:
    cast.init(project, [cast.Part("a", events=[records.event({"text": "开学了。"})])], NOW)
    return project.folder("a")


def save(project: Project, obj: dict[str, Any]) -> saving.Saved:
    with saving.held(project, "a", NOW) as actor:
        return saving.write(actor, saving.read_save(obj))


def read(project: Project) -> Lived:
    with saving.held(project, "a", NOW) as actor:
        return actor.lived()


def tree(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_save_writes_everything(project: Project, folder: Path) -> None:
    assert save(project, SAVE) == saving.Saved([2, 3], ["撑蓝伞的姑娘", "林汐"])
    found = read(project)
    assert [(e.line, e.text, e.tick, e.time) for e in found.events] == [
        (1, "开学了。", "", ""),
        (2, "她说她叫林汐。", "t2", ""),
        (3, "雨停了。", "t2", "傍晚"),
    ]
    assert found.events[2].more["mood"] == 3
    assert [view.to_object() for view in found.views] == [
        {"topic": "林汐", "aliases": ["撑蓝伞的姑娘"], "view": "她把伞分了我一半\n不知道是谁"}
    ]
    history = [json.loads(line) for line in (folder / HISTORY).read_text(encoding="utf-8").splitlines()]
    assert [(h["op"], h["topic"], h["line"], h["tick"], h["why"]) for h in history] == [
        ("set", "撑蓝伞的姑娘", 3, "t2", ""),
        ("set", "林汐", 3, "t2", ""),
        ("merge", "撑蓝伞的姑娘", 3, "t2", "认出来了"),
        ("merge", "林汐", 3, "t2", "认出来了"),
    ]
    assert (folder / MEMORY).read_bytes().count(b"\n") == 1


def test_twice_is_once(project: Project, folder: Path) -> None:
    save(project, SAVE)
    before = tree(folder)
    assert save(project, SAVE).repeated
    assert tree(folder) == before
    assert not save(project, {"events": SAVE["events"], "id": "another"}).repeated


@pytest.mark.parametrize(
    "wrong",
    [
        {"events": [{"text": "好"}, {"text": " "}]},
        {"events": [{"text": "好"}, {"text": "好", "kind": "dreamt"}]},
        {"events": [{"text": "好"}], "memory": [{"op": "delete", "topic": "谁"}]},
        {"events": [{"text": "好"}], "memory": [{"op": "set", "topic": "x", "view": "y"}, {"op": "burn"}]},
        {"events": "好"},
        {"event": []},
        {"memory": [3]},
    ],
)
def test_one_wrong_part_and_nothing_is_written(project: Project, folder: Path, wrong: dict[str, Any]) -> None:
    before = tree(folder)
    with pytest.raises((BadRecord, BadValue)):
        save(project, wrong)
    assert tree(folder) == before
    assert not list((project.own / "pending").glob("*")) if (project.own / "pending").exists() else True


@pytest.mark.parametrize("step", range(6))
def test_cut_short_anywhere_the_next_command_finishes(
    project: Project, folder: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Die before each write in turn; whatever was begun is then there once and whole."""
    left = [step]
    real_append, real_replace = files.Appender.append, files.replace

    def counted(real: Any) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            if left[0] == 0:
                raise KeyboardInterrupt
            left[0] -= 1
            return real(*args, **named)

        return call

    before = tree(folder)
    monkeypatch.setattr(files.Appender, "append", counted(real_append))
    monkeypatch.setattr(files, "replace", counted(real_replace))
    try:
        save(project, SAVE)
        died = False
    except KeyboardInterrupt:
        died = True
    monkeypatch.undo()
    assert died == (step < 4)  # the save under way, events, history, views
    found = read(project)
    if step == 0:
        assert tree(folder) == before
    else:
        assert [event.text for event in found.events] == ["开学了。", "她说她叫林汐。", "雨停了。"]
        assert [view.topic for view in found.views] == ["林汐"]
        assert (folder / HISTORY).read_bytes().count(b"\n") == 4
    assert not (project.own / "pending" / "a.json").exists()
    save(project, SAVE)
    assert [event.text for event in read(project).events] == ["开学了。", "她说她叫林汐。", "雨停了。"]


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.62, 0.8, 0.95, 1.0])
def test_cut_short_within_a_write_nothing_is_there_twice(
    project: Project, folder: Path, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    """Die twice after a part of an append's bytes: each event and each step of history is there once and whole."""
    true = files.Appender.append

    def torn(file: files.Appender, lines: bytes, *, durable: bool = True) -> int:
        true(file, lines[: round(len(lines) * share)])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files.Appender, "append", torn)
        with pytest.raises(KeyboardInterrupt):
            save(project, {**SAVE, "id": "s"})
        with pytest.raises(KeyboardInterrupt):
            read(project)
    found = read(project)
    assert [event.text for event in found.events] == ["开学了。", "她说她叫林汐。", "雨停了。"]
    steps = [
        line for line in (folder / HISTORY).read_bytes().split(b"\n") if line.startswith(b"{") and line[-1:] == b"}"
    ]
    assert len(steps) == len(set(steps)) == 4
    assert [view.topic for view in found.views] == ["林汐"]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"null", b'{"sizes": 3}', b'{"x": 1}'])
def test_a_save_under_way_that_is_none_is_dropped(project: Project, folder: Path, damage: bytes) -> None:
    (project.own / "pending").mkdir(parents=True, exist_ok=True)
    (project.own / "pending" / "a.json").write_bytes(damage)
    assert len(read(project).events) == 1
    assert not (project.own / "pending" / "a.json").exists()


def _writer(root: Path, number: int) -> None:
    from nebula.subject.project import Project

    for at in range(10):
        with saving.held(Project(root), "a", NOW) as actor:
            saving.write(actor, saving.read_save({
                "events": [{"text": f"第{number}-{at}件"}],
                "memory": [{"op": "set", "topic": f"t{number}-{at}", "view": "v"}],
            }))  # fmt: skip


@pytest.mark.process
def test_many_processes_lose_nothing(project: Project, folder: Path) -> None:
    processes = [multiprocessing.get_context("fork").Process(target=_writer, args=(project.root, n)) for n in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    found = read(project)
    assert len({event.text for event in found.events}) == 41
    assert len(found.views) == 40


def test_edits_by_hand_enter_the_history(project: Project, folder: Path) -> None:
    save(project, SAVE)
    (folder / MEMORY).write_text('{"topic":"林汐","view":"我写的"}\n{"topic":"门","view":"开着"}\n', encoding="utf-8")
    assert [view.view for view in read(project).views] == ["我写的", "开着"]
    rows = [json.loads(line) for line in (folder / HISTORY).read_text(encoding="utf-8").splitlines()]
    assert [(row["op"], row["topic"]) for row in rows[4:]] == [("hand", "林汐"), ("hand", "门")]
    assert rows[4]["old"]["aliases"] == ["撑蓝伞的姑娘"]
    read(project)
    assert len((folder / HISTORY).read_text(encoding="utf-8").splitlines()) == 6


def test_a_bad_line_costs_itself_only(project: Project, folder: Path) -> None:
    save(project, SAVE)
    with (folder / EVENTS).open("ab") as file:
        file.write('{"text": 3}\n{oops\n\n{"text":"最后"}'.encode())
    with (folder / MEMORY).open("ab") as file:
        file.write('{"topic":"林汐","view":"又一行"}\nx\n'.encode())
    found = read(project)
    assert [(event.line, event.text) for event in found.events][-1] == (7, "最后")
    assert [problem.line for problem in found.event_problems] == [4, 5]
    assert [problem.line for problem in found.memory_problems] == [2, 3]
    assert [view.topic for view in found.views] == ["林汐"]
    with saving.held(project, "a", NOW) as actor:
        assert saving.write(actor, saving.Draft([records.event({"text": "再后来"})])).events == [8]


def test_unknown_fields_survive_a_change_of_views(project: Project, folder: Path) -> None:
    (folder / MEMORY).write_text('{"topic":"门","view":"开着","colour":"red"}\n', encoding="utf-8")
    save(project, {"memory": [{"op": "set", "topic": "门", "view": "关了"}]})
    assert json.loads((folder / MEMORY).read_bytes()) == {"topic": "门", "view": "关了", "colour": "red"}


def test_links_are_neither_read_nor_written(project: Project, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_text('{"text":"别人的"}\n', encoding="utf-8")
    for name in (EVENTS, MEMORY, HISTORY):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(outside)
        with pytest.raises(FileUnusable):
            save(project, SAVE)
        (folder / name).unlink()
    assert outside.read_text(encoding="utf-8").count("\n") == 1


def test_anothers_file_under_a_second_name_is_refused(project: Project, folder: Path) -> None:
    cast.init(project, [cast.Part("b", events=[records.event({"text": "别人的"})])], NOW)
    (folder / EVENTS).unlink()
    os.link(project.folder("b") / EVENTS, folder / EVENTS)
    with pytest.raises(FileUnusable):
        read(project)


def test_an_event_needs_text() -> None:
    with pytest.raises(EmptyText):
        records.event({"text": "  "})
    with pytest.raises(BadValue):
        records.event({"text": ["x"]})


def test_files_are_for_their_owner_alone(project: Project, folder: Path) -> None:
    save(project, SAVE)
    for path in [*folder.rglob("*"), *project.own.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path
