"""Which pairs touch a row: pairs (a, b) sorted by either end, so that a walk looks up few rows instead of reading all.

`ends` (int32 [2 m], ascending) holds every end of m pairs and `at` (int32 [2 m]) the pair that each belongs to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def build(a: Array, b: Array) -> tuple[Array, Array]:
    """The ends of m pairs, ascending, and the pair of each; a negative end is left out."""
    ends = np.concatenate([a, b]).astype(np.int32, copy=False)
    order = np.argsort(ends, kind="stable")
    order = order[np.searchsorted(ends[order], 0) :]
    return ends[order], (order % max(1, len(a))).astype(np.int32)


def lookup(ends: Array, at: Array, rows: Array) -> tuple[Array, Array]:
    """All pairs that touch some rows [r]: the position in `rows` and the pair, [x] each."""
    rows = rows.astype(np.int32, copy=False)  # one type: searchsorted would copy all of `ends` otherwise
    low = np.searchsorted(ends, rows)
    count = np.searchsorted(ends, rows, "right") - low
    which = np.repeat(np.arange(len(rows)), count)
    first = np.cumsum(count) - count
    return which, at[np.arange(len(which)) + np.repeat(low - first, count)]
