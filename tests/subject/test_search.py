"""Search: own memories only, as of any line or tick, nothing of what comes later, and an index that may be lost."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nebula.errors import BadValue, EmptyQuery, IndexOfAnotherModel, NebulaError, UnknownTick, WriteFailed
from nebula.subject import beliefs, cast, chunks, index, recall, records, saving
from nebula.subject.embedders import Builtin
from nebula.subject.leaktest import Drawn
from nebula.subject.recall import Asker, Moment
from tests.subject.conftest import NOW

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nebula.subject.project import Project

DATA = Path(__file__).parent.parent / "data"
STORY = json.loads((DATA / "subjects_as_of.json").read_text(encoding="utf-8"))
BUILTIN = Builtin()


def live(project: Project, subject: str, told: dict[str, Any]) -> None:
    """A life in its order: each event, then the views that it settled."""
    cast.init(project, [cast.Part(subject)], NOW)
    for line, (tick, time, text) in enumerate(told["events"], start=1):
        operations = [step for at, *told_view in told["views"] if at == line for step in _operations(*told_view)]
        save = {"events": [{"text": text, "time": time}], "tick": tick, "memory": operations}
        with saving.held(project, subject, NOW) as actor:
            saving.write(actor, saving.read_save(save))


def _operations(op: str, topic: str, *words: str) -> list[dict[str, Any]]:
    """A merge goes into a name that is new: it is set first."""
    if op == "set":
        return [{"op": op, "topic": topic, "view": words[0]}]
    into, view = words
    setting = {"op": "set", "topic": into, "view": view}
    return [setting, {"op": op, "topic": topic, "into": into, "view": view}]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Project:
    from nebula.subject.project import Project

    project = Project(tmp_path_factory.mktemp("story"))
    for subject, told in STORY.items():
        live(project, subject, told)
    return project


ASKED = [(subject, *question) for subject, told in STORY.items() for question in told["questions"]]


@pytest.mark.parametrize("moment", ["line", "tick"])
def test_sixty_questions_leak_nothing_of_what_comes_later(story: Project, moment: str) -> None:
    """Time leak 0, for 60 questions as of a line and of a tick; and the answers that are there are found."""
    assert len(ASKED) == 60
    found, wanted = 0, 0
    for subject, query, line, gold in ASKED:
        events = STORY[subject]["events"]
        tick = events[line - 1][0]
        until = line if moment == "line" else max(n for n, event in enumerate(events, start=1) if event[0] == tick)
        asked = Moment(line) if moment == "line" else Moment(None, tick)
        hits = recall.find(Asker(story, subject, BUILTIN, NOW), query, limit=6, moment=asked)
        with saving.held(story, subject, NOW) as actor:
            held = {view.view: view for view in beliefs.held(actor.lived().versions, until)}
        for hit in hits:
            assert hit.line <= until, (query, hit)
            if hit.source == "memory":
                assert hit.text in held, (query, hit)
                assert tuple(hit.aliases) == held[hit.text].aliases
        names = {f"e{hit.line}" if hit.source == "events" else f"v{hit.topic}" for hit in hits}
        wanted += gold is not None
        found += gold in names
    assert wanted == 49
    assert found >= 47  # measured: all 49


def test_what_comes_later_moves_no_score(story: Project, project: Project) -> None:
    """As of line 6 the scores are those of a life that ended there."""
    told = STORY["阿渡"]
    live(project, "阿渡", {"events": told["events"][:6], "views": [v for v in told["views"] if v[0] <= 6]})
    for query in ("谁给过我手帕", "草帽老人叫什么", "东礁", "阿苇来镇上做什么"):
        then = recall.find(Asker(story, "阿渡", BUILTIN, NOW), query, limit=20, moment=Moment(6))
        short = recall.find(Asker(project, "阿渡", BUILTIN, NOW), query, limit=20)
        assert [(h.source, h.line, h.text, h.score, h.ranks) for h in then] == [
            (h.source, h.line, h.text, h.score, h.ranks) for h in short
        ]


def test_others_move_no_score(story: Project, project: Project) -> None:
    live(project, "沈砚", STORY["沈砚"])
    query = "顾让为什么偷书"
    alone = recall.find(Asker(project, "沈砚", BUILTIN, NOW), query, limit=20)
    assert recall.find(Asker(story, "沈砚", BUILTIN, NOW), query, limit=20) == alone


def test_an_alias_finds_its_view_and_an_earlier_view_stays(story: Project) -> None:
    asker = Asker(story, "阿渡", BUILTIN, NOW)
    assert recall.find(asker, "草帽老人", sources=["memory"])[0].topic == "祁伯"
    then = recall.find(asker, "草帽老人", sources=["memory"], moment=Moment(2))
    assert [(hit.topic, hit.text) for hit in then] == [("草帽老人", "怪人，可是不贪，两条鱼换一张破网。")]


def test_the_floor_drops_what_is_irrelevant_and_keeps_a_cosine_of_055(
    project: Project, asker: Callable[[str], Asker]
) -> None:
    class Fixed:
        name = ("other", "fixed", 2)

        def embed(self, texts: Sequence[str]) -> Any:
            cosine = {"近": 0.55, "界": 0.34, "远": 0.33}
            return np.array(
                [[cosine.get(t[-1], 1.0), (1 - cosine.get(t[-1], 1.0) ** 2) ** 0.5] for t in texts], np.float32
            )

    cast.init(project, [cast.Part("a", events=[records.event({"text": f"甲乙{w}"}) for w in "近界远"])], NOW)
    hits = recall.find(Asker(project, "a", Fixed(), NOW), "问")
    assert [hit.text[-1] for hit in hits] == ["近", "界"]


def test_the_bench_of_subjects_runs_through_the_same_search(project: Project) -> None:
    """subject_zh: every gold of the first questions among 20, and never another's."""
    folder = DATA / "subject_zh"
    memories = [json.loads(line) for line in (folder / "memories.jsonl").read_text(encoding="utf-8").splitlines()]
    queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    names: dict[tuple[str, int], str] = {}
    for subject in sorted({m["subject"] for m in memories}):
        own = [m for m in memories if m["subject"] == subject]
        events = [records.event({"text": m["text"], "time": m.get("time", "")}) for m in own]
        cast.init(project, [cast.Part(subject, events=events)], NOW)
        names |= {(subject, line): m["id"] for line, m in enumerate(own, start=1)}
    kept, gold = 0, 0
    for query in queries:
        hits = recall.find(Asker(project, query["subject"], BUILTIN, NOW), query["query"], limit=20)
        ids = {names[query["subject"], hit.line] for hit in hits}
        kept += len(ids & set(query["gold"]))
        gold += len(query["gold"])
    assert kept / gold > 0.9


