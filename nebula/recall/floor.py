"""When nothing is remembered: a query's clearest find, held against what queries about nothing find in the same mind.

Cosines and shares have no fixed scale: what is near depends on the mind's size, its language and its subjects. So the
mind is asked stock queries that it can't know the answers of, and a find counts by how far it stands out from theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nebula.recall.hit import Evidence

#: How much a deviation of the share counts beside one of the cosine. Chosen on seven sets together with the floor 1.1
#: and the least deviations: 96 % of all answerable queries answered, 78 % of foreign ones refused (QUALITY.md).
SHARE_COUNTS = 0.5
#: The part of the floor that a few words must reach: they say less, and who types them wants to look around. No set
#: has such queries; by hand, so that 养宠物 finds the cats of the demo's mind and 股票 nothing.
SHORT_COUNTS = 0.6
#: Least deviations: in a handful of memories the stock queries may all find the same.
LEAST_COSINE = 0.06
LEAST_SHARE = 0.05
#: Times the median absolute deviation: the standard deviation of a normal distribution (Rousseeuw and Croux 1993).
NORMAL = 1.4826


@dataclass(frozen=True)
class Nulls:
    """Median and deviation, over stock queries of one script, of the clearest cosine and share they find."""

    cosine: tuple[float, float]
    share: tuple[float, float]


def spread(found: Sequence[float]) -> tuple[float, float]:
    """Median, and 1.4826 × the median absolute deviation from it; of nothing (0, 0).

    Not mean and standard deviation: a mind of everyday life has the answer to some of the stock's everyday questions,
    and these few would lift what the others are held against.
    """
    from statistics import median  # here: a recall whose figures are kept needs none of it

    if not found:
        return 0.0, 0.0
    middle = median(found)
    return middle, NORMAL * median(abs(value - middle) for value in found)


def evidence(found: Evidence, nulls: Nulls, second: Nulls | None = None, part: float = 0.0) -> float:
    """How far a find stands out: z of its cosine + 0.5 · z of its share, in deviations of the stock queries.

    A query about nothing is around 0; below `recall.floor` (1.1) recall says that nothing is remembered. Under a second
    encoder, which has its own stock figures, its z makes up `part` of the cosine's: (1 - part) · z1 + part · z2.
    """
    cosine = (found.cosine - nulls.cosine[0]) / max(nulls.cosine[1], LEAST_COSINE)
    share = (found.share - nulls.share[0]) / max(nulls.share[1], LEAST_SHARE)
    if second is not None and found.second is not None:
        other = (found.second - second.cosine[0]) / max(second.cosine[1], LEAST_COSINE)
        cosine = (1.0 - part) * cosine + part * other
    return cosine + SHARE_COUNTS * share


def in_floors(evidence: float, floor: float, *, short: bool) -> float:
    """Evidence in units of what is needed: below 1 nothing is remembered; `short`: a query of a few words."""
    return evidence / (SHORT_COUNTS * floor if short else floor)
