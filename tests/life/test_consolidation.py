"""The night's rules, one by one, with the figures of section 6 and their boundaries."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from nebula import clock
from nebula.life import consolidation, nights
from nebula.life.consolidation import AGED, JOLTED, RECALLED, Change, Mood, Recent, Sleeper
from nebula.settings import ForgettingSettings

SETTINGS = ForgettingSettings()
NOW = datetime(2026, 5, 1, 22, 5)
T = clock.seconds(NOW)


def sleeper(days: float, depth: int = 1, **fields: object) -> Sleeper:
    """A note of importance 0 (H = 30) written that many days ago."""
    values: dict[str, object] = {"imp": 0.0, "w": 4.0, "w_why": "来源×4", **fields}
    return Sleeper("n1", "notes", T - round(days * clock.DAY_SECONDS), depth=depth, **values)  # type: ignore[arg-type]


def night(one: Sleeper, hits: int = 0, mood: Mood = consolidation.NEUTRAL, held: bool = False) -> Change | None:
    recent = Recent({"n1": hits} if hits else {}, {"n1"} if held else frozenset())
    return consolidation.night_of(one, recent, mood, T, SETTINGS)


@pytest.mark.parametrize(
    ("days", "layer"), [(0, 1), (23, 1), (24, 2), (149, 2), (151, 3), (298, 3), (300, 4), (3650, 4), (-400, 1)]
)
def test_layers_follow_a(days: float, layer: int) -> None:
    """H=30: A falls below .55 at 23.1 days, .25 at 150, .18 at 298.6; a record from the future is hot (S14)."""
    change = night(sleeper(days, depth=0 if layer != 0 else 1))
    assert change is not None
    assert (change.after, change.values["depth"]) == (layer, layer)


def test_nothing_to_change_is_no_change() -> None:
    assert night(sleeper(1)) is None
    assert night(sleeper(60, depth=2)) is None


def test_fixed_stars_are_the_core() -> None:
    """Whatever their age, recalls or mood."""
    change = night(sleeper(4000, depth=4, core=True), hits=5, mood=Mood("sad", 1))
    assert change is not None
    assert change.values["depth"] == 0


@pytest.mark.parametrize(("hits", "after"), [(0, 2), (1, 2), (2, 1), (9, 1)])
def test_recalled_twice_lifts_one_layer(hits: int, after: int) -> None:
    """At least 2 recalls since the last night: one layer up."""
    change = night(sleeper(60, depth=1), hits)
    assert (change.after if change else 1) == after
    if hits >= 2:
        assert change is not None
        assert change.why == RECALLED


def test_never_above_hot() -> None:
    change = night(sleeper(1), hits=8)
    assert change is not None
    assert change.after == 1
    assert "depth" not in change.values


@pytest.mark.parametrize(
    ("why", "hits", "factor", "told"),
    [
        ("来源×4", 2, 1.04, "来源×4 想起×1.04"),
        ("来源×4", 5, 1.1, "来源×4 想起×1.1"),
        ("", 25, 1.5, "想起×1.5"),
        ("", 400, 1.5, "想起×1.5"),
        ("来源×4 想起×1.5", 25, 2 / 1.5, "来源×4 想起×2"),
        ("想起×1.1 捕获×1.12", 5, 1.1, "捕获×1.12 想起×1.21"),
    ],
)
def test_growth_by_being_recalled(why: str, hits: int, factor: float, told: str) -> None:
    """× min(1.5, 1 + 0.02 × hits), in all at most × 2; one entry in `w_why` tells how far."""
    values = consolidation.grown(4.0, why, hits)
    assert values["w"] == pytest.approx(4.0 * factor, abs=1e-6)
    assert values["w_why"] == told


def test_growth_ends_at_twice() -> None:
    assert consolidation.grown(8.0, "来源×4 想起×2", 10) == {}


@pytest.mark.parametrize(
    ("strength", "emo", "days", "after"),
    [
        (0.5, "sad", 200, 2),
        (0.5, "sad", 4000, 2),
        (0.49, "sad", 200, 3),
        (0.9, "happy", 200, 3),
        (0.9, "sad", 60, 2),
        (0.9, "sad", 1, 1),
        (0.9, "", 4000, 4),
    ],
)
def test_jolt(strength: float, emo: str, days: float, after: int) -> None:
    """The mood's dominant dimension at ≥ 0.5 pulls deep and attic memories of its colour to warm, others not."""
    change = night(sleeper(days, depth=0, emo=emo), mood=Mood("sad", strength))
    assert change is not None
    assert change.after == after
    assert change.why == (JOLTED if after == 2 and days > 100 else AGED)


