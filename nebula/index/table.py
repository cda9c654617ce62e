"""The rows of an index: one memory each, as columns; where its line lies, and the values that recall weighs by.

A row keeps its number until the index is built anew. Columns that later changes may set (`CHANGEABLE`) come from
the folded state, the others from the segments. Strings stand in columns as 64-bit hashes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nebula import clock
from nebula.index.hashing import h64
from nebula.mindlib.record import EMOTIONS, LEDGER_CODE, Memory, is_core, split_ref

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Columns = Mapping[str, Array]

EMO_CODE = {name: code for code, name in enumerate(EMOTIONS, start=1)}
OTHER_EMO = 255

DTYPES: Mapping[str, Any] = {
    "ledger": np.uint8,
    "id": np.int64,
    "repeated": np.bool_,
    "uid": np.uint64,
    "at": np.int64,  # seconds, see clock
    "via": np.uint64,
    "text": np.uint64,
    "offset": np.int64,  # bytes, of the line in its ledger
    "length": np.int64,
    "terms": np.int32,  # tokens of the text, BM25's document length
    "never": np.bool_,  # a tact that says never: of the core (spec 3)
    "w": np.float64,
    "imp": np.float64,
    "e": np.float64,
    "emo": np.uint8,
    "tag": np.uint64,
    "depth": np.uint8,
    "pinned": np.bool_,
    "hits": np.int64,
    "last_hit": np.int64,
    "valid_to": np.int64,
    "summarised": np.int64,  # id of the summary that digests it, 0: none
    "captured": np.bool_,  # by a later memory (spec 6)
}
CHANGEABLE = (
    "w",
    "imp",
    "e",
    "emo",
    "tag",
    "depth",
    "pinned",
    "hits",
    "last_hit",
    "valid_to",
    "never",
    "summarised",
    "captured",
)


def moment(text: str | None, missing: int) -> int:
    """A ledger time in seconds, `missing` where it is empty or can't be read."""
    found = clock.parse(text) if text else None
    return missing if found is None else clock.seconds(found)


def cell(name: str, value: Any) -> Any:
    """A record's field as its column holds it."""
    if name == "emo":
        return EMO_CODE.get(value, OTHER_EMO) if value else 0
    if name in {"tag", "via", "text"}:
        return h64(value)
    if name == "last_hit":
        return moment(value, 0)
    if name == "summarised":
        split = split_ref(value)
        return split[1] if split else 0
    return moment(value, clock.FOREVER) if name == "valid_to" else value


def columns(memories: Sequence[Memory], spans: Sequence[tuple[int, int]], terms: Sequence[int]) -> dict[str, Array]:
    """Memories with the (offset, length) of their lines and their token counts -> one array a column."""
    special: dict[str, list[Any]] = {
        "ledger": [LEDGER_CODE[m.ledger] for m in memories],
        "uid": [_uid_number(m.uid) for m in memories],
        "at": [m.seconds for m in memories],
        "offset": [span[0] for span in spans],
        "length": [span[1] for span in spans],
        "terms": list(terms),
        "never": [is_core(m.ledger, m.say, pinned=False) for m in memories],
    }
    plain = {name: [cell(name, getattr(m, name)) for m in memories] for name in DTYPES if name not in special}
    return {name: np.array((special | plain)[name], dtype=dtype) for name, dtype in DTYPES.items()}


def _uid_number(uid: str) -> int:
    try:
        return int(uid, 16) & (2**64 - 1)
    except ValueError:
        return h64(uid)


class Table:
    """The rows of all segments, with the folded state laid over; a column is put together when first asked for."""

    def __init__(self, segments: Sequence[Columns], state: Columns) -> None:
        self.segments = segments
        self.state = state
        self.n = sum(len(segment["id"]) for segment in segments)
        self._columns: dict[str, Array] = {}

    def column(self, name: str) -> Array:
        """One value a row, shape [n]."""
        if name not in self._columns:
            parts = [segment[name] for segment in self.segments]
            whole = np.concatenate(parts) if parts else np.zeros(0, DTYPES[name])
            if name in self.state:
                folded = self.state[name][: self.n]
                whole[: len(folded)] = folded
            self._columns[name] = whole
        return self._columns[name]

    def set(self, row: int, name: str, value: Any) -> None:
        """Lay one changed field over a row; a value that the column can't hold is ignored."""
        try:
            self.column(name)[row] = cell(name, value)
        except (TypeError, ValueError, OverflowError):
            return

    def order(self) -> Array:
        """The key that settles ties: ledger, then id; repeated ids behind (uint64, shape [n])."""
        if "order" not in self._columns:
            ledger = self.column("ledger").astype(np.uint64) << np.uint64(56)
            repeated = self.column("repeated").astype(np.uint64) << np.uint64(55)
            self._columns["order"] = ledger | repeated | self.column("id").astype(np.uint64)
        return self._columns["order"]

    def rows_of(self, refs: Sequence[tuple[str, int]]) -> list[int]:
        """(ledger, id) pairs -> row numbers, -1 for unknown ones; repeated ids are not found here."""
        wanted = np.array([(LEDGER_CODE[ledger] << 56) | number for ledger, number in refs], dtype=np.uint64)
        order = self.order()
        if len(wanted) * 16 < len(order):
            found = [np.flatnonzero(order == key) for key in wanted]
            return [int(rows[0]) if len(rows) else -1 for rows in found]
        by_key = np.argsort(order, kind="stable")
        at = np.searchsorted(order, wanted, sorter=by_key)
        rows = by_key[np.minimum(at, max(0, self.n - 1))] if self.n else np.zeros(len(wanted), np.int64)
        return [int(r) if self.n and order[r] == key else -1 for r, key in zip(rows, wanted, strict=True)]

    def row_of_uid(self, uid: str) -> int:
        """The row that bears a uid, -1 where none does."""
        found = np.flatnonzero(self.column("uid") == np.uint64(_uid_number(uid)))
        return int(found[0]) if len(found) else -1
