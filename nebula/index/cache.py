"""One mind's index, always as new as its ledgers: noticed, caught up and opened in one call.

Truth is in the ledgers; the folder may be deleted, cut or filled with noise at any time and is built again. One process
at a time writes it; any other that needs more than what lies there completes it in memory and writes nothing.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from nebula.errors import LockedTooLong, WriteFailed
from nebula.index import catchup, parts, state
from nebula.index import manifest as manifests
from nebula.index.view import Index
from nebula.mindlib import changes, files
from nebula.mindlib.record import LEDGERS
from nebula.mindlib.store import CHANGES, INDEX, Marks, Store

if TYPE_CHECKING:
    from pathlib import Path

    from nebula.index.catchup import Embedder, Save
    from nebula.index.parts import Parts
    from nebula.text.words import Mode


class Cache:
    """The index folder of one mind and one way of reading text (`variant`)."""

    def __init__(self, store: Store, variant: str, mode: Mode) -> None:
        self.store = store
        self.folder: Path = store.folder / INDEX / variant
        self.mode: Mode = mode

    def open(self, embedder: Embedder | None = None, *, write: bool = True, compact: bool = False) -> Index:
        """The index, caught up with the ledgers and, as far as `embedder` goes, with its vectors.

        `write=False` completes it in memory alone; `compact` takes the time to merge large parts. Raises
        LedgerUnusable; a damaged, locked or unwritable cache never raises.
        """
        found = parts.load(self.folder)
        if not self._work_to_do(found, embedder, compact=compact):
            return self._view(found)
        if write and self.store.folder.is_dir():
            with contextlib.suppress(LockedTooLong, WriteFailed):
                return self._open_writing(embedder, compact=compact)
        found = parts.load(self.folder)
        return self._view(found, self._catch_up(found, embedder, lambda: None))

    def follow(self, embedder: Embedder | None = None) -> Index | None:
        """Catch up on disk after a write, if no other process is at it; that one or the next reader will then do it."""
        with contextlib.suppress(LockedTooLong):
            return self._open_writing(embedder, compact=False)
        return None

    def marks(self) -> Marks:
        """What the index on disk has consumed, for a writer that takes the next id."""
        found = manifests.load(self.folder)
        if found is None:
            return Marks()
        consumed = {name: source.consumed for name, source in found.sources.items()}
        tails = {name: source.tail for name, source in found.sources.items()}
        return Marks(consumed | {CHANGES: found.changes}, tails | {CHANGES: found.changes_tail}, found.next_id)

    def _open_writing(self, embedder: Embedder | None, *, compact: bool) -> Index:
        files.make_folder(self.store.folder / INDEX)
        files.make_folder(self.folder)
        with files.job_lock(self.folder / parts.LOCK, timeout=0.0):
            found = parts.load(self.folder)

            def save() -> None:
                found.merge()
                parts.save(self.folder, found)

            embedded = self._catch_up(found, embedder, save)
            if compact:
                found.merge(limit=None)
            if found.changed:
                parts.save(self.folder, found)
            return self._view(found, embedded)

    def _work_to_do(self, found: Parts, embedder: Embedder | None, *, compact: bool) -> bool:
        if any(catchup.ledger_changed(self.store, found.manifest, kind) for kind in LEDGERS):
            return True
        if catchup.changes_to_fold(self.store, found.manifest):
            return True
        if embedder and (found.manifest.model != embedder.key or not found.dense().present().all()):
            return embedder.limit != 0
        return compact and (len(found.rows) > 1 or len(found.vectors) > 1)

    def _catch_up(self, found: Parts, embedder: Embedder | None, save: Save) -> int:
        catchup.read_all(self.store, found, self.mode)
        if found.changed:
            save()
        return catchup.embed_missing(self.store, found, embedder, save) if embedder else 0

    def _view(self, found: Parts, embedded: int = 0) -> Index:
        table = found.table()
        tail = self.store.scan(CHANGES, found.manifest.changes)
        state.lay_over(table, found.strings, changes.fold(line.obj for line in tail.lines))
        arrays = [part for _, part in found.rows]
        return Index(self.store, table, arrays, found.dense(), found.strings, embedded)
