"""The edge of meaning's raw material: for every memory its three nearest by cosine (spec 4).

Each arrival is compared with the WINDOW rows before it, so that building stays linear in the number of memories; in a
mind smaller than the window that is everyone with everyone. Ties go to the smaller ref. Cosines are compared as
rounded to STEP, since the same text embedded in another batch may differ in the last bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.index.ascending import holds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nebula.index.vectors import Vectors

    Array = NDArray[Any]

NEIGHBOURS = 3
WINDOW = 16_384  # rows
BLOCK = 256  # rows at a time: 256 x 16,384 cosines are 16 MB
STEP = 1e-5
STRETCH = 128  # cosines whose greatest stands for them
NONE = np.float32(-2.0)  # below every cosine


def lists(segments: Sequence[Mapping[str, Array]], n: int) -> tuple[Array, Array]:
    """The latest list of every row: neighbours int32 [n, 3] (-1: none) and cosines float32 [n, 3]."""
    near = np.full((n, NEIGHBOURS), -1, np.int32)
    cosine = np.full((n, NEIGHBOURS), -2, np.float32)
    for segment in segments:
        near[segment["knn_row"]] = segment["knn"]
        cosine[segment["knn_row"]] = segment["knn_cos"]
    return near, cosine


def lists_of(segments: Sequence[Mapping[str, Array]], rows: Array) -> tuple[Array, Array]:
    """The latest lists of some rows (ascending), [r, 3] each."""
    near = np.full((len(rows), NEIGHBOURS), -1, np.int32)
    cosine = np.full((len(rows), NEIGHBOURS), -2, np.float32)
    rows = rows.astype(np.int32, copy=False)
    for segment in segments:
        listed = segment["knn_row"]
        if len(listed):
            at = np.minimum(np.searchsorted(listed, rows), len(listed) - 1)
            here = np.flatnonzero(listed[at] == rows)
            near[here], cosine[here] = segment["knn"][at[here]], segment["knn_cos"][at[here]]
    return near, cosine


def listed(segment: Mapping[str, Array], rows: Array) -> Array:
    """Which of some rows (int32, any order) have a list in a segment, bool [r]."""
    return holds(segment["knn_row"], rows)


def stored(rows: Array, near: Array, cosine: Array) -> dict[str, Array]:
    """Lists of some rows (ascending) as a segment holds them: the lists; who is in them, and where."""
    listed, place = near[near >= 0], np.flatnonzero(near.reshape(-1) >= 0)
    order = np.argsort(listed, kind="stable")
    ends = {"knn_ends": listed[order], "knn_at": place[order].astype(np.int32)}
    return {"knn_row": rows.astype(np.int32), "knn": near, "knn_cos": cosine, **ends}


def update(vectors: Vectors, fresh: Array, order: Array, near: Array, cosine: Array) -> dict[str, Array]:
    """Lists after `fresh` rows (ascending) arrived -> the segment arrays of all lists that changed.

    `near` and `cosine` are the lists before, [n, 3], and are updated in place; `order` settles ties (uint64 [n]).
    """
    rank = _rank(order)
    before = near.copy()
    is_fresh = np.zeros(len(order), np.bool_)
    is_fresh[fresh] = True
    present = vectors.present
    for start in range(0, len(fresh), BLOCK):
        block = fresh[start : start + BLOCK]
        low, high = max(0, int(block[0]) - WINDOW), int(block[-1]) + 1
        # rows that arrived before the block or in it; fresh ones above it compare themselves with these when they come
        others = np.flatnonzero(present[low:high]) + low
        if high < len(order):
            above = np.flatnonzero(present[high : high + WINDOW] & ~is_fresh[high : high + WINDOW]) + high
            others = np.concatenate([others, above])
        found = _cosines(vectors, block, others)
        at, place = _reaching(found, _third(found)[:, None])
        _take_in(block[at], others[place], found[at, place], near, cosine, rank)
        found[:, np.searchsorted(others, block)] = NONE  # among themselves they have met
        at, place = _reaching(found, cosine[others, -1])
        _take_in(others[place], block[at], found[at, place], near, cosine, rank)
    changed = np.flatnonzero((near != before).any(axis=1) | is_fresh)
    return stored(changed, near[changed], cosine[changed])


def refresh(vectors: Vectors, rows: Array, order: Array, near: Array, cosine: Array) -> None:
    """Make the lists of `rows` (ascending, each with a vector) anew, in place; no other list changes."""
    rank = _rank(order)
    near[rows], cosine[rows] = -1, -2
    present = vectors.present
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        low = max(0, int(block[0]) - WINDOW)
        others = np.flatnonzero(present[low : int(block[-1]) + WINDOW + 1]) + low
        found = _cosines(vectors, block, others)
        at, place = _reaching(found, _third(found)[:, None])
        _take_in(block[at], others[place], found[at, place], near, cosine, rank)


def _rank(order: Array) -> Array:
    rank = np.empty(len(order), np.int64)
    rank[np.argsort(order, kind="stable")] = np.arange(len(order))
    return rank


def _cosines(vectors: Vectors, block: Array, others: Array) -> Array:
    """The best cosine of any two pieces of each pair, float32 [b, o]; NONE for oneself. All of `block` are `others`."""
    left, left_owner = vectors.of_rows(block)
    runs = list(vectors.runs_of_rows(others))
    right_owner = np.concatenate([owner for _, owner in runs])
    best = np.empty((len(left), len(right_owner)), np.float32)
    done = 0
    for right, _ in runs:
        np.matmul(left, right.T, out=best[:, done : done + len(right)])
        done += len(right)
    if (right_owner[1:] < right_owner[:-1]).any():
        order = np.argsort(right_owner, kind="stable")
        best, right_owner = best[:, order], right_owner[order]
    if len(left) > len(block):
        best = np.maximum.reduceat(best, np.searchsorted(left_owner, np.arange(len(block))), axis=0)
    if len(right_owner) > len(others):
        best = np.maximum.reduceat(best, np.searchsorted(right_owner, np.arange(len(others))), axis=1)
    best[np.arange(len(block)), np.searchsorted(others, block)] = NONE
    return best


def _third(cosines: Array) -> Array:
    """A value that each row [r, o] reaches three times at least, [r]: the third among its stretches' greatest."""
    greatest = np.maximum.reduceat(cosines, np.arange(0, cosines.shape[1], STRETCH), axis=1)
    if greatest.shape[1] < NEIGHBOURS:
        return np.full(len(cosines), NONE)
    return np.partition(greatest, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS]


