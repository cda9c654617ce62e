"""Two machines' minds become one: nothing lost, nothing twice, the same both ways, and what was erased stays so."""

from __future__ import annotations

import random
import shutil
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nebula import amend, erase, longterm, merge, moods, night, remains, transfer
from nebula.mind import Mind
from nebula.mindlib.store import SIDE_LEDGERS
from nebula.recall.hit import Filters
from tests.invented import DrawnEncoder, sentence

NOW = datetime(2026, 5, 1, 8, 0)


class Machine:
    """A mind and its clock."""

    def __init__(self, folder: Path, start: datetime = NOW) -> None:
        self.folder, self.time = folder, start
        self.mind = Mind(folder, now=lambda: self.time)
        self.mind._encoder = DrawnEncoder()  # type: ignore[assignment]

    def later(self, minutes: float) -> Mind:
        self.time += timedelta(minutes=minutes)
        return self.mind

    def told(self) -> dict[str, tuple[Any, ...]]:
        """Every memory as it stands, by uid, its refs by uid."""
        every = self.mind.store.read_all().memories
        uids = {memory.ref: memory.uid for memory in every}
        return {
            m.uid: (
                *(
                    m.ledger,
                    m.at,
                    m.text,
                    m.tag,
                    m.imp,
                    m.pinned,
                    m.valid_to,
                    m.hits,
                    m.last_hit,
                    m.done_at,
                    m.captured,
                ),
                uids.get(m.supersedes, m.supersedes),
            )
            for m in every
        }

    def held(self) -> dict[str, bytes]:
        names = [p.name for p in self.folder.glob("*.jsonl")]
        return {name: (self.folder / name).read_bytes() for name in names}


def pair(folder: Path) -> tuple[Machine, Machine]:
    """Two machines that began as one."""
    here = Machine(folder / "here")
    here.mind.add("渡轮早上六点开")
    here.mind.add("灯塔的看守姓顾", tag="灯塔")
    shutil.copytree(folder / "here", folder / "there")
    return here, Machine(folder / "there")


def test_both_sides_come_together(tmp_path: Path) -> None:
    """Ids that both gave stay apart by uid, and refs name what they named."""
    here, there = pair(tmp_path)
    here.later(1).add("我家的猫叫墨墨")
    there.later(2).add("周三去邮局")
    there.later(1).add("周四去邮局", supersedes="n3")
    moods.feel(there.later(1), "sad", 0.5, why="下雨")
    there.later(1).recall("灯塔")
    done = merge.merge(here.later(10), there.folder)
    assert done.imported.records == {"notes": 2}
    texts = {m.ref: m.text for m in here.mind.list(Filters(old=True)).memories}
    assert texts["n3"] == "我家的猫叫墨墨"
    newer = next(m for m in here.mind.list().memories if m.text == "周四去邮局")
    assert texts[newer.supersedes] == "周三去邮局"
    assert here.mind.get("n2").hits == 1
    merge.merge(there.later(10), here.folder)
    assert here.told() == there.told()


def test_again_changes_nothing(tmp_path: Path) -> None:
    here, there = pair(tmp_path)
    there.later(1).add("周三去邮局")
    amend.change(there.later(1), ["n1"], {"imp": 0.9}, "set")
    longterm.write(there.mind, "那边的笔记\n", "")
    longterm.write(here.mind, "这边的笔记\n", "")
    merge.merge(here.later(10), there.folder)
    before = here.held()
    again = merge.merge(here.later(10), there.folder)
    assert (again.imported.records, again.imported.lines, again.settled, again.notes_kept) == ({}, {}, 0, False)
    assert here.held() == before


