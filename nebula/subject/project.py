"""A story's folder: where its subjects lie, which there are, and that nothing leads out of it.

A story may lie in a database as well (`nebula.postgres.story`). Whatever reads or writes a subject asks for the folder
to do it in by `reading` and `writing`: a story in a folder lends itself, one in a database a copy.
"""

from __future__ import annotations

import difflib
import os
import stat
import unicodedata
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from nebula import reasons
from nebula.address import Address, is_address
from nebula.errors import BadSubjectId, FileUnusable, SubjectTaken, UnknownSubject
from nebula.mindlib import files
from nebula.quick import dataclass
from nebula.reasons import because
from nebula.subject.ids import check_id, key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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
    def where(self) -> str:
        """What a person is told of where all subjects lie."""
        return str(self.subjects)

    def named(self, subject: str) -> str:
        """What a person is told of where one lies."""
        return str(self.folders().get(subject, self.subjects / subject))

    @property
    def own(self) -> Path:
        """What the program keeps for itself: index, locks, saves under way, settings."""
        return self.root / OWN

    def ids(self) -> Sequence[str]:
        """Every subject's id, in order."""
        return list(self.folders())

    def known(self, subject: str) -> str:
        """An existing subject's id as it is kept. Raises as `folder`."""
        self.folder(subject)
        return check_id(subject)

    def free(self, subject: str) -> str:
        """The id of a subject that is there or may be made. Raises as `new_folder`."""
        self.new_folder(subject)
        return check_id(subject)

    @contextmanager
    def reading(self, *_subjects: str) -> Iterator[Project]:
        """A folder with some of the subjects, or with all, as they stand. Raises UnknownSubject."""
        yield self

    @contextmanager
    def writing(self, subject: str, timeout: float = files.LOCK_TIMEOUT) -> Iterator[Project]:
        """A folder with one subject under its lock; what changes in it is kept. Raises LockedTooLong, WriteFailed."""
        folder = self.own / "locks"
        files.make_folder(self.own)
        files.make_folder(folder)
        with files.job_lock(folder / f"{subject}.lock", timeout):
            yield self

    def folders(self) -> Mapping[str, Path]:
        """Every subject's id -> its folder, by id; links and names that are no id are left out."""
        try:
            with os.scandir(self.subjects) as entries:
                names = sorted(e.name for e in entries if e.is_dir(follow_symlinks=False))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise FileUnusable(self.subjects, reasons.of(error)) from error
        return {unicodedata.normalize("NFC", name): self.subjects / name for name in names if _is_id(name)}

    def folder(self, subject: str) -> Path:
        """An existing subject's folder. Raises BadSubjectId, UnknownSubject, FileUnusable for a link."""
        wanted = check_id(subject)
        self._check_own()
        path = self.folders().get(wanted)
        if path is None:
            if (self.subjects / wanted).is_symlink():
                raise FileUnusable(self.subjects / wanted, because("link"))
            raise UnknownSubject(wanted, nearest(wanted, self.folders()), self.root)
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
            raise FileUnusable(self.subjects / wanted, because("not_own"))
        return self.subjects / wanted

    def _check_own(self) -> None:
        """The way down to the subjects must not be a link: it may lead out of the project."""
        for path in (self.root / "simulation", self.subjects, self.own):
            if path.is_symlink():
                raise FileUnusable(path, because("link"))


def nearest(wanted: str, known: Iterable[str]) -> str:
    """The id that is most like one, "" where none is."""
    ids = {key(one): one for one in known}
    return next((ids[near] for near in difflib.get_close_matches(key(wanted), list(ids), n=1)), "")


def _is_id(name: str) -> bool:
    try:
        check_id(name)
    except BadSubjectId:
        return False
    return True


def find(
    start: Path,
    given: Path | str | None = None,
    mind: Path | Address | None = None,
    timeout: float = files.LOCK_TIMEOUT,
) -> Project:
    """The project that is named, else the nearest folder from `start` upwards with subjects in it.

    Where there is neither it is the mind's database, or `start` for a mind in a folder.
    """
    if given is not None and is_address(str(given)):
        return _story(Address(str(given)), timeout)
    if given is not None:
        return Project(Path(given).absolute())
    here = start.absolute()
    found = next((folder for folder in (here, *here.parents) if (folder / SUBJECTS).is_dir()), None)
    return _story(mind, timeout) if found is None and isinstance(mind, Address) else Project(found or here)


def _story(address: Address, timeout: float) -> Project:
    from nebula.places import cache_of
    from nebula.postgres.story import Story

    return Story(cache_of(address), address, timeout)


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
                raise FileUnusable(path, because("irregular"))
            if found.st_nlink > 1 and _has_namesake(path, found):
                raise FileUnusable(path, because("shared"))
            return file.read()
    except FileNotFoundError:
        return b""
    except OSError as error:
        reason = reasons.of(error)
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
