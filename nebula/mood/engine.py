"""The mood as a fold over events: seven dimensions in two layers and two phases, moved by transmitters (spec 7).

A state holds every level as of the moment when it was last touched; between events levels only decay, in closed form,
so that folding in any cuts gives the same. Events are taken in the order of their time. Nothing here reads a clock.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nebula import clock
from nebula.mindlib.record import EMOTIONS
from nebula.mood import transmitters
from nebula.mood.transmitters import MOVES, clipped, followed, gain, relaxed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

VERSION = 1  # the table of rules that a line of mood.jsonl was written under
#: Half-lives in minutes.
HALF_LIFE: Mapping[str, float] = {
    "happy": 60.0,
    "calm": 110.0,
    "sweet": 70.0,
    "heartache": 180.0,
    "worry": 160.0,
    "sad": 180.0,
    "jealous": 150.0,
}
POSITIVE = ("happy", "calm", "sweet")
NEGATIVE = ("heartache", "worry", "sad", "jealous")
UNDERLYING_SHARE = 0.30  # of an increment
SURFACE_SHOWN, UNDERLYING_SHOWN = 0.65, 0.35
PHASE_SHARE, PHASE_HALF_LIFE = 0.65, 3.0  # of each increment; minutes
TOLERANCE, TOLERANCE_FLOOR, QUIET = 0.7, 0.3, 15.0  # minutes
UNRESOLVED_FROM = 0.5  # strength of a negative event
LN2 = math.log(2.0)
PRESS = 0.01 / 60.0  # of a positive dimension's underlying level, a minute


@dataclass(frozen=True)
class Event:
    """Something felt at a moment (seconds): a dimension and its strength 0…1."""

    at: int
    dim: str
    strength: float
    why: str = ""


@dataclass(slots=True)
class Dimension:
    """A dimension as of `at` (seconds). Each layer lies in two phases, `quick` (half-life 3 minutes) and `slow`.

    `last`: when it was set off last, -1 for never; `row`: how often in a row before that.
    """

    at: int = 0
    quick: float = 0.0
    slow: float = 0.0
    deep_quick: float = 0.0
    deep_slow: float = 0.0
    last: int = -1
    row: int = 0

    @property
    def surface(self) -> float:
        """0…1."""
        return min(1.0, self.quick + self.slow)

    @property
    def underlying(self) -> float:
        """0…1."""
        return min(1.0, self.deep_quick + self.deep_slow)


@dataclass(slots=True)
class Level:
    """A transmitter as of `at` (seconds); `target` is cortisol's."""

    at: int = 0
    value: float = transmitters.REST
    target: float = transmitters.REST


@dataclass(frozen=True)
class State:
    """The mood after the events so far, never changed in place.

    `unresolved`: a negative event ≥ 0.5 has had no positive one after it; `why`: of the last event.
    """

    at: int = 0
    dims: Mapping[str, Dimension] = field(default_factory=lambda: {name: Dimension() for name in EMOTIONS})
    levels: Mapping[str, Level] = field(default_factory=lambda: {name: Level() for name in transmitters.HALF_LIFE})
    unresolved: bool = False
    why: str = ""


NEUTRAL = State()


def fold(events: Iterable[Event], state: State = NEUTRAL, press: float = PRESS) -> State:
    """The state after events that are not before it; taken by their time, equal times in their order.

    `press` is what an unresolved matter takes from the underlying positive dimensions, a minute.
    """
    found = _copy(state)
    at, unresolved, why = state.at, state.unresolved, state.why
    for event in sorted(events, key=lambda event: event.at):
        at = max(at, event.at)
        strength = min(1.0, max(0.0, event.strength))
        if unresolved == (event.dim in POSITIVE) and (unresolved or strength >= UNRESOLVED_FROM):
            for name in POSITIVE:  # the pressure changes: what it was until now is settled with
                _settle(found.dims[name], name, at, press if unresolved else 0.0)
            unresolved = not unresolved
        _feel(found, event.dim, strength, at, press if unresolved else 0.0)
        why = event.why
    return State(at, found.dims, found.levels, unresolved, why)


