"""The mood engine against values computed here: every figure of section 7, and the laws of the fold."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nebula import clock
from nebula.mindlib.record import EMOTIONS
from nebula.mood import engine, transmitters
from nebula.mood.engine import Event, fold, settle
from nebula.mood.expression import Feeling, feeling, gauge, hormones

if TYPE_CHECKING:
    from nebula.mood.engine import State

T = clock.seconds(datetime(2026, 5, 1, 9))
MINUTE = 60


def surface(state: State, name: str, minutes: float) -> float:
    return settle(state, T + round(minutes * MINUTE)).dims[name].surface


@pytest.mark.parametrize(
    ("name", "half"),
    [("happy", 60), ("calm", 110), ("sweet", 70), ("heartache", 180), ("worry", 160), ("sad", 180), ("jealous", 150)],
)
def test_dimensions_fade_in_two_phases(name: str, half: float) -> None:
    """65 % of an increment halves every 3 minutes, 35 % with the dimension's own half-life."""
    state = fold([Event(T, name, 0.4)])
    for minutes in (0, 1, 3, 30, half, 5 * half):
        expected = 0.4 * (0.65 * 0.5 ** (minutes / 3) + 0.35 * 0.5 ** (minutes / half))
        assert surface(state, name, minutes) == pytest.approx(expected, abs=1e-9)


def test_the_layer_below_takes_thirty_percent() -> None:
    state = settle(fold([Event(T, "sad", 0.4)]), T)
    assert state.dims["sad"].surface == pytest.approx(0.4)
    assert state.dims["sad"].underlying == pytest.approx(0.12)
    assert feeling(state, T, engine.PRESS).dims["sad"] == pytest.approx(0.65 * 0.4 + 0.35 * 0.12)


@pytest.mark.parametrize(
    ("name", "half"),
    [("noradrenaline", 2), ("dopamine", 4), ("gaba", 15), ("endorphin", 20), ("oxytocin", 30), ("serotonin", 1440)],
)
def test_transmitters_return_to_fifty(name: str, half: float) -> None:
    mover = next(dim for dim, moves in transmitters.MOVES.items() if name in moves)
    points = transmitters.MOVES[mover][name] * 0.4
    state = fold([Event(T, mover, 0.4)])
    for minutes in (0, 1, half, 10 * half):
        level = settle(state, T + round(minutes * MINUTE)).levels[name].value
        assert level == pytest.approx(50 + points * 0.5 ** (minutes / half), abs=1e-6)


def test_cortisol_lags_fifteen_minutes() -> None:
    """The target jumps at once and halves in 60 minutes; the level follows with a time constant of 15 minutes.

    Against small steps of dL/dt = (T - L)/15.
    """
    state = fold([Event(T, "worry", 1.0)])
    level, target, step = 50.0, 50.0 + transmitters.MOVES["worry"]["cortisol"], 0.01
    for number in range(1, 12001):
        level += step * (target - level) / 15
        target = 50 + (target - 50) * 0.5 ** (step / 60)
        if number % 1500 == 0:
            now = settle(state, T + round(number * step * MINUTE)).levels["cortisol"]
            assert now.value == pytest.approx(level, abs=0.01)
            assert now.target == pytest.approx(target, abs=1e-6)
    assert settle(state, T).levels["cortisol"].value == 50.0


def test_a_constant_target_is_reached_by_its_share_after_one_time_constant() -> None:
    """Of a target that (almost) stays, 1 - 1/e is reached after 15 minutes."""
    level, _ = transmitters.followed(50.0, 90.0, 15.0)
    fixed = 50 + 40 * (1 - math.exp(-1))
    assert level == pytest.approx(fixed, rel=0.06)  # the target has sunk a little meanwhile
    assert level < fixed


@pytest.mark.parametrize(
    ("cortisol", "dopamine", "serotonin", "gain"),
    [
        (50, 50, 50, 1.0),
        (100, 50, 50, 1.35),
        (50, 100, 50, 1.15),
        (50, 50, 100, 0.8),
        (100, 100, 0, 1.5),
        (0, 0, 100, 0.5),
    ],
)
def test_gain(cortisol: float, dopamine: float, serotonin: float, gain: float) -> None:
    """1 + 0.35·cortisol + 0.15·dopamine - 0.20·serotonin on offsets, clamped to 0.5…1.5."""
    assert transmitters.gain(cortisol, dopamine, serotonin) == pytest.approx(gain)


def test_transmitters_decide_how_hard_not_which_way() -> None:
    """After a worry, cortisol up, the same sadness lands harder; its direction is the same."""
    calm = fold([Event(T + 30 * MINUTE, "sad", 0.3)])
    tense = fold([Event(T, "worry", 1.0), Event(T + 30 * MINUTE, "sad", 0.3)])
    before = settle(fold([Event(T, "worry", 1.0)]), T + 30 * MINUTE)
    expected = transmitters.gain(*(before.levels[n].value for n in ("cortisol", "dopamine", "serotonin")))
    assert expected > 1.0
    assert surface(tense, "sad", 30) / surface(calm, "sad", 30) == pytest.approx(expected)