def test_lift_and_jolt_hold_in_the_same_night_alone() -> None:
    """A second run of the night leaves them; the next night layers by A again."""
    assert night(sleeper(200, depth=2), held=True) is None
    change = night(sleeper(200, depth=2))
    assert change is not None
    assert change.after == 3


def test_when_it_sank() -> None:
    """`sunken_at` is the night in which it went deeper; rising sets none."""
    sunk = night(sleeper(60, depth=1))
    risen = night(sleeper(1, depth=3))
    assert sunk is not None
    assert risen is not None
    assert sunk.values == {"depth": 2, "sunken_at": "2026-05-01T22:05:00"}
    assert risen.values == {"depth": 1}


@pytest.mark.parametrize(
    ("now", "began"),
    [
        ("2026-05-01T22:05:00", "2026-05-01T22:05:00"),
        ("2026-05-01T22:04:59", "2026-04-30T22:05:00"),
        ("2026-05-02T14:00:00", "2026-05-01T22:05:00"),
        ("0001-01-01T03:00:00", "0001-01-01T00:00:00"),
    ],
)
def test_when_the_night_began(now: str, began: str) -> None:
    moment = clock.parse(now)
    assert moment is not None
    assert clock.write(consolidation.boundary(moment, "22:05")) == began


class TestWhatTheLedgerTells:
    """Recalls since the last run, and what this night already did."""

    began = NOW - timedelta(hours=24)

    def hit(self, *refs: str) -> dict[str, object]:
        return {"at": clock.write(NOW), "hit": list(refs)}

    def lifted(self, run: str, at: datetime) -> dict[str, object]:
        return {"at": clock.write(at), "ref": "n1", "set": {"depth": 1}, "why": RECALLED, "run": run}

    def end(self, run: str, at: datetime) -> dict[str, object]:
        return nights.closing_line(clock.write(at), run, "", "")

    def test_recalls_before_the_last_run_are_done_with(self) -> None:
        lines = [self.hit("n1"), self.hit("n1", "n2"), self.end("night-1", self.began), self.hit("n2")]
        assert consolidation.recent(lines, (), self.began).hits == {"n2": 1}
        assert consolidation.recent(lines, {"night-1"}, self.began).hits == {"n1": 2, "n2": 2}

    def test_a_lift_holds_until_the_next_night(self) -> None:
        lines = [self.lifted("night-1", NOW), self.end("night-1", NOW)]
        assert consolidation.recent(lines, (), NOW).held == {"n1"}
        assert consolidation.recent(lines, (), NOW + timedelta(seconds=1)).held == set()
        assert consolidation.recent(lines, {"night-1"}, NOW).held == set()

    def test_a_night_that_was_cut_short_is_held_and_goes_on(self) -> None:
        """Also after the next one has begun: what it lifted is not lifted twice."""
        lines = [self.hit("n1"), self.hit("n1"), self.lifted("night-1", NOW)]
        assert consolidation.recent(lines, (), NOW + timedelta(days=2)).held == {"n1"}
        assert nights.unfinished(lines, ()) == "night-1"
        assert nights.unfinished([*lines, self.end("night-1", NOW)], ()) == ""

    def test_a_commands_run_is_no_night(self) -> None:
        lines = [{"at": clock.write(NOW), "ref": "n1", "set": {"imp": 1}, "why": "set", "run": "cmd-1"}]
        assert nights.unfinished(lines, ()) == ""
