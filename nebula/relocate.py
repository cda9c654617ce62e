"""Moving a mind's folder: copied whole, compared byte for byte, and only then gone from where it was.

All its ledgers are held under their locks meanwhile; whoever waits for one finds the place empty and is told so.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nebula import erasure, moving, reasons
from nebula.errors import FileUnusable, WriteFailed, WrongUsage
from nebula.mindlib import files, scratch
from nebula.reasons import because
from nebula.repair import ledgers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nebula.mind import Mind


@dataclass(frozen=True)
class Moved:
    """From where to where, and how many files of how many bytes."""

    source: Path
    target: Path
    count: int
    size: int


def move(mind: Mind, target: Path) -> Moved:
    """Move the mind to `target`, which must be absent or an empty folder; links in the folder are not followed.

    Raises FileUnusable where no mind lies, something lies at the target, or a pipe or the like lies in the folder,
    WrongUsage for a place within itself, WriteFailed, LockedTooLong; then all is where it was.
    """
    source, target = mind.folder.absolute(), target.absolute()
    if source.is_symlink():  # only the link would go, and two minds be left
        raise FileUnusable(source, because("link_to", place=source.resolve()))
    if not source.is_dir():
        raise FileUnusable(source, because("no_folder"))
    if target == source or source.resolve() in target.resolve().parents or target.resolve() in source.resolve().parents:
        raise WrongUsage("mind move DIR", "within", place=target)
    if target.exists() and (not target.is_dir() or target.is_symlink() or any(target.iterdir())):
        raise FileUnusable(target, because("not_empty"))
    odd = next((path for path in source.rglob("*") if not (path.is_symlink() or path.is_file() or path.is_dir())), None)
    if odd is not None:  # a pipe would be waited for without end
        raise FileUnusable(odd, because("irregular"))
    files.make_folder(target.parent)
    with contextlib.ExitStack() as held:
        for name in (*erasure.LOCKS, *(name for name in ledgers() if (source / name).exists())):
            held.enter_context(files.job_lock(source / name, mind.store.lock_timeout))
        with scratch.laid_aside(target) as beside, _on_record(source, target, beside) as journal:
            count, size = _copy(source, beside)
        _remove(source, Path(journal.rubbish))
    if not Path(journal.rubbish).exists():  # else the next opening clears it
        moving.end(target)
    return Moved(source, target, count, size)


@contextlib.contextmanager
def _on_record(source: Path, target: Path, beside: Path) -> Iterator[moving.Journal]:
    """Have the move on record in the old folder, and so in its copy; a copy that fails leaves none."""
    rubbish = source.parent / f".{source.name}.{secrets.token_hex(4)}.moved"
    journal = moving.Journal(str(source), str(target), str(beside), str(rubbish))
    moving.begin(journal)
    try:
        yield journal
    except BaseException:
        moving.end(source)
        raise


def _copy(source: Path, target: Path) -> tuple[int, int]:
    """Copy every file with its times, sync it, and read it again. -> (files, bytes). Raises OSError."""
    count = size = 0
    files.make_folder(target)  # 0700 before anything lies in it
    for path in source.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, target / path.name, symlinks=True)
        else:
            shutil.copy2(path, target / path.name, follow_symlinks=False)
    for path in sorted(target.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as copy:
            os.fsync(copy.fileno())
            data = copy.read()
        if data != (source / path.relative_to(target)).read_bytes():
            raise OSError(errno.EIO, "the copy differs")
        count, size = count + 1, size + len(data)
    return count, size


def _remove(source: Path, rubbish: Path) -> None:
    """Take the old folder away in one step, then clear it; what can't be cleared the next opening clears."""
    try:
        source.replace(rubbish)
    except OSError as error:
        raise WriteFailed(source, reasons.of(error)) from error
    shutil.rmtree(rubbish, ignore_errors=True)
