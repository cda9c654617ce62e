"""What a mood looks like from outside: gauge, dominant dimension, the four values of expression, hormones (spec 7)."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from nebula.mindlib.record import EMOTIONS
from nebula.mood.engine import NEGATIVE, POSITIVE, SURFACE_SHOWN, UNDERLYING_SHOWN, State, settle
from nebula.mood.transmitters import HALF_LIFE, REST, offset
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

STANDS_OUT = 0.15  # shown level of a dimension that gives the mood its name
NEUTRAL = 50.0
HORMONES_LOW, HORMONES_HIGH = 0.7, 1.6
#: 语速 音量 黏人度 距离感: at rest, then what each dimension (0…1) and transmitter (offset) adds.
EXPRESSION: Mapping[str, tuple[float, Mapping[str, float]]] = {
    "rate": (0.5, {"happy": 0.2, "worry": 0.3, "jealous": 0.1, "noradrenaline": 0.2, "calm": -0.2, "sad": -0.3}),
    "volume": (0.5, {"happy": 0.3, "jealous": 0.2, "dopamine": 0.1, "calm": -0.2, "sad": -0.3, "heartache": -0.1}),
    "clinginess": (0.4, {"sweet": 0.4, "heartache": 0.2, "jealous": 0.2, "oxytocin": 0.3, "calm": -0.1}),
    "distance": (0.3, {"jealous": 0.4, "sad": 0.2, "sweet": -0.3, "happy": -0.1, "oxytocin": -0.3}),
}


@dataclass(frozen=True)
class Feeling:
    """A mood at a moment, as it is shown. With a foreign source `levels` and both layers are empty (spec 7)."""

    value: float  # the gauge, 0…100, 50 neutral
    dims: Mapping[str, float]
    levels: Mapping[str, float] = field(default_factory=dict)
    surface: Mapping[str, float] = field(default_factory=dict)
    underlying: Mapping[str, float] = field(default_factory=dict)
    unresolved: bool = False
    reason: str = ""
    source: str = "builtin"
    stale: bool = False
    at: str = ""
    word: str = ""  # a foreign source's own name for it

    @property
    def label(self) -> str:
        """The source's word, else the dominant dimension; "" for calm ground."""
        return self.word or self.dominant

    @property
    def dominant(self) -> str:
        """The dimension that stands out, "" for calm ground; ties to the first in the table."""
        best = max(EMOTIONS, key=lambda name: self.dims.get(name, 0.0))
        return best if self.dims.get(best, 0.0) >= STANDS_OUT else ""

    @property
    def strength(self) -> float:
        """Of the dominant dimension, 0 where none stands out."""
        return self.dims.get(self.dominant, 0.0) if self.dominant else 0.0

    @property
    def expression(self) -> Mapping[str, float]:
        """The four values, each 0…1: its rest and what dimensions and transmitters add, clamped."""
        found = {}
        for name, (rest, parts) in EXPRESSION.items():
            raw = rest + sum(weight * self._part(part) for part, weight in parts.items())
            found[name] = min(1.0, max(0.0, raw))
        return found

    def _part(self, name: str) -> float:
        return offset(self.levels.get(name, REST)) if name in HALF_LIFE else self.dims.get(name, 0.0)

    @property
    def snapshot(self) -> dict[str, object]:
        """What a memory keeps of it; {} where nothing is felt."""
        felt = {name: round(level, 3) for name, level in self.dims.items() if level >= 0.005}
        return {"value": round(self.value, 1), "dims": felt} if felt or round(self.value, 1) != NEUTRAL else {}


#: Nothing is felt.
CALM = Feeling(NEUTRAL, {})


def gauge(dims: Mapping[str, float]) -> float:
    """50 + 50 · (the strongest positive dimension - the strongest negative one), 0…100."""
    up = max(dims.get(name, 0.0) for name in POSITIVE)
    down = max(dims.get(name, 0.0) for name in NEGATIVE)
    return NEUTRAL + NEUTRAL * (up - down)


def feeling(state: State, at: int, press: float) -> Feeling:
    """The built-in engine's mood at a moment (seconds): shown = 0.65 · surface + 0.35 · underlying."""
    now = settle(state, at, press)
    surface = {name: dimension.surface for name, dimension in now.dims.items()}
    underlying = {name: dimension.underlying for name, dimension in now.dims.items()}
    dims = {name: SURFACE_SHOWN * surface[name] + UNDERLYING_SHOWN * underlying[name] for name in EMOTIONS}
    levels = {name: level.value for name, level in now.levels.items()}
    return Feeling(gauge(dims), dims, levels, surface, underlying, now.unresolved, now.why)


def hormones(felt: Feeling, colour: str, *, mentions_you: bool) -> float:
    """The factor of a new memory's weight, 0.7…1.6.

    1 + 0.15 · cortisol's offset for a negative colour while cortisol is high, times 1 + 0.5 · oxytocin's offset where
    the text mentions you while oxytocin is high; 1 for a foreign mood, which has no hormones.
    """
    cortisol, oxytocin = (offset(felt.levels.get(name, REST)) for name in ("cortisol", "oxytocin"))
    factor = 1.0
    if colour in NEGATIVE and cortisol > 0.0:
        factor *= 1.0 + 0.15 * cortisol
    if mentions_you and oxytocin > 0.0:
        factor *= 1.0 + 0.5 * oxytocin
    return min(HORMONES_HIGH, max(HORMONES_LOW, factor))
