"""The edge of meaning's raw material: for every memory its three nearest by cosine (spec 4).

Each arrival is compared with the WINDOW rows before it, so that building stays linear in the number of memories; in a
mind smaller than the window that is everyone with everyone. Ties go to the smaller ref. Cosines are compared as
rounded to STEP, since the same text embedded in another batch may differ in the last bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nebula.index.vectors import Vectors

    Array = NDArray[Any]

NEIGHBOURS = 3
WINDOW = 16_384  # rows
BLOCK = 256  # rows at a time: 256 x 16,384 cosines are 16 MB
STEP = 1e-5


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
    own = segment["knn_row"]
    if not len(own):
        return np.zeros(len(rows), np.bool_)
    found: Array = own[np.minimum(own.searchsorted(rows), len(own) - 1)] == rows
    return found


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
        keys = _keys(vectors, block, others, rank)
        _best(block, others, keys, near, cosine, rank)
        old = ~np.isin(others, block)
        _best(others[old], block, np.ascontiguousarray(keys[:, old].T), near, cosine, rank)
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
        _best(block, others, _keys(vectors, block, others, rank), near, cosine, rank)


def _rank(order: Array) -> Array:
    rank = np.empty(len(order), np.int64)
    rank[np.argsort(order, kind="stable")] = np.arange(len(order))
    return rank


def _keys(vectors: Vectors, block: Array, others: Array, rank: Array) -> Array:
    """One sortable number a pair, int64 [b, o]: greater is nearer, ties to the smaller ref; -1 << 62 for oneself."""
    left, left_owner = vectors.of_rows(block)
    right, right_owner = vectors.of_rows(others)
    best = left @ right.T
    best = np.maximum.reduceat(best, np.searchsorted(left_owner, np.arange(len(block))), axis=0)
    best = np.maximum.reduceat(best, np.searchsorted(right_owner, np.arange(len(others))), axis=1)
    keys = (np.rint(best / STEP).astype(np.int64) << 32) - rank[others]
    keys[block[:, None] == others[None, :]] = -1 << 62
    return keys


def _pack(near: Array, cosine: Array, rank: Array) -> Array:
    packed = (np.rint(cosine / STEP).astype(np.int64) << 32) - rank[near]
    packed[near < 0] = -1 << 62
    return packed


def _best(rows: Array, others: Array, keys: Array, near: Array, cosine: Array, rank: Array) -> None:
    """Merge candidates (keys [r, o]) into the lists of `rows`, in place."""
    if not len(rows) or not len(others):
        return
    take = min(NEIGHBOURS, len(others))
    top = np.argpartition(keys, len(others) - take, axis=1)[:, -take:]
    keys_top = np.take_along_axis(keys, top, axis=1)
    all_keys = np.concatenate([_pack(near[rows], cosine[rows], rank), keys_top], axis=1)
    all_near = np.concatenate([near[rows], others[top].astype(np.int32)], axis=1)
    pick = np.argsort(-all_keys, axis=1, kind="stable")[:, :NEIGHBOURS]
    best_keys = np.take_along_axis(all_keys, pick, axis=1)
    best_near = np.take_along_axis(all_near, pick, axis=1)
    nothing = best_keys == -1 << 62
    near[rows] = np.where(nothing, -1, best_near)
    # the key is cosine steps << 32 less a rank below 2^32: its ceiling gives the steps back
    cosine[rows] = np.where(nothing, -2, -((-best_keys) >> 32) * STEP)
