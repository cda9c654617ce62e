"""What a move of a mind's folder leaves on record until it is over, so that one cut short leaves one mind, not two.

`.moving.json` lies in the folder before anything is copied, and is copied along. Whichever of the two places is opened
first wins: the old one takes the move back, the new one ends it. A copy that has been written to since is kept.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nebula import erasure
from nebula.errors import LedgerUnusable, LockedTooLong, WriteFailed
from nebula.mindlib import files
from nebula.mindlib.record import LEDGERS
from nebula.mindlib.store import MOVING, SIDE_LEDGERS
from nebula.results import Notice

if TYPE_CHECKING:
    from nebula.mindlib.store import Store


@dataclass(frozen=True)
class Journal:
    """Absolute paths: from where to where, the copy that is being made, and what becomes of the old folder."""

    source: str
    target: str
    beside: str
    rubbish: str


def begin(journal: Journal) -> None:
    """Write it down in the old folder. Raises WriteFailed."""
    import orjson

    files.replace(Path(journal.source) / MOVING, orjson.dumps(asdict(journal)))


def end(folder: Path) -> None:
    """Take the record away."""
    (folder / MOVING).unlink(missing_ok=True)
    files.sync_folder(folder)


def finish(store: Store) -> list[Notice]:
    """End or take back a move that was cut short; one that is under way goes on, and nothing here is in its way.

    Where the disk allows no writing, all stays as it is for the next time: reading needs none of it. -> a notice where
    both places hold a mind and the two differ: both are kept.
    """
    notices: list[Notice] = []
    here, journal = store.folder, _read(store.folder)
    if journal is None:
        return notices
    source, target, rubbish = Path(journal.source), Path(journal.target), Path(journal.rubbish)
    if not _same(here, source) and not _same(here, target):  # a copy made by other means: its own mind
        with contextlib.suppress(OSError):
            end(here)
        return notices
    held = source if source.is_dir() else rubbish
    with contextlib.suppress(LockedTooLong, WriteFailed, OSError), contextlib.ExitStack() as stack:
        if held.is_dir():  # a move that is under way holds the lock
            stack.enter_context(files.job_lock(held / erasure.LOCK, 0))
        if _read(here) != journal:  # another has done it meanwhile
            return notices
        other = target if _same(here, source) else source
        beside = Path(journal.beside)
        if _read(other) == journal and _alike(here, other):
            other.replace(beside if other is target else rubbish)
        elif _read(other) == journal:
            notices.append(Notice("move_differs", {"here": here, "other": other}))
        for copy in (beside, rubbish):
            shutil.rmtree(copy, ignore_errors=True)
        if not rubbish.exists() and not beside.exists():
            end(here)
    return notices


def _read(folder: Path) -> Journal | None:
    import orjson

    try:
        journal = Journal(**orjson.loads(files.read(folder / MOVING)))
        return journal if _sound(journal) else None
    except (LedgerUnusable, ValueError, TypeError):
        return None


def _sound(journal: Journal) -> bool:
    """Whether what would be cleared away bears the names that a move gives: a mind may come from a stranger."""
    source, target = Path(journal.source), Path(journal.target)
    named = ((source, journal.rubbish, "moved"), (target, journal.beside, "tmp"))
    return all(
        Path(copy).parent == place.parent
        and re.fullmatch(rf"\.{re.escape(place.name)}\.[0-9a-f]{{8}}\.{kind}", Path(copy).name)
        for place, copy, kind in named
    )


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def _alike(one: Path, other: Path) -> bool:
    """Whether the ledgers of both are equal, so that one of the two can go."""
    names = (*(kind.file for kind in LEDGERS), *SIDE_LEDGERS, "longterm.md")
    return all(files.sha256(one / name) == files.sha256(other / name) for name in names)
