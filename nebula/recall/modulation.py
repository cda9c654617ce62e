"""The factors after fusion, each one visible step: freshness, weight, ledger, layer, capture; emotion last (spec 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nebula.settings import RecallSettings, Settings

    #: (ledger, importance, time of writing in seconds, of the core) -> (retention A, layer), both as of one moment.
    Ageing = Callable[[str, float, int, bool], tuple[float, int]]

EMOTION_FROM = 0.3  # `e` of a memory that emotion may touch
W_UNIT = 2.0  # the weight at which the factor is 1


@dataclass(frozen=True)
class Facts:
    """What the factors look at: retention A (0…1) at that moment, w, depth as A gives it, and the marks."""

    ledger: str
    a: float
    w: float
    depth: int
    emo: str = ""
    e: float = 0.0
    captured: bool = False


def factors(facts: Facts, settings: Settings) -> dict[str, float]:
    """The multipliers of one candidate, in the order in which they apply; emotion comes after the n are chosen."""
    recall = settings.recall
    return {
        "freshness": 1.0 - recall.freshness + recall.freshness * facts.a,
        "weight": (max(facts.w, 1e-6) / W_UNIT) ** recall.weight,
        "ledger": recall.ledger_weights.get(facts.ledger, 1.0),
        "layer": recall.layer_weights[facts.depth],
        "capture": settings.capture.factor if facts.captured else 1.0,
    }


def emotion(facts: Facts, settings: RecallSettings, *, dominant: str, query_feels: bool) -> float:
    """1 + w_emo if the query has an emotion word, the colour is the mood's dominant one and e ≥ 0.3; else 1."""
    touched = query_feels and bool(dominant) and facts.emo == dominant and facts.e >= EMOTION_FROM
    return 1.0 + settings.w_emo if touched else 1.0


def product(multipliers: Mapping[str, float]) -> float:
    """All multipliers in one."""
    result = 1.0
    for value in multipliers.values():
        result *= value
    return result
