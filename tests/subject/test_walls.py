"""Nothing crosses: the omniscient page, the handbook, other subjects, by any way out and in no byte of the index."""

from __future__ import annotations

import random
import shutil
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest

from nebula.mindlib import ledger
from nebula.subject import audit, cast, leaktest, recall, records
from nebula.subject.files import EVENTS, HISTORY, MEMORY, MIND, SIX, SOUL, STATE, SUBJECT
from nebula.subject.leaktest import Drawn
from nebula.subject.recall import Asker
from tests.subject.conftest import NOW

if TYPE_CHECKING:
    from pathlib import Path

    from nebula.subject.project import Project

IDS = ["elena", "Elena2", "林小满", "e\u0301lan", "Ωmega", "a-b", "a_b", "王", "ﬁn", "İd"]


def mark(subject: str, file: str, number: int) -> str:
    return f"⟦{unicodedata.normalize('NFC', subject)}·{file}·{number}⟧"


def populate(project: Project, draw: random.Random) -> list[str]:
    """A random project: every file of every subject full of marked text, some folders in NFD, some renamed."""
    ids = [unicodedata.normalize("NFC", name) for name in draw.sample(IDS, 4)]
    for subject in ids:
        events = [records.event({"text": f"灯塔{mark(subject, EVENTS, n)}下雨"}) for n in range(draw.randint(1, 5))]
        views = [records.view({"topic": f"伞{n}", "view": mark(subject, MEMORY, n)}) for n in range(draw.randint(0, 3))]
        cast.init(project, [cast.Part(subject, events=events, views=views)], NOW)
        folder = project.folder(subject)
        for page in (SUBJECT, SOUL, MIND, STATE):
            (folder / page).write_text(f"灯塔 下雨 {mark(subject, page, 0)}", encoding="utf-8")
    if draw.random() < 0.5:
        other = unicodedata.normalize("NFD", ids[0])
        project.folder(ids[0]).rename(project.subjects / other)
    if draw.random() < 0.5:
        (project.subjects / "link").symlink_to(project.folder(ids[1]))
    return ids


@pytest.mark.parametrize("seed", range(12))
def test_random_projects(project: Project, seed: int) -> None:
    draw = random.Random(seed)
    ids = populate(project, draw)
    for subject in ids:
        asker = Asker(project, subject, Drawn(), NOW)
        out = [
            repr([vars(hit) for hit in recall.find(asker, "灯塔下雨", limit=20)]),
            repr([vars(hit) for hit in recall.find(asker, mark(ids[0], SUBJECT, 0), limit=20)]),
            recall.context(asker, "灯塔下雨", budget=10_000),
        ]
        for owner in ids:
            for file in SIX:
                allowed = owner == subject and file in {EVENTS, MEMORY, MIND, STATE}
                if not allowed:
                    assert f"⟦{owner}·{file}·" not in "".join(out)
        assert f"⟦{subject}·{EVENTS}·" in out[0]
    stored = cast.index_path(project).read_bytes()
    for owner in ids:
        for page in (SUBJECT, SOUL, MIND, STATE):
            assert f"⟦{owner}·{page}·".encode() not in stored
    assert "link" not in project.folders()


def test_a_renamed_subject_takes_nothing_of_its_namesake(project: Project) -> None:
    """The folder of b gets the name a: what a's rows were is gone with the next search."""
    for name in "ab":
        cast.init(project, [cast.Part(name, events=[records.event({"text": f"灯塔{mark(name, EVENTS, 0)}"})])], NOW)
        recall.find(Asker(project, name, Drawn(), NOW), "灯塔")
    shutil.rmtree(project.folder("a"))
    project.folder("b").rename(project.subjects / "a")
    (hit,) = recall.find(Asker(project, "a", Drawn(), NOW), "灯塔")
    assert mark("b", EVENTS, 0) in hit.text
    assert mark("a", EVENTS, 0).encode() not in cast.index_path(project).read_bytes()


def test_a_search_opens_no_other_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """S6: neither subject.md nor soul.md nor anything of another subject is opened."""
    import sys

    for name in ("a", "b"):
        cast.init(project, [cast.Part(name, events=[records.event({"text": "灯塔"})])], NOW)
    opened: list[str] = []

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and watching:
            opened.append(str(arguments[0]))

    watching = True
    sys.addaudithook(note)
    recall.find(Asker(project, "a", Drawn(), NOW), "灯塔")
    recall.context(Asker(project, "a", Drawn(), NOW), "灯塔")
    watching = False
    mine = [path for path in opened if "subjects" in path]
    assert any(path.endswith("a/events.jsonl") for path in mine)
    assert not [path for path in mine if "/b/" in path or path.endswith((SUBJECT, SOUL))]


