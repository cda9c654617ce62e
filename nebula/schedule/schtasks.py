"""schtasks: a task without a window that starts late where its time was missed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from nebula.mindlib import files
from nebula.schedule.jobs import OWNER, Status, call, delete

if TYPE_CHECKING:
    from nebula.schedule.jobs import Job, Runner

TASK = "Nebula MIND 夜间巩固"
#: What early versions of the original called their task (spec 9).
OLD_TASK = "小鱼夜间沉淀"


def document(job: Job, name: str = TASK) -> str:
    """The task: without a window (pythonw), started late where its time was missed, also on batteries."""
    hour, minute = job.clock
    words = subprocess.list2cmdline(["-X", "utf8", *job.command("--if-missed", "--log", job.log)[1:]])
    return f"""<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>{job.mark}</Description><URI>\\{name}</URI></RegistrationInfo>
  <Triggers><CalendarTrigger>
    <StartBoundary>2020-01-01T{hour:02d}:{minute:02d}:00</StartBoundary>
    <ScheduleByDay><DaysInterval>1</DaysInterval></ScheduleByDay>
  </CalendarTrigger></Triggers>
  <Principals><Principal id="Author">
    <LogonType>InteractiveToken</LogonType><RunLevel>LeastPrivilege</RunLevel>
  </Principal></Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
  </Settings>
  <Actions Context="Author"><Exec>
    <Command>{escape(_windowless(job.python))}</Command>
    <Arguments>{escape(words)}</Arguments>
  </Exec></Actions>
</Task>
"""


def preview(job: Job) -> list[str]:
    """The task's document."""
    return [document(job)]


def remove(job: Job, found: Status, runner: Runner) -> None:  # noqa: ARG001 - every scheduler is asked alike
    """Delete this mind's tasks."""
    for name in found.entries:
        call(runner, ["schtasks", "/Delete", "/F", "/TN", name])


def remove_old(found: Status, runner: Runner) -> None:
    """Delete what the original left."""
    for name in found.old:
        call(runner, ["schtasks", "/Delete", "/F", "/TN", name])


def _windowless(python: str) -> str:
    """`pythonw.exe` where it lies beside `python.exe`: the other opens a console each night."""
    quiet = re.sub(r"(?i)(?<=[\\/])python\.exe$", "pythonw.exe", python)
    return quiet if Path(quiet).is_file() else python


def _task(name: str, runner: Runner) -> bytes | None:
    """A task's document, in whatever code page: what we look for in it is ASCII. None where there is no such task."""
    code, out, _ = call(runner, ["schtasks", "/Query", "/XML", "/TN", name], ok=(0, 1))
    return None if code else out.replace(b"\0", b"")


def status(job: Job, runner: Runner) -> Status:
    """The first mind's task has the plain name, a further one's ends in its hash; a plain one of nobody's is old."""
    found = {name: _task(name, runner) for name in (TASK, f"{TASK} {job.digest}", OLD_TASK)}
    mine = [name for name, text in found.items() if text is not None and job.mark.encode() in text]
    old = [name for name in (TASK, OLD_TASK) if (text := found[name]) is not None and OWNER.encode() not in text]
    when = re.search(rb"<StartBoundary>[^<]*T(\d\d:\d\d)", found[mine[0]] or b"") if mine else None
    return Status("schtasks", mine, when[1].decode() if when else "", old)


def install(job: Job, runner: Runner) -> None:
    """Create the task, or put it right."""
    mine = status(job, runner).entries
    free = TASK if _task(TASK, runner) is None else f"{TASK} {job.digest}"
    name = mine[0] if mine else free
    path = job.folder / ".task.xml"
    files.replace(path, document(job, name).encode("utf-16"), durable=False)
    try:
        call(runner, ["schtasks", "/Create", "/F", "/TN", name, "/XML", str(path)])
    finally:
        delete(path)