def test_tolerance() -> None:
    """1.0, 0.7, 0.49, 0.343, 0.3, 0.3 … within 15 minutes of the last; after 15 quiet ones 1.0 again."""
    gains = []
    for number in range(7):
        events = [Event(T + n * 10 * MINUTE, "sad", 0.01) for n in range(number)]
        before = settle(fold(events), T + number * 10 * MINUTE)
        after = fold([*events, Event(T + number * 10 * MINUTE, "sad", 0.01)])
        felt = transmitters.gain(*(before.levels[n].value for n in ("cortisol", "dopamine", "serotonin")))
        gains.append((surface(after, "sad", number * 10) - before.dims["sad"].surface) / 0.01 / felt)
    assert gains == pytest.approx([1.0, 0.7, 0.49, 0.343, 0.3, 0.3, 0.3], abs=1e-9)


@pytest.mark.parametrize(("gap", "row"), [(14.99, 1), (15, 0), (16, 0)])
def test_quiet_ends_tolerance(gap: float, row: int) -> None:
    state = fold([Event(T, "sad", 0.1), Event(T + round(gap * MINUTE), "sad", 0.1)])
    assert state.dims["sad"].row == row


def test_another_dimension_has_its_own_tolerance() -> None:
    assert fold([Event(T, "sad", 0.1), Event(T + 60, "worry", 0.1)]).dims["worry"].row == 0


class TestUnresolved:
    """0.01 an hour is taken from the underlying positive dimensions while a negative event ≥ 0.5 is unanswered."""

    joy = Event(T, "happy", 1.0)

    def below(self, *events: Event, hours: float) -> float:
        return settle(fold([self.joy, *events]), T + round(hours * 3600)).dims["happy"].underlying

    @pytest.mark.parametrize("strength", [0.5, 1.0])
    def test_pressed(self, strength: float) -> None:
        """dr/dt = -λ·r - 0.01/h from the event on, against small steps, never below 0."""
        rate, level, step = math.log(2) / 60, 0.3 * 0.35, 0.01
        for number in range(1, 24001):
            level = max(0.0, level - step * (rate * level + 0.01 / 60))
            if number % 6000 == 0:
                assert self.below(Event(T, "sad", strength), hours=number * step / 60) == pytest.approx(level, abs=1e-4)
        assert self.below(Event(T, "sad", strength), hours=40) == pytest.approx(0.0, abs=1e-12)

    def test_not_for_a_small_one_nor_for_negative_dimensions(self) -> None:
        assert self.below(Event(T, "sad", 0.49), hours=2) == pytest.approx(0.3 * 0.35 * 0.25, abs=1e-9)
        state = settle(fold([Event(T, "sad", 1.0)]), T + 3 * 3600)
        assert state.dims["sad"].underlying == pytest.approx(0.3 * 0.35 * 0.5, abs=1e-9)

    def test_a_later_positive_event_resolves_it(self) -> None:
        """From then on it only fades; the stretch before was pressed."""
        sad, sweet = Event(T, "sad", 0.9), Event(T + 3600, "sweet", 0.05)
        rate, p = math.log(2) / 60, 0.01 / 60
        after_one_hour = (0.3 * 0.35 + p / rate) * 0.5 - p / rate
        assert self.below(sad, sweet, hours=2) == pytest.approx(after_one_hour * 0.5, abs=1e-6)
        assert not fold([sad, sweet]).unresolved
        assert fold([sad, sweet, Event(T + 7200, "jealous", 0.5)]).unresolved

    def test_the_pressure_is_a_setting(self) -> None:
        state = fold([self.joy, Event(T, "sad", 0.9)], press=0.0)
        assert settle(state, T + 3600, press=0.0).dims["happy"].underlying == pytest.approx(0.3 * 0.35 * 0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("colour", "you", "cortisol", "oxytocin", "factor"),
    [
        ("sad", False, 100, 50, 1.15),
        ("sad", False, 75, 50, 1.075),
        ("sad", False, 20, 50, 1.0),
        ("happy", False, 100, 50, 1.0),
        ("", True, 50, 100, 1.5),
        ("", True, 50, 82, 1.32),
        ("", True, 50, 10, 1.0),
        ("", False, 50, 100, 1.0),
        ("worry", True, 100, 100, 1.6),
    ],
)
def test_hormones(colour: str, you: bool, cortisol: float, oxytocin: float, factor: float) -> None:
    """× 1 + 0.15·cortisol for a negative colour, × 1 + 0.5·oxytocin where it speaks of you; in all 0.7…1.6."""
    felt = Feeling(50.0, {}, {"cortisol": cortisol, "oxytocin": oxytocin})
    assert hormones(felt, colour, mentions_you=you) == pytest.approx(factor)


