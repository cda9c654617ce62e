"""The routes over the mapped index: columns instead of records, no loop over memories."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.index import graph as graphs
from nebula.index import kinds
from nebula.index.hashing import h64
from nebula.mindlib.record import EMOTIONS, LEDGER_CODE, LEDGERS
from nebula.recall import dense, graph, lexical
from nebula.recall.modulation import Facts
from nebula.recall.ranking import Ranking
from nebula.text.keywords import keywords

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from nebula.index.graph import Graph
    from nebula.index.view import Index
    from nebula.mindlib.record import Memory
    from nebula.recall.hit import Filters
    from nebula.recall.modulation import Ageing
    from nebula.settings import Settings

    Array = NDArray[Any]

_EMO_NAMES = ("", *EMOTIONS)


class MappedSearch:
    """One view of an index at `now` (seconds), under filters; `replaced` are refs known by today to be old."""

    def __init__(
        self,
        index: Index,
        settings: Settings,
        now: int,
        filters: Filters,
        ageing: Ageing,
        replaced: Collection[str] = (),
    ) -> None:
        self.index = index
        self.settings = settings
        self.now = now
        self.filters = filters
        self.ageing = ageing
        self.replaced = replaced
        self._p: Array | None = None

    @cached_property
    def alive(self) -> Array:
        """Rows that hold at `now`, or all where old ones are asked for; bool [n]."""
        if self.filters.old:
            return np.ones(self.index.table.n, np.bool_)
        return self.index.table.column("valid_to") > self.now

    @cached_property
    def eligible(self) -> Array:
        """Rows that may be hits; bool [n]."""
        column, filters, mask = self.index.table.column, self.filters, self.alive.copy()
        if filters.ledgers:
            mask &= np.isin(column("ledger"), [LEDGER_CODE[name] for name in filters.ledgers])
        if filters.tags:
            mask &= np.isin(column("tag"), np.array([h64(tag) for tag in filters.tags], np.uint64))
        if filters.vias:
            mask &= np.isin(column("via"), np.array([h64(via) for via in filters.vias], np.uint64))
        if filters.since is not None:
            mask &= column("at") >= filters.since
        if filters.until is not None:
            mask &= column("at") <= filters.until
        return mask

    def lexical(self, tokens: Sequence[str], k: int) -> Ranking:
        """See `recall.lexical`."""
        return lexical.rank(tokens, self.index, self.eligible, k)

    def dense(self, vector: Any, k: int) -> Ranking:
        """See `recall.dense`."""
        return dense.rank(vector, self.index, self.eligible, k)

    @cached_property
    def edges(self) -> Graph:
        """All edges among the rows that hold."""
        index = self.index
        stored = index.stored_edges()
        return graphs.assemble(
            index.table, stored, index.keywords, self.alive, self.now, self.settings.graph.min_cosine
        )

    def graph(self, seeds: Ranking, k: int) -> Ranking:
        """See `recall.graph`."""
        if not seeds.ids:
            return Ranking()
        self._p = graph.walk(seeds, self.edges, self.settings.graph)
        return graph.rank(self._p, self.edges, self.eligible, self.index.table.order(), k)

    def order(self, row: int) -> int:
        """Ledger, then id."""
        return int(self.index.table.order()[row])

    def facts(self, row: int) -> Facts:
        """What the factors look at, A and layer as of `now`."""
        column = self.index.table.column
        ledger = LEDGERS[int(column("ledger")[row])].name
        core = bool(column("pinned")[row]) or bool(column("never")[row])
        a, layer = self.ageing(ledger, float(column("imp")[row]), int(column("at")[row]), core)
        emo = int(column("emo")[row])
        return Facts(
            ledger,
            a,
            float(column("w")[row]),
            layer,
            _EMO_NAMES[emo] if emo < len(_EMO_NAMES) else "",
            float(column("e")[row]),
            bool(column("captured")[row]),
        )

    def ref(self, row: int) -> str:
        """What a person types for it."""
        return self.index.ref(row)

    def memory(self, row: int) -> Memory | None:
        """The memory, read from its ledger."""
        return self.index.memory(row)

    def is_old(self, row: int) -> bool:
        """Whether it was replaced by `now`, or is known to have been since."""
        return int(self.index.table.column("valid_to")[row]) <= self.now or self.ref(row) in self.replaced

    def strongest_edge(self, row: int) -> str:
        """The edge over which the last walk brought most to a row: the neighbour and the reason; "" where none did."""
        if self._p is None:
            return ""
        edges = self.edges
        at = np.flatnonzero((edges.a == row) | (edges.b == row))
        other = np.where(edges.a[at] == row, edges.b[at], edges.a[at])
        if not len(at):
            return ""
        flow = self._p[other] * edges.weight[at] / edges.degree()[other]
        best = int(np.argmax(flow))
        return self._in_words(int(edges.kind[at[best]]), row, int(other[best]))

    def _in_words(self, kind: int, row: int, other: int) -> str:
        mine = self.memory(row)
        if mine is None:
            return ""
        if other >= self.edges.rows:
            return kinds.reason(kind, mine, mine, {mine.ref: ()})
        theirs = self.memory(other)
        if theirs is None:
            return ""
        words = {memory.ref: keywords(memory.text) for memory in (mine, theirs)}
        return f"{theirs.ref} {kinds.reason(kind, mine, theirs, words, self._cosine(row, other))}"

    def _cosine(self, row: int, other: int) -> float:
        vectors, owner = self.index.vectors.of_rows(np.array([row, other]))
        if len(np.unique(owner)) < 2:
            return 0.0
        return float((vectors[owner == 0] @ vectors[owner == 1].T).max())