class TestLeakTest:
    def test_a_sound_project_passes_and_is_not_touched(self, project: Project) -> None:
        draw = random.Random(1)
        populate(project, draw)
        before = {path: path.read_bytes() for path in sorted(project.root.rglob("*")) if path.is_file()}
        trial = leaktest.run(project, NOW)
        assert trial.crossings == []
        assert (trial.subjects, trial.canaries) == (4, 24)
        assert trial.ways == 4 * (24 * 2 + 3)
        assert before == {path: path.read_bytes() for path in sorted(project.root.rglob("*")) if path.is_file()}

    def test_it_sees_a_wall_that_is_down(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        """Control: a context that shows soul.md in place of mind.md."""
        populate(project, random.Random(2))
        monkeypatch.setattr(recall, "MIND", SOUL)
        crossings = leaktest.run(project, NOW).crossings
        assert {crossing.planted_in.split("/")[1] for crossing in crossings} == {SOUL}
        assert {crossing.came_out.split()[0] for crossing in crossings} == {"context"}

    def test_it_sees_rows_of_another(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        """Control: a subject's files read from its neighbour's folder."""
        from nebula.subject import files, saving

        populate(project, random.Random(3))
        real = files.lived

        def neighbours(folder: Path, now: Any) -> Any:
            siblings = sorted(path for path in folder.parent.iterdir() if not path.is_symlink())
            return real(siblings[(siblings.index(folder) + 1) % len(siblings)], now)

        monkeypatch.setattr(saving, "lived", neighbours)
        crossings = leaktest.run(project, NOW).crossings
        assert {"search", "context", "events"} <= {crossing.came_out.split()[0] for crossing in crossings}


class TestCheck:
    def test_secrets_are_named_by_place_and_never_printed(self, project: Project) -> None:
        cast.init(project, [cast.Part("a", events=[records.event({"text": "无事"})])], NOW)
        folder = project.folder("a")
        secret = "沈砚其实是先帝遗落在外的儿子"
        (folder / SUBJECT).write_text(f"---\nname: a\n---\n# 真相\n\n{secret}。短。\n", encoding="utf-8")
        (folder / SOUL).write_text(f"我是a\n\n大家都说，{secret}！\n", encoding="utf-8")
        with (folder / EVENTS).open("ab") as file:
            file.write(ledger.dump([{"text": "沈砚  其实是先帝 遗落在外的儿子"}]))
        with (folder / HISTORY).open("ab") as file:
            file.write(b"")
        found = audit.check(project)
        assert [(fault.kind, fault.file, fault.line) for fault in found] == [("secret", SOUL, 3), ("secret", EVENTS, 2)]
        assert secret not in repr(found)

    def test_faults_of_files_and_lines(self, project: Project, tmp_path: Path) -> None:
        cast.init(project, [cast.Part("a"), cast.Part("b")], NOW)
        folder = project.folder("a")
        (folder / EVENTS).write_text('{"text":"好"}\n{oops\n', encoding="utf-8")
        (folder / MEMORY).write_text('{"topic":"x","view":"y"}\n{"topic":"x","view":"z"}\n', encoding="utf-8")
        (folder / MIND).unlink()
        (folder / STATE).unlink()
        (folder / STATE).symlink_to(tmp_path)
        found = audit.check(project, ["a"])
        assert [(fault.kind, fault.file, fault.line) for fault in found] == [
            ("absent", MIND, 0),
            ("link", STATE, 0),
            ("line", EVENTS, 2),
            ("line", MEMORY, 2),
        ]
        assert audit.check(project, ["b"]) == []

    def test_ids_that_a_file_system_may_take_for_one(self, project: Project) -> None:
        cast.init(project, [cast.Part("elena")], NOW)
        shutil.copytree(project.folder("elena"), project.subjects / "ELENA")
        assert [(fault.kind, fault.reason) for fault in audit.check(project)] == [("alike", "ELENA")]


def test_hearsay_bears_its_origin_and_only_what_was_told(project: Project) -> None:
    for name in "ab":
        cast.init(project, [cast.Part(name, events=[records.event({"text": f"{name}的第一件", "tick": "t1"})])], NOW)
    heard, saved = cast.tell(project, "a", "b", 1, NOW)
    assert list(saved.events) == [2]
    assert heard.to_object() == {
        "text": "a告诉我：「a的第一件」",
        "tick": "t1",
        "kind": "heard",
        "from": {"subject": "a", "line": 1},
    }
    found = recall.find(Asker(project, "b", Drawn(), NOW), "a告诉我a的第一件")
    assert found[0].origin == {"subject": "a", "line": 1}


def test_who_knows_what(project: Project) -> None:
    one = [
        records.view({"topic": "林汐", "aliases": ["她"], "view": "朋友"}),
        records.view({"topic": "门", "view": "开着"}),
    ]
    two = [records.view({"topic": "她", "view": "陌生人"}), records.view({"topic": "雨", "view": "大"})]
    cast.init(project, [cast.Part("a", views=one), cast.Part("b", views=two)], NOW)
    found = recall.diff(project, "a", "b", NOW)
    assert [(k.topic, k.first and k.first.view, k.second and k.second.view) for k in found] == [
        ("林汐", "朋友", "陌生人"),
        ("门", "开着", None),
        ("雨", None, "大"),
    ]
