"""The turns before and after a row in its conversation: what was said there belongs to what is said here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nebula.index.table import Table

    Array = NDArray[Any]


def beside(table: Table, rows: Array, step: int) -> Array:
    """For each of `rows` the row `step` turns later in the same session, -1 where there is none (int64).

    Turns mostly lie side by side, as they were written; the others are looked for. Two rows under one session and turn:
    one of them is taken.
    """
    session, turn = table.values("session", rows), table.values("turn", rows) + step
    found = np.full(len(rows), -1, np.int64)
    if not session.any():
        return found
    near = rows + step
    inside = np.flatnonzero((near >= 0) & (near < table.n) & (session != 0))
    fits = (table.values("session", near[inside]) == session[inside]) & (
        table.values("turn", near[inside]) == turn[inside]
    )
    found[inside[fits]] = near[inside[fits]]
    lost = np.flatnonzero((found < 0) & (session != 0) & (turn >= 0))
    if len(lost):
        found[lost] = table.at_turns(session[lost], turn[lost])
    return found
