"""A mind's mood: events kept, state cached, replayable, and how it colours what is written and recalled."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import orjson
import pytest

from nebula import moods, night
from nebula.errors import BadValue
from nebula.mind import Mind
from nebula.mood import engine
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 5, 1, 9)


def opened(folder: Path, minutes: float = 0, **overrides: object) -> Mind:
    mind = Mind(folder, now=lambda: NOW + timedelta(minutes=minutes), overrides=overrides)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def test_an_event_is_a_line(tmp_path: Path) -> None:
    """{"at", "v": 1, "dim", "strength", "why"}; the mood rises with it and fades."""
    felt, notices = moods.feel(opened(tmp_path), "难过", 0.5, "信没有来")
    assert [orjson.loads(line) for line in (tmp_path / "mood.jsonl").read_bytes().splitlines()] == [
        {"at": "2026-05-01T09:00:00", "v": 1, "dim": "sad", "strength": 0.5, "why": "信没有来"}
    ]
    assert notices == []
    assert felt.dims["sad"] == pytest.approx(0.65 * 0.5 + 0.35 * 0.15)
    assert (felt.dominant, felt.reason, felt.source, felt.stale) == ("sad", "信没有来", "builtin", False)
    assert opened(tmp_path, 60 * 24).mood().dims["sad"] < 0.01


@pytest.mark.parametrize(
    ("dim", "strength"), [("bored", 0.5), ("sad", 1.2), ("sad", -0.1), ("sad", float("nan")), ("", 0.5)]
)
def test_what_can_not_be_felt(tmp_path: Path, dim: str, strength: float) -> None:
    with pytest.raises(BadValue):
        moods.feel(opened(tmp_path), dim, strength)
    assert not (tmp_path / "mood.jsonl").exists()


def test_nothing_is_created_by_looking(tmp_path: Path) -> None:
    assert opened(tmp_path / "mind").mood().value == 50
    assert not (tmp_path / "mind").exists()


def live(folder: Path) -> None:
    for minutes, dim, strength in (
        (0, "worry", 0.8),
        (5, "worry", 0.6),
        (40, "sweet", 0.7),
        (300, "sad", 0.9),
        (310, "happy", 0.2),
    ):
        moods.feel(opened(folder, minutes), dim, strength, f"{dim} {minutes}")


def test_the_cache_changes_nothing(tmp_path: Path) -> None:
    """Deleted, damaged, of another pressure, or behind: the same mood."""
    live(tmp_path)
    cached = opened(tmp_path, 400).mood()
    path = tmp_path / "mood-state.json"
    kept = path.read_bytes()
    damaged = [b"", b"{", b"[]", kept[:200], kept.replace(b'"sad"', b'"sod"'), kept.replace(b'"consumed"', b'"c"')]
    for data in damaged:
        path.write_bytes(data)
        assert opened(tmp_path, 400).mood() == cached
    path.unlink()
    assert opened(tmp_path, 400).mood() == cached
    path.write_bytes(kept)
    with (tmp_path / "mood.jsonl").open("ab") as file:  # by a program that does not know the cache
        file.write(b'{"at":"2026-05-01T14:30:00","v":1,"dim":"calm","strength":0.5,"why":""}\n')
    later = opened(tmp_path, 400).mood()
    path.unlink()
    assert later == opened(tmp_path, 400).mood() != cached


def test_other_programs_can_read_it(tmp_path: Path) -> None:
    """The normalised shape: value, dims, label, reason, source, stale, at."""
    moods.feel(opened(tmp_path), "sad", 0.5, "信没有来")
    kept = orjson.loads((tmp_path / "mood-state.json").read_bytes())
    assert {"value", "dims", "label", "reason", "source", "stale", "at"} <= kept.keys()
    assert (kept["label"], kept["reason"], kept["source"]) == ("sad", "信没有来", "builtin")
    assert set(kept["dims"]) == set(engine.HALF_LIFE)


def test_replayable_as_of_any_moment(tmp_path: Path) -> None:
    """As of a moment it is what it was then, whatever came later."""
    live(tmp_path)
    alone = tmp_path / "alone"
    moods.feel(opened(alone, 0), "worry", 0.8, "worry 0")
    moods.feel(opened(alone, 5), "worry", 0.6, "worry 5")
    then = NOW + timedelta(minutes=30)
    assert opened(tmp_path, 400).mood(then) == opened(alone, 30).mood()


def test_an_event_from_the_future_waits(tmp_path: Path) -> None:
    """A clock that ran ahead: what it wrote plays no part until then, and is not lost in the cache."""
    moods.feel(opened(tmp_path, 600), "sad", 0.9)
    moods.feel(opened(tmp_path, 0), "happy", 0.4)
    assert opened(tmp_path, 1).mood().dominant == "happy"
    assert opened(tmp_path, 1).mood().dims["sad"] == 0.0
    assert opened(tmp_path, 601).mood().dominant == "sad"


def test_history(tmp_path: Path) -> None:
    """Even steps; each is the mood as of that moment."""
    live(tmp_path)
    mind = opened(tmp_path, 400)
    found = moods.history(mind, NOW, points=9)
    assert [felt.at for felt in (found[0], found[-1])] == ["2026-05-01T09:00:00", "2026-05-01T15:40:00"]
    for felt in found:
        assert felt.dims == pytest.approx(mind.mood(datetime.fromisoformat(felt.at)).dims)


class TestIntoMemory:
    """Snapshot, hormones and `w_why` (spec 7)."""

    def test_a_neutral_mood_leaves_no_trace(self, tmp_path: Path) -> None:
        memory = opened(tmp_path).add("渡轮早上六点开").memories[0]
        assert (memory.mood, memory.w, memory.w_why) == ({}, 4.0, "来源×4")

    def test_the_mood_is_kept_with_it(self, tmp_path: Path) -> None:
        moods.feel(opened(tmp_path), "worry", 0.8)
        mind = opened(tmp_path, 1)
        memory = mind.add("渡轮早上六点开").memories[0]
        assert memory.mood == mind.mood().snapshot
        assert memory.mood["dims"].keys() == {"worry"}

    def test_stress_weighs_on_sad_memories(self, tmp_path: Path) -> None:
        """× 1 + 0.15 · cortisol's offset for a negative colour; told as 激素×…"""
        moods.feel(opened(tmp_path), "worry", 1.0)
        mind = opened(tmp_path, 20)
        offset = (mind.mood().levels["cortisol"] - 50) / 50
        assert offset > 0.1
        sad = mind.add("信没有来", emo="sad", e=0.4).memories[0]
        glad = mind.add("信来了", emo="happy", e=0.4).memories[0]
        assert sad.w == pytest.approx(4.0 * 1.2 * (1 + 0.15 * offset), abs=1e-5)
        assert f"激素×{round(1 + 0.15 * offset, 3):g}" in sad.w_why
        assert glad.w == pytest.approx(4.8)

    @pytest.mark.parametrize(
        ("text", "you"), [("你说要早点睡", True), ("you said so", True), ("young people", False), ("早点睡", False)]
    )
    def test_closeness_weighs_on_what_speaks_of_you(self, tmp_path: Path, text: str, you: bool) -> None:
        moods.feel(opened(tmp_path), "sweet", 1.0)
        mind = opened(tmp_path, 1)
        offset = (mind.mood().levels["oxytocin"] - 50) / 50
        memory = mind.add(text, emo="").memories[0]
        assert memory.w == pytest.approx(4.0 * (1 + 0.5 * offset if you else 1.0), abs=1e-5)

    def test_by_which_names_is_a_setting(self, tmp_path: Path) -> None:
        moods.feel(opened(tmp_path), "sweet", 1.0)
        memory = opened(tmp_path, 1, **{"you.names": ["阿顾"]}).add("阿顾会修望远镜", emo="").memories[0]
        assert "激素×" in memory.w_why

    def test_a_memory_of_another_time_is_not_coloured(self, tmp_path: Path) -> None:
        moods.feel(opened(tmp_path), "sweet", 1.0)
        memory = opened(tmp_path, 1).add("你说要早点睡", at="2025-01-01", emo="").memories[0]
        assert (memory.mood, memory.w) == ({}, 4.0)

    def test_the_lexicon_gives_a_colour_where_none_is_given(self, tmp_path: Path) -> None:
        mind = opened(tmp_path)
        heard = mind.add("今天特别难过").memories[0]
        given = mind.add("今天特别难过", emo="happy", e=0.2).memories[0]
        plain = mind.add("渡轮早上六点开").memories[0]
        assert heard.emo == "sad"
        assert 0.3 <= heard.e <= 1.0
        assert (given.emo, given.e) == ("happy", 0.2)
        assert (plain.emo, plain.e) == ("", 0.0)


