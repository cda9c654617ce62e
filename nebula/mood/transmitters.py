"""Seven transmitters: how fast each returns to 50, which event moves which, and how hard the next event lands (spec 7).

Levels are 0…100. Cortisol lags: an event moves its target, and the level follows with a time constant of 15 minutes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

REST = 50.0
#: Half-lives in minutes, in the order in which they are shown.
HALF_LIFE: Mapping[str, float] = {
    "noradrenaline": 2.0,
    "dopamine": 4.0,
    "gaba": 15.0,
    "endorphin": 20.0,
    "oxytocin": 30.0,
    "cortisol": 60.0,
    "serotonin": 1440.0,
}
LAG = 15.0  # minutes, cortisol's time constant
_K = math.log(2.0) / HALF_LIFE["cortisol"]
_C = (1.0 / LAG) / (1.0 / LAG - _K)
#: By how much an event of strength 1 moves a level (cortisol: its target), in points; and why. Rules of version 1.
MOVES: Mapping[str, Mapping[str, float]] = {
    "happy": {"dopamine": 20.0, "serotonin": 4.0, "cortisol": -8.0},  # reward; good days lift the ground, ease stress
    "calm": {"gaba": 20.0, "serotonin": 4.0, "cortisol": -15.0},  # damps excitement, and stress most of all
    "sweet": {"oxytocin": 25.0, "dopamine": 10.0, "cortisol": -8.0},  # closeness, with some reward in it
    "heartache": {"oxytocin": 10.0, "endorphin": 10.0, "cortisol": 12.0},  # pain for another: care, stress, easing
    "worry": {"noradrenaline": 20.0, "cortisol": 20.0, "gaba": -10.0},  # alarm now, stress to come, less damping
    "sad": {"cortisol": 12.0, "dopamine": -12.0, "serotonin": -4.0, "endorphin": 8.0},  # no reward; the ground sinks
    "jealous": {"noradrenaline": 15.0, "cortisol": 15.0, "oxytocin": -10.0},  # alarm and stress, trust falls
}
GAIN_LOW, GAIN_HIGH = 0.5, 1.5


def offset(level: float) -> float:
    """(level - 50) / 50, -1…1."""
    return (level - REST) / REST


def relaxed(level: float, name: str, minutes: float) -> float:
    """A level some minutes later, back towards 50 by its half-life; not for cortisol. 100, dopamine, 4 min -> 75."""
    return REST + (level - REST) * math.pow(2.0, -minutes / HALF_LIFE[name])


def followed(level: float, target: float, minutes: float) -> tuple[float, float]:
    """Cortisol's (level, target) some minutes later.

    The target returns to 50 with its half-life of 60 minutes, T = 50 + y·e^(-kt), k = ln 2 / 60, and the level follows
    it, dL/dt = (T - L)/15. With x = L - 50 that is x·e^(-t/15) + y·c·(e^(-kt) - e^(-t/15)), c = (1/15)/(1/15 - k).
    """
    own, theirs = math.exp(-minutes / LAG), math.exp(-_K * minutes)
    x, y = level - REST, target - REST
    return REST + x * own + y * _C * (theirs - own), REST + y * theirs


def gain(cortisol: float, dopamine: float, serotonin: float) -> float:
    """How hard an event lands: clamp(1 + 0.35·cortisol + 0.15·dopamine - 0.20·serotonin, 0.5, 1.5), on offsets."""
    raw = 1.0 + 0.35 * offset(cortisol) + 0.15 * offset(dopamine) - 0.20 * offset(serotonin)
    return min(GAIN_HIGH, max(GAIN_LOW, raw))


def clipped(level: float) -> float:
    """Inside 0…100."""
    return min(100.0, max(0.0, level))
