"""launchd: an agent that runs at its time, after sleep at waking, and at login."""

from __future__ import annotations

import os
import plistlib
import time
from typing import TYPE_CHECKING, Any

from nebula.errors import SchedulerFailed
from nebula.mindlib import files
from nebula.schedule import cron
from nebula.schedule.jobs import OWNER, Status, call, delete

if TYPE_CHECKING:
    from pathlib import Path

    from nebula.schedule.jobs import Job, Runner

#: Seconds before each further try: `bootout` comes back before launchd has let go of the label.
PAUSES = (0.2, 0.5, 1.0, 2.0)


def plist_path(job: Job) -> Path:
    """Where the user's agents lie."""
    return job.home / "Library" / "LaunchAgents" / f"{OWNER}.{job.digest}.plist"


def plist(job: Job) -> bytes:
    """The agent: at its time (after sleep at waking) and at login, doing only a night that was missed."""
    hour, minute = job.clock
    return plistlib.dumps(
        {
            "Label": plist_path(job).stem,
            "ProgramArguments": job.command("--if-missed"),
            "EnvironmentVariables": {"LANG": "C.UTF-8", "PYTHONUTF8": "1", "NEBULA_LANG": job.language},
            "StartCalendarInterval": {"Hour": hour, "Minute": minute},
            "RunAtLoad": True,
            "StandardOutPath": job.log,
            "StandardErrorPath": job.log,
        }
    )


def status(job: Job, runner: Runner) -> Status:
    """The predecessor knew no launchd: there too it ran from cron, which need not be there."""
    try:
        old = cron.shown([row for row in cron.rows(cron.crontab(runner)) if cron.is_old(row)])
    except SchedulerFailed:
        old = []
    path = plist_path(job)
    return Status("launchd", [str(path)], _agent_time(path), old) if path.is_file() else Status("launchd", [], old=old)


def _agent_time(path: Path) -> str:
    try:
        when: Any = plistlib.loads(files.read(path))["StartCalendarInterval"]
        return f"{when['Hour']:02d}:{when['Minute']:02d}"
    except Exception:  # what a person made of it, whatever that is
        return ""


def preview(job: Job) -> list[str]:
    """The agent's document."""
    return [plist(job).decode()]


def remove(job: Job, found: Status, runner: Runner) -> None:  # noqa: ARG001 - every scheduler is asked alike
    """Unload the agent and delete its file."""
    bootout(job, runner)
    delete(plist_path(job))


def remove_old(found: Status, runner: Runner) -> None:  # noqa: ARG001 - every scheduler is asked alike
    """Take the original's lines out of cron's table."""
    cron.edit(runner, cron.is_old)


def _domain() -> str:
    return f"gui/{os.getuid() if hasattr(os, 'getuid') else 0}"


def install(job: Job, runner: Runner) -> None:
    """Write and load the agent; where it can't be loaded its file is again what it was."""
    path, wanted = plist_path(job), plist(job)
    before = files.read(path)
    loaded = ["launchctl", "print", f"{_domain()}/{path.stem}"]
    if before == wanted and call(runner, loaded, ok=range(256))[0] == 0:
        return
    files.make_folder(path.parent)
    bootout(job, runner)
    files.replace(path, wanted)
    try:
        _bootstrap(path, runner)
    except SchedulerFailed:
        files.replace(path, before) if before else delete(path)
        raise


def _bootstrap(path: Path, runner: Runner) -> None:
    words = ["launchctl", "bootstrap", _domain(), str(path)]
    for pause in PAUSES:
        if call(runner, words, ok=(0, 5, 37))[0] == 0:  # input/output error, already in progress
            return
        time.sleep(pause)
    call(runner, words)


def bootout(job: Job, runner: Runner) -> None:
    """Unload the agent; 3 and 113 say that it was not loaded, 36 that it is on its way out."""
    call(runner, ["launchctl", "bootout", f"{_domain()}/{plist_path(job).stem}"], ok=(0, 3, 36, 113))
