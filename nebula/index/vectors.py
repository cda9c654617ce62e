"""The dense index: unit vectors of every memory's pieces, each with the row it belongs to and its text's hash.

A segment holds `vec` (float32 [p, d]), `vec_row` (int32 [p], negative: no row yet) and `vec_hash` (uint64 [p]).
The hash lets a rebuilt index take over what was embedded once: unchanged text is never embedded twice.

`vec_code` (int8 [p, d]) is the vector in steps of `vec_step` (float32 [p]), and `vec_off` (float32 [p]) the length of
what that leaves out. A unit vector's cosine with the code is off by no more than this (Cauchy-Schwarz), so a large mind
reads the codes, a quarter of the bytes, and the vectors only of those that may be among the best: the answer is exact.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.index import nearest
from nebula.index.ascending import distinct, holds, lookup
from nebula.index.threads import side_by_side
from nebula.mindlib import tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[Any]
    #: Cosines of some vectors with each query, [m, q] -> their scores, [m].
    Score = Callable[[Array], Array]

#: Below every cosine: the score of a row that has no vector.
ABSENT = np.float32(-2.0)
#: Vectors of a segment from which on the codes are read first.
CODES_FROM = 16_384
#: Codes widened at a time: they never leave the cache.
CODE_BLOCK = 512
#: Vectors that many queries are held against at once.
CLEAREST_BLOCK = 2048
#: What float32 may lose in a product of unit vectors.
LOST = np.float32(1e-6)


class Vectors:
    """The vectors of all segments; rows without one are told by `present`."""

    def __init__(self, segments: Sequence[Mapping[str, Array]], rows: int) -> None:
        self.segments = segments
        self.n = rows

    @cached_property
    def present(self) -> Array:
        """Which rows have a vector, bool [n]."""
        found = np.zeros(self.n, np.bool_)
        for segment in self.segments:
            rows = segment["vec_row"]
            found[rows[rows >= 0]] = True
        return found

    def best(self, queries: Array, eligible: Array, k: int, score: Score) -> tuple[Array, Array]:
        """Rows and the best score of any piece of theirs, `score` making one of its cosines with `queries` ([q, d]).

        Of the eligible rows (bool [n]) that have a vector at least the k best, with all that tie; ascending, float32.
        Cosines that are off by e must move a score by at most e.
        """
        low = np.full(self.n, ABSENT, np.float32)
        scanned = []
        for segment in self.segments:
            scanned.append(_scan(segment, queries, eligible, score))
            _release(segment)
        for rows, _, cosine, off in scanned:
            np.maximum.at(low, rows, cosine - off)
        known = low[low > ABSENT]
        least = np.partition(known, len(known) - k)[len(known) - k] if len(known) > k else ABSENT
        best = np.full(self.n, ABSENT, np.float32)
        for segment, (rows, at, cosine, off) in zip(self.segments, scanned, strict=True):
            may = np.flatnonzero(cosine + off >= least)
            exact = _scores(segment["vec"][at[may]], queries, score) if off.any() else cosine[may]
            np.maximum.at(best, rows[may], exact)
            _release(segment)
        found = np.flatnonzero(best > ABSENT)
        return found, best[found]

    def clearest(self, queries: Array) -> Array:
        """The best cosine of each query ([q, d], unit) with any row; -1 where no row has a vector, float32 [q].

        The codes are read block by block, and the vectors of those alone that may be above the best so far.
        """
        found = np.full(len(queries), -1.0, np.float32)
        for segment in self.segments:
            for start in range(0, len(segment["vec"]), CLEAREST_BLOCK):
                block = slice(start, start + CLEAREST_BLOCK)
                about = (segment["vec_code"][block] @ queries.T) * segment["vec_step"][block, None]
                may = (about + segment["vec_off"][block, None] >= found).any(axis=1) & (segment["vec_row"][block] >= 0)
                if may.any():
                    exact = segment["vec"][start + np.flatnonzero(may)] @ queries.T
                    np.maximum(found, exact.max(axis=0), out=found)
            _release(segment)
        return found

    def by_hash(self, hashes: Array) -> dict[int, Array]:
        """Text hash -> its pieces' vectors [p, d], for those of `hashes` that were embedded before."""
        found: dict[int, Array] = {}
        known = distinct(hashes)
        for segment in self.segments:
            at = np.flatnonzero(holds(known, segment["vec_hash"]))
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
        parts = list(self.runs_of_rows(rows))
        if not parts:
            wide = self.segments[0]["vec"].shape[1] if self.segments else 0
            return np.zeros((0, wide), np.float32), np.zeros(0, np.int64)
        owner = np.concatenate([owner for _, owner in parts])
        order = np.argsort(owner, kind="stable")
        return np.concatenate([vectors for vectors, _ in parts])[order], owner[order]

    def runs_of_rows(self, rows: Array) -> Iterator[tuple[Array, Array]]:
        """The same segment by segment, the vectors of rows that lie together as they lie there, uncopied."""
        for segment, (sorted_rows, place) in zip(self.segments, self._by_row, strict=True):
            owner, at = lookup(sorted_rows, rows)
            if place is None and len(at) and (at[1:] == at[:-1] + 1).all():
                yield segment["vec"][at[0] : at[-1] + 1], owner
            elif len(at):
                yield segment["vec"][at if place is None else place[at]], owner

    @cached_property
    def _by_row(self) -> list[tuple[Array, Array | None]]:
        """The rows of each segment's vectors in order, and where each stands (None: they are in order already)."""
        found: list[tuple[Array, Array | None]] = []
        for segment in self.segments:
            rows = segment["vec_row"]
            place = None if (rows[1:] >= rows[:-1]).all() else np.argsort(rows, kind="stable")
            found.append((rows if place is None else rows[place], place))
        return found


