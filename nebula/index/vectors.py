"""The dense index: unit vectors of every memory's pieces, each with the row it belongs to and its text's hash.

A segment holds `vec` (float32 [p, d]), `vec_row` (int32 [p], negative: no row yet) and `vec_hash`
(uint64 [p]).
The hash lets a rebuilt index take over what was embedded once: unchanged text is never embedded twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[Any]

#: Below every cosine: the score of a row that has no vector.
ABSENT = np.float32(-2.0)


class Vectors:
    """The vectors of all segments; rows without one are told by `present`."""

    def __init__(self, segments: Sequence[Mapping[str, Array]], rows: int) -> None:
        self.segments = segments
        self.n = rows

    def present(self) -> Array:
        """Which rows have a vector, bool [n]."""
        found = np.zeros(self.n, np.bool_)
        for segment in self.segments:
            rows = segment["vec_row"]
            found[rows[rows >= 0]] = True
        return found

    def cosines(self, query: Array) -> Array:
        """The best cosine of any piece of the query ([q, d], unit) with any piece of each row.

        float32 [n], ABSENT where a row has no vector.
        """
        best = np.full(self.n, ABSENT, np.float32)
        for segment in self.segments:
            rows = segment["vec_row"]
            scores = (segment["vec"] @ query.T).max(axis=1) if len(rows) else np.zeros(0, np.float32)
            known = rows >= 0
            np.maximum.at(best, rows[known], scores[known])
        return best

    def by_hash(self, hashes: Array) -> dict[int, Array]:
        """Text hash -> its pieces' vectors [p, d], for those of `hashes` that were embedded before."""
        found: dict[int, Array] = {}
        for segment in self.segments:
            at = np.flatnonzero(np.isin(segment["vec_hash"], hashes))
            if not len(at):
                continue
            at = at[np.argsort(segment["vec_hash"][at], kind="stable")]
            keys, starts = np.unique(segment["vec_hash"][at], return_index=True)
            for key, run in zip(keys.tolist(), np.split(at, starts[1:]), strict=True):
                one_row = segment["vec_row"][run] == segment["vec_row"][run[0]]
                found.setdefault(key, segment["vec"][run[one_row]])
        return found

    def of_rows(self, rows: Array) -> tuple[Array, Array]:
        """The pieces of some rows: vectors [p, d] and, ascending, the position in `rows` that each belongs to [p]."""
        place = np.full(self.n, -1, np.int64)
        place[rows] = np.arange(len(rows))
        vectors, owners = [], []
        for segment in self.segments:
            owned = segment["vec_row"]
            at = np.flatnonzero(owned >= 0)
            at = at[place[owned[at]] >= 0]
            vectors.append(segment["vec"][at])
            owners.append(place[owned[at]])
        if not vectors:
            return np.zeros((0, 0), np.float32), np.zeros(0, np.int64)
        owner = np.concatenate(owners)
        order = np.argsort(owner, kind="stable")
        return np.concatenate(vectors)[order], owner[order]


def segment(rows: Sequence[int], hashes: Sequence[int], pieces: Sequence[Array]) -> dict[str, Array]:
    """Rows with their texts' hashes and pieces ([p, d] each) -> the arrays of one segment."""
    counts = [len(piece) for piece in pieces]
    return {
        "vec": np.concatenate(pieces).astype(np.float32, copy=False),
        "vec_row": np.repeat(np.array(rows, np.int32), counts),
        "vec_hash": np.repeat(np.array(hashes, np.uint64), counts),
    }


def detached(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The same vectors without rows, for a new numbering; pieces of one row stay together by its negative number."""
    return {
        "vec": arrays["vec"],
        "vec_hash": arrays["vec_hash"],
        "vec_row": np.where(arrays["vec_row"] < 0, arrays["vec_row"], -2 - arrays["vec_row"]),
        "knn_row": np.zeros(0, np.int32),
        "knn": np.zeros((0, 3), np.int32),
        "knn_cos": np.zeros((0, 3), np.float32),
    }


def merge(parts: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """Segments in order -> the arrays of one; of the neighbour lists the later one of a row wins."""
    merged = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if "knn_row" in merged:
        latest = last_of_each(merged["knn_row"])
        merged |= {name: merged[name][latest] for name in ("knn_row", "knn", "knn_cos")}
    return merged


def last_of_each(rows: Array) -> Array:
    """The positions of the last occurrence of each value, values ascending."""
    _, first_from_behind = np.unique(rows[::-1], return_index=True)
    return len(rows) - 1 - first_from_behind
