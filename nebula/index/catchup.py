"""Bringing an index up to its ledgers: new lines become rows, changes become state, missing vectors are made.

Works on parts in memory; `save` is called where a stretch of work is worth keeping, so that a kill costs little.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.index import nearest, segments, state, vectors
from nebula.index.manifest import Folded, Manifest, Source
from nebula.index.view import read_line
from nebula.mindlib import changes
from nebula.mindlib.record import FAR, LEDGER_CODE, LEDGERS, LedgerKind, following
from nebula.mindlib.store import FOLDED, Store, highest_ref
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from nebula.encoder import Encoded
    from nebula.index.parts import Parts
    from nebula.index.segments import Arrival
    from nebula.mindlib.ledger import Line, Scan
    from nebula.text.words import Mode

    Array = NDArray[Any]
    #: Texts -> one [pieces, d] array each, unit vectors.
    Embed = Callable[[Sequence[str]], list[Array]]
    Save = Callable[[], None]

SLICE = 1 << 25  # bytes of a ledger read at a time: what a first build holds in memory does not grow with the mind
CHUNK_ROWS = 4096  # memories to a segment while building
CHUNK_TEXTS = 128  # texts embedded at a time
SAVED = 64  # vectors are added and saved when they are so many or, in a large mind, this part of those that are there
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


def by_text(encoded: Encoded, texts: int) -> list[Array]:
    """What an encoder gave for so many texts, text by text: [p, d] each."""
    return np.split(encoded.vectors, np.searchsorted(encoded.owner, np.arange(1, texts)))


# what there is to do


def ledger_changed(store: Store, found: Manifest, kind: LedgerKind) -> bool:
    """Whether a ledger's size, time or inode is another than when it was read."""
    source = found.sources.get(kind.file)
    before = (source.size, source.mtime, source.inode) if source else (0, 0, 0)
    return store.stamp(kind.name) != before


@dataclass(frozen=True)
class Tail:
    """Lines of the side ledgers that are not in the state; all of them where what was folded was edited by hand."""

    lines: Mapping[str, Sequence[Line]]
    edited: bool
    whole: bool  # whether every line could be read

    @property
    def objects(self) -> Iterator[dict[str, Any]]:
        """The objects of all lines."""
        return (line.obj for lines in self.lines.values() for line in lines)

    @property
    def starts_over(self) -> bool:
        """Whether the state has to be folded from the first line on: an undo reaches back."""
        return self.edited or any("undo" in obj for obj in self.objects)

    @property
    def worth_folding(self) -> bool:
        """Whether it is so much that every later opening would pay for it."""
        return self.starts_over or sum(map(len, self.lines.values())) > STATE_LINES


def read_tail(store: Store, found: Manifest, ends: Mapping[str, int] | None = None) -> Tail:
    """What the state lacks; with `ends`, of each file no line that begins at or after that byte."""
    edited = any(not _still_there(store, name, part) for name, part in found.folded.items())
    starts = {name: 0 if edited or name not in found.folded else found.folded[name].consumed for name in FOLDED}
    scans = {name: store.scan(name, start) for name, start in starts.items()}
    lines = {name: scan.lines for name, scan in scans.items()}
    if ends is not None:
        lines = {name: [line for line in found if line.offset < ends[name]] for name, found in lines.items()}
    return Tail(lines, edited, not any(scan.damages for scan in scans.values()))


def _still_there(store: Store, name: str, part: Folded) -> bool:
    size = store.stamp(name)[0]
    return not part.consumed or (size >= part.consumed and store.tail(name, part.consumed) == part.tail)


def _edited(store: Store, found: Manifest, kind: LedgerKind) -> bool:
    """Whether what was consumed is no longer what lies there: shortened, replaced or changed by hand."""
    source = found.sources.get(kind.file)
    if source is None or not source.consumed:
        return False
    size, _, inode = store.stamp(kind.name)
    if size < source.consumed:
        return True
    if inode != source.inode or size == source.size:  # copied, restored, or written over: it may hold the same
        return not source.whole or store.whole(kind.name, source.consumed) != source.whole
    return store.tail(kind.name, source.consumed) != source.tail


# rows and state


def read_all(store: Store, parts: Parts, mode: Mode, save: Save) -> None:
    """Rows of all new lines, then the state, in place."""
    # a change is written after its memory: what is folded must end before the ledgers are read
    ends = {name: store.stamp(name)[0] for name in FOLDED}
    _read_ledgers(store, parts, mode, save)
    tail = read_tail(store, parts.manifest, ends)
    if tail.worth_folding:
        _fold(store, parts, tail, ends)


def _read_ledgers(store: Store, parts: Parts, mode: Mode, save: Save) -> None:
    changed = [kind for kind in LEDGERS if ledger_changed(store, parts.manifest, kind)]
    if any(_edited(store, parts.manifest, kind) for kind in changed):
        parts.start_over()
        changed = [kind for kind in LEDGERS if ledger_changed(store, parts.manifest, kind)]
    while changed:
        _read_slices(store, parts, changed, mode)
        changed = [kind for kind in changed if ledger_changed(store, parts.manifest, kind)]
        if changed:
            save()


