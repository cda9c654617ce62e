"""The dense route 义#: the cosine of the query, and of its best sentence, with each memory's pieces (spec 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula.recall.ranking import Ranking, top

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from nebula.index.view import Index
    from nebula.recall.hit import Probe

    Array = NDArray[Any]

#: How far a sentence counts less the longer ago it was said: LOST · (1 - KEPT ^ lines before the end), in cosine.
LOST = 0.2
KEPT = 0.7


def rank(probe: Probe, index: Index, eligible: Array, clauses: float, k: int) -> Ranking:
    """Rows by the best score of a piece of theirs (see `scoring`); those without a vector are left out."""
    import numpy as np

    queries, score = scoring(probe, clauses)
    rows, scores = index.vectors.best(queries, eligible, k, score)
    # the last bits depend on the batch in which a text was embedded: equal texts are equal, and ties go by ref
    return top(np.round(scores, 6), rows, index.table.order_of, k)


def scores(probe: Probe, index: Index, rows: Array, clauses: float) -> Array:
    """The same scores of any rows, float32 [r]; NaN where a row has no vector."""
    import numpy as np

    queries, score = scoring(probe, clauses)
    vectors, owner = index.vectors.of_rows(rows)
    found = np.full(len(rows), -np.inf, np.float32)
    if len(owner):
        np.maximum.at(found, owner, score(vectors @ queries.T))
    return np.where(np.isinf(found), np.nan, np.round(found, 6))


def directions(probe: Probe, clauses: float) -> Array:
    """Vectors [m, d], the latest sentences' first, along which a piece scores high, for whom looks by an index.

    The score (see `scoring`) is the greatest, over the query's pieces and its sentences, of the cosine with
    (1 - clauses) · piece + clauses · sentence less what the sentence's age takes: a high score is near one of these.
    """
    import numpy as np

    if not len(probe.clauses) or not clauses:
        return np.asarray(probe.whole, np.float32)
    latest = np.argsort(probe.back, kind="stable")
    both: Array = (1.0 - clauses) * probe.whole[None] + clauses * probe.clauses[latest][:, None]
    found: Array = both.reshape(-1, probe.whole.shape[1]).astype(np.float32)
    return found


def scoring(probe: Probe, clauses: float) -> tuple[Array, Callable[[Array], Array]]:
    """Query vectors [q, d], and what makes one score of a piece's cosines with them ([m, q] -> [m]).

    Score = (1 - clauses) · the whole query's + clauses · the best sentence's less what its age in the dialogue takes;
    of a query of several pieces the best counts as the whole. Cosines that are off by e move a score by at most e.
    """
    import numpy as np

    whole = len(probe.whole)
    if not len(probe.clauses) or not clauses:
        return probe.whole, lambda cosines: cosines.max(axis=1)
    less = (LOST * (1.0 - KEPT ** np.asarray(probe.back, np.float32))).astype(np.float32)

    def both(cosines: Array) -> Array:
        best = (cosines[:, whole:] - less).max(axis=1)
        mixed: Array = np.float32(1.0 - clauses) * cosines[:, :whole].max(axis=1) + np.float32(clauses) * best
        return mixed

    return np.concatenate([probe.whole, probe.clauses]), both
