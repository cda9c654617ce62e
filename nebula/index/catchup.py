"""Bringing an index up to its ledgers: new lines become rows, changes become state, missing vectors are made.

Works on parts in memory; `save` is called where a stretch of work is worth keeping, so that a kill costs little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.index import manifest as manifests
from nebula.index import nearest, segments, state, vectors
from nebula.index.manifest import Manifest, Source
from nebula.index.view import read_line
from nebula.mindlib import changes, files
from nebula.mindlib.record import LEDGER_CODE, LEDGERS, LedgerKind
from nebula.mindlib.store import CHANGES, Store, highest_ref

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from nebula.index.parts import Parts
    from nebula.index.segments import Arrival
    from nebula.mindlib.ledger import Line
    from nebula.text.words import Mode

    Array = NDArray[Any]
    #: Texts -> one [pieces, d] array each, unit vectors.
    Embed = Callable[[Sequence[str]], list[Array]]
    Save = Callable[[], None]

CHUNK_ROWS = 4096  # memories to a segment while building
CHUNK_TEXTS = 128  # texts embedded between two savings
STATE_LINES = 256  # changes that are laid over at every opening before they are folded for good


@dataclass(frozen=True)
class Embedder:
    """How missing vectors are made: `key` names the model.

    `limit` bounds the bytes of the lines whose texts this call embeds (None: no bound).
    """

    key: str
    embed: Embed
    limit: int | None = None
    progress: Callable[[int, int], None] | None = None  # (done, of)


# what there is to do


def ledger_changed(store: Store, found: Manifest, kind: LedgerKind) -> bool:
    """Whether a ledger's size, time or inode is another than when it was read."""
    source = found.sources.get(kind.file)
    before = (source.size, source.mtime, source.inode) if source else (0, 0, 0)
    return manifests.stat_source(store.path(kind.name)) != before


def changes_to_fold(store: Store, found: Manifest) -> bool:
    """Whether `changes.jsonl` was edited, holds an undo that is not folded, or has a tail worth folding."""
    size = manifests.stat_source(store.path(CHANGES))[0]
    if size == found.changes:
        return False
    if not _tail_kept(store, found, size):
        return True
    tail = store.scan(CHANGES, found.changes).lines
    return len(tail) > STATE_LINES or any("undo" in line.obj for line in tail)


def _tail_kept(store: Store, found: Manifest, size: int) -> bool:
    if found.changes == 0:
        return True
    return size >= found.changes and files.tail_fingerprint(store.path(CHANGES), found.changes) == found.changes_tail


def _edited(store: Store, found: Manifest, kind: LedgerKind) -> bool:
    """Whether what was consumed is no longer what lies there: shortened, replaced or changed by hand."""
    source = found.sources.get(kind.file)
    if source is None or not source.consumed:
        return False
    size, _, inode = manifests.stat_source(store.path(kind.name))
    if size < source.consumed or inode != source.inode or size == source.size:
        return True
    return files.tail_fingerprint(store.path(kind.name), source.consumed) != source.tail


# rows and state


def read_all(store: Store, parts: Parts, mode: Mode) -> None:
    """Rows of all new lines, then the state, in place."""
    # a change is written after its memory: what is folded must end before the ledgers are read
    end = manifests.stat_source(store.path(CHANGES))[0]
    _read_ledgers(store, parts, mode)
    if changes_to_fold(store, parts.manifest):
        _fold_changes(store, parts, end)


def _read_ledgers(store: Store, parts: Parts, mode: Mode) -> None:
    changed: Sequence[LedgerKind] = [kind for kind in LEDGERS if ledger_changed(store, parts.manifest, kind)]
    if any(_edited(store, parts.manifest, kind) for kind in changed):
        parts.start_over()
        changed = LEDGERS
    if not changed:
        return
    arrivals: list[Arrival] = []
    sources, next_id = dict(parts.manifest.sources), dict(parts.manifest.next_id)
    table = parts.table()
    for kind in changed:
        sources[kind.file], lines = _read_new(store, kind, sources.get(kind.file))
        arrivals += segments.name_lines(kind.name, lines, table)
        next_id[kind.name] = max([next_id.get(kind.name, 1), *(line.obj["id"] + 1 for line in lines)])
    parts.manifest = replace(parts.manifest, sources=sources, next_id=next_id)
    parts.changed = True
    arrivals.sort(key=lambda a: (a.memory.seconds, LEDGER_CODE[a.memory.ledger], a.offset))
    for start in range(0, len(arrivals), CHUNK_ROWS):
        _add_rows(store, parts, arrivals[start : start + CHUNK_ROWS], mode)


