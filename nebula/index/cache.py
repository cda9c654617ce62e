"""One mind's index, always as new as its ledgers: noticed, caught up and opened in one call.

Truth is in the ledgers; the folder may be deleted, cut or filled with noise at any time and is built again. One process
at a time writes it; any other that needs more than what lies there completes it in memory and writes nothing.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from nebula.errors import LockedTooLong, WriteFailed
from nebula.index import catchup, parts, state, vectors
from nebula.index import manifest as manifests
from nebula.index.view import Index
from nebula.mindlib import changes, files
from nebula.mindlib.record import LEDGERS
from nebula.mindlib.store import INDEX, Marks, Store

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from nebula.index.catchup import Embedder, Save
    from nebula.index.manifest import Folded, Source
    from nebula.index.parts import Parts
    from nebula.text.words import Mode


class Cache:
    """The index folder of one mind and one way of reading text (`variant`)."""

    def __init__(self, store: Store, variant: str, mode: Mode) -> None:
        self.store = store
        self.folder: Path = manifests.folder(store, variant)
        self.mode: Mode = mode

    def open(self, embedder: Embedder | None = None, *, write: bool = True, compact: bool = False) -> Index:
        """The index, caught up with the ledgers and, as far as `embedder` goes, with its vectors.

        `write=False` completes it in memory alone; `compact` takes the time to merge large parts. Raises
        LedgerUnusable; a damaged, locked or unwritable cache never raises.
        """
        found = parts.load(self.folder)
        if self.store.cover() is not None:  # what lies here tells of what an erase will take: read anew, in memory
            found.start_over()
            return self._view(found, self._catch_up(found, embedder, lambda: None))
        if not self._work_to_do(found, embedder, compact=compact):
            return self._view(found)
        if write and self.store.local.is_dir():
            with contextlib.suppress(LockedTooLong, WriteFailed):
                return self._open_writing(embedder, compact=compact)
        found = parts.load(self.folder)
        return self._view(found, self._catch_up(found, embedder, lambda: None))

    def follow(self, embedder: Embedder | None = None) -> Index | None:
        """Catch up on disk after a write, if no other process is at it; that one or the next reader will then do it.

        While an erase is begun nothing is written.
        """
        if self.store.cover() is not None:
            return None
        with contextlib.suppress(LockedTooLong):
            return self._open_writing(embedder, compact=False)
        return None

    def adopt(self, index: Path, key: str) -> int:
        """Take over the vectors of another mind's index folder that the model `key` made; -> how many.

        They wait here without rows until a text with their hash comes. Raises WriteFailed, LockedTooLong.
        """
        given = [found for folder in files.inside(index) if (found := parts.load(folder)).manifest.model == key]
        detached = [
            ("", vectors.detached(arrays)) for found in given for _, arrays in found.vectors if len(arrays["vec"])
        ]
        if not detached:
            return 0
        files.make_folder(self.store.local)
        files.make_folder(self.store.local / INDEX)
        files.make_folder(self.folder)
        with files.job_lock(self.folder / parts.LOCK, self.store.lock_timeout):
            mine = parts.load(self.folder)
            if mine.manifest.model not in {"", key}:
                return 0
            mine.manifest = replace(mine.manifest, model=key)
            mine.vectors = [*detached, *mine.vectors]
            parts.save(self.folder, mine)
        return sum(len(arrays["vec"]) for _, arrays in detached)

    def marks(self) -> Marks:
        """What the index on disk has consumed, for a writer that takes the next id."""
        found = manifests.load(self.folder)
        if found is None:
            return Marks()
        read: dict[str, Source | Folded] = {**found.sources, **found.folded}
        consumed = {name: part.consumed for name, part in read.items()}
        return Marks(consumed, {name: part.tail for name, part in read.items()}, found.next_id)

    def _open_writing(self, embedder: Embedder | None, *, compact: bool) -> Index:
        files.make_folder(self.store.local / INDEX)
        files.make_folder(self.folder)
        with files.job_lock(self.folder / parts.LOCK, timeout=0.0):
            found = parts.load(self.folder)
            found.limit = parts.LARGEST if compact else found.limit

            def save() -> None:
                found.merge()
                parts.save(self.folder, found)

            embedded = self._catch_up(found, embedder, save)
            if compact:
                found.compact()
            if found.changed:
                parts.save(self.folder, found)
            return self._view(found, embedded)

    def _work_to_do(self, found: Parts, embedder: Embedder | None, *, compact: bool) -> bool:
        if any(catchup.ledger_changed(self.store, found.manifest, kind) for kind in LEDGERS):
            return True
        if catchup.read_tail(self.store, found.manifest).worth_folding:
            return True
        if embedder and (found.manifest.model != embedder.key or not found.dense().present.all()):
            return embedder.limit != 0
        return compact and found.compacts

    def _catch_up(self, found: Parts, embedder: Embedder | None, save: Save) -> int:
        catchup.read_all(self.store, found, self.mode, save)
        if found.changed:
            save()
        return catchup.embed_missing(self.store, found, self.mode, embedder, save) if embedder else 0

    def _view(self, found: Parts, embedded: int = 0) -> Index:
        table, tail = found.table(), catchup.read_tail(self.store, found.manifest)
        state.lay_over(table, found.strings, changes.fold(tail.objects))
        arrays = [part for _, part in found.rows]
        whole = found.manifest.whole and tail.whole
        return Index(self.store, table, arrays, found.dense(), found.strings, embedded, whole)


def purge(folder: Path, texts: Iterable[str], timeout: float) -> None:
    """Drop the vectors of some texts from an index folder, and its rows, which the next opening reads anew.

    All other vectors wait for their texts. Raises WriteFailed, LockedTooLong.
    """
    import numpy as np

    from nebula.index.hashing import h64
    from nebula.text.simplified import simplified

    gone = np.array([h64(form) for text in texts for form in (text, simplified(text))], np.uint64)
    with files.job_lock(folder / parts.LOCK, timeout):
        found = parts.load(folder)
        found.start_over()
        kept = [vectors.without(arrays, gone) for _, arrays in found.vectors]
        found.vectors = [("", arrays) for arrays in kept if len(arrays["vec"])]
        parts.save(folder, found)
