"""Folders that hold people's words for as long as a command runs, and what a killed one leaves of them.

Each is held by a lock on the folder itself, which goes with the process (and an editor that it started), so that what
nobody holds is a leaving: the next command of that kind clears it away, the doctor names it, and an erase looks into
it. A text that was in an editor stays a day, for it may be all that is left of it. Where folders can't be locked, every
leaving stays a day.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from nebula import reasons
from nebula.errors import WriteFailed
from nebula.mindlib import files

if TYPE_CHECKING:
    from collections.abc import Iterator

IMPORT, EDIT, STORY, LEAK = "import", "edit", "story", "leak"
DAY = 86_400  # seconds
#: Without a kind: how a text in an editor lay up to version 0.11; such a folder holds `text.*` alone.
_NAME = re.compile(rf"nebula-(?:({IMPORT}|{EDIT}|{STORY}|{LEAK})-)?[a-z0-9_]{{8}}")
#: Lies in the copy of a mind that is being moved, which is ended or taken back by its own record (see moving).
_MOVING = ".moving.json"


@contextmanager
def folder(kind: str) -> Iterator[tuple[Path, int]]:
    """A new folder, gone afterwards, and the descriptor that holds it (-1: none); first clears the kind's leavings."""
    import shutil
    import tempfile  # both cost milliseconds that a reader need not wait for

    clear(kind)
    while True:
        made = Path(tempfile.mkdtemp(prefix=f"nebula-{kind}-"))
        descriptor = hold(made)
        if made.is_dir():  # else another took it for a leaving before it was held
            break
        release(descriptor)
    try:
        yield made, descriptor
    finally:
        shutil.rmtree(made, ignore_errors=True)
        release(descriptor)


def hold(path: Path) -> int:
    """Lock a folder; -> the descriptor that does, -1 where another holds it or folders can't be locked."""
    if sys.platform == "win32":
        return -1
    import fcntl

    descriptor = -1
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        release(descriptor)
        return -1
    return descriptor


def release(descriptor: int) -> None:
    """Let a folder go."""
    if descriptor >= 0:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def leavings(kind: str = "") -> list[Path]:
    """Folders of the user's own that commands left, of one kind or of all; some may still be in use."""
    import tempfile

    return [path for path in files.inside(Path(tempfile.gettempdir())) if _bears(path.name, kind) and _own(path)]


def beside(mind: Path) -> list[Path]:
    """Copies of a mind beside its folder that a killed command left half made, or half cleared away."""
    name = re.compile(rf"\.{re.escape(mind.name)}\.[0-9a-f]{{8}}\.(?:tmp|moved)")
    found = [path for path in files.inside(mind.parent) if name.fullmatch(path.name) and _own(path)]
    return [path for path in found if not (path / _MOVING).exists() and not (mind / _MOVING).exists()]


def clear(kind: str) -> list[Path]:
    """Take away the leavings of a kind that nobody holds; -> which."""
    return [path for path in leavings(kind) if (kind != EDIT or _age(path) > DAY) and remove(path)]


def clear_beside(mind: Path) -> list[Path]:
    """Take away what lies half made beside a mind and nobody holds; -> which."""
    return [path for path in beside(mind) if remove(path)]


def abandoned(mind: Path) -> list[Path]:
    """Every leaving, beside a mind and elsewhere, that nobody holds."""
    found = []
    for path in [*leavings(), *beside(mind)]:
        descriptor = hold(path)
        if descriptor >= 0 or (sys.platform == "win32" and _age(path) > DAY):
            found.append(path)
        release(descriptor)
    return found


def remove(path: Path) -> bool:
    """Take a leaving away; -> whether it went: one that somebody holds stays."""
    descriptor = hold(path)
    if descriptor < 0 and (sys.platform != "win32" or _age(path) < DAY):
        return False
    import shutil

    shutil.rmtree(path, ignore_errors=True)
    release(descriptor)
    return not path.exists()


def _bears(name: str, kind: str) -> bool:
    found = _NAME.fullmatch(name)
    return found is not None and (not kind or (found[1] or EDIT) == kind)


def _own(path: Path) -> bool:
    """Whether it is a folder of the user's own, no link, and one without a kind holds what an editor's did."""
    try:
        status = path.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(status.st_mode) or (hasattr(os, "getuid") and status.st_uid != os.getuid()):
        return False
    found = _NAME.fullmatch(path.name)
    return found is None or bool(found[1]) or all(inner.name.startswith("text.") for inner in files.inside(path))


def _age(path: Path) -> float:
    """Seconds since a folder was last written to; 0 where it can't be told."""
    try:
        return max(0.0, time.time() - path.lstat().st_mtime)
    except OSError:
        return 0.0


@contextmanager
def laid_aside(folder: Path) -> Iterator[Path]:
    """A folder beside an absent or empty one; filled, it becomes that in one step, or is gone. Raises WriteFailed."""
    import secrets
    import shutil

    beside, held = folder.parent / f".{folder.name}.{secrets.token_hex(4)}.tmp", -1
    try:
        beside.mkdir(mode=0o700)
        held = hold(beside)  # so that it is no leaving to others
        yield beside
        if folder.exists():
            folder.rmdir()
        beside.replace(folder)
        files.sync_folder(folder.parent)
    except OSError as error:
        raise WriteFailed(folder, reasons.of(error)) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        release(held)
