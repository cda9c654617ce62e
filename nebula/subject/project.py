"""A story's folder: where its subjects lie, which there are, and that nothing leads out of it."""

from __future__ import annotations

import difflib
import errno
import os
import stat
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from nebula.errors import BadSubjectId, FileUnusable, SubjectTaken, UnknownSubject
from nebula.mindlib import files
from nebula.quick import dataclass
from nebula.subject.ids import check_id, key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

SUBJECTS = Path("simulation") / "subjects"
OWN = ".nbook"


@dataclass(frozen=True)
class Project:
    """A project's root folder; it may not exist yet."""

    root: Path

    @property
    def subjects(self) -> Path:
        """Where all subjects lie."""
        return self.root / SUBJECTS

    @property
    def own(self) -> Path:
        """What the program keeps for itself: index, locks, saves under way, settings."""
        return self.root / OWN

    def folders(self) -> Mapping[str, Path]:
        """Every subject's id -> its folder, by id; links and names that are no id are left out."""
        try:
            with os.scandir(self.subjects) as entries:
                names = sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise FileUnusable(self.subjects, error.strerror or str(error)) from error
        return {unicodedata.normalize("NFC", name): self.subjects / name for name in names if _is_id(name)}

    def folder(self, subject: str) -> Path:
        """An existing subject's folder. Raises BadSubjectId, UnknownSubject, FileUnusable for a link."""
        wanted = check_id(subject)
        self._check_own()
        path = self.folders().get(wanted)
        if path is None:
            if (self.subjects / wanted).is_symlink():
                raise FileUnusable(self.subjects / wanted, "is a link")
            raise UnknownSubject(wanted, self._nearest(wanted), self.root)
        return path

    def new_folder(self, subject: str) -> Path:
        """Where a subject lies or would lie. Raises BadSubjectId, and SubjectTaken for one that is too much alike."""
        wanted = check_id(subject)
        self._check_own()
        found = self.folders()
        if wanted in found:
            return found[wanted]
        for other in found:
            if key(other) == key(wanted):
                raise SubjectTaken(wanted, other)
        if (self.subjects / wanted).is_symlink() or (self.subjects / wanted).exists():
            raise FileUnusable(self.subjects / wanted, "is no folder of its own")
        return self.subjects / wanted

    def lock(self, subject: str, timeout: float) -> AbstractContextManager[None]:
        """Hold what one subject's commands share. Raises LockedTooLong, WriteFailed."""
        folder = self.own / "locks"
        files.make_folder(self.own)
        files.make_folder(folder)
        return files.job_lock(folder / f"{subject}.lock", timeout)

    def _check_own(self) -> None:
        """The way down to the subjects must not be a link: it may lead out of the project."""
        for path in (self.root / "simulation", self.subjects, self.own):
            if path.is_symlink():
                raise FileUnusable(path, "is a link")

    def _nearest(self, wanted: str) -> str:
        ids = {key(known): known for known in self.folders()}
        return next((ids[near] for near in difflib.get_close_matches(key(wanted), list(ids), n=1)), "")


def _is_id(name: str) -> bool:
    try:
        check_id(name)
    except BadSubjectId:
        return False
    return True


def find(start: Path, given: Path | None = None) -> Project:
    """The project that is named, else the nearest folder from `start` upwards with subjects in it, else `start`."""
    if given is not None:
        return Project(given.absolute())
    here = start.absolute()
    return Project(next((folder for folder in (here, *here.parents) if (folder / SUBJECTS).is_dir()), here))


def read_own(path: Path) -> bytes:
    """A subject's file; b"" where it is absent. Raises FileUnusable for a link or what is no regular file.

    A file that has a second name may be another subject's: it is refused too.
    """
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise FileUnusable(path, "is no regular file")
            if found.st_nlink > 1 and _has_namesake(path, found):
                raise FileUnusable(path, "is the same file as another subject's")
            return file.read()
    except FileNotFoundError:
        return b""
    except OSError as error:
        reason = "is a link" if error.errno == errno.ELOOP else error.strerror or str(error)
        raise FileUnusable(path, reason) from error


def _has_namesake(path: Path, found: os.stat_result) -> bool:
    return any(
        (other.st_dev, other.st_ino) == (found.st_dev, found.st_ino)
        for sibling, other in _siblings(path)
        if sibling != path
    )


def _siblings(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for other in path.parent.parent.glob("*/*"):
        try:
            yield other, other.lstat()
        except OSError:
            continue
