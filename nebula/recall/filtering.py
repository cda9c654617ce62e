"""What a recall's filters let through: of records one by one, of an index's rows all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula.mindlib.record import LEDGER_CODE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from nebula.index.table import Table
    from nebula.mindlib.record import Memory
    from nebula.recall.hit import Filters

    Array = NDArray[Any]


def barring(filters: Filters, memory: Memory) -> Iterator[str]:
    """The filters that keep a memory out, by the option that sets them; its being replaced is not looked at."""
    if filters.ledgers and memory.ledger not in filters.ledgers:
        yield "ledger"
    if filters.tags and memory.tag not in filters.tags:
        yield "tag"
    if filters.vias and memory.via not in filters.vias:
        yield "via"
    if filters.since is not None and memory.seconds < filters.since:
        yield "since"
    if filters.until is not None and memory.seconds > filters.until:
        yield "until"


def admits(filters: Filters, memory: Memory) -> bool:
    """Whether a memory passes all filters."""
    return next(barring(filters, memory), None) is None


def passing(filters: Filters, table: Table) -> Array:
    """Which rows pass all filters; bool [n]. Tags and sources are compared by their hashes."""
    import numpy as np

    from nebula.index.hashing import h64

    column, mask = table.column, np.ones(table.n, np.bool_)
    if filters.ledgers:
        mask &= among(column("ledger"), [LEDGER_CODE[name] for name in filters.ledgers])
    if filters.tags:
        mask &= among(column("tag"), map(h64, filters.tags))
    if filters.vias:
        mask &= among(column("via"), map(h64, filters.vias))
    if filters.since is not None:
        mask &= column("at") >= filters.since
    if filters.until is not None:
        mask &= column("at") <= filters.until
    return mask


def among(values: Array, few: Iterable[int]) -> Array:
    """Which values are one of a few, bool [n]; `np.isin` loads numpy.ma for it, 8 ms of a cold start."""
    import numpy as np

    found = np.zeros(len(values), np.bool_)
    for one in few:
        found |= values == values.dtype.type(one)
    return found
