"""Change without loss: supersede, rewrite, set, undo, and the history that tells it all."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from nebula import amend, night
from nebula.errors import AlreadyReplaced, BadValue, NothingToUndo, UnknownRef
from nebula.mind import Mind
from nebula.recall.hit import Filters
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 5, 1, 9)


def opened(folder: Path, minutes: float = 0) -> Mind:
    mind = Mind(folder, now=lambda: NOW + timedelta(minutes=minutes))
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def ledgers(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.jsonl")}


class TestSupersede:
    """The old one is closed with `valid_to` and stays."""

    def test_the_old_one_no_longer_holds(self, tmp_path: Path) -> None:
        opened(tmp_path).add("渡轮早上六点开")
        before = ledgers(tmp_path)["notes.jsonl"]
        new = opened(tmp_path, 5).add("渡轮改到七点开了", supersedes="n1").memories[0]
        mind = opened(tmp_path, 6)
        assert (new.ref, new.supersedes) == ("n2", "n1")
        assert mind.get("n1").valid_to == "2026-05-01T09:05:00"
        assert [m.ref for m in mind.list().memories] == ["n2"]
        assert [h.memory.ref for h in mind.recall("渡轮").hits] == ["n2"]
        assert {h.memory.ref: h.old for h in mind.recall("渡轮", filters=Filters(old=True)).hits} == {
            "n1": True,
            "n2": False,
        }
        assert ledgers(tmp_path)["notes.jsonl"].startswith(before)

    def test_what_is_closed_can_not_be_replaced_again(self, tmp_path: Path) -> None:
        opened(tmp_path).add("渡轮早上六点开")
        opened(tmp_path, 5).add("渡轮改到七点开了", supersedes="n1")
        before = ledgers(tmp_path)
        with pytest.raises(AlreadyReplaced):
            opened(tmp_path, 6).add("渡轮改到八点开了", supersedes="n1")
        with pytest.raises(UnknownRef):
            opened(tmp_path, 6).add("渡轮改到八点开了", supersedes="n9")
        assert ledgers(tmp_path) == before

    def test_by_uid_the_ref_is_written(self, tmp_path: Path) -> None:
        uid = opened(tmp_path).add("渡轮早上六点开").memories[0].uid
        assert opened(tmp_path, 5).add("渡轮改到七点开了", supersedes=uid).memories[0].supersedes == "n1"


class TestRewrite:
    def test_fields_are_taken_over(self, tmp_path: Path) -> None:
        opened(tmp_path).add("还书", ledger="promises", due="2026-05-09", tag="图书馆", imp=0.9, via="工具")
        new = amend.rewrite(opened(tmp_path, 5), "o1", "还两本书").memories[0]
        told = (new.ref, new.text, new.due, new.tag, new.imp, new.via, new.supersedes)
        assert told == ("o2", "还两本书", "2026-05-09", "图书馆", 0.9, "工具", "o1")

    def test_the_same_text_changes_nothing(self, tmp_path: Path) -> None:
        opened(tmp_path).add("渡轮早上六点开")
        before = ledgers(tmp_path)
        assert amend.rewrite(opened(tmp_path, 5), "n1", "渡轮早上六点开\n").memories[0].ref == "n1"
        assert ledgers(tmp_path) == before


class TestChange:
    @pytest.mark.parametrize(
        ("name", "given", "held"),
        [
            ("imp", 0.9, 0.9),
            ("imp", 1, 1.0),
            ("tag", "海", "海"),
            ("emo", "难过", "sad"),
            ("due", "明天", "2026-05-02"),
            ("say", "never", "never"),
            ("pinned", True, True),
        ],
    )
    def test_a_field(self, tmp_path: Path, name: str, given: object, held: object) -> None:
        """Values are folded as on writing; the reader and a later process see them."""
        opened(tmp_path).add("渡轮早上六点开")
        changed = amend.change(opened(tmp_path, 1), ["n1"], {name: given}, "set").memories
        assert getattr(changed[0], name) == held
        assert getattr(opened(tmp_path, 2).get("n1"), name) == held

    @pytest.mark.parametrize(
        ("name", "value"), [("imp", 1.5), ("imp", "much"), ("emo", "grumpy"), ("w", 9.0), ("text", "x"), ("nothing", 1)]
    )
    def test_what_can_not_be_set(self, tmp_path: Path, name: str, value: object) -> None:
        """Refused, and nothing is written; a weight or a text is not set by hand."""
        opened(tmp_path).add("渡轮早上六点开")
        before = ledgers(tmp_path)
        with pytest.raises(BadValue):
            amend.change(opened(tmp_path, 1), ["n1"], {name: value}, "set")
        assert ledgers(tmp_path) == before

    def test_all_refs_are_known_before_the_first_is_changed(self, tmp_path: Path) -> None:
        opened(tmp_path).add("渡轮早上六点开")
        before = ledgers(tmp_path)
        with pytest.raises(UnknownRef):
            amend.change(opened(tmp_path, 1), ["n1", "n7"], {"tag": "海"}, "tag")
        assert ledgers(tmp_path) == before

    def test_what_is_so_already_writes_nothing(self, tmp_path: Path) -> None:
        opened(tmp_path).add("渡轮早上六点开", tag="海")
        before = ledgers(tmp_path)
        amend.change(opened(tmp_path, 1), ["n1"], {"tag": "海"}, "tag")
        assert ledgers(tmp_path) == before


class TestUndo:
    """The last command that wrote, one after the other, by appending alone."""

    def test_back_to_the_beginning(self, tmp_path: Path) -> None:
        opened(tmp_path).add("渡轮早上六点开")
        opened(tmp_path, 200).add("渡轮改到七点开了", supersedes="n1")
        amend.change(opened(tmp_path, 201), ["n2"], {"pinned": True}, "pin")
        opened(tmp_path, 202).recall("渡轮")
        before = ledgers(tmp_path)
        first = amend.undo(opened(tmp_path, 203))
        assert (first.written, first.changed) == ([], ["n2"])
        assert not opened(tmp_path, 204).get("n2").pinned
        second = amend.undo(opened(tmp_path, 205))
        assert (second.written, second.changed) == (["n2"], ["n1"])
        assert [m.ref for m in opened(tmp_path, 206).list().memories] == ["n1"]
        assert opened(tmp_path, 206).get("n1").valid_to is None
        assert amend.undo(opened(tmp_path, 207)).written == ["n1"]
        assert opened(tmp_path, 208).list().memories == []
        with pytest.raises(NothingToUndo):
            amend.undo(opened(tmp_path, 209))
        after = ledgers(tmp_path)
        assert all(after[name].startswith(data) for name, data in before.items())

    def test_the_index_follows(self, tmp_path: Path) -> None:
        """An undo reaches behind what was folded: recall sees it, too."""
        opened(tmp_path).add("渡轮早上六点开")
        opened(tmp_path, 200).add("渡轮改到七点开了", supersedes="n1")
        for _ in range(300):  # more than the tail that is not folded
            opened(tmp_path, 201).store.append_lines(
                "changes.jsonl", [{"at": "2026-05-01T10:00:00", "hit": ["n2"]}], durable=False
            )
        assert [h.memory.ref for h in opened(tmp_path, 202).recall("渡轮").hits] == ["n2"]
        amend.undo(opened(tmp_path, 203))
        assert [h.memory.ref for h in opened(tmp_path, 204).recall("渡轮").hits] == ["n1"]

    def test_a_batch_is_one_command(self, tmp_path: Path) -> None:
        opened(tmp_path).add("留下的一条")
        opened(tmp_path, 1).add_many(
            [{"text": f"第{n}条", "ledger": "notes" if n % 2 else "thoughts"} for n in range(4)]
        )
        assert len(amend.undo(opened(tmp_path, 2)).written) == 4
        assert [m.ref for m in opened(tmp_path, 3).list().memories] == ["n1"]

    def test_a_night_is_no_command(self, tmp_path: Path) -> None:
        opened(tmp_path).add("渡轮早上六点开")
        opened(tmp_path, 1).add("外面下着大雨")
        night.consolidate(opened(tmp_path, 60 * 24))
        assert amend.undo(opened(tmp_path, 60 * 25)).written == ["n2"]


def test_history_tells_everything_in_order(tmp_path: Path) -> None:
    """Written, captured, changed, recalled, replaced, taken back."""
    opened(tmp_path).add("灯塔的看守换人了")
    opened(tmp_path, 5).add("灯塔看守养了一只猫")
    amend.change(opened(tmp_path, 6), ["n1"], {"imp": 0.9}, "set")
    opened(tmp_path, 7).recall("换人", n=1)
    opened(tmp_path, 8).add("灯塔没有看守了", supersedes="n1", imp=0.9)
    amend.undo(opened(tmp_path, 9))
    told = [(event.what, event.why) for event in amend.history(opened(tmp_path, 10), "n1")]
    assert told == [
        ("written", "cli"),
        ("set", "捕获 n2"),
        ("captured", "n2"),
        ("set", "set"),
        ("hit", ""),
        ("set", "替换 n3 ↶"),
    ]
    lately = amend.journal(opened(tmp_path, 10), 2)
    assert {event.what for event in lately} == {"undo", "set"}


def test_a_similar_memory_is_hinted_at_and_nothing_is_done(tmp_path: Path) -> None:
    """Nearly the same words in the same ledger: a notice with the ref; another ledger or a replacement: none."""
    mind = Mind(tmp_path, now=lambda: NOW)
    mind.add("渡轮早上六点开")
    added = mind.add("渡轮早上六点就开")
    assert [(n.code, n.facts["ref"]) for n in added.notices] == [("similar", "n1")]
    assert [m.ref for m in mind.list().memories] == ["n2", "n1"]
    assert mind.add("早上六点渡轮开", ledger="thoughts").notices == []
    assert mind.add("渡轮早上六点半开", supersedes="n1").notices == []