def _read_slices(store: Store, parts: Parts, changed: Sequence[LedgerKind], mode: Mode) -> None:
    """The next lines of some ledgers, a slice of each, as rows in the order of their time."""
    arrivals: list[Arrival] = []
    sources, next_id = dict(parts.manifest.sources), dict(parts.manifest.next_id)
    table, whole = parts.table(), parts.manifest.whole
    for kind in changed:
        before = sources.get(kind.file)
        sources[kind.file], found = _read_new(store, kind, before)
        lines, whole = found.lines, whole and not found.damages
        ids, known = [line.obj["id"] for line in lines], next_id.get(kind.name, 1)
        goes_back = before is not None and any(number < known or number >= FAR for number in ids)
        erased = [obj["id"] for obj in store.erased(kind.name)] if goes_back else []
        arrivals += segments.name_lines(kind.name, lines, table, erased)
        next_id[kind.name] = max(known, following([known - 1, *ids]))
    parts.manifest = replace(parts.manifest, sources=sources, next_id=next_id, whole=whole)
    parts.changed = True
    arrivals.sort(key=lambda a: (a.memory.seconds, LEDGER_CODE[a.memory.ledger], a.offset))
    for start in range(0, len(arrivals), CHUNK_ROWS):
        _add_rows(store, parts, arrivals[start : start + CHUNK_ROWS], mode)


def _read_new(store: Store, kind: LedgerKind, before: Source | None) -> tuple[Source, Scan]:
    size, mtime, inode = store.stamp(kind.name)
    start = before.consumed if before else 0
    found, whole = store.scan_on(kind.name, start, before.whole if before else "", SLICE)
    consumed = max(found.consumed, start)
    if size - start > SLICE:
        size = consumed  # as if it had just grown: the rest is still to be read
    return Source(size, mtime, inode, consumed, store.tail(kind.name, consumed), whole), found


def _add_rows(store: Store, parts: Parts, arrivals: Sequence[Arrival], mode: Mode) -> None:
    table = parts.table()

    def text_of(row: int) -> str:
        memory = read_line(store, table, row)
        return memory.text if memory else ""

    older = [arrays for _, arrays in parts.rows]
    parts.rows.append(("", segments.build(arrivals, mode, older, text_of)))
    parts.merge()


def _fold(store: Store, parts: Parts, tail: Tail, ends: Mapping[str, int]) -> None:
    """Fold the tail into the state; everything from the first line on where it says so."""
    found = parts.manifest
    if tail.starts_over:
        parts.state, parts.strings = {}, {}
        found = replace(found, folded={})
        tail = read_tail(store, found, ends)
    table = parts.table()
    state.lay_over(table, parts.strings, changes.fold(tail.objects))
    parts.state = state.arrays(table)
    folded = {name: _folded(store, name, lines, found.folded.get(name, Folded())) for name, lines in tail.lines.items()}
    ids = {k.name: max(found.next_id.get(k.name, 1), highest_ref(k.name, tail.objects) + 1) for k in LEDGERS}
    whole = found.whole and tail.whole
    parts.manifest = replace(found, folded=folded, state="", next_id=ids, whole=whole)
    parts.changed = True


def _folded(store: Store, name: str, lines: Sequence[Line], before: Folded) -> Folded:
    if not lines:
        return before
    consumed = store.end_of(lines[-1])
    return Folded(consumed, store.tail(name, consumed))


# vectors


def embed_missing(store: Store, parts: Parts, mode: Mode, embedder: Embedder, save: Save) -> int:
    """Give every row its vectors, in place: those its text had before, then new ones. -> texts embedded."""
    if parts.manifest.model != embedder.key:
        parts.vectors = []
        parts.manifest = replace(parts.manifest, model=embedder.key)
    rows = np.flatnonzero(~parts.dense().present)
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
    made: dict[int, Array] = {}
    for start in range(0, len(keys), CHUNK_TEXTS):
        chunk = keys[start : start + CHUNK_TEXTS]
        memories = [read_line(store, table, int(wanted[key][0])) for key in chunk]
        pieces = embedder.embed([segments.as_searched(memory, mode) if memory else "" for memory in memories])
        made |= dict(zip(chunk, pieces, strict=True))
        done = start + len(chunk)
        if done == len(keys) or len(made) * SAVED >= table.n - len(keys) + done:
            _add_vectors(parts, {key: wanted[key] for key in made}, made)
            made = {}
            save()
        if embedder.progress:
            embedder.progress(done, len(keys))
    return len(keys)


def _within(wanted: Mapping[int, Array], length: Array, limit: int | None) -> list[int]:
    """The texts that fit the bound together, the newest first: what was just said is what is asked for next.

    One that is too long for what is left is passed over, not the rest.
    """
    if limit is None:
        return list(wanted)
    chosen, left = [], limit
    for key, rows in reversed(list(wanted.items())):
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