def test_the_later_change_of_a_field_holds_on_both(tmp_path: Path) -> None:
    """Whoever merges first; other fields of the same memory keep theirs."""
    here, there = pair(tmp_path)
    amend.change(there.later(5), ["n1"], {"tag": "旧的"}, "set")
    amend.change(there.later(1), ["n2"], {"imp": 0.2, "tag": "更新的"}, "set")
    amend.change(here.later(9), ["n1"], {"tag": "新的"}, "set")
    amend.change(here.mind, ["n2"], {"imp": 0.9}, "set")
    done = merge.merge(here.later(1), there.folder)
    assert done.settled == 2
    for machine in (here, there):
        assert (machine.mind.get("n1").tag == "新的") == (machine is here)
    merge.merge(there.later(1), here.folder)
    for machine in (here, there):
        found = [machine.mind.get(ref) for ref in ("n1", "n2")]
        assert [(m.tag, m.imp) for m in found] == [("新的", 0.5), ("更新的", 0.9)]


def test_erased_here_stays_erased(tmp_path: Path) -> None:
    """It does not come back from the other machine, nor do lines that spoke of it; there it is only named."""
    here, there = pair(tmp_path)
    there.later(1).recall("灯塔的看守")
    erase.erase(here.mind, erase.plan(here.mind, ["n2"]))
    done = merge.merge(here.later(1), there.folder)
    assert done.imported.erased == 1
    assert [m.ref for m in here.mind.list().memories] == ["n1"]
    assert remains.left(here.mind, ["灯塔的看守姓顾"]) == {}
    assert here.mind.get("n1").hits == there.mind.get("n1").hits
    told = merge.merge(there.later(1), here.folder)
    assert there.mind.get("n2").text == "灯塔的看守姓顾"
    assert [(n.code, n.facts["refs"]) for n in told.notices if n.code == "erased_there"] == [("erased_there", "n2")]


SECRET = "体检报告说左肺有一个小结节，先别告诉妈妈"


def test_what_quotes_it_since_does_not_bring_it_back(tmp_path: Path) -> None:
    """Erased here; there a night digested it, and it was edited, quoted, felt about and noted: nothing of it comes."""
    here, there = Machine(tmp_path / "here"), Machine(tmp_path / "there")
    for text in (SECRET, "渡轮早上六点开", "去邮局取包裹", "给妈妈打电话", "修灯塔的钟"):
        here.later(1).add(text)
    shutil.copytree(here.folder, there.folder)
    there.time = here.time
    erase.erase(here.mind, erase.plan(here.mind, ["n1"]))
    night.consolidate(there.later(120))
    assert [m.ledger for m in there.mind.store.read_all().memories].count("summaries") == 1
    longterm.write(there.mind, f"那边的笔记，{SECRET}。\n", "")
    moods.feel(there.later(1), "sad", 0.5, why=f"因为{SECRET}")
    amend.rewrite(there.later(1), "n1", f"{SECRET}吧")
    there.later(1).add(f"又说了一遍：{SECRET}！")
    there.later(1).add("那边新的一条，与此无关")
    for _ in range(2):
        done = merge.merge(here.later(60), there.folder)
        assert remains.left(here.mind, [SECRET]) == {}
        assert {n.code for n in done.notices} == {"quoting_erased"}
        assert [n.facts["refs"] for n in done.notices] == ["n6 n7 s1"]
    assert "那边新的一条，与此无关" in [m.text for m in here.mind.list().memories]
    assert longterm.read(here.mind).startswith("那边的笔记，")
    assert [m.summarised for m in here.mind.store.read_all().memories] == [""] * 5
    before = here.held()
    merge.merge(here.later(60), there.folder)
    assert here.held() == before


def test_what_is_said_here_again_comes_as_it_is(tmp_path: Path) -> None:
    """The user's own word stands: a text erased and then told anew here is cut out of nothing."""
    here, there = Machine(tmp_path / "here"), Machine(tmp_path / "there")
    here.mind.add(SECRET)
    shutil.copytree(here.folder, there.folder)
    erase.erase(here.mind, erase.plan(here.mind, ["n1"]))
    here.later(1).add(SECRET)
    longterm.write(there.mind, f"那边的笔记，{SECRET}。\n", "")
    assert merge.merge(here.later(1), there.folder).imported.erased == 1
    assert longterm.read(here.mind) == f"那边的笔记，{SECRET}。\n"


