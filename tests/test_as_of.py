"""As of a moment: the mind answers as one that was built up to that moment alone would (issue: time travel)."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from nebula import amend, clock, night
from nebula.life.consolidation import Mood
from nebula.mind import Mind
from nebula.recall.hit import Filters
from tests.invented import DrawnEncoder, sentence

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nebula.recall.hit import Hit

START = datetime(2026, 3, 1, 8)
DAYS = 60


def opened(folder: Path, now: datetime) -> Mind:
    mind = Mind(folder, now=lambda: now)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]  # drawn vectors cost nothing
    return mind


def live(folder: Path, seed: int, days: int = DAYS) -> None:
    """So many days: memories written, some shortly after one another, replaced, pinned, recalled, undone; nights."""
    draw = random.Random(seed)
    refs: list[str] = []
    for day in range(days):
        now = START + timedelta(days=day)
        for _ in range(draw.randint(0, 3)):
            now += timedelta(minutes=draw.randint(1, 150))
            mind = opened(folder, now)
            ledger = draw.choice(["notes", "notes", "thoughts", "profile", "promises"])
            fields: dict[str, Any] = {
                "tag": draw.choice(["", "海", "家"]),
                "imp": draw.choice([0.2, 0.5, 0.9]),
                "emo": draw.choice(["", "sad"]),
            }
            holding = [memory.ref for memory in mind.list(n=None).memories]
            act = draw.random()
            if act < 0.15 and holding:
                fields["supersedes"] = draw.choice(holding)
            elif act < 0.3 and holding:
                amend.change(mind, [draw.choice(holding)], {"pinned": True}, "pin")
            elif act < 0.36 and refs:
                amend.undo(mind)
            elif act < 0.6 and holding:
                mind.recall(sentence(draw), n=3)
            refs += [memory.ref for memory in mind.add(sentence(draw), ledger=ledger, **fields).memories]
        if day % 2:
            night.consolidate(opened(folder, START + timedelta(days=day, hours=14, minutes=5)), Mood("sad", 0.6))


def cut(source: Path, target: Path, moment: str) -> None:
    """A mind whose files end with what was written by a moment."""
    target.mkdir()
    for path in source.glob("*.jsonl"):
        lines = path.read_bytes().splitlines(keepends=True)
        (target / path.name).write_bytes(b"".join(line for line in lines if orjson.loads(line)["at"] <= moment))


def told(hit: Hit) -> tuple[object, ...]:
    """All of a hit that must be the same; that it was replaced since is what only the later mind knows."""
    memory = hit.memory
    return (memory.ref, memory.text, hit.label, memory.depth, memory.hits, memory.pinned, memory.w_why, memory.valid_to)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.torture) for seed in range(1, 5))])
def test_recall_as_of_is_recall_then(tmp_path: Path, seed: int) -> None:
    """Ten random moments of each of five lives: the same refs, order, labels and scores to 1e-9."""
    live(tmp_path / "mind", seed)
    draw = random.Random(100 + seed)
    later = opened(tmp_path / "mind", START + timedelta(days=DAYS + 30))
    later.build()
    whole = {memory.ref for memory in later.list(Filters(old=True), None).memories}
    seen_less = False
    for number in range(10):
        moment = START + timedelta(minutes=draw.randint(0, DAYS * 24 * 60))
        then = tmp_path / f"then{number}"
        cut(tmp_path / "mind", then, clock.write(moment))
        before = opened(then, moment)
        before.build()
        query = sentence(draw)
        for filters in (Filters(), Filters(old=True), Filters(ledgers=["notes"])):
            mine = later.recall(query, n=20, filters=filters, as_of=moment)
            theirs = before.recall(query, n=20, filters=filters, touch=False)
            assert [told(hit) for hit in mine.hits] == [told(hit) for hit in theirs.hits]
            assert [hit.score for hit in mine.hits] == pytest.approx([hit.score for hit in theirs.hits], abs=1e-9)
            assert [dict(hit.factors) for hit in mine.hits] == [dict(hit.factors) for hit in theirs.hits]
            assert mine.rankings == theirs.rankings
        listed = later.list(Filters(old=True), None, as_of=moment)
        assert listed.memories == before.list(Filters(old=True), None).memories
        seen_less |= 0 < listed.total < len(whole)
    assert seen_less


def test_it_touches_nothing_and_marks_what_was_replaced_since(tmp_path: Path) -> None:
    """A memory replaced after the moment comes back without --all, marked old; no use is counted."""
    mind = opened(tmp_path / "mind", START)
    mind.add("渡轮早上六点开")
    later = opened(tmp_path / "mind", START + timedelta(days=3))
    later.add("渡轮改到七点开了", supersedes="n1")
    found = later.recall("渡轮几点开", as_of=START + timedelta(days=1))
    assert [(hit.memory.ref, hit.old) for hit in found.hits] == [("n1", True)]
    assert [(hit.memory.ref, hit.old) for hit in later.recall("渡轮几点开").hits] == [("n2", False)]
    assert later.get("n1").hits == 0


def test_without_numpy_the_past_is_the_same(tmp_path: Path, lose_numpy: Callable[[], None]) -> None:
    """The plain routes give the refs that the ledgers held then."""
    live(tmp_path / "mind", 7, 15)
    lose_numpy()
    moment = START + timedelta(days=9)
    cut(tmp_path / "mind", tmp_path / "then", clock.write(moment))
    later = Mind(tmp_path / "mind", now=lambda: START + timedelta(days=DAYS + 30))
    before = Mind(tmp_path / "then", now=lambda: moment)
    mine, theirs = later.recall("灯塔看守 渡轮", as_of=moment), before.recall("灯塔看守 渡轮", touch=False)
    assert mine.hits
    assert [told(hit) for hit in mine.hits] == [told(hit) for hit in theirs.hits]