def test_the_night_is_jolted_by_it(tmp_path: Path) -> None:
    """A mood of sad ≥ 0.5 pulls an attic memory of that colour to warm (spec 6)."""
    opened(tmp_path, -60 * 24 * 3000).add("信没有来", emo="sad", e=0.5)
    opened(tmp_path, -60 * 24 * 3000).add("渡轮早上六点开")
    moods.feel(opened(tmp_path), "sad", 1.0)
    night.consolidate(opened(tmp_path, 1))
    assert [opened(tmp_path, 1).get(ref).depth for ref in ("n1", "n2")] == [2, 4]


class TestForeign:
    """A file of another program instead of the engine."""

    def test_a_file(self, tmp_path: Path) -> None:
        source = tmp_path / "moods.json"
        source.write_text('{"moods": {"default": {"mood": 72, "dims": {"happy": 0.6}}}}', encoding="utf-8")
        paths = {"value": "$.moods.default.mood", "dims": "$.moods.default.dims"}
        felt = moods.choose(opened(tmp_path / "mind"), "file", str(source), paths)
        assert (felt.value, felt.dims.get("happy"), felt.source, felt.stale) == (72, 0.6, "file:moods.json", False)
        assert (dict(felt.levels), dict(felt.surface)) == ({}, {})
        memory = opened(tmp_path / "mind").add("渡轮早上六点开").memories[0]
        assert memory.mood["value"] == 72

    def test_one_that_fails_is_stale_and_nothing_else_stops(self, tmp_path: Path) -> None:
        """The last mood it gave; add and recall go on, add says so."""
        source = tmp_path / "moods.json"
        source.write_text('{"value": 72, "dims": {"happy": 0.6}}', encoding="utf-8")
        moods.choose(opened(tmp_path / "mind"), "file", str(source), {})
        source.unlink()
        mind = opened(tmp_path / "mind")
        felt = mind.mood()
        assert (felt.value, felt.stale) == (72, True)
        added = mind.add("渡轮早上六点开")
        assert [notice.code for notice in added.notices] == ["mood_stale"]
        assert mind.recall("渡轮，今天很难过").hits

    def test_back_to_the_builtin_one(self, tmp_path: Path) -> None:
        source = tmp_path / "moods.json"
        source.write_text('{"value": 72}', encoding="utf-8")
        mind = opened(tmp_path / "mind")
        moods.choose(mind, "file", str(source), {})
        assert moods.choose(mind, "builtin", "", {}).source == "builtin"