def _release(segment: Mapping[str, Array]) -> None:
    """Give the memory of a large segment back."""
    if len(segment["vec"]) >= CODES_FROM:
        tensors.release(segment["vec"])


def _scan(
    segment: Mapping[str, Array], queries: Array, eligible: Array, score: Score
) -> tuple[Array, Array, Array, Array]:
    """Rows and places of a segment's eligible vectors, their scores, and by how much each may be off."""
    rows = segment["vec_row"]
    owned = rows if rows.min(initial=0) == 0 else np.maximum(rows, 0)  # a vector that waits for its text has no row
    at = np.flatnonzero(eligible[owned] & (rows >= 0)) if len(eligible) else np.zeros(0, np.int64)
    if len(rows) < CODES_FROM or len(at) * 8 < len(rows):
        vectors = segment["vec"] if len(at) == len(rows) else segment["vec"][at]
        return rows[at], at, _scores(vectors, queries, score), np.zeros(len(at), np.float32)
    return rows[at], at, _code_scores(segment, queries, score)[at], segment["vec_off"][at]


def _scores(vectors: Array, queries: Array, score: Score) -> Array:
    """The score of each vector, float32 [p]."""
    if not len(vectors):
        return np.zeros(0, np.float32)
    return score((vectors @ queries[0])[:, None] if len(queries) == 1 else vectors @ queries.T)


def _code_scores(segment: Mapping[str, Array], queries: Array, score: Score) -> Array:
    """The same with the codes; off by `vec_off` at most."""
    codes = segment["vec_code"]
    found = np.empty(len(codes), np.float32)

    def read(first: int, last: int) -> None:
        wide = np.empty((CODE_BLOCK, codes.shape[1]), np.float32)
        for start in range(first, last, CODE_BLOCK):
            block = slice(start, min(start + CODE_BLOCK, last))
            part = wide[: block.stop - start]
            part[...] = codes[block]
            cosines = (part @ queries[0])[:, None] if len(queries) == 1 else part @ queries.T
            found[block] = score(cosines * segment["vec_step"][block, None])

    side_by_side(read, len(codes), CODES_FROM)
    return found


def coded(vectors: Array) -> dict[str, Array]:
    """Unit vectors [p, d] -> their codes, steps, and what these leave out."""
    step = np.maximum(np.abs(vectors).max(axis=1, initial=0.0), np.float32(1e-12)) / np.float32(127)
    code = np.rint(vectors / step[:, None]).astype(np.int8)
    off = np.linalg.norm(vectors - code * step[:, None], axis=1) + LOST
    return {"vec_code": code, "vec_step": step.astype(np.float32), "vec_off": off.astype(np.float32)}


def segment(rows: Sequence[int], hashes: Sequence[int], pieces: Sequence[Array]) -> dict[str, Array]:
    """Rows with their texts' hashes and pieces ([p, d] each) -> the arrays of one segment."""
    counts = [len(piece) for piece in pieces]
    whole = np.concatenate(pieces).astype(np.float32, copy=False)
    return {
        "vec": whole,
        **coded(whole),
        "vec_row": np.repeat(np.array(rows, np.int32), counts),
        "vec_hash": np.repeat(np.array(hashes, np.uint64), counts),
    }


def detached(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The same vectors without rows, for a new numbering; pieces of one row stay together by its negative number."""
    codes = {name: arrays[name] for name in ("vec_code", "vec_step", "vec_off") if name in arrays}
    return {
        "vec": arrays["vec"],
        **(codes or coded(arrays["vec"])),
        "vec_hash": arrays["vec_hash"],
        "vec_row": np.where(arrays["vec_row"] < 0, arrays["vec_row"], -2 - arrays["vec_row"]),
        **nearest.stored(np.zeros(0, np.int32), np.zeros((0, 3), np.int32), np.zeros((0, 3), np.float32)),
    }


def without(arrays: Mapping[str, Array], hashes: Array) -> dict[str, Array]:
    """The same segment without the pieces of some texts; its rows must be detached."""
    kept = ~np.isin(arrays["vec_hash"], hashes)
    return {name: array[kept] if name.startswith("vec") else array for name, array in arrays.items()}


def merge(parts: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """Segments in order -> the arrays of one; of the neighbour lists the later one of a row wins."""
    merged = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if "knn_row" in merged:
        latest = last_of_each(merged["knn_row"])
        merged |= nearest.stored(*(merged[name][latest] for name in ("knn_row", "knn", "knn_cos")))
    return merged


def last_of_each(rows: Array) -> Array:
    """The positions of the last occurrence of each value, values ascending."""
    _, first_from_behind = np.unique(rows[::-1], return_index=True)
    return len(rows) - 1 - first_from_behind