def _copy(state: State) -> State:
    dims = {name: replace(dimension) for name, dimension in state.dims.items()}
    return replace(state, dims=dims, levels={name: replace(level) for name, level in state.levels.items()})


def _feel(state: State, name: str, strength: float, at: int, press: float) -> None:
    """One event, in place: how hard it lands is told by the transmitters as they are before it."""
    levels, dimension = state.levels, state.dims[name]
    for governing in ("cortisol", "dopamine", "serotonin"):
        _relax(levels[governing], governing, at)
    felt = gain(levels["cortisol"].value, levels["dopamine"].value, levels["serotonin"].value)
    _settle(dimension, name, at, press)
    in_a_row = dimension.last >= 0 and at - dimension.last < QUIET * 60
    dimension.row = dimension.row + 1 if in_a_row else 0
    dimension.last = at
    increment = strength * felt * max(TOLERANCE_FLOOR, TOLERANCE**dimension.row)
    above = min(increment, 1.0 - dimension.surface)
    below = min(increment * UNDERLYING_SHARE, 1.0 - dimension.underlying)
    dimension.quick += PHASE_SHARE * above
    dimension.slow += (1.0 - PHASE_SHARE) * above
    dimension.deep_quick += PHASE_SHARE * below
    dimension.deep_slow += (1.0 - PHASE_SHARE) * below
    for moved, points in MOVES[name].items():
        level = levels[moved]
        _relax(level, moved, at)
        if moved == "cortisol":
            level.target = clipped(level.target + points * strength)
        else:
            level.value = clipped(level.value + points * strength)


def _settle(dimension: Dimension, name: str, at: int, press: float) -> None:
    """Decay to a moment, in place; a positive dimension's underlying level is pressed down as well."""
    minutes = (at - dimension.at) / 60.0
    if minutes <= 0.0:
        return
    quick, slow = 2.0 ** (-minutes / PHASE_HALF_LIFE), 2.0 ** (-minutes / HALF_LIFE[name])
    dimension.at = at
    dimension.quick *= quick
    dimension.slow *= slow
    dimension.deep_quick *= quick
    if press and name in POSITIVE:
        # dr/dt = -λ·r - press, until nothing is left
        floor = press * HALF_LIFE[name] / LN2
        dimension.deep_slow = max(0.0, (dimension.deep_slow + floor) * slow - floor)
    else:
        dimension.deep_slow *= slow


def _relax(level: Level, name: str, at: int) -> None:
    """A transmitter as of a moment, in place."""
    minutes = (at - level.at) / 60.0
    if minutes <= 0.0:
        return
    level.at = at
    if name == "cortisol":
        level.value, level.target = followed(level.value, level.target, minutes)
    else:
        level.value = relaxed(level.value, name, minutes)


def settle(state: State, at: int, press: float = PRESS) -> State:
    """The state decayed to a moment that is not before it; an earlier one changes nothing."""
    now = max(at, state.at)
    found = replace(_copy(state), at=now)
    for name, dimension in found.dims.items():
        _settle(dimension, name, now, press if state.unresolved else 0.0)
    for name, level in found.levels.items():
        _relax(level, name, now)
    return found


def read_event(line: Mapping[str, Any]) -> Event | None:
    """An event of a line of mood.jsonl; None where it is none, or of rules we do not know."""
    at, dim, strength = clock.parse(str(line.get("at", ""))), line.get("dim"), line.get("strength")
    known = line.get("v", VERSION) == VERSION and isinstance(dim, str) and dim in EMOTIONS
    if at is None or not known or isinstance(strength, bool) or not isinstance(strength, int | float):
        return None
    if not math.isfinite(strength):
        return None
    return Event(clock.seconds(at), str(dim), float(strength), str(line.get("why", "")))
