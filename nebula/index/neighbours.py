"""The graph seen from a few nodes: the edges that touch them, without putting together the whole (see `graph`).

Stored edges are looked up by row in every segment; what follows from source, category and date is worked out from the
columns. Nodes are numbered as in `graph`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula import clock
from nebula.index import ascending, graph, nearest
from nebula.index.graph import Edges
from nebula.index.kinds import (
    CATEGORY,
    CONTENT,
    DATE,
    DATE_STARS,
    HUB_TO_CORE,
    KEYWORDS,
    MEANING,
    SHARED,
    SOURCE,
    WEIGHTS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from nebula.index.view import Index

    Array = NDArray[Any]
    Columns = Mapping[str, Array]


#: A node passes on no probability below this: what a walk touches is bounded by its seeds, not by the mind. Of 40 walks
#: over 10,000 and 100,000 memories all had the first 200 rows of the whole walk but one, which differed from 102 on.
LEAST = 1e-7


class Neighbours:
    """The edges of one index among the rows that are alive (bool [n]) at `now` (seconds)."""

    def __init__(self, index: Index, alive: Array, now: int, min_cosine: float) -> None:
        self.index = index
        self.alive = alive
        self.today = clock.day(now)
        self.min_cosine = min_cosine
        self.rows = index.table.n
        self.core = self.rows
        self.first_star = self.core + 1 + len(self._by_tag[0])
        self.nodes = self.first_star + DATE_STARS
        self.least = LEAST

    def of(self, nodes: Array) -> Edges:
        """All edges that touch some nodes (at least one, ascending, those below `rows` alive)."""
        rows = nodes[: np.searchsorted(nodes, self.rows)]
        parts = [*self._of_hubs(nodes[len(rows) :].tolist())]
        if len(rows):
            parts += [self._of_content(rows), self._of_keywords(rows), self._of_meaning(rows)]
            parts += [*self._of_source(rows), *self._of_category(rows), self._of_date(rows)]
        start, end, weight, kind = zip(*parts, strict=True)
        return Edges(*map(np.concatenate, (start, end, weight, kind)))

    # edges of words and meaning: stored

    def _of_content(self, rows: Array) -> _Part:
        mine, others = [], []
        for segment in self.index.segments:
            which, at = ascending.lookup(segment["said_ends"], rows)
            other = segment["said_other"][at]
            keep = self.alive[other]
            if self._common:
                words = segment["said_words"][segment["said_at"][at]]
                told = words != 0
                for term in self._common:
                    told &= words != np.uint64(term)
                keep &= told.sum(axis=1) >= SHARED
            which, other = which[keep], other[keep]
            once = np.ones(len(which), np.bool_)  # where both speak of each other the pair stands twice, side by side
            once[1:] = (which[1:] != which[:-1]) | (other[1:] != other[:-1])
            mine.append(rows[which[once]])
            others.append(other[once])
        return _part(np.concatenate(mine), np.concatenate(others), CONTENT)

    def _of_keywords(self, rows: Array) -> _Part:
        mine, others = [], []
        for segment in self.index.segments:
            which, at = ascending.lookup(segment["edge_ends"], rows)
            other = segment["edge_other"][at]
            keep = self.alive[other]
            mine.append(rows[which[keep]])
            others.append(other[keep])
        start, end = np.concatenate(mine), np.concatenate(others)
        if self._common:
            keep = graph.shared_besides(start, end, self._keyword_rows) >= SHARED
            start, end = start[keep], end[keep]
        return _part(start, end, KEYWORDS)

    def _of_meaning(self, rows: Array) -> _Part:
        parts, least = self.index.vectors.segments, self.min_cosine - 1e-6
        near, cosine = nearest.lists_of(parts, rows)
        near[(cosine < least)] = -1
        which, place = np.nonzero(near >= 0)
        mine, others = [rows[which]], [near[which, place]]
        for number, part in enumerate(parts):
            which, at = ascending.lookup(part["knn_ends"], rows)
            at = part["knn_at"][at]
            other = part["knn_row"][at // nearest.NEIGHBOURS]
            keep = part["knn_cos"].reshape(-1)[at] >= least
            keep &= (near[which] != other[:, None]).all(axis=1)  # the pair is there already
            for later in parts[number + 1 :]:
                keep &= ~nearest.listed(later, other)
            mine.append(rows[which[keep]])
            others.append(other[keep])
        start, end = np.concatenate(mine), np.concatenate(others)
        keep = self.alive[end]
        return _part(start[keep], end[keep], MEANING)

    @cached_property
    def _common(self) -> Sequence[int]:
        return graph.common_keywords(self.index.keywords, self.rows)

    @cached_property
    def _keyword_rows(self) -> Array:
        return graph.keyword_rows(self.index.keywords, self.rows, self._common)

    # edges of source, category and date: drawn from the columns

    def _of_source(self, rows: Array) -> Iterator[_Part]:
        for next_row in self._in_time:
            other = next_row[rows]
            yield _part(rows[other >= 0], other[other >= 0], SOURCE)

    @cached_property
    def _in_time(self) -> tuple[Array, Array]:
        """Every row's neighbour before and after by source, -1 where none is within reach; int32 [n] each."""
        before, after = np.full((2, self.rows), -1, np.int32)
        a, b = graph.source_pairs(self.index.table, self.alive)
        after[a], before[b] = b, a
        return before, after

    @cached_property
    def _by_tag(self) -> tuple[Array, Array, Array]:
        """The tags that have a hub, as hashes, ascending; the living rows that bear one, by tag; where each begins."""
        rows = np.flatnonzero(self.alive & (self.index.table.column("tag") != 0))
        tags, hub = graph.sorted_unique(self.index.table.column("tag")[rows])
        return (
            tags,
            rows[np.argsort(hub, kind="stable")],
            np.append(0, np.cumsum(np.bincount(hub, minlength=len(tags)))),
        )

    def _of_category(self, rows: Array) -> Iterator[_Part]:
        tag = self.index.table.column("tag")[rows]
        tagged = tag != 0
        yield _part(rows[tagged], self.core + 1 + np.searchsorted(self._by_tag[0], tag[tagged]), CATEGORY)

    def _of_date(self, rows: Array) -> _Part:
        day = self.index.table.column("at")[rows] // clock.DAY_SECONDS
        recent = (day > self.today - DATE_STARS) & (day <= self.today)
        return _part(rows[recent], self.first_star + self.today - day[recent], DATE)

    def _of_hubs(self, nodes: Sequence[int]) -> Iterator[_Part]:
        hubs, tagged, starts = np.arange(self.core + 1, self.first_star), *self._by_tag[1:]
        for node in nodes:
            if node == self.core:
                yield _part(np.full(len(hubs), node), hubs, CATEGORY, HUB_TO_CORE)
            elif node < self.first_star:
                hub = node - self.core - 1
                rows = tagged[starts[hub] : starts[hub + 1]]
                yield _part(np.full(len(rows), node), rows, CATEGORY)
                yield _part(np.array([node]), np.array([self.core]), CATEGORY, HUB_TO_CORE)
            else:
                rows = self._of_day(self.today - (node - self.first_star))
                yield _part(np.full(len(rows), node), rows, DATE)

    def _of_day(self, day: int) -> Array:
        at = self.index.table.column("at")
        return np.flatnonzero(self.alive & (at >= day * clock.DAY_SECONDS) & (at < (day + 1) * clock.DAY_SECONDS))


_Part = tuple["Array", "Array", "Array", "Array"]


def _part(start: Array, end: Array, kind: int, weight: float | None = None) -> _Part:
    each = WEIGHTS[kind] if weight is None else weight
    return start, end, np.full(len(start), each), np.full(len(start), kind, np.uint8)