def _reaching(cosines: Array, least: Array) -> tuple[Array, Array]:
    """The places of the cosines that may reach `least` ([b, 1] or [o]) once both are rounded to STEP."""
    found = np.flatnonzero(cosines >= np.maximum(least - np.float32(2 * STEP), NONE + np.float32(0.5)))
    return found // cosines.shape[1], found % cosines.shape[1]


def _take_in(rows: Array, others: Array, found: Array, near: Array, cosine: Array, rank: Array) -> None:
    """Merge pairs into the lists of their rows, in place. Nearer first; ties, as rounded, to the smaller ref."""
    asked = np.zeros(len(near), np.bool_)
    asked[rows] = True
    touched = np.flatnonzero(asked)
    listed, place = np.nonzero(near[touched] >= 0)
    row = np.concatenate([rows, touched[listed]])
    other = np.concatenate([others, near[touched][listed, place]])
    steps = np.rint(np.concatenate([found, cosine[touched][listed, place]]) / STEP).astype(np.int64)
    best = np.lexsort((rank[other], -steps, row))
    row, other, steps = row[best], other[best], steps[best]
    place = np.arange(len(row)) - np.searchsorted(row, row)
    first = place < NEIGHBOURS
    near[row[first], place[first]] = other[first]
    cosine[row[first], place[first]] = steps[first] * STEP
