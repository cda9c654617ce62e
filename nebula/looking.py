"""Looking memories up: by ref, by time, by session; in a large mind's index, else in the ledgers themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula import clock
from nebula.index import has_numpy, manifest
from nebula.index.near import is_near
from nebula.mindlib.record import BY_NAME, is_uid, split_ref
from nebula.recall.filtering import admits, passing
from nebula.results import Listing

if TYPE_CHECKING:
    from datetime import datetime

    from nebula.index.view import Index
    from nebula.mind import Mind
    from nebula.mindlib.record import Memory
    from nebula.postgres.served import ServedIndex
    from nebula.recall.hit import Filters


def find(mind: Mind, ref: str) -> Memory | None:
    """One memory as it stands, by ref or uid; None where there is none. Raises LedgerUnusable."""
    wanted, named = ref.strip().lower(), split_ref(ref)
    index = (_at_hand(mind) or _served(mind)) if named or is_uid(wanted) else None
    if index is not None:
        row = index.row(wanted)
        found = index.memory(row) if row >= 0 else None
        if row < 0 or found is not None:
            return found
    kinds = [named[0]] if named else list(BY_NAME)
    return next((m for m in mind.store.read_all(kinds=kinds).memories if wanted in (m.ref, m.uid)), None)


def listing(mind: Mind, filters: Filters, n: int | None, as_of: datetime | None) -> Listing:
    """Memories that hold (or all, with `filters.old`), newest first; `as_of`: as they were then.

    Raises LedgerUnusable.
    """
    index = _at_hand(mind) if n is not None and as_of is None else None
    if index and index.whole:
        return _listed(index, filters, n, clock.seconds(mind.now()))
    reading = mind.store.read_all(clock.write(as_of) if as_of else "")
    now = clock.seconds(as_of or mind.now())
    passed = [m for m in reading.memories if admits(filters, m) and (filters.old or not m.is_old(now))]
    passed.sort(key=lambda memory: (memory.seconds, memory.id), reverse=True)
    return Listing(passed[:n], len(passed), reading.damages)


def of_session(mind: Mind, session: str) -> list[Memory]:
    """The memories of a conversation, in no order."""
    from nebula.index.hashing import h64

    index = _at_hand(mind)
    served = None if index else _served(mind)
    if served is not None:
        return [memory for memory in served.of_session(h64(session)) if memory.session == session]
    if index is None:
        return [m for m in mind.store.read_all().memories if m.session == session]
    rows = (index.table.column("session") == h64(session)).nonzero()[0].tolist()
    return [m for row in rows if (m := index.memory(row)) is not None and m.session == session]


def _at_hand(mind: Mind) -> Index | None:
    """The index where that is quicker to open than the ledgers to read."""
    near = is_near(mind.store, manifest.folder(mind.store, mind.reading))
    return mind.index() if near and has_numpy() else None


def _served(mind: Mind) -> ServedIndex | None:
    """What the mind's database serves, where this host has no index and it is asked instead."""
    return mind.served()[0] if not mind.store.in_folder and has_numpy() else None


def _listed(index: Index, filters: Filters, n: int | None, now: int) -> Listing:
    import numpy as np

    column, passed = index.table.column, passing(filters, index.table)
    if not filters.old:
        passed &= column("valid_to") > now
    rows = np.flatnonzero(passed)
    keys = [column(name)[rows] for name in ("at", "id", "ledger", "offset")]
    order = np.lexsort((keys[3], keys[2], -keys[1], -keys[0]))[:n]
    return Listing([m for row in rows[order].tolist() if (m := index.memory(row)) is not None], len(rows))
