"""Which pairs touch a row: pairs (a, b) sorted by either end, so that a walk looks up few rows instead of reading all.

`ends` (int32 [2 m], ascending) holds every end of m pairs, `other` (int32 [2 m], ascending for one end) the row at the
other end, and `at` (int32 [2 m]) the pair. What belongs to one row, and to the next, lies together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def build(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """-> ends, other, at of m pairs."""
    ends, other = np.concatenate([a, b]), np.concatenate([b, a])
    order = np.lexsort((other, ends))
    at = order % max(1, len(a))
    return ends[order].astype(np.int32), other[order].astype(np.int32), at.astype(np.int32)
