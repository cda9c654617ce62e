"""The routes over the mapped index: columns instead of records, no loop over memories."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.index import graph as graphs
from nebula.index import kinds
from nebula.index.hashing import h64
from nebula.index.neighbours import Neighbours
from nebula.mindlib.record import EMOTIONS, LEDGER_CODE, LEDGERS
from nebula.recall import dense, graph, lexical
from nebula.recall.modulation import Facts
from nebula.recall.ranking import Ranking
from nebula.text.keywords import keywords

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from nebula.index.view import Index
    from nebula.mindlib.record import Memory
    from nebula.recall.hit import Filters
    from nebula.recall.modulation import Ageing
    from nebula.settings import Settings

    Array = NDArray[Any]

_EMO_NAMES = ("", *EMOTIONS)
#: Rows up to which the whole graph is put together: a walk reaches most of it anyway.
WHOLE = 20_000
#: The columns that are looked at for every row of a ranking.
_LOOKED_AT = (
    "ledger", "id", "repeated", "uid", "at", "imp", "pinned", "never", "w", "emo", "e", "captured", "valid_to",
)  # fmt: skip


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
        self._walk: graph.Walk | None = None
        self._seen: dict[int, Mapping[str, Any]] = {}

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
        return self._look(lexical.rank(tokens, self.index, self.eligible, k))

    def dense(self, vector: Any, k: int) -> Ranking:
        """See `recall.dense`."""
        return self._look(dense.rank(vector, self.index, self.eligible, k))

    def _look(self, ranking: Ranking) -> Ranking:
        """Read what is needed of a ranking's rows at once: one row at a time costs 300 times as much."""
        rows = np.array([row for row in ranking.ids if row not in self._seen], np.int64)
        columns = [self.index.table.values(name, rows).tolist() for name in _LOOKED_AT]
        orders = self.index.table.order_of(rows).tolist()
        for row, order, *values in zip(rows.tolist(), orders, *columns, strict=True):
            self._seen[row] = {"order": order, **dict(zip(_LOOKED_AT, values, strict=True))}
        return ranking

    def _row(self, row: int) -> Mapping[str, Any]:
        if row not in self._seen:
            self._look(Ranking([row], [0.0]))
        return self._seen[row]

    @cached_property
    def edges(self) -> graph.Walked:
        """The edges among the rows that hold."""
        index, least = self.index, self.settings.graph.min_cosine
        if index.table.n > WHOLE:
            return Neighbours(index, self.alive, self.now, least)
        return graphs.assemble(index.table, index.stored_edges(), index.keywords, self.alive, self.now, least)

    def graph(self, seeds: Ranking, k: int) -> Ranking:
        """See `recall.graph`."""
        if not seeds.ids:
            return Ranking()
        self._walk = graph.walk(seeds, self.edges, self.settings.graph)
        return self._look(graph.rank(self._walk, self.edges.rows, self.eligible, self.index.table.order_of, k))

    def order(self, row: int) -> int:
        """Ledger, then id."""
        return int(self._row(row)["order"])

    def facts(self, row: int) -> Facts:
        """What the factors look at, A and layer as of `now`."""
        found = self._row(row)
        ledger, emo = LEDGERS[found["ledger"]].name, found["emo"]
        a, layer = self.ageing(ledger, found["imp"], found["at"], found["pinned"] or found["never"])
        feeling = _EMO_NAMES[emo] if emo < len(_EMO_NAMES) else ""
        return Facts(ledger, a, found["w"], layer, feeling, found["e"], found["captured"])

    def ref(self, row: int) -> str:
        """What a person types for it."""
        found = self._row(row)
        return f"{found['uid']:016x}" if found["repeated"] else f"{LEDGERS[found['ledger']].letter}{found['id']}"

    def memory(self, row: int) -> Memory | None:
        """The memory, read from its ledger."""
        return self.index.memory(row)

    def is_old(self, row: int) -> bool:
        """Whether it was replaced by `now`, or is known to have been since."""
        return self._row(row)["valid_to"] <= self.now or self.ref(row) in self.replaced

    def strongest_edge(self, row: int) -> str:
        """The edge over which the last walk brought most to a row: the neighbour and the reason; "" where none did."""
        edges = self.edges.of(np.array([row]))
        if self._walk is None or not len(edges.end):
            return ""
        around = np.sort(edges.end)
        theirs = self.edges.of(around[np.append(True, around[1:] != around[:-1])])
        degree = np.bincount(theirs.start, theirs.weight, self.edges.nodes)
        p = np.zeros(self.edges.nodes)
        p[self._walk.nodes] = self._walk.p
        best = int(np.argmax(p[edges.end] * edges.weight / degree[edges.end]))
        return self._in_words(int(edges.kind[best]), row, int(edges.end[best]))

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
        if len(set(owner.tolist())) < 2:
            return 0.0
        return float((vectors[owner == 0] @ vectors[owner == 1].T).max())
