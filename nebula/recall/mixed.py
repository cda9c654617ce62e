"""Two encoders' cosines as one dense score, where both know the query and the memory.

Cosines of two encoders are not comparable: one's 0.4 is near and the other's far. The second's are put on the first's
scale by what both give to the same memories for the same query: its mean and deviation become the first's. A second
encoder that says the same in other numbers changes nothing, and what only the first knows keeps its place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.recall import dense
from nebula.recall.ranking import Ranking, top

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nebula.index.view import Index
    from nebula.recall.hit import Probe
    from nebula.settings import RecallSettings

    Array = NDArray[Any]

#: Memories, evenly spaced over those that both encoders know, from which mean and deviation are taken.
BACKGROUND = 2048
#: A deviation below this is no scale: all memories are equally near.
LEAST = 1e-4


class Mixed:
    """One query's mixture over an index: score = (1 - share) · first + share · (m1 + s1 · (second - m2) / s2).

    m and s: mean and deviation of each encoder's scores for this query, over the memories that both know, whatever
    the filters. A memory without a second vector has the first's score whole. m1 = .4, s1 = .1, m2 = .1, s2 = .2,
    first .5, second .5, share .5 -> .25 + .3 = .55.
    """

    def __init__(self, probe: Probe, index: Index, recall: RecallSettings) -> None:
        assert probe.second is not None
        assert index.second is not None
        self.share = np.float32(recall.second_share)
        self._clauses = recall.clauses
        self._sides = ((probe, index), (probe.second, replace(index, vectors=index.second)))
        rows = np.flatnonzero(index.vectors.present & index.second.present)
        rows = rows[np.linspace(0, len(rows) - 1, BACKGROUND).astype(np.int64)] if len(rows) > BACKGROUND else rows
        first, second = self._own(rows)
        self._scale = np.float32(first.std() / second.std() if len(rows) and second.std() > LEAST else 0.0)
        self._means = (first.mean(), second.mean()) if len(rows) else (np.float32(0), np.float32(0))

    def _own(self, rows: Array) -> tuple[Array, Array]:
        """Each encoder's own scores of some rows, float32 [r]; NaN where it has no vector."""
        first, second = (dense.scores(probe, index, rows, self._clauses) for probe, index in self._sides)
        return first, second

    def parts(self, rows: Array) -> tuple[Array, Array]:
        """What each encoder gives to some rows, together their scores, float32 [r]; the first NaN without a vector."""
        first, second = self._own(rows)
        placed = self._means[0] + self._scale * (second - self._means[1])
        both = ~np.isnan(first) & ~np.isnan(second)
        return np.where(both, (1 - self.share) * first, first), np.where(both, self.share * placed, 0.0)

    def rank(self, eligible: Array, k: int) -> Ranking:
        """The first k of those that either encoder has among its own first 2 k."""
        own = [dense.rank(probe, index, eligible, self._clauses, 2 * k).ids for probe, index in self._sides]
        rows = np.array(sorted({*own[0], *own[1]}), np.int64)
        scores = np.sum(self.parts(rows), axis=0)
        known = ~np.isnan(scores)
        return top(np.round(scores[known], 6), rows[known], self._sides[0][1].table.order_of, k)
