"""The only place that opens files to write: append under a lock, replace whole, lock a job (reliability 3).

Append: lock the file's own descriptor, reopen it if the name meanwhile belongs to another file, start on an own line,
write whole lines in one call, check the count, sync; a short or failed write is cut back under the lock.
Replace: a temporary file in the same folder, synced, renamed over; a link stays a link.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import mmap
import os
import stat
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from nebula import reasons
from nebula.errors import FileUnusable, LedgerUnusable, LockedTooLong, WriteFailed
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import BufferedReader
    from typing import BinaryIO, TextIO

LOCK_TIMEOUT = 10.0  # seconds; R12
CHUNK = 1024 * 1024  # bytes of a stream read at once
ENDLESS = 1024 * 1024 * 1024  # bytes from which on a stream is taken to have no end
TAIL = 4096  # bytes of a file's end whose hash tells that what was consumed is still there
#: Windows locks are mandatory: one byte far past the end keeps readers free, as SQLite does.
_WINDOWS_LOCK_BYTE = 2**62

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        os.lseek(descriptor, _WINDOWS_LOCK_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _sync(descriptor: int) -> None:
        os.fsync(descriptor)

else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _sync(descriptor: int) -> None:
        getattr(os, "fdatasync", os.fsync)(descriptor)


def _acquire(descriptor: int, path: Path, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    pause = 0.0005
    while True:
        try:
            _try_lock(descriptor)
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= deadline:
                raise LockedTooLong(path, timeout) from None
            time.sleep(pause)
            pause = min(pause * 2, 0.01)
        else:
            return


@dataclass
class Appender:
    """A ledger held under its lock: what it holds now, and one append."""

    path: Path
    descriptor: int
    size: int

    def read(self, start: int = 0) -> bytes:
        """The bytes from `start` to the end, as they are under the lock."""
        return _read_at(self.descriptor, start, self.size - start)

    def append(self, lines: bytes, *, durable: bool = True) -> int:
        """Write whole lines, ending in a newline, on an own line; return the offset of the first.

        Raises WriteFailed after the file was cut back to what it was.
        """
        self.size = os.fstat(self.descriptor).st_size  # a program without our lock may have appended meanwhile
        guard = b"" if self.size == 0 or _read_at(self.descriptor, self.size - 1, 1) == b"\n" else b"\n"
        data = guard + lines
        written = 0
        try:
            written = os.write(self.descriptor, data)
            end = os.lseek(self.descriptor, 0, os.SEEK_CUR)  # theirs may come in even between the look and the write
            if written != len(data):
                raise OSError(28, "disk full")
            if durable:
                _sync(self.descriptor)
        except OSError as error:
            self._cut_back(written)
            raise WriteFailed(self.path, reasons.of(error)) from error
        self.size = end
        return end - len(lines)

    def _cut_back(self, written: int) -> None:
        """Take back what a failed write left, unless a program without our lock appended too: its bytes are not ours.

        Then a newline keeps what remains of ours from swallowing its next line.
        """
        with contextlib.suppress(OSError):
            if os.fstat(self.descriptor).st_size == self.size + written:
                os.ftruncate(self.descriptor, self.size)
            elif _read_at(self.descriptor, os.fstat(self.descriptor).st_size - 1, 1) != b"\n":
                os.write(self.descriptor, b"\n")


def _read_at(descriptor: int, start: int, length: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)
    parts = []
    while length > 0:
        part = os.read(descriptor, length)
        if not part:
            break
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


@contextmanager
def appending(path: Path, timeout: float = LOCK_TIMEOUT) -> Iterator[Appender]:
    """Hold a ledger's lock for one append. Creates the file 0600 and syncs the folder's entry for it.

    Raises WriteFailed where it can't be opened, LockedTooLong where another process holds it.
    """
    descriptor = _open_locked(path, timeout)
    try:
        yield Appender(path, descriptor, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)


def _open_locked(path: Path, timeout: float) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    while True:
        is_new = not path.exists()
        try:
            descriptor = os.open(path, flags, 0o600)
        except OSError as error:
            raise WriteFailed(path, reasons.of(error)) from error
        try:
            _check_file(descriptor)
        except OSError as error:
            os.close(descriptor)
            raise WriteFailed(path, reasons.of(error)) from error
        try:
            _acquire(descriptor, path, timeout)
            if _same_file(descriptor, path):
                if is_new:
                    os.fchmod(descriptor, 0o600) if hasattr(os, "fchmod") else None
                    sync_folder(path.parent)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the name was given to another file while we waited


def _same_file(descriptor: int, path: Path) -> bool:
    held = os.fstat(descriptor)
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    return (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino)


def sync_folder(folder: Path) -> None:
    """Make a new or renamed entry of a folder durable; where folders can't be synced this does nothing."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _check_file(descriptor: int) -> None:
    """Raise OSError for what is no file: a pipe in a ledger's place would be waited for without end."""
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.ENODEV, "not a regular file")


def _open(path: Path) -> BufferedReader:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags)
    try:
        _check_file(descriptor)
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def read(path: Path, start: int = 0, limit: int | None = None) -> bytes:
    """A ledger's bytes from `start`, at most `limit`; empty where the file is absent. Raises LedgerUnusable else."""
    try:
        with _open(path) as file:
            file.seek(start)
            return file.read(limit)
    except FileNotFoundError:
        return b""
    except (OSError, ValueError) as error:
        raise LedgerUnusable(path, reasons.of(error)) from error


