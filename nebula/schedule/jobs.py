"""A mind's nightly run, what a scheduler holds of it, and how a scheduler's program is asked."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nebula import reasons
from nebula.errors import SchedulerFailed, WriteFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    #: Runs a program with something on its standard input -> (exit code, output, errors). Raises OSError.
    Runner = Callable[[Sequence[str], bytes], tuple[int, bytes, bytes]]

LOG = "consolidate.log"
#: Begins the mark of every mind.
OWNER = "nebula-mind"


@dataclass(frozen=True)
class Job:
    """A mind's nightly run: its folder (absolute), the time "22:05", the interpreter, the log's language, the home."""

    folder: Path
    at: str
    python: str = sys.executable
    language: str = "zh"
    home: Path = field(default_factory=Path.home)

    @property
    def digest(self) -> str:
        """The folder's hash, the same by whatever link or spelling it is reached; 12 hex digits."""
        place = os.path.normcase(os.path.realpath(self.folder))
        return hashlib.sha256(os.fsencode(place)).hexdigest()[:12]

    @property
    def mark(self) -> str:
        """What tells this mind's entries from all others."""
        return f"{OWNER} {self.digest}"

    @property
    def clock(self) -> tuple[int, int]:
        """(hour, minute)."""
        hour, _, minute = self.at.partition(":")
        return int(hour), int(minute)

    @property
    def log(self) -> str:
        """The file that the run's output is appended to."""
        return str(self.folder / LOG)

    def command(self, *more: str) -> list[str]:
        """The words of the run; `-P` keeps modules of the folder that a scheduler starts in out."""
        return [self.python, "-P", "-m", "nebula", "consolidate", "--mind", str(self.folder), *more]


@dataclass(frozen=True)
class Status:
    """What the scheduler holds for a mind: entries as it names them, their time ("" for none), entries of old.

    `removed` are those that the operation took away.
    """

    system: str
    entries: Sequence[str]
    at: str = ""
    old: Sequence[str] = ()
    removed: Sequence[str] = ()


def run(words: Sequence[str], given: bytes) -> tuple[int, bytes, bytes]:
    """The true runner. Raises OSError where there is no such program."""
    done = subprocess.run(list(words), input=given, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def call(
    runner: Runner, words: Sequence[str], given: bytes = b"", ok: Sequence[int] = (0,)
) -> tuple[int, bytes, bytes]:
    """Run a program; a code that is not `ok`, or no such program, raises SchedulerFailed."""
    try:
        code, out, err = runner(words, given)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SchedulerFailed(words[0], reasons.of(error)) from error
    if code not in ok:
        raise SchedulerFailed(" ".join(words[:2]), reasons.ended(code, err))
    return code, out, err


def said(err: bytes) -> str:
    """What a program complained of, in one line."""
    return " ".join(err.decode("utf-8", "replace").split())


def delete(path: Path) -> None:
    """Remove a file, if it is there. Raises WriteFailed."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise WriteFailed(path, reasons.of(error)) from error
