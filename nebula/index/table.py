"""The rows of an index: one memory each, as columns; where its line lies, and the values that recall weighs by.

A row keeps its number until the index is built anew. Columns that later changes may set (`CHANGEABLE`) come from
the folded state, the others from the segments. Strings stand in columns as 64-bit hashes.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula import clock
from nebula.index.hashing import h64
from nebula.mindlib.record import EMOTIONS, LEDGER_CODE, Memory, is_core, split_ref
from nebula.text import dialogue

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
    "session": np.uint64,  # the conversation it is of, 0: none
    "turn": np.int64,
    "speaker": np.uint64,  # who speaks in it, 0: nobody known
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
    if name in {"tag", "via"}:
        return h64(value)
    if name == "last_hit":
        return moment(value, 0)
    if name == "summarised":
        split = split_ref(value)
        return split[1] if split else 0
    return moment(value, clock.FOREVER) if name == "valid_to" else value


def columns(
    memories: Sequence[Memory], spans: Sequence[tuple[int, int]], terms: Sequence[int], texts: Sequence[int]
) -> dict[str, Array]:
    """Memories with the (offset, length) of their lines and their token counts -> one array a column."""
    special: dict[str, list[Any]] = {
        "ledger": [LEDGER_CODE[m.ledger] for m in memories],
        "uid": [_uid_number(m.uid) for m in memories],
        "at": [m.seconds for m in memories],
        "offset": [span[0] for span in spans],
        "length": [span[1] for span in spans],
        "terms": list(terms),
        "never": [is_core(m.ledger, m.say, pinned=False) for m in memories],
        "text": list(texts),
        "session": [h64(m.session) if m.session else 0 for m in memories],
        "speaker": [speaker_hash(dialogue.spoken_by(m.speaker, m.text)) for m in memories],
    }
    plain = {name: [cell(name, getattr(m, name)) for m in memories] for name in DTYPES if name not in special}
    return {name: np.array((special | plain)[name], dtype=dtype) for name, dtype in DTYPES.items()}


def speaker_hash(name: str) -> int:
    """A speaker's folded name as its column holds it."""
    return h64(name) if name else 0


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
        self._laid: dict[str, dict[int, Any]] = {}  # over columns that are not put together yet

    def column(self, name: str) -> Array:
        """One value a row, shape [n]."""
        if name not in self._columns:
            parts = [segment[name] for segment in self.segments]
            whole = np.concatenate(parts) if parts else np.zeros(0, DTYPES[name])
            if name in self.state:
                folded = self.state[name][: self.n]
                whole[: len(folded)] = folded
            for row, value in self._laid.pop(name, {}).items():
                whole[row] = value
            self._columns[name] = whole
        return self._columns[name]

    @cached_property
    def mean_length(self) -> float:
        """Tokens of a row's text in the mean, 0 without rows."""
        return float(self.column("terms").mean()) if self.n else 0.0

    def set(self, row: int, name: str, value: Any) -> None:
        """Lay one changed field over a row; a value that the column can't hold is ignored."""
        held = np.zeros(1, DTYPES[name])
        try:
            held[0] = cell(name, value)
        except (TypeError, ValueError, OverflowError):
            return
        self.put(row, name, held[0])

    def order(self) -> Array:
        """The key that settles ties: ledger, then id; repeated ids behind (uint64, shape [n])."""
        if "order" not in self._columns:
            keys = [order_keys(segment) for segment in self.segments]
            self._columns["order"] = np.concatenate(keys) if keys else np.zeros(0, np.uint64)
        return self._columns["order"]

    def order_of(self, rows: Array) -> Array:
        """The same for some rows."""
        return order_keys({name: self.values(name, rows) for name in ("ledger", "repeated", "id")})

    def values(self, name: str, rows: Array) -> Array:
        """Some rows' values of a column; nothing else of it is read."""
        if name in self._columns:
            return self._columns[name][rows]
        found = np.empty(len(rows), DTYPES[name])
        base = 0
        for segment in self.segments:
            size = len(segment["id"])
            here = (rows >= base) & (rows < base + size)
            found[here] = segment[name][rows[here] - base]
            base += size
        if name in self.state:
            here = rows < len(self.state[name])
            found[here] = self.state[name][rows[here]]
        laid = self._laid.get(name, {})
        for at, row in enumerate(rows.tolist() if laid else ()):
            found[at] = laid.get(row, found[at])
        return found

    def value(self, name: str, row: int) -> Any:
        """One row's value of a column."""
        if name in self._columns:
            return self._columns[name][row]
        if row in self._laid.get(name, {}):
            return self._laid[name][row]
        if name in self.state and row < len(self.state[name]):
            return self.state[name][row]
        for segment in self.segments:
            if row < len(segment["id"]):
                return segment[name][row]
            row -= len(segment["id"])
        raise IndexError(row)

    def put(self, row: int, name: str, held: Any) -> None:
        """Lay a value over a row as its column holds it."""
        (self._columns[name] if name in self._columns else self._laid.setdefault(name, {}))[row] = held

    def with_text(self, hash_: int) -> Array:
        """The rows that have a text, by its hash; ascending."""
        return np.flatnonzero(self.column("text") == np.uint64(hash_))

    def at_turns(self, session: Array, turn: Array) -> Array:
        """The row at each turn of a session, -1 where there is none, int64 [s]; of several one."""
        others = np.flatnonzero(np.isin(self.column("session"), session))
        keys = zip(self.values("session", others).tolist(), self.values("turn", others).tolist(), strict=True)
        place = dict(zip(keys, others.tolist(), strict=True))
        pairs = zip(session.tolist(), turn.tolist(), strict=True)
        return np.array([place.get(pair, -1) for pair in pairs], np.int64)

    def rows_of(self, refs: Sequence[tuple[str, int]]) -> list[int]:
        """(ledger, id) pairs -> row numbers, -1 for unknown ones; repeated ids are not found here."""
        wanted = np.array([(LEDGER_CODE[ledger] << 56) | number for ledger, number in refs], dtype=np.uint64)
        return [int(row) for row in self._looked_up("ref", wanted)]

    def row_of_uid(self, uid: str) -> int:
        """The row that bears a uid, -1 where none does."""
        return int(self._looked_up("uid", np.array([_uid_number(uid)], np.uint64))[0])

    def _looked_up(self, name: str, wanted: Array) -> Array:
        """The first row of each key by the segments' sorted keys, -1 where none has it; int64."""
        found = np.full(len(wanted), -1, np.int64)
        base = 0
        for segment in self.segments:
            keys = segment[f"{name}_keys"]
            at = np.searchsorted(keys, wanted)
            here = np.flatnonzero((found < 0) & (at < len(keys)))
            here = here[keys[at[here]] == wanted[here]]
            found[here] = base + segment[f"{name}_rows"][at[here]]
            base += len(keys)
        return found


def order_keys(columns: Columns) -> Array:
    """Ledger, repeated, id as one number each (uint64)."""
    ledger = columns["ledger"].astype(np.uint64) << np.uint64(56)
    repeated = columns["repeated"].astype(np.uint64) << np.uint64(55)
    keys: Array = ledger | repeated | columns["id"].astype(np.uint64)
    return keys


def lookups(columns: Columns) -> dict[str, Array]:
    """A segment's rows sorted by ref and by uid: `ref_keys` and `uid_keys` (uint64), `ref_rows` and `uid_rows`."""
    found: dict[str, Array] = {}
    for name, keys in (("ref", order_keys(columns)), ("uid", columns["uid"])):
        order = np.argsort(keys, kind="stable")
        found |= {f"{name}_keys": keys[order], f"{name}_rows": order.astype(np.int32)}
    return found