def test_a_foreign_mood_has_no_hormones() -> None:
    assert hormones(Feeling(80.0, {"sad": 0.9}, source="http"), "sad", mentions_you=True) == 1.0


def test_gauge_label_and_snapshot() -> None:
    """50 is neutral; what stands out gives the name; a mood in which nothing is felt leaves no trace."""
    assert gauge({}) == 50
    assert gauge({"happy": 0.6, "sweet": 0.2, "worry": 0.1}) == pytest.approx(75)
    assert gauge({"sad": 1.0}) == 0
    assert Feeling(50, {"sad": 0.149}).dominant == ""
    assert Feeling(50, {"sad": 0.3, "happy": 0.3}).dominant == "happy"
    assert Feeling(50, {"sad": 0.3}).strength == 0.3
    assert Feeling(50, {"sad": 0.001}).snapshot == {}
    assert Feeling(35, {"sad": 0.3}).snapshot == {"value": 35, "dims": {"sad": 0.3}}


def test_expression_is_bounded_and_moves_as_told() -> None:
    rest = Feeling(50, {}).expression
    assert rest == {"rate": 0.5, "volume": 0.5, "clinginess": 0.4, "distance": 0.3}
    assert Feeling(50, {"sad": 1.0}).expression["rate"] < rest["rate"]
    assert Feeling(50, {"sweet": 1.0}).expression["clinginess"] > rest["clinginess"]
    assert Feeling(50, {"sweet": 1.0}).expression["distance"] == pytest.approx(0.0)


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"at": "2026-05-01T09:00:00", "dim": "bored", "strength": 1},
        {"at": "2026-05-01T09:00:00", "dim": "sad", "strength": "much"},
        {"at": "2026-05-01T09:00:00", "dim": "sad", "strength": True},
        {"at": "2026-05-01T09:00:00", "dim": "sad", "strength": math.nan},
        {"at": "someday", "dim": "sad", "strength": 1},
        {"at": "2026-05-01T09:00:00", "dim": ["sad"], "strength": 1},
        {"at": "2026-05-01T09:00:00", "v": 2, "dim": "sad", "strength": 1},
    ],
)
def test_lines_that_are_no_event(line: dict[str, object]) -> None:
    """Passed over; `v` names the table of rules, and a later table changes no past mood."""
    assert engine.read_event(line) is None


EVENTS = st.lists(
    st.builds(Event, st.integers(T, T + 3 * 86_400), st.sampled_from(list(EMOTIONS)), st.floats(0, 1)), max_size=30
)


def told(state: State) -> list[float]:
    now = settle(state, T + 5 * 86_400)
    found = [part for d in now.dims.values() for part in (d.quick, d.slow, d.deep_quick, d.deep_slow, float(d.row))]
    return [*found, *(part for level in now.levels.values() for part in (level.value, level.target))]


@given(EVENTS, st.lists(st.integers(0, 30), max_size=4))
def test_any_cuts_give_the_same(events: list[Event], cuts: list[int]) -> None:
    """In one go or in pieces, in whatever order they lie in the file."""
    events.sort(key=lambda event: event.at)
    state, before = engine.NEUTRAL, 0
    for cut in [*sorted(cuts), len(events)]:
        state = fold(events[before:cut], state)
        before = max(before, min(cut, len(events)))
    assert told(state) == pytest.approx(told(fold(events)), abs=1e-9)
    assert state.unresolved == fold(events).unresolved


@given(EVENTS, st.integers(0, 5 * 86_400))
def test_every_level_keeps_its_range(events: list[Event], later: int) -> None:
    for number in range(len(events) + 1):
        now = settle(fold(events[:number]), T + later)
        felt = feeling(now, T + later, engine.PRESS)
        assert all(
            0 <= level <= 1 for level in (*felt.dims.values(), *felt.surface.values(), *felt.underlying.values())
        )
        assert all(0 <= level <= 100 for level in felt.levels.values())
        assert 0 <= felt.value <= 100
        assert all(0 <= value <= 1 for value in felt.expression.values())


@given(EVENTS)
def test_folding_changes_no_state_in_place(events: list[Event]) -> None:
    before = told(engine.NEUTRAL)
    state = fold(events[:3])
    kept = told(state)
    fold(events[3:], state)
    settle(state, T + 9 * 86_400)
    assert (told(engine.NEUTRAL), told(state)) == (before, kept)


def test_a_clock_set_back_does_no_harm() -> None:
    """What was written first but is of a later time comes after; settling to an earlier moment changes nothing."""
    late, early = Event(T + 3600, "happy", 0.5), Event(T, "sad", 0.5)
    assert told(fold([late, early])) == told(fold([early, late]))
    state = fold([late])
    assert settle(state, T) == settle(state, T + 3600)
