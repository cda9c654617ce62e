"""A recall on the server: the mapped routes (recall.mapped) over served parts; what they'd read whole is asked for.

No graph: edges are kept by hosts' own indexes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.index.hashing import h64
from nebula.mindlib.record import LEDGER_CODE
from nebula.postgres.served import DIRECTIONS, ServedIndex, signed
from nebula.recall import dense
from nebula.recall.filtering import admits, passing
from nebula.recall.mapped import MappedSearch
from nebula.recall.ranking import Ranking, top

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from nebula.mindlib.record import Memory
    from nebula.postgres.served import ServedTable
    from nebula.recall.graph import Step
    from nebula.recall.hit import Filters, Probe

    Array = NDArray[Any]


class ServedSearch(MappedSearch):
    """See MappedSearch."""

    index: ServedIndex
    walks = False

    @cached_property
    def alive(self) -> Array:
        """Rows that hold at `now`, or all where old ones are asked for; bool [n]."""
        table = self.index.table
        found = np.ones(table.n, np.bool_)
        if not self.filters.old:
            found[table.rows_where("valid_to <= %s", [self.now])] = False
            for row, valid_to in table.laid.get("valid_to", {}).items():
                found[row] = valid_to > self.now
        return found

    @cached_property
    def eligible(self) -> Array:
        """Rows that may be hits; bool [n]."""
        table, asked = self.index.table, _conditions(self.filters)
        if not asked:
            return self.alive
        found = np.zeros(table.n, np.bool_)
        values = [value for _, value in asked]
        found[table.rows_where(" AND ".join(condition for condition, _ in asked), values)] = True
        laid = np.array(sorted(table.laid.get("tag", {})), np.int64)
        found[laid] = passing(self.filters, _Few(table, laid))  # type: ignore[arg-type]  # what it looks at
        both: Array = found & self.alive
        return both

    def dense(self, probe: Probe, k: int) -> Ranking:
        """See `recall.dense`; candidates are looked for in every direction in which a score can be high."""
        self.index.vectors.directions = dense.directions(probe, self.settings.recall.clauses)[:DIRECTIONS]
        return super().dense(replace(probe, second=None), k)

    def time(self, windows: Sequence[tuple[int, int]], k: int) -> Ranking:
        """The rows written in one of the windows; score 1."""
        self._windows = windows
        condition = " OR ".join(["at >= %s AND at < %s"] * len(windows))
        values = [end for window in windows for end in window]
        rows = self.index.table.rows_where(condition, values, "ORDER BY ledger, repeated, id")
        rows = rows[self.eligible[rows]][:k]
        return self._noted(top(np.ones(len(rows)), rows, self.index.table.order_of, k))

    def in_meaning(self, row: int) -> bool:
        """Whether it has a vector."""
        return len(self.index.vectors.of_rows(np.array([row]))[1]) > 0

    def graph(self, seeds: Ranking, k: int) -> Ranking:
        """Nothing: there are no edges."""
        return Ranking()

    def edges_to(self, row: int, k: int) -> Sequence[Step]:
        """None."""
        return []


class ServedLatest:
    """The memories that hold at `now`, by ledger and time; only those that are looked at are read (see context)."""

    def __init__(self, index: ServedIndex, now: int) -> None:
        self.index, self.now = index, now

    def latest(self, ledger: str, filters: Filters, most: int, *, important: bool = False) -> Iterator[Memory]:
        """Of a ledger those that pass, newest first; with `important` the pinned and the important before them."""
        table = self.index.table
        asked = [*_conditions(replace(filters, ledgers=[ledger])), ("valid_to > %s", self.now)]
        order = "ORDER BY pinned DESC, imp DESC, at DESC, id DESC" if important else "ORDER BY at DESC, id DESC"
        few = min(table.n, most + sum(map(len, table.laid.values())))  # some of these may have been closed since
        values = [value for _, value in asked]
        rows = table.rows_where(" AND ".join(said for said, _ in asked), values, f"{order} LIMIT {few}")
        rows = rows[table.values("valid_to", rows) > self.now]
        memories = (self.index.memory(int(row)) for row in rows)
        return islice((one for one in memories if one is not None and admits(filters, one)), most)

    def find(self, ref: str) -> Memory | None:
        """A memory by its ref."""
        found: Memory | None = self.index.find(ref)
        return found


class _Few:
    """Some rows as a table of their own."""

    def __init__(self, table: ServedTable, rows: Array) -> None:
        self.n = len(rows)
        self._table, self._rows = table, rows

    def column(self, name: str) -> Array:
        return self._table.values(name, self._rows)


def _conditions(filters: Filters) -> list[tuple[str, object]]:
    """What `recall.filtering.passing` looks at, as the server is asked it; being replaced aside."""
    found: list[tuple[str, object]] = []
    if filters.ledgers:
        found.append(("ledger = ANY(%s)", [LEDGER_CODE[name] for name in filters.ledgers]))
    if filters.tags:
        found.append(("tag = ANY(%s)", [signed(h64(tag)) for tag in filters.tags]))
    if filters.vias:
        found.append(("via = ANY(%s)", [signed(h64(via)) for via in filters.vias]))
    if filters.since is not None:
        found.append(("at >= %s", filters.since))
    if filters.until is not None:
        found.append(("at <= %s", filters.until))
    return found
