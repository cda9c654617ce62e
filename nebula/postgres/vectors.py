"""Vectors of a mind's texts in its database: made once, by whichever host comes first, and lent to all others.

A host's index stays its own; only the work of embedding is shared. What comes from there is looked at before it is
used, and what can't be put there is no failure: the next host makes it again.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.errors import StoreRefused
from nebula.index import parts
from nebula.index.ascending import holds
from nebula.index.hashing import h64

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from nebula.index.catchup import Array, Embed
    from nebula.postgres.connection import Connection

#: By how much the square of a unit vector's length may be off.
UNEVEN = 1e-3
#: Texts whose vectors go over at a time, some megabytes.
CHUNK = 2000


def lent(connection: Connection, model: str, dimensions: int, embed: Embed) -> Embed:
    """The same embedding with the vectors that are there taken from there, and all others put there."""

    def through(texts: Sequence[str]) -> list[Array]:
        hashes = [_signed(h64(text)) for text in texts]
        found = fetch(connection, model, dimensions, hashes)
        lacking = {key: text for key, text in zip(hashes, texts, strict=True) if key not in found}
        if lacking:
            made = dict(zip(lacking, embed(list(lacking.values())), strict=True))
            _put(connection, model, made)
            found |= made
        return [found[key] for key in hashes]

    return through


def share(connection: Connection, model: str, index: Path) -> int:
    """Put the vectors of an index folder there that its rows use and that are not there yet; -> of how many texts."""
    folders = sorted(index.iterdir()) if index.is_dir() else []
    given = [found for folder in folders if (found := parts.load(folder)).manifest.model == model]
    query = "SELECT hash FROM nebula.vector WHERE model = %s"
    rows = connection.run(lambda db: db.execute(query, [model], binary=True).fetchall(), single=True)
    there = np.sort(np.array([key for (key,) in rows], np.int64))
    shared = 0
    for found in given:
        for _, arrays in found.vectors:
            for made in _runs(arrays, there):
                _put(connection, model, made)
                shared += len(made)
            there = np.union1d(there, arrays["vec_hash"].view(np.int64)[arrays["vec_row"] >= 0])
    return shared


def _runs(arrays: Any, there: Array) -> Iterator[dict[int, Array]]:
    """The vectors of a segment by their texts' hashes, but for those that are `there` (ascending), CHUNK at a time."""
    keys, rows = arrays["vec_hash"].view(np.int64), arrays["vec_row"]
    fresh = np.flatnonzero((rows >= 0) & ~holds(there, keys))
    order = fresh[np.lexsort((rows[fresh], keys[fresh]))]
    starts = np.flatnonzero(np.r_[True, keys[order][1:] != keys[order][:-1]]) if len(order) else order
    for at in range(0, len(starts), CHUNK):
        ends = [*starts[at + 1 : at + CHUNK + 1].tolist(), len(order)]
        runs = [order[first:last] for first, last in zip(starts[at : at + CHUNK].tolist(), ends, strict=False)]
        yield {int(keys[run[0]]): arrays["vec"][run[rows[run] == rows[run[0]]]] for run in runs}


def fetch(connection: Connection, model: str, dimensions: int, hashes: Sequence[int]) -> dict[int, Array]:
    """The unit vectors [p, d] of some texts, by their hashes as the server has them; those alone that are there."""
    query = "SELECT hash, pieces FROM nebula.vector WHERE model = %s AND hash = ANY(%s)"
    rows = connection.run(lambda db: db.execute(query, [model, list(hashes)], binary=True).fetchall(), single=True)
    found = {key: _read(raw, dimensions) for key, raw in rows}
    return {key: pieces for key, pieces in found.items() if pieces is not None}


def _read(raw: bytes, dimensions: int) -> Array | None:
    """Bytes as unit vectors [p, d] float32; None where they are none."""
    if not raw or len(raw) % (4 * dimensions):
        return None
    pieces = np.frombuffer(raw, "<f4").reshape(-1, dimensions)
    with np.errstate(all="ignore"):
        even = np.abs(np.einsum("pd,pd->p", pieces, pieces) - 1) < UNEVEN  # false for what is no number, too
    return pieces.astype(np.float32) if even.all() else None


def _put(connection: Connection, model: str, made: dict[int, Array]) -> None:
    query = (
        "INSERT INTO nebula.vector (model, hash, pieces) SELECT %s, hash, pieces"
        " FROM unnest(%s::bigint[], %s::bytea[]) AS given (hash, pieces) ORDER BY hash ON CONFLICT DO NOTHING"
    )
    bodies = [np.ascontiguousarray(pieces, "<f4").tobytes() for pieces in made.values()]

    def work(db: Any) -> None:
        db.execute("SET LOCAL synchronous_commit TO off")  # lost, it is made again
        db.execute(query, [model, list(made), bodies])

    with contextlib.suppress(StoreRefused):  # a role that may only read
        connection.run(work)


def _signed(hash_: int) -> int:
    """64 bits as the server has them."""
    return hash_ - (1 << 64) if hash_ >> 63 else hash_