def test_a_line_copied_by_hand_comes_along(tmp_path: Path) -> None:
    """Two lines there with one uid are two memories here, once each however often, also after one was erased there."""
    here, there = pair(tmp_path)
    path = there.folder / "notes.jsonl"
    line = orjson.loads(path.read_bytes().splitlines()[1])
    with path.open("ab") as file:
        file.write(orjson.dumps({**line, "id": 3, "text": "抄出来的另一条"}) + b"\n")
    for _ in range(2):
        merge.merge(here.later(1), there.folder)
        assert sorted(m.text for m in here.mind.store.read_all().memories) == sorted(
            ["渡轮早上六点开", "灯塔的看守姓顾", "抄出来的另一条"]
        )
    erase.erase(there.mind, erase.plan(there.mind, ["n2"]))
    merge.merge(here.later(1), there.folder)
    assert len(here.mind.store.read_all().memories) == 3
    erase.erase(here.mind, erase.plan(here.mind, ["n2"]))
    merge.merge(here.later(1), there.folder)
    assert [m.text for m in here.mind.store.read_all().memories] == ["渡轮早上六点开", "抄出来的另一条"]


def test_the_others_handwritten_notes_are_kept(tmp_path: Path) -> None:
    here, there = pair(tmp_path)
    longterm.write(here.mind, "这边的笔记\n", "")
    longterm.write(there.mind, "那边的笔记\n", "")
    assert merge.merge(here.later(1), there.folder).notes_kept
    assert longterm.read(here.mind) == "这边的笔记\n"
    assert "那边的笔记\n" in [text for _, text in longterm.history(here.mind)]


def test_one_undo_takes_it_back_whole(tmp_path: Path) -> None:
    here, there = pair(tmp_path)
    amend.change(here.later(9), ["n1"], {"tag": "新的"}, "set")
    amend.change(there.later(5), ["n1"], {"tag": "旧的"}, "set")
    there.later(1).add("周三去邮局")
    before = {uid: told for uid, told in here.told().items() if uid in there.told()}
    merge.merge(here.later(1), there.folder)
    amend.undo(here.later(1))
    assert {uid: told for uid, told in here.told().items() if uid in before} == before
    assert [m.ref for m in here.mind.list().memories] == ["n2", "n1"]


@pytest.mark.parametrize("name", SIDE_LEDGERS)
def test_lines_of_every_side_ledger_come_along(tmp_path: Path, name: str) -> None:
    """A kind of line that nobody knows, too."""
    here, there = pair(tmp_path)
    there.mind.store.append_lines(name, [{"at": "2026-05-01T08:00:00", "kind": "unknown", "n": 1}], durable=True)
    merge.merge(here.mind, there.folder)
    assert sum(line.obj.get("kind") == "unknown" for line in here.mind.store.scan(name).lines) == 1


def _live(machine: Machine, draw: random.Random, steps: int) -> None:
    """Some random life: what people and programs do with a mind."""
    for _ in range(steps):
        mind = machine.later(draw.randint(1, 90) + draw.random())
        held = [m for m in mind.list().memories if m.ledger != "summaries"]
        kind = draw.randrange(8) if held else 0
        ref = draw.choice(held).ref if held else ""
        if kind <= 1:
            mind.add(sentence(draw), ledger=draw.choice(["notes", "profile", "promises"]), imp=draw.choice([0.3, 0.9]))
        elif kind == 2:
            amend.change(mind, [ref], {"imp": round(draw.random(), 2), "tag": draw.choice("甲乙")}, "set")
        elif kind == 3:
            amend.rewrite(mind, ref, sentence(draw))
        elif kind == 4:
            mind.recall(sentence(draw), n=2)
        elif kind == 5:
            amend.change(mind, [ref], {"pinned": draw.random() < 0.5}, "pin")
        elif kind == 6:
            moods.feel(mind, draw.choice(["sad", "happy"]), round(draw.random(), 2), why=sentence(draw))
        else:
            night.consolidate(mind)


