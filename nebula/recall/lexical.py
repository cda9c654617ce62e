"""The lexical route 词#: how much of the query's information a memory holds, by BM25 over its tokens (spec 5)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nebula.index.view import Index

    #: Of some terms the groups that they stand in: such a term counts only in a row that holds one of them whole.
    Whole = Mapping[int, Sequence[frozenset[int]]]

#: A line k before a dialogue's last one counts this to the power of k: what is spoken of now stands at the end.
FADING = 0.9


class Term(NamedTuple):
    """What a term of the query gives to one memory's share of its information, and how many memories hold it."""

    share: float
    memories: int


def idf(df: float, n: float) -> float:
    """ln(1 + (N - df + 0.5) / (df + 0.5)): above 0 even for a word that every memory holds. N=2, df=1 -> 0.693."""
    return math.log(1.0 + (n - df + 0.5) / (df + 0.5))


def shares(terms: Mapping[int, float], index: Index, k1: float, b: float, whole: Whole | None = None) -> NDArray[Any]:
    """BM25 of every row as a share of the highest that the query could score; float64 [n], 0…1.

    Σ_t asked(t) · idf(t) · (k1 + 1) · tf / (tf + k1 · (1 - b + b · dl / avgdl)) over Σ_t asked(t) · idf(t) · (k1 + 1):
    terms that no memory holds keep the share low. `terms`: hash -> how much it is asked for. N, df and the mean length
    count every row. The share ranks as BM25 does; it has a scale of its own, the same for every query. A date's terms
    count together or not at all (`whole`): the 18 and the 日 of 6月18日 say nothing apart.
    """
    import numpy as np

    n = index.table.n
    scores = np.zeros(n)
    if not n or not terms:
        return scores
    length, postings = index.table.column("terms"), index.postings
    by_length, highest = k1 * b / max(1e-9, index.table.mean_length), 0.0
    postings.fetch([*terms, *(term for groups in (whole or {}).values() for group in groups for term in group)])
    held = {group: _holding(group, index) for groups in (whole or {}).values() for group in groups}
    for token, asked in terms.items():
        weight = asked * idf(postings.count(token), n)
        highest += weight
        for base, within, tf in postings.spans(token):
            rows, part = within + np.int64(base), tf * weight
            norm = length[rows] * by_length
            norm += k1 * (1.0 - b)
            norm += tf
            part /= norm
            if whole and token in whole:
                part *= sum(held[group][rows] for group in whole[token]) > 0
            # half the time of scores[rows] += part, since rows and part are of the types that it adds as they are
            np.add.at(scores, rows, part)
    scores /= highest
    return scores


def _holding(group: frozenset[int], index: Index) -> NDArray[Any]:
    """The rows that hold all of some terms; bool [n]."""
    import numpy as np

    counts = np.zeros(index.table.n, np.uint16)
    for token in group:
        for base, within, _ in index.postings.spans(token):
            counts[within + np.int64(base)] += 1
    every: NDArray[Any] = counts == len(group)
    return every


def of_row(
    terms: Mapping[int, float], index: Index, row: int, k1: float, b: float, whole: Whole | None = None
) -> dict[int, Term]:
    """What each term gives to a row's share; together they are its share. For one row: each term costs a pass."""
    weights = {}
    found = {}
    for token, asked in terms.items():
        memories = index.postings.count(token)
        weights[token] = asked * idf(memories, index.table.n)
        alone = float(shares({token: asked}, index, k1, b, whole)[row]) if memories else 0.0
        found[token] = Term(alone * weights[token], memories)
    highest = sum(weights.values())
    return {token: Term(term.share / highest, term.memories) for token, term in found.items()}
