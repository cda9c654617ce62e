"""Mending a mind's files without guessing: what can't be read is moved aside, what is derived is made again.

Lines that can't be read go, byte for byte, to the end of a file of the same name in `quarantine/`, and only then out of
their own: ledger and quarantine together hold what the ledger held, and one newline more for each that was missing. A
kill in between leaves such a line in both. Run twice, the second run changes nothing.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nebula import clock, reasons
from nebula.errors import NotSetUp, WriteFailed
from nebula.mindlib import chain, files, held, ledger, scratch
from nebula.mindlib.record import BY_NAME, LEDGERS, split_ref
from nebula.mindlib.store import CAPTURED, CHANGES, SIDE_LEDGERS, TAGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from nebula.mind import Mind
    from nebula.mindlib.ledger import Damage
    from nebula.mindlib.store import Store
    from nebula.results import Built

QUARANTINE = "quarantine"
WHY = "repair"
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
#: Fields that name memories; `covers` is a list of them.
NAMING = ("supersedes", "echo_of", "summarised")


@dataclass(frozen=True)
class Repaired:
    """What was done: damaged lines moved aside, files that got a last newline, files and folders closed to others.

    `dangling` are refs that name no memory, as (file, ref): they are reported, never mended.
    """

    moved: Sequence[Damage] = ()
    newlines: Sequence[str] = ()
    closed: Sequence[str] = ()
    dangling: Sequence[tuple[str, str]] = ()
    built: Built | None = None
    sizes: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)  # file -> bytes before, after, moved
    #: Folders that killed commands had left.
    cleared: Sequence[str] = ()


def repair(mind: Mind) -> Repaired:
    """Mend what can be mended. Raises WriteFailed, LockedTooLong, LedgerUnusable; nothing is lost then."""
    store = mind.store
    if not store.folder.is_dir():
        return Repaired()
    moved: list[Damage] = []
    newlines: list[str] = []
    sizes: dict[str, tuple[int, int, int]] = {}
    at = clock.write(mind.now())
    for name in ledgers():
        _unchain(store, name, at)
        mended = _Mended(store, name)
        if held.rewrite(store.path(name), mended.make, store.lock_timeout):
            moved += mended.damages
            newlines += [name] if mended.newline else []
            sizes[name] = mended.sizes
    cleared = [str(path) for path in scratch.abandoned(store.folder) if scratch.remove(path)]
    closed = [name for name, path in loose(store.folder) if _close(path)]
    try:
        built = mind.build()
    except NotSetUp:
        built = None
    return Repaired(moved, newlines, closed, dangling(store), built, sizes, cleared)


def ledgers() -> list[str]:
    """The names of all append-only files."""
    return [*(kind.file for kind in LEDGERS), *SIDE_LEDGERS]


def damages(path: Path, data: bytes) -> list[Damage]:
    """The lines of a file that are broken: no JSON objects. A kind unknown here may be a later version's: it stays.

    Readers pass over such a line, and count it.
    """
    return ledger.scan(path, data).damages


class _Mended:
    """One file's new bytes; the lines that go are in the quarantine, durably, before they are given back."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name = store, name
        self.damages: list[Damage] = []
        self.newline = False
        self.sizes = (0, 0, 0)

    def make(self, data: bytes) -> bytes:
        self.damages = damages(self.store.path(self.name), data)
        bad = {damage.line for damage in self.damages}
        lines = list(enumerate(ledger.split(data), start=1))
        aside = b"".join(line for number, line in lines if number in bad)
        kept = b"".join(line for number, line in lines if number not in bad) if bad else data
        self.newline = bool(kept) and not kept.endswith(b"\n")
        if aside:
            folder = self.store.folder / QUARANTINE
            files.make_folder(folder)
            with files.appending(folder / self.name, self.store.lock_timeout) as file:
                file.append(aside if aside.endswith(b"\n") else aside + b"\n")
        kept += b"\n" if self.newline else b""
        self.sizes = (len(data), len(kept), len(aside))
        return kept


def _unchain(store: Store, name: str, at: str) -> None:
    """Take the lines that will go out of the chain, on record; before they go, or a kill would leave them missed."""
    data = files.read(store.path(name))
    bad = {damage.line for damage in damages(store.path(name), data)}
    gone = {chain.digest(line) for number, line in enumerate(ledger.split(data), start=1) if number in bad}
    if gone:
        chain.amend(
            store.folder,
            lambda other, then: [one for one in then if other != name or one not in gone],
            at,
            WHY,
            store.lock_timeout,
        )


# what others may read


def loose(folder: Path) -> Iterator[tuple[str, Path]]:
    """Whatever of a mind other users of the machine may get at, by its name; the folder itself is `.`."""
    if sys.platform == "win32" or not folder.is_dir():
        return
    for path in [folder, *sorted(folder.rglob("*"))]:
        if not path.is_symlink() and path.stat().st_mode & 0o077:
            yield path.relative_to(folder).as_posix(), path


def _close(path: Path) -> bool:
    try:
        path.chmod(PRIVATE_FOLDER if path.is_dir() else PRIVATE_FILE)
    except OSError as error:
        raise WriteFailed(path, reasons.of(error)) from error
    return True


# refs


def dangling(store: Store) -> list[tuple[str, str]]:
    """Refs in records and side ledgers that name no memory, nor one that was erased; (file, ref), each once."""
    memories = store.read_all().memories
    known = {name for memory in memories for name in (memory.ref, memory.uid)}
    erased = [(kind, obj) for kind in LEDGERS for obj in store.erased(kind.name)]
    known |= {f"{kind.letter}{obj['id']}" for kind, obj in erased}
    found = {
        (BY_NAME[memory.ledger].file, ref)
        for memory in memories
        for ref in (*(getattr(memory, name) for name in NAMING), *memory.covers)
        if ref and ref not in known
    }
    for name in (CHANGES, TAGS, CAPTURED):
        found |= {(name, ref) for line in store.scan(name).lines for ref in _named(line.obj) if ref not in known}
    return sorted(found)


def _named(obj: Mapping[str, Any]) -> list[str]:
    """The refs that a side ledger's line speaks of; a uid that no memory has any more is none."""
    hits = obj.get("hit")
    named = [obj.get("ref"), *(hits if isinstance(hits, list) else [])]
    return [ref for ref in named if isinstance(ref, str) and split_ref(ref)]
