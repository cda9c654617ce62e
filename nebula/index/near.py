"""Whether a mind is large and its index near its ledgers, told without numpy: then a look opens the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula.index import manifest
from nebula.mindlib.record import LEDGERS

if TYPE_CHECKING:
    from pathlib import Path

    from nebula.index.manifest import Source
    from nebula.mindlib.record import LedgerKind
    from nebula.mindlib.store import Store

#: Memories from which an index is opened sooner than the ledgers are read: numpy takes 50 ms, a memory 12 µs.
LARGE = 5_000
#: An index is near its ledgers where it lacks no more than this part of each.
FEW = 100


def is_near(store: Store, folder: Path) -> bool:
    """Whether the ledgers of a large mind hold little that the index lacks, and what it has of them is untouched."""
    found = manifest.load(folder)
    if found is None or sum(found.rows.values()) < LARGE or store.cover() is not None:
        return False
    return all(_is_near(store, found.sources.get(kind.file), kind) for kind in LEDGERS)


def _is_near(store: Store, source: Source | None, kind: LedgerKind) -> bool:
    stamp = store.stamp(kind.name)
    if source is None:
        return not stamp[0]
    if stamp == (source.size, source.mtime, source.inode):
        return True
    grown = stamp[0] - source.consumed
    return 0 < grown * FEW <= stamp[0] and store.tail(kind.name, source.consumed) == source.tail
