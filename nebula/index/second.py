"""A second encoder's vectors, beside the index and apart from it: of the texts in Latin script, by their hashes alone.

It uses the index's parts without rows of its own, so that it needs no numbering: an opening lays the hashes over the
rows that the index has. Texts in other scripts are noted by their hashes, so that each is read once.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.errors import LockedTooLong, WriteFailed
from nebula.index import nearest, parts, vectors
from nebula.index.ascending import nth
from nebula.index.catchup import CHUNK_TEXTS
from nebula.index.manifest import Manifest
from nebula.index.parts import Parts
from nebula.index.vectors import Vectors
from nebula.index.view import read_line
from nebula.mindlib import files
from nebula.mindlib.store import INDEX
from nebula.text.script import mainly_latin

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from nebula.index.catchup import Embedder
    from nebula.index.table import Table
    from nebula.index.view import Index
    from nebula.mindlib.store import Store
    from nebula.text.words import Mode

    Array = NDArray[Any]

#: Hashes of texts in other scripts.
PASSED = "passed"
_VEC = ("vec", "vec_code", "vec_step", "vec_off")


def folder_of(first: Path) -> Path:
    """The folder beside an index's own."""
    return first.with_name(f"{first.name}-second")


def open_over(index: Index, folder: Path, mode: Mode, embedder: Embedder, *, write: bool) -> tuple[Vectors, int]:
    """The vectors over an index's rows, missing ones made as far as the embedder goes; how many texts wait.

    Where another process writes, or nothing can or shall be written, they are made in memory. Raises what the
    embedder raises, and nothing for the cache's sake.
    """
    found = _loaded(folder, embedder.key)
    waiting = _waiting(found, index.table)
    if not len(waiting) or embedder.limit == 0:
        return over(found, index.table), len(waiting)
    if write and index.store.local.is_dir():
        with contextlib.suppress(LockedTooLong, WriteFailed):
            files.make_folder(index.store.local / INDEX)
            files.make_folder(folder)
            with files.job_lock(folder / parts.LOCK, timeout=0.0):
                found = _loaded(folder, embedder.key)
                _fill(index, found, mode, embedder, lambda: _save(folder, found))
            return over(found, index.table), len(_waiting(found, index.table))
    _fill(index, found, mode, embedder, lambda: None)
    return over(found, index.table), len(_waiting(found, index.table))


def _loaded(folder: Path, key: str) -> Parts:
    """What lies there of this model; another's is let go."""
    found = parts.load(folder)
    return found if found.manifest.model == key else Parts(Manifest(model=key, serial=found.manifest.serial))


def _save(folder: Path, found: Parts) -> None:
    found.merge()
    parts.save(folder, found)


def _waiting(found: Parts, table: Table) -> Array:
    """The first row of each text that is neither embedded nor passed by."""
    hashes = table.column("text")
    known = [arrays["vec_hash"] for _, arrays in found.vectors]
    passed = found.state.get(PASSED, np.zeros(0, np.uint64))
    rows = np.flatnonzero(~np.isin(hashes, np.concatenate([passed, *known])))
    return rows[np.sort(np.unique(hashes[rows], return_index=True)[1])]


def _fill(index: Index, found: Parts, mode: Mode, embedder: Embedder, save: Callable[[], None]) -> None:
    """Embed what waits, oldest first, until the bound is reached."""
    rows, table, store = _waiting(found, index.table), index.table, index.store
    hashes, left = table.column("text"), embedder.limit
    for start in range(0, len(rows), CHUNK_TEXTS):
        texts: dict[int, str] = {}
        passed: list[int] = []
        for row in rows[start : start + CHUNK_TEXTS].tolist():
            text = _text(store, table, row, mode)
            if not mainly_latin(text):
                passed.append(int(hashes[row]))
                continue
            size = int(table.value("length", row))
            if left is not None and size > left:
                continue
            left = None if left is None else left - size
            texts[int(hashes[row])] = text
        _keep(found, texts, passed, embedder)
        save()
        if embedder.progress:
            embedder.progress(min(start + CHUNK_TEXTS, len(rows)), len(rows))
        if left is not None and left <= 0:
            break


def _text(store: Store, table: Table, row: int, mode: Mode) -> str:
    memory = read_line(store, table, row)
    return memory.searchable(mode) if memory else ""


def _keep(found: Parts, texts: dict[int, str], passed: list[int], embedder: Embedder) -> None:
    if texts:
        made = vectors.segment(range(len(texts)), list(texts), embedder.embed(list(texts.values())))
        none = nearest.stored(np.zeros(0, np.int32), np.zeros((0, 3), np.int32), np.zeros((0, 3), np.float32))
        found.vectors.append(("", vectors.detached(made | none)))
    if passed:
        before = found.state.get(PASSED, np.zeros(0, np.uint64))
        found.state = {PASSED: np.concatenate([before, np.array(passed, np.uint64)])}
        found.manifest = replace(found.manifest, state="")
    found.changed = True


def over(found: Parts, table: Table) -> Vectors:
    """The vectors with the rows that hold their texts; a text that several rows hold is theirs too."""
    hashes = table.column("text")
    order = np.argsort(hashes, kind="stable")
    ascending = hashes[order]
    segments: list[dict[str, Array]] = []
    for _, arrays in found.vectors:
        low = np.searchsorted(ascending, arrays["vec_hash"])
        count = np.searchsorted(ascending, arrays["vec_hash"], "right") - low
        row = np.full(len(low), -1, np.int32)
        row[count > 0] = order[low[count > 0]]
        segments.append({name: arrays[name] for name in _VEC} | {"vec_row": row})
        further = np.maximum(count - 1, 0)
        at = np.repeat(np.arange(len(low)), further)
        if len(at):
            rows = order[low[at] + 1 + nth(further)].astype(np.int32)
            segments.append({name: arrays[name][at] for name in _VEC} | {"vec_row": rows})
    return Vectors(segments, table.n)
