"""What every route answers with: ids best first, with their scores; and how it is cut from an array of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

#: How many of its first each route gives to fusion (spec 5).
ROUTE_DEPTH = 200


@dataclass(frozen=True)
class Ranking:
    """Ids best first and the score of each, in the route's own unit."""

    ids: Sequence[int] = ()
    scores: Sequence[float] = ()


def leading(scores: NDArray[Any], k: int) -> NDArray[Any]:
    """Rows (ascending) among which are the k best of all rows ([n], none below 0), with all that tie; none of score 0.

    The rows fall into 4 k shares; the k-th of the shares' greatest scores is a bound from below that few lie above.
    """
    import numpy as np

    tall = len(scores) // (4 * k)
    least = 0.0
    if tall > 1:
        greatest = scores[: tall * 4 * k].reshape(tall, 4 * k).max(axis=0)
        least = np.partition(greatest, 3 * k)[3 * k]
    return np.flatnonzero(scores >= least if least > 0 else scores > 0)


def top(scores: NDArray[Any], rows: NDArray[Any], order: Callable[[NDArray[Any]], NDArray[Any]], k: int) -> Ranking:
    """The k best of some rows by their scores ([r] each), ties by `order` (rows -> uint64): one mind, one answer."""
    import numpy as np

    if len(rows) > k:
        least = np.partition(scores, len(rows) - k)[len(rows) - k]
        kept = scores >= least
        scores, rows = scores[kept], rows[kept]
    best = np.lexsort((order(rows), -scores))[:k]
    return Ranking(rows[best].tolist(), scores[best].tolist())
