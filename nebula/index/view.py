"""One consistent view of an index, as recall searches it: rows, runs, vectors, edges, and the memories behind them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.index import mentions, nearest, segments, state
from nebula.index.graph import Stored
from nebula.mindlib.record import LEDGER_CODE, LEDGERS, Memory, from_object, reason_unreadable
from nebula.quick import dataclass
from nebula.text.keywords import AT_MOST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nebula.index.postings import Postings
    from nebula.index.table import Table
    from nebula.index.vectors import Vectors
    from nebula.mindlib.store import Store

    Array = NDArray[Any]
    Columns = Mapping[str, Array]


@dataclass
class Index:
    """What the routes search. `embedded`: texts embedded while opening."""

    store: Store
    table: Table
    segments: Sequence[Columns]
    vectors: Vectors
    strings: state.Strings
    embedded: int = 0
    whole: bool = False  # whether every line of the ledgers could be read, as far as that is known
    #: A second encoder's vectors of the rows in Latin script (see index.second).
    second: Vectors | None = None
    second_waiting: int = 0  # texts that it has not seen

    @property
    def postings(self) -> Postings:
        """The lexical runs."""
        return segments.runs_of(self.segments, "post")

    @property
    def keywords(self) -> Postings:
        """The keyword runs."""
        return segments.runs_of(self.segments, "kw")

    @property
    def missing(self) -> int:
        """How many rows have no vector."""
        return self.table.n - int(self.vectors.present.sum())

    def stored_edges(self) -> Stored:
        """The edges that the index keeps."""
        empty = {name: np.zeros(0, np.int32) for name in mentions.STORED}
        empty["said_words"] = np.zeros((0, AT_MOST), np.uint64)
        arrays = {name: np.concatenate([empty[name], *(s[name] for s in self.segments)]) for name in mentions.STORED}
        near, cosine = nearest.lists(self.vectors.segments, self.table.n)
        return Stored(**arrays, near=near, cosine=cosine)

    def ref(self, row: int) -> str:
        """What a person types for a row's memory."""
        value = self.table.value
        if value("repeated", row):
            return f"{int(value('uid', row)):016x}"
        return f"{LEDGERS[int(value('ledger', row))].letter}{int(value('id', row))}"

    def row(self, ref: str) -> int:
        """The row that a ref names, -1 where none does."""
        return state.rows_of(self.table, [ref]).get(ref, -1)

    def replaced(self, now: int) -> set[str]:
        """The refs of the memories that no longer hold at `now` (seconds)."""
        return {self.ref(int(row)) for row in np.flatnonzero(self.table.column("valid_to") <= now)}

    def nearest_of(self, ref: str, ledger: str) -> tuple[str, float] | None:
        """The nearest other memory of a ledger that holds, of the three nearest at all, and its cosine."""
        row = self.row(ref)
        near, cosine = nearest.lists_of(self.vectors.segments, np.array([row]))
        cell = self.table.value
        for other, value in zip(near[0].tolist(), cosine[0].tolist(), strict=True) if row >= 0 else ():
            holds = other >= 0 and cell("valid_to", other) > cell("at", row)
            if holds and cell("ledger", other) == LEDGER_CODE[ledger]:
                return self.ref(other), value
        return None

    def memory(self, row: int) -> Memory | None:
        """The memory of a row as it stands; None where its line is no longer in the ledger."""
        memory = read_line(self.store, self.table, row)
        return memory and replace(memory, **state.fields(self.table, self.strings, row))


def read_line(store: Store, table: Table, row: int) -> Memory | None:
    """A row's memory by its own line alone, read from where the line lies; None where it is no longer there."""
    import orjson

    value = table.value
    kind = LEDGERS[int(value("ledger", row))]
    raw = store.line(kind.name, int(value("offset", row)), int(value("length", row)))
    try:
        obj = orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return None
    if reason_unreadable(obj):
        return None
    return from_object(kind.name, obj, repeated=bool(value("repeated", row)), uid=f"{int(value('uid', row)):016x}")
