"""When nothing is remembered: a query's clearest find, held against what queries about nothing find in the same mind.

Cosines and shares have no fixed scale: what is near depends on the mind's size, its language and its subjects. So the
mind is asked stock queries that it can't know the answers of, and a find counts by how far it stands out from theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nebula.recall.hit import Evidence

#: How much a standard deviation of the share counts beside one of the cosine. Chosen on seven sets together with the
#: floor 1.1: 95 % of all answerable queries answered, 77 % of foreign ones refused in the sets' mean (QUALITY.md).
SHARE_COUNTS = 0.5
#: The part of the floor that a few words must reach: they say less, and who types them wants to look around. No set
#: has such queries; by hand, so that 养宠物 finds the cats of the demo's mind and 股票 nothing.
SHORT_COUNTS = 0.6
#: Least standard deviations: in a handful of memories the stock queries may all find the same.
LEAST_COSINE = 0.02
LEAST_SHARE = 0.01


@dataclass(frozen=True)
class Nulls:
    """Mean and standard deviation, over stock queries of one script, of the clearest cosine and share they find."""

    cosine: tuple[float, float]
    share: tuple[float, float]


def evidence(found: Evidence, nulls: Nulls) -> float:
    """How far a find stands out: z of its cosine + 0.5 · z of its share, in standard deviations of the stock queries.

    A query about nothing is around 0; below `recall.floor` (1.1) recall says that nothing is remembered.
    """
    cosine = (found.cosine - nulls.cosine[0]) / max(nulls.cosine[1], LEAST_COSINE)
    share = (found.share - nulls.share[0]) / max(nulls.share[1], LEAST_SHARE)
    return cosine + SHARE_COUNTS * share


def in_floors(evidence: float, floor: float, *, short: bool) -> float:
    """Evidence in units of what is needed: below 1 nothing is remembered; `short`: a query of a few words."""
    return evidence / (SHORT_COUNTS * floor if short else floor)