def _united(seed: int) -> None:
    """The union of two random lives, repeatable, the same both ways."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as made:
        here = Machine(Path(made) / "here")
        _live(here, draw, draw.randint(0, 4))
        here.mind.add("从同一天开始")
        shutil.copytree(here.folder, Path(made) / "there")
        there = Machine(Path(made) / "there", here.time + timedelta(seconds=draw.randint(1, 59)))
        for machine in (here, there):
            _live(machine, draw, draw.randint(0, 7))
        mine, theirs = here.told(), there.told()
        merge.merge(here.later(60), there.folder)
        united = here.told()
        assert united.keys() == mine.keys() | theirs.keys(), "no memory lost, none twice"
        for uid in united:
            own = [told[uid] for told in (mine, theirs) if uid in told]
            assert united[uid][:3] in [one[:3] for one in own], "ledger, time and text are as written"
            assert united[uid][7] >= max(one[7] for one in own), "no use is lost"
        assert len({m.ref for m in here.mind.store.read_all().memories}) == len(united)
        settled = here.held()
        merge.merge(here.later(1), there.folder)
        assert here.held() == settled, "again is once"
        merge.merge(there.later(120), here.folder)
        assert there.told() == here.told(), "the same on both machines"
        merge.merge(here.later(1), there.folder)
        assert here.told() == united


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32))
def test_two_random_lives_unite(seed: int) -> None:
    _united(seed)


@pytest.mark.torture
@pytest.mark.timeout(3600)
@settings(max_examples=1_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32))
def test_two_random_lives_unite_at_full_size(seed: int) -> None:
    _united(seed)


def test_the_later_handwritten_notes_hold_on_both(tmp_path: Path) -> None:
    """Whoever merges first; the earlier ones stand in the history, and merging again changes nothing."""
    here, there = pair(tmp_path)
    longterm.write(here.later(1), "住在青岛\n", "")
    longterm.write(there.later(5), "住在烟台\n", "")
    assert not merge.merge(there.later(1), here.folder).notes_taken
    assert merge.merge(here.later(1), there.folder).notes_taken
    for machine in (here, there):
        assert longterm.read(machine.mind) == "住在烟台\n"
        assert "住在青岛\n" in [text for _, text in longterm.history(machine.mind)]
    longterm.write(here.later(60), "住在威海\n", "住在烟台\n")
    longterm.write(there.later(10), "住在烟台，靠海\n", "住在烟台\n")
    assert merge.merge(there.later(90), here.folder).notes_taken
    merge.merge(here.later(90), there.folder)
    for machine in (here, there):
        before = machine.held()
        again = merge.merge(machine.later(1), (there if machine is here else here).folder)
        assert (again.notes_taken, again.notes_kept, machine.held()) == (False, False, before)
        assert longterm.read(machine.mind) == "住在威海\n"
        assert "住在烟台，靠海\n" in [text for _, text in longterm.history(machine.mind)]


def test_handwritten_notes_of_no_known_time_stay_each_machine_s_own(tmp_path: Path) -> None:
    """Written with another program, or taken over from such a mind; the other's are in the history."""
    here, there = pair(tmp_path)
    (here.folder / longterm.NAME).write_text("这边\n", "utf-8")
    (there.folder / longterm.NAME).write_text("那边\n", "utf-8")
    newer = Machine(tmp_path / "newer")
    transfer.import_folder(newer.later(99), there.folder)
    (there.folder / longterm.NAME).write_text("那边改了\n", "utf-8")
    for machine, other, own in ((here, there, "这边\n"), (there, here, "那边改了\n"), (there, newer, "那边改了\n")):
        done = merge.merge(machine.later(1), other.folder)
        assert (done.notes_taken, longterm.read(machine.mind)) == (False, own)


def test_handwritten_notes_that_were_erased_do_not_come_back(tmp_path: Path) -> None:
    here, there = pair(tmp_path)
    longterm.write(here.later(1), "灯塔的看守姓顾\n", "")
    longterm.write(there.later(5), "灯塔的看守姓顾\n", "")
    erase.erase(here.later(9), erase.plan(here.mind, ["n2"]))
    assert not merge.merge(here.later(1), there.folder).notes_taken
    assert "顾" not in longterm.read(here.mind)
