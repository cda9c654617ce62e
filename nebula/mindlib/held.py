"""Lines of a program that keeps a ledger open while the ledger is put anew: they come over, soon or later.

A rewritten ledger is another file under the old name; who opened the old one once and goes on appending writes where
nobody reads. So that file keeps a name of its own, `.notes.jsonl.OFFSET.XXXXXXXX.held`, as long as anybody has it open
for writing. What stood in it when it was rewritten, all before OFFSET, is overwritten with newlines; whole lines that
come after are carried over by the next command, and overwritten too. A kill in between leaves such a line twice.

Only Linux tells whether a file is open elsewhere (a lease), and only where it may have a second name for a moment;
elsewhere what came until the new file took its place is carried over, as `files.rewrite` does.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import time
from typing import TYPE_CHECKING

from nebula.errors import LockedTooLong, WriteFailed
from nebula.mindlib import files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PATIENCE = 0.05  # seconds that whoever waited for the old file's lock is given to see that it is no longer the ledger
_NAME = re.compile(r"\.(.+\.jsonl)\.([0-9]{1,15})\.[0-9a-f]{8}\.held")
_BLANK = b"\n"
_CHUNK = 1 << 20


def rewrite(path: Path, make: Callable[[bytes], bytes], timeout: float = files.LOCK_TIMEOUT) -> bool:
    """As `files.rewrite`; what a program that keeps the file open appends from then on is carried over too."""
    aside: list[Path] = []

    def name(offset: int) -> bool:
        aside[:] = _named(path, offset)
        return bool(aside)

    try:
        return files.rewrite(path, make, timeout, aside=name)
    finally:
        for old in aside:
            _settle(old, path, timeout, time.monotonic() + PATIENCE)


def carry(folder: Path, timeout: float = 0.0) -> None:
    """Carry over what has come to old files of a mind's ledgers since; where that can't be, the next time."""
    try:
        found = [entry.name for entry in os.scandir(folder) if entry.name.endswith(".held")]
    except OSError:
        return
    for name in found:
        if told := _NAME.fullmatch(name):
            _settle(folder / name, folder / told[1], timeout, 0.0)


def _named(path: Path, offset: int) -> list[Path]:
    """The ledger's file under a second name; none where leases or second names are not to be had."""
    import secrets

    if sys.platform != "linux":
        return []
    target = path.resolve()
    old = target.parent / f".{target.name}.{offset}.{secrets.token_hex(4)}.held"
    try:
        os.link(target, old)
    except OSError:
        return []
    return [old]


def _settle(old: Path, path: Path, timeout: float, until: float) -> None:
    """Carry an old file's lines to the ledger; it goes when nobody has it open for writing, at `until` it stays."""
    with contextlib.suppress(OSError, WriteFailed, LockedTooLong):
        while not _carried(old, path, timeout) and time.monotonic() < until:
            time.sleep(PATIENCE / 10)


def _carried(old: Path, path: Path, timeout: float) -> bool:
    """Whether nothing more can come to an old file, and all that came was carried over and the file is gone."""
    told = _NAME.fullmatch(old.name)
    with files.appending(path, timeout) as ledger:  # two at once would carry a line twice
        try:
            descriptor = os.open(old, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return True
        try:
            status = os.fstat(descriptor)
            if told is None or not stat.S_ISREG(status.st_mode):
                return True
            if status.st_nlink == 1:  # else it is a ledger still, or somebody's copy of one: only this name goes
                start = int(told[2])
                _blank(descriptor, 0, start)
                _move(descriptor, start, ledger, whole=True)
        finally:
            os.close(descriptor)
        if status.st_nlink == 1 and _is_open(old):
            return False
        if status.st_nlink == 1:
            descriptor = os.open(old, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                _move(descriptor, int(told[2]), ledger, whole=False)
            finally:
                os.close(descriptor)
        old.unlink(missing_ok=True)
        return True


def _move(descriptor: int, start: int, ledger: files.Appender, *, whole: bool) -> None:
    """Append what stands from `start` on to the ledger, and blank it here; `whole`: up to its last newline."""
    with os.fdopen(os.dup(descriptor), "rb") as file:
        file.seek(start)
        came = file.read()
    came = came[: came.rfind(_BLANK) + 1] if whole else came
    if lines := came.strip(_BLANK):
        ledger.append(lines + _BLANK)
    _blank(descriptor, start, start + len(came))


def _blank(descriptor: int, start: int, end: int) -> None:
    """Overwrite what is not blank yet, in place: the file's length is its writers'."""
    end = min(end, os.fstat(descriptor).st_size)
    changed = False
    for at in range(start, end, _CHUNK):
        size = min(_CHUNK, end - at)
        if os.pread(descriptor, size, at).strip(_BLANK):
            os.pwrite(descriptor, _BLANK * size, at)
            changed = True
    if changed:
        os.fsync(descriptor)


def _is_open(path: Path) -> bool:
    """Whether anybody has a file open for writing: then nobody gets a lease to read it. No where that can't be told."""
    return _refused(path) and not _refuses_all(path.parent)


def _refused(path: Path) -> bool:
    """Whether a lease to read a file is refused for another's sake."""
    if sys.platform != "linux":
        return False
    import fcntl
    import signal

    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.fcntl(descriptor, 10, signal.SIGURG)  # F_SETSIG: the signal to a lease's holder would else end us
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _refuses_all(folder: Path) -> bool:
    """Whether a file system gives no lease at all, not even to a file that nobody can have open."""
    import secrets

    probe = folder / f".lease-test.{secrets.token_hex(4)}"
    os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        return _refused(probe)
    finally:
        probe.unlink(missing_ok=True)