class Counting(Drawn):
    """Counts what it is asked for; may fail."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.failing: NebulaError | None = None

    def embed(self, texts: Sequence[str]) -> Any:
        if self.failing:
            raise self.failing
        self.texts += texts
        return super().embed(texts)


def add(project: Project, subject: str, *texts: str) -> None:
    with saving.held(project, subject, NOW) as actor:
        saving.write(actor, saving.Draft([records.event({"text": text}) for text in texts]))


class TestIndex:
    def test_only_what_changed_is_embedded_again(self, project: Project) -> None:
        embedder = Counting()
        cast.init(project, [cast.Part("a")], NOW)
        add(project, "a", *(f"第{n}件事" for n in range(20)))
        ask = Asker(project, "a", embedder, NOW)
        recall.find(ask, "问")
        assert len(embedder.texts) == 21
        embedder.texts.clear()
        add(project, "a", "新的一件事")
        recall.find(ask, "问")
        assert embedder.texts == ["新的一件事", "问"]
        embedder.texts.clear()
        path = project.folder("a") / "events.jsonl"
        path.write_bytes('{"text":"插在最前"}\n'.encode() + path.read_bytes())
        assert recall.find(ask, "插在最前")[0].line == 1
        assert embedder.texts == ["插在最前", "插在最前"]
        assert recall.rebuild(ask) == 0

    def test_states(self, project: Project) -> None:
        embedder = Counting()
        cast.init(project, [cast.Part("a", events=[records.event({"text": "事"})])], NOW)
        ask = Asker(project, "a", embedder, NOW)

        def states() -> list[tuple[str, str, int]]:
            return [(one.source, one.state, one.chunks) for one in recall.states(project)]

        assert states() == [("events", "absent", 0), ("memory", "absent", 0)]
        recall.find(ask, "事")
        assert states() == [("events", "synced", 1), ("memory", "synced", 0)]
        add(project, "a", "又一件")
        assert states() == [("events", "dirty", 1), ("memory", "synced", 0)]
        embedder.failing = WriteFailed(Path("server"), "boom")
        with pytest.raises(WriteFailed):
            recall.find(ask, "事")
        (state, _) = recall.states(project)
        assert (state.state, state.chunks) == ("error", 1)
        assert "boom" in state.reason
        embedder.failing = None
        assert len(recall.find(ask, "一件")) == 1
        assert states() == [("events", "synced", 2), ("memory", "synced", 0)]

    def test_another_model_is_an_error_until_the_index_is_deleted(self, project: Project) -> None:
        cast.init(project, [cast.Part("a", events=[records.event({"text": "蓝伞"})])], NOW)
        recall.find(Asker(project, "a", Drawn(), NOW), "蓝伞")
        for name in (("leak-test", "pairs", 65), ("leak-test", "other", 64), ("x", "pairs", 64)):
            other = Counting()
            other.name = name
            with pytest.raises(IndexOfAnotherModel) as found:
                recall.find(Asker(project, "a", other, NOW), "蓝伞")
            assert "subject-rag.sqlite" in str(found.value)
            assert other.texts == []
        assert index.drop(cast.index_path(project))
        other.name = ("x", "pairs", 64)
        assert recall.find(Asker(project, "a", other, NOW), "蓝伞")

    @pytest.mark.parametrize(
        "damage", [b"", b"\0" * 4096, b"SQLite format 3\0" + b"\xff" * 4000, "cut", "format", "table"]
    )
    def test_damaged_it_is_made_again(self, project: Project, damage: bytes | str) -> None:
        cast.init(project, [cast.Part("a", events=[records.event({"text": f"蓝伞{n}"}) for n in range(40)])], NOW)
        ask = Asker(project, "a", Drawn(), NOW)
        good = recall.find(ask, "蓝伞3")
        path = cast.index_path(project)
        if isinstance(damage, bytes):
            path.write_bytes(damage)
        elif damage == "cut":
            path.write_bytes(path.read_bytes()[:9000])
        else:
            with sqlite3.connect(path) as base:
                base.execute("UPDATE meta SET value = '0'" if damage == "format" else "DROP TABLE chunk")
            base.close()
        assert recall.find(ask, "蓝伞3") == good

    def test_a_moved_project_keeps_its_index(self, project: Project, tmp_path: Path) -> None:
        from nebula.subject.project import Project as Anew

        cast.init(project, [cast.Part("a", events=[records.event({"text": "蓝伞"})])], NOW)
        recall.find(Asker(project, "a", Drawn(), NOW), "蓝伞")
        moved = Anew(project.root.rename(tmp_path / "moved"))
        embedder = Counting()
        recall.find(Asker(moved, "a", embedder, NOW), "蓝伞")
        assert embedder.texts == ["蓝伞"]
        stored = cast.index_path(moved).read_bytes()
        assert str(tmp_path).encode() not in stored

    def test_what_was_removed_is_in_no_byte_of_it(self, project: Project) -> None:
        events = [records.event({"text": f"独一无二的句子{n}"}) for n in range(50)]
        cast.init(project, [cast.Part("a", events=events), cast.Part("b", events=events[:1])], NOW)
        recall.find(Asker(project, "a", Drawn(), NOW), "句子")
        assert "独一无二的句子33".encode() in cast.index_path(project).read_bytes()
        cast.remove(project, "a", NOW)
        assert "独一无二的句子33".encode() not in cast.index_path(project).read_bytes()
        assert not (project.subjects / "a").exists()
        assert list(project.folders()) == ["b"]


def test_long_views_are_cut_where_people_would() -> None:
    paragraph = "他走过长长的堤岸，看见灯塔。" * 30
    text = "\n\n".join([paragraph] * 6)
    parts = chunks.parts("祁伯: ", text)
    assert all(len(part) <= 1200 and part.startswith("祁伯: ") for part in parts)
    assert "".join(part.removeprefix("祁伯: ") for part in parts).replace("\n", "") == text.replace("\n", "")
    assert all(part.endswith("。") for part in parts)
    unbroken = chunks.parts("x: ", "e\u0301" * 2000)
    assert all(not part.removeprefix("x: ").startswith("\u0301") for part in unbroken)
    assert "".join(part.removeprefix("x: ") for part in unbroken) == "e\u0301" * 2000


def test_a_long_view_is_one_hit(project: Project, asker: Callable[[str], Asker]) -> None:
    text = "\n\n".join(f"第{n}段 灯塔的故事 " + "海" * 500 for n in range(6))
    cast.init(project, [cast.Part("a", views=[records.view({"topic": "灯塔", "view": text})])], NOW)
    hits = recall.find(asker("a"), "灯塔的故事")
    assert [hit.topic for hit in hits] == ["灯塔"]


def test_a_line_beyond_all_is_now(project: Project, asker: Callable[[str], Asker]) -> None:
    """Also one that no database can count to."""
    cast.init(project, [cast.Part("a", events=[records.event({"text": "渡轮早上六点开"})])], NOW)
    for line in (2**63, 10**400):
        assert [hit.line for hit in recall.find(asker("a"), "渡轮", moment=Moment(line))] == [1]


def test_wrong_questions(project: Project, asker: Callable[[str], Asker]) -> None:
    cast.init(project, [cast.Part("a", events=[records.event({"text": "事", "tick": "t1"})])], NOW)
    with pytest.raises(EmptyQuery):
        recall.find(asker("a"), "  ")
    for limit in (0, 21):
        with pytest.raises(BadValue):
            recall.find(asker("a"), "事", limit=limit)
    with pytest.raises(UnknownTick):
        recall.find(asker("a"), "事", moment=Moment(None, "t2"))
    with pytest.raises(BadValue):
        recall.find(asker("a"), "事", moment=Moment(1, "t1"))
