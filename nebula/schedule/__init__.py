"""The nightly run in the system's own scheduler: cron, launchd or schtasks, with absolute paths and a fixed locale.

Each mind has entries of its own, told by a mark that holds its folder's hash, so that installing twice is installing
once and removing touches no other line. A missed night is made up for: cron gets a second line at boot, launchd and
schtasks start late what they missed; there `consolidate --if-missed` decides by date. Every program is run by a
`Runner` that is passed in. What an old version left is found and named, and goes only when asked for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from nebula.errors import BadValue, check_unicode
from nebula.mindlib import files
from nebula.schedule import cron, launchd, schtasks
from nebula.schedule.jobs import Job, Status, run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nebula.schedule.jobs import Runner

__all__ = ["SYSTEMS", "Job", "Status", "install", "preview", "remove", "run", "status", "system_of"]


class _Scheduler(Protocol):
    """What each system's module does."""

    def preview(self, job: Job) -> list[str]: ...
    def status(self, job: Job, runner: Runner) -> Status: ...
    def install(self, job: Job, runner: Runner) -> None: ...
    def remove(self, job: Job, found: Status, runner: Runner) -> None: ...
    def remove_old(self, found: Status, runner: Runner) -> None: ...


_SYSTEMS: Mapping[str, _Scheduler] = {"cron": cron, "launchd": launchd, "schtasks": schtasks}
SYSTEMS = tuple(_SYSTEMS)


def system_of(platform: str) -> str:
    """The scheduler of a platform (`sys.platform`)."""
    return {"win32": "schtasks", "darwin": "launchd"}.get(platform, "cron")


def preview(job: Job, system: str) -> list[str]:
    """Exactly what would be installed: cron's lines, or the one document. Runs and changes nothing."""
    return _checked(job, system).preview(job)


def status(job: Job, system: str, runner: Runner = run) -> Status:
    """What is installed for this mind, and what an old version left. Raises SchedulerFailed, BadValue."""
    return _checked(job, system).status(job, runner)


def install(job: Job, system: str, runner: Runner = run, *, remove_old: bool = False) -> Status:
    """Install the run, or put it right where it is there already; entries of old go only when asked for.

    Raises SchedulerFailed, WriteFailed, BadValue for a folder that the scheduler can't hold.
    """
    scheduler, before = _checked(job, system), status(job, system, runner)
    files.make_folder(job.folder)
    scheduler.install(job, runner)
    if remove_old and before.old:
        scheduler.remove_old(before, runner)
    return _since(before, status(job, system, runner))


def remove(job: Job, system: str, runner: Runner = run) -> Status:
    """Take this mind's entries away, and no other; -> what is left. Raises SchedulerFailed, WriteFailed, BadValue."""
    before = status(job, system, runner)
    _checked(job, system).remove(job, before, runner)
    return _since(before, status(job, system, runner))


def _since(before: Status, after: Status) -> Status:
    left = {*after.entries, *after.old}
    return replace(after, removed=[entry for entry in (*before.entries, *before.old) if entry not in left])


def _checked(job: Job, system: str) -> _Scheduler:
    if system not in _SYSTEMS:
        raise BadValue("--system", system, " | ".join(SYSTEMS))
    if any(ord(c) < 32 for c in str(job.folder)):  # a line of cron can't hold a line break, XML no control character
        raise BadValue("--mind", job.folder, "U+0020…")
    if system != "cron":
        check_unicode("--mind", str(job.folder))
    return _SYSTEMS[system]
