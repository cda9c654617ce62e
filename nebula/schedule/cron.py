"""cron: a line each night and one at boot, in the user's own table, every other byte of which stays."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from nebula import reasons
from nebula.errors import SchedulerFailed
from nebula.schedule.jobs import OWNER, Status, call

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nebula.schedule.jobs import Job, Runner

#: The script that the cron line of early versions of the original runs (spec 9).
OLD_SCRIPT = "夜间沉淀.py"
BOOT_WAIT = 120  # seconds after boot before a missed night is made up for


def preview(job: Job) -> list[str]:
    """The nightly line `5 22 * * * …` and the one at boot, each ending in the mark, which the shell passes over."""
    hour, minute = job.clock
    return [
        f"{minute} {hour} * * * {_shell(job)} # {job.mark}",
        f"@reboot sleep {BOOT_WAIT}; {_shell(job, '--if-missed')} # {job.mark}",
    ]


def _shell(job: Job, *more: str) -> str:
    """The command for cron's bare environment, `%` escaped, which cron reads as a line break.

    A backslash before it would take the escape's place: an empty quote between the two keeps them apart.
    """
    settings = f"LANG=C.UTF-8 PYTHONUTF8=1 NEBULA_LANG={job.language}"
    line = f"{settings} {shlex.join(job.command(*more))} >> {shlex.quote(job.log)} 2>&1"
    return line.replace("\\%", "\\''%").replace("%", "\\%")


def _is_comment(row: bytes) -> bool:
    return row.lstrip().startswith(b"#")


def is_mine(row: bytes, job: Job) -> bool:
    """Whether a line ends in the mind's mark; one that was commented out is its user's."""
    return row.rstrip().endswith(f"# {job.mark}".encode()) and not _is_comment(row)


def is_old(row: bytes) -> bool:
    """Whether a line runs the original's script."""
    named = any(OLD_SCRIPT.encode(encoding) in row for encoding in ("utf-8", "gbk"))
    return named and not _is_comment(row) and f"# {OWNER} ".encode() not in row


def rows(table: bytes) -> list[bytes]:
    """The lines with their ends; only a newline ends one, as cron reads them."""
    return re.findall(rb"[^\n]*\n|[^\n]+", table)


def shown(rows: Sequence[bytes]) -> list[str]:
    """Lines as text, without their ends."""
    return [row.decode("utf-8", "surrogateescape").rstrip("\r\n") for row in rows]


def status(job: Job, runner: Runner) -> Status:
    """The lines with this mind's mark, and those of old."""
    table = rows(crontab(runner))
    mine = shown([row for row in table if is_mine(row, job)])
    times = [found for line in mine if (found := re.match(r"(\d+) (\d+) ", line))]
    at = f"{int(times[0][2]):02d}:{int(times[0][1]):02d}" if times else ""
    return Status("cron", mine, at, shown([row for row in table if is_old(row)]))


def install(job: Job, runner: Runner) -> None:
    """Put both lines where they stand, or in front."""
    edit(runner, lambda row: is_mine(row, job), preview(job))


def remove(job: Job, found: Status, runner: Runner) -> None:  # noqa: ARG001 - every scheduler is asked alike
    """Take this mind's lines out."""
    edit(runner, lambda row: is_mine(row, job))


def remove_old(found: Status, runner: Runner) -> None:  # noqa: ARG001 - every scheduler is asked alike
    """Take the original's lines out."""
    edit(runner, is_old)


def crontab(runner: Runner) -> bytes:
    """The table; empty only where there is none, for what can't be read must not be written over."""
    code, out, err = call(runner, ["crontab", "-l"], ok=(0, 1))
    none = rb"no crontab|can't open .*no such file"  # the second is busybox's
    if code and not re.search(none, err.lower()):
        raise SchedulerFailed("crontab -l", reasons.ended(code, err))
    return b"" if code else out


def edit(runner: Runner, drop: Callable[[bytes], bool], lines: Sequence[str] = ()) -> None:
    """Take rows out and put lines where the first of them stood, else in front; every other byte stays.

    In front, the table's own settings (SHELL, CRON_TZ) are not yet in force, and an unended last line stays as it is.
    """
    before = crontab(runner)
    table = rows(before)
    place = next((at for at, row in enumerate(table) if drop(row)), 0)
    new = [f"{line}\n".encode("utf-8", "surrogateescape") for line in lines]
    after = b"".join([*table[:place], *new, *(row for row in table[place:] if not drop(row))])
    if after == before:
        return
    call(runner, ["crontab", "-"], after)
    if not crontab(runner).endswith(after):  # some systems put a heading before it
        raise SchedulerFailed("crontab -", "crontab -l ≠ crontab -")
