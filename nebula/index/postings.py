"""The lexical index: for every term the rows that hold it and how often (sorted terms, one run of rows each).

A segment holds terms as 64-bit hashes, ascending; `starts[t] : starts[t + 1]` is term t's run in `rows` (ascending,
counted within the segment) and `tf`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.index.ascending import holds, stretches
from nebula.index.hashing import h64
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[Any]

MAX_TF = 65_535
STRETCH = 1 << 20  # postings moved at a time when merging


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
    """Segments that follow one another, with their row counts -> the arrays of one.

    Each run is moved to its place; nothing is sorted but the terms, and no more is in memory than the result.
    """
    every = np.sort(np.concatenate([part[f"{prefix}_terms"] for part in parts]))
    terms = every[np.append(True, every[1:] != every[:-1])[: len(every)]]
    places = [np.searchsorted(terms, part[f"{prefix}_terms"]) for part in parts]
    lengths = np.zeros(len(terms), np.int64)
    for part, place in zip(parts, places, strict=True):
        lengths[place] += np.diff(part[f"{prefix}_starts"])
    starts = np.append(0, np.cumsum(lengths))
    rows, tf = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.uint16)
    free = starts[:-1].copy()
    for part, place, base in zip(parts, places, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True):
        own = part[f"{prefix}_starts"]
        for low, high in stretches(own, STRETCH):
            count = np.diff(own[low : high + 1])
            span = slice(int(own[low]), int(own[high]))
            to = np.arange(span.start, span.stop) + np.repeat(free[place[low:high]] - own[low:high], count)
            rows[to] = part[f"{prefix}_rows"][span] + np.int32(base)
            tf[to] = part[f"{prefix}_tf"][span]
        free[place] += np.diff(own)
    return {f"{prefix}_terms": terms, f"{prefix}_starts": starts, f"{prefix}_rows": rows, f"{prefix}_tf": tf}


@dataclass(frozen=True)
class Postings:
    """The runs of all segments, with the number of each one's first row."""

    segments: Sequence[Mapping[str, Array]]
    bases: Sequence[int]
    prefix: str = "post"

    def run(self, term: int) -> tuple[Array, Array]:
        """One term's rows (int64, ascending) and term frequencies over all segments."""
        found = list(self.spans(term))
        if not found:
            return np.zeros(0, np.int64), np.zeros(0, np.uint16)
        rows = [rows.astype(np.int64) + base for base, rows, _ in found]
        return np.concatenate(rows), np.concatenate([tf for _, _, tf in found])

    def spans(self, term: int) -> Iterator[tuple[int, Array, Array]]:
        """One term's run in each segment that has it: the segment's first row, rows within it (int32), frequencies."""
        key = np.uint64(term)
        for segment, base in zip(self.segments, self.bases, strict=True):
            terms = segment[f"{self.prefix}_terms"]
            at = int(terms.searchsorted(key))
            if at < len(terms) and terms[at] == key:
                starts = segment[f"{self.prefix}_starts"]
                span = slice(int(starts[at]), int(starts[at + 1]))
                yield base, segment[f"{self.prefix}_rows"][span], segment[f"{self.prefix}_tf"][span]

    def fetch(self, terms: Sequence[int]) -> None:
        """Have the runs of some terms at hand: these are."""

    def count(self, term: int) -> int:
        """How many rows hold a term."""
        return sum(len(rows) for _, rows, _ in self.spans(term))

    def has(self, terms: Array) -> Array:
        """Which of some terms (uint64 [t]) any row holds, bool [t]."""
        found = np.zeros(len(terms), np.bool_)
        for segment in self.segments:
            found |= holds(segment[f"{self.prefix}_terms"], terms)
        return found