def stamp(path: Path) -> tuple[int, int, int]:
    """A file's size, its time in ns and its inode: what tells another one; zeros where it is absent."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_size, found.st_mtime_ns, found.st_ino


def read_given(path: Path) -> bytes:
    """The bytes of a file that a person named; `-` is standard input. Raises FileUnusable.

    A pipe or a device is read to its end, and refused where it gives more than ENDLESS: /dev/zero has none. A pipe that
    nobody has opened to write is waited for as long as for a lock.
    """
    if str(path) == "-":
        return _to_the_end(sys.stdin.buffer, path)
    try:
        with open(path, "rb", opener=_opened_given) as file:
            return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else _to_the_end(file, path)
    except OSError as error:
        raise FileUnusable(path, reasons.of(error)) from error


def _opened_given(path: str, flags: int) -> int:
    """A descriptor to read; of a pipe once somebody writes to it. Raises FileUnusable where nobody comes.

    A writer that has come may be as slow as it likes: `<(…)` has one from the start.
    """
    if sys.platform == "win32" or not stat.S_ISFIFO(Path(path).stat().st_mode):
        return os.open(path, flags)
    import select

    descriptor = os.open(path, flags | os.O_NONBLOCK)
    try:
        if not select.select([descriptor], [], [], LOCK_TIMEOUT)[0]:
            raise FileUnusable(Path(path), reasons.because("no_writer"))
        os.set_blocking(descriptor, True)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _to_the_end(stream: BinaryIO, path: Path) -> bytes:
    """What a stream gives. Raises FileUnusable for more than ENDLESS."""
    parts, left = [], ENDLESS
    while part := stream.read(min(CHUNK, left + 1)):
        parts.append(part)
        left -= len(part)
        if left < 0:
            raise FileUnusable(path, reasons.because("larger", limit=ENDLESS))
    return b"".join(parts)


def mapped_given(path: Path) -> mmap.mmap | bytes:
    """A file that a person named, mapped, so that one larger than memory can be read; of a pipe what it gives.

    Raises FileUnusable.
    """
    if not path.is_file():
        return read_given(path)
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    except OSError as error:
        raise FileUnusable(path, reasons.of(error)) from error


def read_span(path: Path, offset: int, length: int) -> bytes:
    """`length` bytes at `offset`, fewer where the file has been cut."""
    try:
        with _open(path) as file:
            file.seek(offset)
            return file.read(length)
    except OSError as error:
        raise LedgerUnusable(path, reasons.of(error)) from error


def sha256(path: Path) -> str:
    """A file's SHA-256 in hex; "" where it can't be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def fingerprint(data: bytes) -> str:
    """A content hash, 32 hex digits."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def tail_fingerprint(path: Path, end: int) -> str:
    """The hash of the last 4 KB before `end`: an append leaves it as it was, an edit by hand seldom does."""
    start = max(0, end - TAIL)
    return fingerprint(read_span(path, start, end - start)) if end else fingerprint(b"")


def has_held(folder: Path) -> bool:
    """Whether an old file of a ledger lies in a mind's folder, to which lines may still come (see held)."""
    try:
        return any(name.endswith(".held") for name in os.listdir(folder))  # noqa: PTH208 - every command asks
    except OSError:
        return False


def inside(folder: Path) -> list[Path]:
    """What lies in a folder, by name; nothing where it is none or can't be looked into."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def size(path: Path) -> int:
    """A file's bytes; 0 where it went meanwhile."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def make_folder(folder: Path) -> None:
    """Create a mind's folder and its parents, itself 0700 whatever the umask. Raises WriteFailed."""
    try:
        if folder.is_dir():
            return
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise WriteFailed(folder, reasons.of(error)) from error


def replace(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Put `data` under the name `path` in one step: readers see the old bytes or the new. Raises WriteFailed."""
    replace_with(path, lambda file: os.write(file, data) == len(data), durable=durable)


def replace_with(path: Path, write: Callable[[int], bool], *, durable: bool = True) -> None:
    """Like `replace`, the bytes coming from `write(descriptor)`, which says whether all were written."""
    import tempfile  # 6 ms that a reader need not wait for

    target = Path(os.path.realpath(path))  # a link stays a link
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
        try:
            if not write(descriptor):
                raise OSError(28, "disk full")
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        Path(temporary).replace(target)
        if durable:
            sync_folder(target.parent)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise WriteFailed(path, reasons.of(error)) from error


def rewrite(
    path: Path,
    make: Callable[[bytes], bytes],
    timeout: float = LOCK_TIMEOUT,
    *,
    aside: Callable[[int], bool] = lambda _: False,
) -> bool:
    """Put `make(bytes)` in a ledger's place under its lock; -> whether anything changed. An absent file stays absent.

    What a program without our lock appended meanwhile goes to the new file's end, unless `aside`, which is told where
    that begins before the new file takes the name, says that it will see to it. Raises WriteFailed, LockedTooLong.
    """
    if not path.exists():
        return False
    with appending(path, timeout) as file:
        before = file.read()
        after = make(before)
        if after == before:
            return False
        seen_to = aside(len(before))
        replace(path, after)
        grown = os.fstat(file.descriptor).st_size - len(before)
        late = b"" if seen_to else _read_at(file.descriptor, len(before), grown)
        if late:
            with appending(path, timeout) as fresh:
                fresh.append(late)
    return True


def log_stream(path: str) -> TextIO:
    """A stream that writes to the end of a file, line by line; the null device where it can't be opened."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError:
        descriptor = os.open(os.devnull, os.O_WRONLY)
    return os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", buffering=1)


@contextmanager
def job_lock(path: Path, timeout: float = LOCK_TIMEOUT) -> Iterator[None]:
    """Hold a lock file beside what it guards. Raises LockedTooLong, WriteFailed."""
    with appending(path, timeout):
        yield
