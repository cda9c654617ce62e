"""The lexical route 词#: BM25 over the mind's tokens (spec 5)."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from nebula.recall.ranking import Ranking, top

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nebula.index.view import Index

K1 = 1.5
B = 0.75


def idf(df: float, n: float) -> float:
    """ln(1 + (N - df + 0.5) / (df + 0.5)): above 0 even for a word that every memory holds. N=2, df=1 -> 0.693."""
    return math.log(1.0 + (n - df + 0.5) / (df + 0.5))


def rank(tokens: Sequence[str], index: Index, eligible: NDArray[Any], k: int) -> Ranking:
    """Σ over the query's tokens t of idf(t) · tf · (k1 + 1) / (tf + k1 · (1 - b + b · dl / avgdl)), k1 1.5, b 0.75.

    N, df and the mean length count every row of the mind; only `eligible` rows (bool [n]) that hold a token are given.
    A token that stands twice in the query counts twice. No token: an empty ranking.
    """
    import numpy as np

    from nebula.index.hashing import h64

    length = index.table.column("terms")
    n = len(length)
    scores = np.zeros(n)
    if not n or not tokens:
        return Ranking()
    norm = K1 * (1.0 - B + B * length / max(1e-9, float(length.mean())))
    postings = index.postings
    for token, count in Counter(tokens).items():
        rows, tf = postings.run(h64(token))
        if len(rows):
            scores[rows] += count * idf(len(rows), n) * (K1 + 1.0) * tf / (tf + norm[rows])
    found = np.flatnonzero(eligible & (scores > 0))
    return top(scores[found], found, index.table.order_of, k)