def _read_new(store: Store, kind: LedgerKind, before: Source | None) -> tuple[Source, list[Line]]:
    path = store.path(kind.name)
    size, mtime, inode = manifests.stat_source(path)
    start = before.consumed if before else 0
    found = store.scan(kind.name, start)
    consumed = max(found.consumed, start)
    return Source(size, mtime, inode, consumed, files.tail_fingerprint(path, consumed)), found.lines


def _add_rows(store: Store, parts: Parts, arrivals: Sequence[Arrival], mode: Mode) -> None:
    table = parts.table()

    def text_of(row: int) -> str:
        memory = read_line(store, table, row)
        return memory.text if memory else ""

    older = [arrays for _, arrays in parts.rows]
    parts.rows.append(("", segments.build(arrivals, mode, older, text_of)))


def _fold_changes(store: Store, parts: Parts, end: int) -> None:
    """Fold the changes before byte `end` into the state; from the first line on where the file was edited or undone."""
    found = parts.manifest
    tail_kept = _tail_kept(store, found, end)
    lines = [line for line in store.scan(CHANGES, found.changes).lines if line.offset < end] if tail_kept else []
    if not tail_kept or any("undo" in line.obj for line in lines):
        parts.state, parts.strings = {}, {}
        lines = [line for line in store.scan(CHANGES).lines if line.offset < end]
    table = parts.table()
    state.lay_over(table, parts.strings, changes.fold(line.obj for line in lines))
    parts.state = state.arrays(table)
    consumed = lines[-1].offset + lines[-1].length if lines else 0
    ids = {k.name: max(found.next_id.get(k.name, 1), highest_ref(k.name, (x.obj for x in lines)) + 1) for k in LEDGERS}
    tail = files.tail_fingerprint(store.path(CHANGES), consumed)
    parts.manifest = replace(found, changes=consumed, changes_tail=tail, state="", next_id=ids)
    parts.changed = True


# vectors


def embed_missing(store: Store, parts: Parts, embedder: Embedder, save: Save) -> int:
    """Give every row its vectors, in place: those its text had before, then new ones. -> texts embedded."""
    if parts.manifest.model != embedder.key:
        parts.vectors = []
        parts.manifest = replace(parts.manifest, model=embedder.key)
    rows = np.flatnonzero(~parts.dense().present())
    if not len(rows):
        return 0
    table = parts.table()
    hashes = table.column("text")
    wanted = _grouped(rows, hashes)
    known = parts.dense().by_hash(np.array(list(wanted), np.uint64))
    parts.vectors = [(name, arrays) for name, arrays in parts.vectors if (arrays["vec_row"] >= 0).any()]
    if known:
        _add_vectors(parts, {key: wanted.pop(key) for key in known}, known)
    keys = _within(wanted, table.column("length"), embedder.limit)
    for start in range(0, len(keys), CHUNK_TEXTS):
        chunk = keys[start : start + CHUNK_TEXTS]
        memories = [read_line(store, table, int(wanted[key][0])) for key in chunk]
        made = embedder.embed([memory.text if memory else "" for memory in memories])
        _add_vectors(parts, {key: wanted[key] for key in chunk}, dict(zip(chunk, made, strict=True)))
        save()
        if embedder.progress:
            embedder.progress(start + len(chunk), len(keys))
    return len(keys)


def _within(wanted: Mapping[int, Array], length: Array, limit: int | None) -> list[int]:
    """The texts that fit the bound together; one that is too long for what is left is passed over, not the rest."""
    if limit is None:
        return list(wanted)
    chosen, left = [], limit
    for key, rows in wanted.items():
        size = int(length[rows[0]])
        if size <= left:
            chosen.append(key)
            left -= size
    return chosen


def _grouped(rows: Array, hashes: Array) -> dict[int, Array]:
    """Rows by the hash of their text, in the order in which each text comes first."""
    by_hash = rows[np.argsort(hashes[rows], kind="stable")]
    keys, starts = np.unique(hashes[by_hash], return_index=True)
    groups = dict(zip(keys.tolist(), np.split(by_hash, starts[1:]), strict=True))
    return dict(sorted(groups.items(), key=lambda group: int(group[1][0])))


def _add_vectors(parts: Parts, rows_of: Mapping[int, Array], pieces: Mapping[int, Array]) -> None:
    """Add the pieces of some texts to all rows that hold them, and bring the nearest lists up to date."""
    owned = sorted((int(row), key) for key, rows in rows_of.items() for row in rows)
    added = vectors.segment([row for row, _ in owned], [key for _, key in owned], [pieces[key] for _, key in owned])
    near, cosine = nearest.lists([arrays for _, arrays in parts.vectors], parts.n)
    parts.vectors.append(("", added))
    fresh = np.array([row for row, _ in owned])
    lists = nearest.update(parts.dense(), fresh, parts.table().order(), near, cosine)
    parts.vectors[-1] = ("", added | lists)
    parts.changed = True
