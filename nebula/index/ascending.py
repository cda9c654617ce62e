"""Ascending arrays looked up, and runs that lie one after another counted through, without a loop over their items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Array = NDArray[Any]


def lookup(ascending: Array, values: Array) -> tuple[Array, Array]:
    """All items that are one of some values [v]: the position in `values` and in `ascending`, [x] each."""
    values = values.astype(ascending.dtype, copy=False)  # one type, or searchsorted copies all of `ascending`
    low = ascending.searchsorted(values)
    count = ascending.searchsorted(values, "right") - low
    return np.repeat(np.arange(len(values)), count), nth(count) + np.repeat(low, count)


def holds(ascending: Array, values: Array) -> Array:
    """Which of some values (of the same type, any order) are among the items, bool [v]."""
    if not len(ascending):
        return np.zeros(len(values), np.bool_)
    found: Array = ascending[np.minimum(ascending.searchsorted(values), len(ascending) - 1)] == values
    return found


def distinct(values: Array) -> Array:
    """The values, each once and ascending. As `np.unique`, which loads numpy.ma: 15 ms of a cold command."""
    ordered = np.sort(values, axis=None)
    fresh = np.ones(len(ordered), np.bool_)
    fresh[1:] = ordered[1:] != ordered[:-1]
    return ordered[fresh]


def nth(counts: Array) -> Array:
    """The place of each item within its run, from 0: 0 … c-1 for each count c, int64 [sum of the counts]."""
    found: Array = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return found


def stretches(starts: Array, most: int) -> Iterator[tuple[int, int]]:
    """Spans of runs that hold at most `most` items together (or one run); `starts`: [runs + 1], from 0."""
    low = 0
    while low < len(starts) - 1:
        high = max(low + 1, int(np.searchsorted(starts, starts[low] + most, "right")) - 1)
        yield low, high
        low = high
