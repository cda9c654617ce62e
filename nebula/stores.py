"""A mind from one store to another, folder or database, every line as it lies there; and whether two hold the same."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nebula.errors import StoresDiffer
from nebula.longterm import NAME as LONGTERM
from nebula.mindlib.record import BY_NAME
from nebula.mindlib.store import CONFIG, INDEX, SIDE_LEDGERS
from nebula.recalling import Ask, seek
from nebula.repair import QUARANTINE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from nebula.mind import Mind
    from nebula.mindlib.store import Store

#: Every ledger of a mind, in the order in which they are copied: what changes name is there before them.
LEDGERS = (
    *BY_NAME,
    *SIDE_LEDGERS,
    *(f"{QUARANTINE}/{name}" for name in (*(kind.file for kind in BY_NAME.values()), *SIDE_LEDGERS)),
)
DOCUMENTS = (CONFIG, LONGTERM)
#: By how much a score may differ.
TOLERANCE = 1e-5
#: Hits that are compared.
TOP = 10


@dataclass(frozen=True)
class Copied:
    """What came over, lines by ledger and documents; `here`: lines that were there before."""

    lines: Mapping[str, int]
    documents: Sequence[str]
    here: int
    vectors: int


@dataclass(frozen=True)
class Compared:
    """Lines of each ledger in both stores, what differs, and of how many sampled recalls how many were the same."""

    lines: Mapping[str, tuple[int, int]]
    differing: Sequence[str]
    samples: int = 0
    same: int = 0

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not self.differing and self.same == self.samples


def copy(source: Mind, target: Mind, progress: Callable[[int, int], None] | None = None) -> Copied:
    """Bring the target up to the source; run again after a stop it goes on where it was.

    Whatever the target holds must be the beginning of what the source holds. Raises StoresDiffer before anything of a
    ledger is written, and what reading and appending raise.
    """
    starts = {name: _shared(source.store, target.store, name) for name in LEDGERS}
    fresh = [name for name in DOCUMENTS if _document_to_come(source.store, target.store, name)]
    came: dict[str, int] = {}
    for at, (name, start) in enumerate(starts.items(), start=1):
        chunks = source.store.chunks(name, start)
        first = next(chunks, None)
        if first is not None:
            came[name] = target.store.append_chunks(name, _with(first, chunks), start)
        if progress:
            progress(at, len(starts))
    for name in fresh:
        target.store.put_document(name, source.store.document(name) or b"")
    # a copy that was cut short may have brought every line and no vector
    vectors = target.adopt_vectors(source.store) if came or not (target.store.local / INDEX).is_dir() else 0
    return Copied(came, fresh, sum(starts.values()), vectors)


def compare(left: Mind, right: Mind, samples: int, progress: Callable[[int, int], None] | None = None) -> Compared:
    """Whether two stores hold the same: every ledger's lines and their hashes, documents, and sampled recalls.

    A sample asks both for the text of a memory; the same are refs in their order and scores to 1e-5. Each index is
    brought up first. Nothing counts as a use.
    """
    found = {name: (_hashed(left.store, name), _hashed(right.store, name)) for name in LEDGERS}
    differing = [name for name, (mine, theirs) in found.items() if mine != theirs]
    differing += [name for name in DOCUMENTS if left.store.document(name) != right.store.document(name)]
    lines = {name: (mine[0], theirs[0]) for name, (mine, theirs) in found.items() if mine[0] or theirs[0]}
    if differing or not samples:
        return Compared(lines, differing)
    queries = _queries(left, samples)
    for mind, other in ((left, right), (right, left)):
        lacks = mind.index().missing
        if lacks:
            mind.adopt_vectors(other.store)
            mind.build(progress)
    same = sum(_alike(_top(left, query), _top(right, query)) for query in queries)
    return Compared(lines, [], len(queries), same)


def _queries(mind: Mind, samples: int) -> list[str]:
    """The texts of memories that hold, evenly spread over the mind."""
    every = [memory.text for memory in mind.list(n=None).memories if memory.text.strip()]
    step = max(1, len(every) // samples)
    return every[::step][:samples]


def _top(mind: Mind, query: str) -> list[tuple[str, float]]:
    found = seek(mind, Ask(query, TOP, nearest=True))
    return [(hit.memory.ref, hit.score) for hit in found.hits]


def _alike(mine: Sequence[tuple[str, float]], theirs: Sequence[tuple[str, float]]) -> bool:
    return [ref for ref, _ in mine] == [ref for ref, _ in theirs] and all(
        abs(a - b) <= TOLERANCE for (_, a), (_, b) in zip(mine, theirs, strict=True)
    )


def _shared(source: Store, target: Store, name: str) -> int:
    """Lines of a ledger that the target holds, all of them the source's first. Raises StoresDiffer."""
    theirs = _lines(source, name)
    count = 0
    for line in _lines(target, name):
        count += 1
        if next(theirs, None) != line:
            raise StoresDiffer(target.named(name), count)
    return count


def _document_to_come(source: Store, target: Store, name: str) -> bool:
    """Whether a document is the source's alone. Raises StoresDiffer where the target has another."""
    wanted, held = source.document(name), target.document(name)
    if held is not None and held != wanted:
        raise StoresDiffer(target.named(name), 1)
    return wanted is not None and held is None


def _hashed(store: Store, name: str) -> tuple[int, str]:
    count, digest = 0, hashlib.sha256()
    for line in _lines(store, name):
        count += 1
        digest.update(line + b"\n")
    return count, digest.hexdigest()


def _lines(store: Store, name: str) -> Iterator[bytes]:
    for chunk in store.chunks(name):
        yield from chunk


def _with(first: list[bytes], rest: Iterator[list[bytes]]) -> Iterator[list[bytes]]:
    yield first
    yield from rest
