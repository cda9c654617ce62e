"""Many rows of numbers over the wire at once: COPY's binary form, written and read as arrays, no object a cell.

A tuple is the count of its fields, then of each field its length and its bytes, all big endian; where every field has
a fixed size the tuples are a structured array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[Any]

HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TAIL = b"\xff\xff"
#: How the server has a column's type: unsigned numbers as signed ones of the same bits, bytes as smallint.
_SENT = {"uint8": ">i2", "bool": "?", "int32": ">i4", "int64": ">i8", "uint64": ">i8", "float64": ">f8"}


def _tuples(kinds: Mapping[str, Any]) -> np.dtype[Any]:
    fields: list[tuple[str, str]] = [("", ">i2")]
    for name, kind in kinds.items():
        fields += [(f"{name}#", ">i4"), (name, _SENT[np.dtype(kind).name])]
    return np.dtype([(name or "count", kind) for name, kind in fields])


def dump(columns: Mapping[str, Array]) -> bytes:
    """Columns of equal length -> what `COPY … FROM STDIN (FORMAT BINARY)` takes, in their order."""
    kinds = {name: values.dtype for name, values in columns.items()}
    layout = _tuples(kinds)
    rows = np.zeros(len(next(iter(columns.values()))), layout)
    rows["count"] = len(columns)
    for name, values in columns.items():
        rows[f"{name}#"] = layout[name].itemsize
        rows[name] = values.view(np.int64) if values.dtype == np.uint64 else values
    return HEAD + rows.tobytes() + TAIL


def load(data: bytes, kinds: Mapping[str, Any]) -> dict[str, Array]:
    """What `COPY … TO STDOUT (FORMAT BINARY)` gave of columns without nulls -> one array each."""
    rows = np.frombuffer(data[len(HEAD) : -len(TAIL)], _tuples(kinds))
    found = {}
    for name, kind in kinds.items():
        values = rows[name].astype(rows.dtype[name].newbyteorder("="))
        found[name] = values.view(np.uint64) if np.dtype(kind) == np.uint64 else values.astype(kind)
    return found


def fetch(db: Any, query: str, values: Sequence[object], kinds: Mapping[str, Any]) -> dict[str, Array]:
    """A query's rows as one array a column."""
    with db.cursor().copy(f"COPY ({query}) TO STDOUT (FORMAT BINARY)", values) as copy:
        return load(b"".join(bytes(block) for block in copy), kinds)


def put(db: Any, table: str, columns: str, data: bytes) -> None:
    """Add rows in COPY's form to a table. By a temporary one: no row-level security lets COPY in."""
    waits = laid_by(db, table, columns, data)
    db.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {waits}")  # noqa: S608 - names of ours
    db.execute(f"TRUNCATE {waits}")


def laid_by(db: Any, table: str, columns: str, data: bytes) -> str:
    """Put rows in COPY's form into a temporary table like another one, until the transaction's end; -> its name."""
    waits = f"pg_temp.incoming_{table.rpartition('.')[2]}"
    db.execute(f"CREATE TEMP TABLE IF NOT EXISTS {waits.removeprefix('pg_temp.')} (LIKE {table}) ON COMMIT DELETE ROWS")
    with db.cursor().copy(f"COPY {waits} ({columns}) FROM STDIN (FORMAT BINARY)") as copy:
        for start in range(0, len(data), 1 << 20):
            copy.write(data[start : start + (1 << 20)])
    return waits


def vectors(hashes: Array, parts: Array, vectors: Array) -> bytes:
    """Tuples (bigint, int, halfvec) of unit vectors [p, d]."""
    wide = vectors.shape[1]
    layout = np.dtype(
        [
            *(("count", ">i2"), ("hash#", ">i4"), ("hash", ">i8"), ("part#", ">i4"), ("part", ">i4")),
            *(("v#", ">i4"), ("d", ">i2"), ("unused", ">i2"), ("v", ">f2", (wide,))),
        ]
    )
    rows = np.zeros(len(hashes), layout)
    rows["count"], rows["hash#"], rows["part#"], rows["v#"], rows["d"] = 3, 8, 4, 4 + 2 * wide, wide
    rows["hash"], rows["part"], rows["v"] = hashes.view(np.int64), parts, vectors
    return HEAD + rows.tobytes() + TAIL


def postings(term: Array, first: Array, starts: Array, rows: Array, tf: Array, length: Array) -> bytes:
    """Tuples (bigint, int, int, bytea) of blocks; block i has rows[starts[i] : starts[i + 1]]."""
    from struct import Struct

    head = Struct(">hiqiiiii")
    rows, tf, length = rows.astype("<u2"), tf.astype("<u2"), length.astype("<i4")
    parts = [HEAD]
    firsts, ends, terms = first.tolist(), starts.tolist(), term.view(np.int64).tolist()
    for at, key in enumerate(terms):
        low, high = ends[at], ends[at + 1]
        count = high - low
        parts.append(head.pack(4, 8, key, 4, firsts[at], 4, count, 8 * count))
        parts += [rows[low:high].tobytes(), tf[low:high].tobytes(), length[low:high].tobytes()]
    parts.append(TAIL)
    return b"".join(parts)
