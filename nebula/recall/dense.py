"""The dense route 义#: the cosine of the query's vector with each memory's pieces (spec 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula.recall.ranking import Ranking, top

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nebula.index.view import Index


def rank(query: NDArray[Any], index: Index, eligible: NDArray[Any], k: int) -> Ranking:
    """Rows by the best cosine of a piece of the query ([q, d], unit rows) with a piece of theirs.

    Rows without a vector are left out.
    """
    import numpy as np

    rows, cosines = index.vectors.best(query, eligible, k)
    # the last bits depend on the batch in which a text was embedded: equal texts are equal, and ties go by ref
    return top(np.round(cosines, 6), rows, index.table.order_of, k)
