"""The lexical index: for every term the rows that hold it and how often (sorted terms, one run of rows each).

A segment holds terms as 64-bit hashes, ascending; `starts[t] : starts[t + 1]` is term t's run in `rows` (ascending,
counted within the segment) and `tf`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.index.hashing import h64

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[Any]

MAX_TF = 65_535


def build(token_lists: Iterable[Sequence[str]], prefix: str = "post") -> dict[str, Array]:
    """Tokens of each row -> the arrays of one segment."""
    known: dict[str, int] = {}
    terms: list[int] = []
    lengths: list[int] = []
    for tokens in token_lists:
        for token in tokens:
            if token not in known:
                known[token] = h64(token)
            terms.append(known[token])
        lengths.append(len(tokens))
    term = np.array(terms, dtype=np.uint64)
    row = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    return runs(term, row, np.ones(len(term), np.int64), prefix)


def runs(term: Array, row: Array, count: Array, prefix: str = "post") -> dict[str, Array]:
    """(term, row, count) triples in any order, pairs may repeat -> sorted runs, counts of equal pairs added up."""
    order = np.lexsort((row, term))
    term, row, count = term[order], row[order], count[order]
    fresh = np.ones(len(term), np.bool_)
    fresh[1:] = (term[1:] != term[:-1]) | (row[1:] != row[:-1])
    begins = np.flatnonzero(fresh)
    tf = np.add.reduceat(count, begins) if len(begins) else count
    term, row = term[begins], row[begins]
    first = np.ones(len(term), np.bool_)
    first[1:] = term[1:] != term[:-1]
    starts = np.append(np.flatnonzero(first), len(term))
    return {
        f"{prefix}_terms": term[first],
        f"{prefix}_starts": starts.astype(np.int64),
        f"{prefix}_rows": row.astype(np.int32),
        f"{prefix}_tf": np.minimum(tf, MAX_TF).astype(np.uint16),
    }


def merge(parts: Sequence[Mapping[str, Array]], sizes: Sequence[int], prefix: str = "post") -> dict[str, Array]:
    """Segments that follow one another, with their row counts -> the arrays of one."""
    bases = np.cumsum([0, *sizes[:-1]])
    term = np.concatenate([np.repeat(p[f"{prefix}_terms"], np.diff(p[f"{prefix}_starts"])) for p in parts])
    row = np.concatenate([p[f"{prefix}_rows"].astype(np.int64) + base for p, base in zip(parts, bases, strict=True)])
    return runs(term, row, np.concatenate([p[f"{prefix}_tf"] for p in parts]).astype(np.int64), prefix)


@dataclass(frozen=True)
class Postings:
    """The runs of all segments, with the number of each one's first row."""

    segments: Sequence[Mapping[str, Array]]
    bases: Sequence[int]
    prefix: str = "post"

    def run(self, term: int) -> tuple[Array, Array]:
        """One term's rows (int64, ascending) and term frequencies over all segments."""
        rows, tfs = [], []
        key = np.uint64(term)
        for segment, base in zip(self.segments, self.bases, strict=True):
            terms = segment[f"{self.prefix}_terms"]
            at = int(np.searchsorted(terms, key))
            if at < len(terms) and terms[at] == key:
                span = slice(int(segment[f"{self.prefix}_starts"][at]), int(segment[f"{self.prefix}_starts"][at + 1]))
                rows.append(segment[f"{self.prefix}_rows"][span].astype(np.int64) + base)
                tfs.append(segment[f"{self.prefix}_tf"][span])
        if not rows:
            return np.zeros(0, np.int64), np.zeros(0, np.uint16)
        return np.concatenate(rows), np.concatenate(tfs)
