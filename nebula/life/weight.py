"""A new memory's weight and the words that explain it (spec 1, 7): w = source × importance × emotion × hormones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula.mindlib.record import ECHO
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Base weight by `via`; anything else weighs 1.5 (spec 1).
SOURCE_WEIGHT: Mapping[str, float] = {"他说的": 4.0, "我自己想的": 2.0, "工具": 1.5, "网页": 1.2}
#: What the mind said itself and got back: less than half of the least of those, whatever ledger it goes to.
ECHO_WEIGHT = 0.5
OTHER_SOURCE = 1.5
THOUGHT_WEIGHT = 2.0  # the ledger thoughts, whatever its `via`


@dataclass(frozen=True)
class Weight:
    """`w` and `w_why`, e.g. 3.0 and "来源×4 重要×0.75"."""

    w: float
    why: str


def source_weight(ledger: str, via: str) -> float:
    """The base weight: 0.5 for an echo, else by `via`, 2.0 for thoughts, 1.0 for summaries, not in the table."""
    if via == ECHO:
        return ECHO_WEIGHT
    if ledger == "summaries":
        return 1.0
    return THOUGHT_WEIGHT if ledger == "thoughts" else SOURCE_WEIGHT.get(via, OTHER_SOURCE)


def weigh(ledger: str, via: str, imp: float, e: float, hormones: float = 1.0) -> Weight:
    """W = source × (0.5 + imp) × (1 + 0.5·e) × hormones, each of imp and e in 0…1 (spec 1).

    `why` names every factor that is not 1. Example: ("notes", "他说的", 0.5, 0) -> 4.0, "来源×4".
    """
    factors = {
        "来源": source_weight(ledger, via),
        "重要": 0.5 + imp,
        "情绪": 1.0 + 0.5 * e,
        "激素": hormones,
    }
    w = 1.0
    for factor in factors.values():
        w *= factor
    return Weight(round(w, 6), " ".join(f"{name}×{round(f, 3):g}" for name, f in factors.items() if round(f, 3) != 1))
