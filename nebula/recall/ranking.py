"""What every route answers with: ids best first, with their scores; and how it is cut from an array of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: How many of its first each route gives to fusion (spec 5).
ROUTE_DEPTH = 200


@dataclass(frozen=True)
class Ranking:
    """Ids best first and the score of each, in the route's own unit."""

    ids: Sequence[int] = ()
    scores: Sequence[float] = ()


def top(scores: NDArray[Any], eligible: NDArray[Any], order: NDArray[Any], k: int) -> Ranking:
    """The k best rows among `eligible` (bool [n]), ties by `order` (uint64 [n]): one mind, one answer."""
    import numpy as np

    rows = np.flatnonzero(eligible)
    if len(rows) > k:
        least = np.partition(scores[rows], len(rows) - k)[len(rows) - k]
        rows = rows[scores[rows] >= least]
    rows = rows[np.lexsort((order[rows], -scores[rows]))][:k]
    return Ranking(rows.tolist(), scores[rows].tolist())
