"""The folded state: what changes and captures made of the rows, as columns and a few strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nebula import clock
from nebula.index.table import CHANGEABLE, moment
from nebula.mindlib.changes import readable
from nebula.mindlib.record import BY_NAME, LEDGERS, is_core, is_uid, split_ref

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from nebula.index.table import Table
    from nebula.mindlib.changes import Delta

    Array = NDArray[Any]

#: Changed fields that are kept as they are, since a column can't give their text back.
STRINGS = ("tag", "w_why", "due", "done_at", "say", "topic", "emo", "sunken_at", "valid_to")
Strings = dict[int, dict[str, Any]]


def lay_over(table: Table, strings: Strings, deltas: Mapping[str, Delta]) -> None:
    """Apply folded changes to the table's columns and the changed strings, in place. Unknown refs are passed over."""
    for ref, row in rows_of(table, list(deltas)).items():
        delta = deltas[ref]
        kind = LEDGERS[int(table.value("ledger", row))].name
        for name, value in delta.fields.items():
            if not readable(kind, name, value):
                continue
            if name == "say":
                table.set(row, "never", is_core(kind, value, pinned=False))
            if name in STRINGS and (value is None or isinstance(value, str)):
                strings.setdefault(row, {})[name] = value
            if name in CHANGEABLE:
                table.set(row, name, value)
        if delta.captured:
            table.set(row, "captured", True)
        if delta.hits:
            table.put(row, "hits", int(table.value("hits", row)) + delta.hits)
            table.put(row, "last_hit", max(int(table.value("last_hit", row)), moment(delta.last_hit, 0)))


def rows_of(table: Table, refs: list[str]) -> dict[str, int]:
    """The rows that refs name; unknown ones are left out."""
    split = [(ref, found) for ref in refs if (found := split_ref(ref))]
    rows = (
        dict(zip((ref for ref, _ in split), table.rows_of([found for _, found in split]), strict=True)) if split else {}
    )
    rows |= {ref: table.row_of_uid(ref) for ref in refs if ref not in rows and is_uid(ref)}
    return {ref: row for ref, row in rows.items() if row >= 0}


def arrays(table: Table) -> dict[str, Array]:
    """The changeable columns of all rows, for the disk."""
    return {name: np.ascontiguousarray(table.column(name)) for name in CHANGEABLE}


def fields(table: Table, strings: Strings, row: int) -> dict[str, Any]:
    """The changeable fields of one row as a record holds them, to be laid over its own line."""
    last_hit, summary = int(table.value("last_hit", row)), int(table.value("summarised", row))
    return {
        "w": float(table.value("w", row)),
        "imp": float(table.value("imp", row)),
        "e": float(table.value("e", row)),
        "depth": int(table.value("depth", row)),
        "pinned": bool(table.value("pinned", row)),
        "hits": int(table.value("hits", row)),
        "last_hit": clock.write(clock.from_seconds(last_hit)) if last_hit else "",
        "summarised": f"{BY_NAME['summaries'].letter}{summary}" if summary else "",
        "captured": bool(table.value("captured", row)),
        **strings.get(row, {}),
    }
