"""The routes over the mapped index: columns instead of records, no loop over memories."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.index import graph as graphs
from nebula.index import kinds, sessions
from nebula.index.hashing import h64
from nebula.index.neighbours import Neighbours
from nebula.index.table import speaker_hash
from nebula.mindlib.record import EMOTIONS, LEDGERS
from nebula.recall import dense, graph, lexical
from nebula.recall.filtering import among, passing
from nebula.recall.graph import Step
from nebula.recall.hit import Evidence
from nebula.recall.modulation import Facts
from nebula.recall.ranking import Ranking, leading, top
from nebula.text.keywords import keywords

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from nebula.index.view import Index
    from nebula.mindlib.record import Memory
    from nebula.recall.hit import Asked, Filters, Probe
    from nebula.recall.lexical import Term
    from nebula.recall.mixed import Mixed
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


def hashed(asked: Asked) -> tuple[dict[int, float], lexical.Whole]:
    """The same, terms as the index has them."""
    groups = {group: frozenset(map(h64, group)) for many in asked.whole.values() for group in many}
    whole = {h64(term): [groups[group] for group in many] for term, many in asked.whole.items()}
    return {h64(term): count for term, count in asked.terms.items()}, whole


class MappedSearch:
    """One view of an index at `now` (seconds), under filters; `replaced` are refs known by today to be old."""

    walks = True

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
        self._probe: Probe | None = None
        self._near = Ranking()
        self._mixed: Mixed | None = None
        self._share: Array = np.zeros(0)
        self._windows: Sequence[tuple[int, int]] = ()
        self._seen: dict[int, Mapping[str, Any]] = {}
        self._ranked: list[int] = []

    @cached_property
    def alive(self) -> Array:
        """Rows that hold at `now`, or all where old ones are asked for; bool [n]."""
        if self.filters.old:
            return np.ones(self.index.table.n, np.bool_)
        return self.index.table.column("valid_to") > self.now

    @cached_property
    def eligible(self) -> Array:
        """Rows that may be hits; bool [n]."""
        found: Array = self.alive & passing(self.filters, self.index.table)
        return found

    def lexical(self, asked: Asked, k: int) -> Ranking:
        """The rows with the highest shares of the query's information (see `recall.lexical`), neighbours' lent."""
        recall, order = self.settings.recall, self.index.table.order_of
        terms, whole = hashed(asked)
        self._share = lexical.shares(terms, self.index, recall.k1, recall.b, whole)
        self._share *= self.alive
        own = leading(self._share, 2 * k)
        rows = np.array(top(self._share[own], own, order, 2 * k).ids, np.int64)
        if recall.before or recall.after:
            beside = [sessions.beside(self.index.table, rows, step) for step in (-1, 1)]
            rows = np.array(sorted({*rows.tolist(), *beside[0].tolist(), *beside[1].tolist()} - {-1}), np.int64)
        rows = rows[self.eligible[rows]]
        lent = self._lent(rows)
        return self._noted(top(lent[lent > 0], rows[lent > 0], order, k))

    def _lent(self, rows: Array) -> Array:
        """A row's own share, and parts of its neighbours': what was said just before belongs to what is said here."""
        found = self._share[rows]
        for _, given in self._beside(rows):
            found = found + given
        return found

    def _beside(self, rows: Array) -> Iterator[tuple[Array, Array]]:
        """The rows before, then those after some rows (-1: none) where they lend, and what each gives, [r] each."""
        recall = self.settings.recall
        for part, step in ((recall.before, -1), (recall.after, 1)):
            if part:
                beside = sessions.beside(self.index.table, rows, step)
                yield beside, part * np.where(beside >= 0, self._share[beside], 0.0)

    def lent(self, row: int) -> Sequence[tuple[int, float]]:
        """The rows beside a row that lend it words, and what each gives to its score."""
        return [(int(other[0]), float(given[0])) for other, given in self._beside(np.array([row])) if given[0]]

    def dense(self, probe: Probe, k: int) -> Ranking:
        """See `recall.dense`."""
        self._probe, self._mixed = probe, None
        self._near = dense.rank(probe, self.index, self.eligible, self.settings.recall.clauses, k)
        if probe.second is None or self.index.second is None:
            return self._noted(self._near)
        from nebula.recall.mixed import Mixed

        # the floor was calibrated on the first encoder alone: `_near` stays its, and so does what `evidence` says
        self._mixed = Mixed(probe, self.index, self.settings.recall)
        return self._noted(self._mixed.rank(self.eligible, k))

    def time(self, windows: Sequence[tuple[int, int]], k: int) -> Ranking:
        """The rows written in one of the windows; score 1."""
        self._windows = windows
        rows = np.flatnonzero(self.eligible)
        inside = self._inside(rows)
        return self._noted(top(inside[inside > 0], rows[inside > 0], self.index.table.order_of, k))

    def _inside(self, rows: Array) -> Array:
        at = self.index.table.values("at", rows)
        found = np.zeros(len(rows))
        for first, end in self._windows:
            found[(at >= first) & (at < end)] = 1.0
        return found

    def scores(self, route: str, rows: Sequence[int]) -> Sequence[float]:
        """Of any rows; for one that has no vector yet see `_guessed`."""
        at = np.array(rows, np.int64)
        if route == "lexical":
            found = self._lent(at)
        elif route == "dense" and self._probe is not None:
            mixed, clauses = self._mixed, self.settings.recall.clauses
            own = mixed.parts(at)[0] if mixed else dense.scores(self._probe, self.index, at, clauses)
            found = self._guessed(own, self._lent(at))
        elif route == "second" and self._mixed is not None:
            found = self._mixed.parts(at)[1]
        elif route == "graph" and self._walk is not None:
            p = dict(zip(self._walk.nodes.tolist(), self._walk.p.tolist(), strict=True))
            most = max(p.values())
            return [p.get(row, 0.0) / most for row in rows]
        elif route == "time":
            found = self._inside(at)
        else:
            found = np.zeros(len(at))
        return found.tolist()  # type: ignore[no-any-return]

    def _guessed(self, own: Array, share: Array) -> Array:
        """The dense scores of some rows; one without a vector counts as the last that the dense route gave.

        As its first where it has more of the query's words than any that has a vector: what was just said, and whose
        vector waits for its turn, comes to mind by its own words before what says nearly the same.
        """
        waits = np.isnan(own)
        first, last = (self._near.scores[0], self._near.scores[-1]) if self._near.scores else (0.0, 0.0)
        most = share[~waits].max(initial=0.0)
        return np.where(waits, np.where(share > most, first, last), own)

    def spoken(self, names: Sequence[str], rows: Sequence[int]) -> Sequence[float]:
        """1 for each row that one of the names speaks, else 0."""
        mine = self.index.table.values("speaker", np.array(rows, np.int64))
        return among(mine, map(speaker_hash, names)).astype(float).tolist()  # type: ignore[no-any-return]

    def evidence(self, without: int = -1) -> Evidence | None:
        """The clearest that an eligible row has for the whole query, among the first of the dense route.

        `without`: a row that is left out, as if it were not there.
        """
        near = [row for row in self._near.ids if row != without]
        if self._probe is None or not near:
            return None
        whole = dense.scores(self._probe, self.index, np.array(near, np.int64), 0.0)
        eligible = self.eligible
        if without >= 0:
            eligible = eligible.copy()
            eligible[without] = False
        return Evidence(float(whole.max()), float(self._share[eligible].max()), self._second(near))

    def _second(self, near: Sequence[int]) -> float | None:
        """The clearest cosine that some rows have under the second encoder; None where none is asked or has one."""
        if self._probe is None or self._probe.second is None or self.index.second is None:
            return None
        index = replace(self.index, vectors=self.index.second)
        found = dense.scores(self._probe.second, index, np.array(near, np.int64), 0.0)
        return None if np.isnan(found).all() else float(np.nanmax(found))

    def _noted(self, ranking: Ranking) -> Ranking:
        """A ranking whose rows will be looked at."""
        self._ranked += ranking.ids
        return ranking

    def _row(self, row: int) -> Mapping[str, Any]:
        """What is needed of a row. All that are noted are read at once: one at a time costs 300 times as much."""
        if row not in self._seen:
            rows = np.array([other for other in {*self._ranked, row} if other not in self._seen], np.int64)
            self._ranked = []
            columns = [self.index.table.values(name, rows).tolist() for name in _LOOKED_AT]
            orders = self.index.table.order_of(rows).tolist()
            for other, order, *values in zip(rows.tolist(), orders, *columns, strict=True):
                self._seen[other] = {"order": order, **dict(zip(_LOOKED_AT, values, strict=True))}
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
        return self._noted(graph.rank(self._walk, self.edges.rows, self.eligible, self.index.table.order_of, k))

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

    def row(self, ref: str) -> int:
        """The row that a ref names; -1 where none does."""
        return self.index.row(ref)

    def in_meaning(self, row: int) -> bool:
        """Whether it has a vector."""
        return bool(self.index.vectors.present[row])

    def words(self, asked: Asked, row: int) -> Mapping[str, Term]:
        """See `recall.lexical.of_row`."""
        recall = self.settings.recall
        names = {h64(term): term for term in asked.terms}
        terms, whole = hashed(asked)
        found = lexical.of_row(terms, self.index, row, recall.k1, recall.b, whole)
        return {names[token]: term for token, term in found.items()}

    def strongest_edge(self, row: int) -> str:
        """The edge over which the last walk brought most to a row: the neighbour and the reason; "" where none did."""
        return next((step.words for step in self.edges_to(row, 1)), "")

    def edges_to(self, row: int, k: int) -> Sequence[Step]:
        """The k edges over which the last walk brought most to a row, that first."""
        edges = self.edges.of(np.array([row]))
        if self._walk is None or not len(edges.end):
            return []
        around = np.sort(edges.end)
        theirs = self.edges.of(around[np.append(True, around[1:] != around[:-1])])
        degree = np.bincount(theirs.start, theirs.weight, self.edges.nodes)
        p = np.zeros(self.edges.nodes)
        p[self._walk.nodes] = self._walk.p
        flow = p[edges.end] * edges.weight / degree[edges.end]
        best = np.argsort(-flow, kind="stable")[:k].tolist()
        steps = [self._step(int(edges.kind[at]), row, int(edges.end[at]), float(flow[at])) for at in best]
        return [step for step in steps if step is not None]

    def _step(self, kind: int, row: int, other: int, flow: float) -> Step | None:
        mine = self.memory(row)
        if mine is None:
            return None
        if other >= self.edges.rows:
            return Step("", kinds.reason(kind, mine, mine, {mine.ref: ()}), flow)
        theirs = self.memory(other)
        if theirs is None:
            return None
        words = {memory.ref: keywords(memory.text) for memory in (mine, theirs)}
        return Step(theirs.ref, kinds.reason(kind, mine, theirs, words, self._cosine(row, other)), flow)

    def _cosine(self, row: int, other: int) -> float:
        vectors, owner = self.index.vectors.of_rows(np.array([row, other]))
        if len(set(owner.tolist())) < 2:
            return 0.0
        return float((vectors[owner == 0] @ vectors[owner == 1].T).max())
