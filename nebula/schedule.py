"""The nightly run in the system's own scheduler: cron, launchd or schtasks, with absolute paths and a fixed locale.

Each mind has entries of its own, told by a mark that holds its folder's hash, so that installing twice is installing
once and removing touches no other line. A missed night is made up for: cron gets a second line at boot, launchd and
schtasks start late what they missed; there `consolidate --if-missed` decides by date. Every program is run by a
`Runner` that is passed in. What an old version left is found and named, and goes only when asked for.
"""

from __future__ import annotations

import hashlib
import os
import plistlib
import re
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from nebula.errors import BadValue, SchedulerFailed, WriteFailed, check_unicode
from nebula.mindlib import files

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    #: Runs a program with something on its standard input -> (exit code, output, errors). Raises OSError.
    Runner = Callable[[Sequence[str], bytes], tuple[int, bytes, bytes]]

SYSTEMS = ("cron", "launchd", "schtasks")
TASK = "Nebula MIND 夜间巩固"
#: What early versions of the original called their task, and the script that their cron line runs (spec 9).
OLD_TASK = "小鱼夜间沉淀"
OLD_SCRIPT = "夜间沉淀.py"
LOG = "consolidate.log"
BOOT_WAIT = 120  # seconds after boot before a missed night is made up for
#: Seconds before each further try: `bootout` comes back before launchd has let go of the label.
LAUNCHD_PAUSES = (0.2, 0.5, 1.0, 2.0)
_OWNER = "nebula-mind"  # begins the mark of every mind


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
        return f"{_OWNER} {self.digest}"

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
        """The words of the run."""
        return [self.python, "-m", "nebula", "consolidate", "--mind", str(self.folder), *more]


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


def system_of(platform: str) -> str:
    """The scheduler of a platform (`sys.platform`)."""
    return {"win32": "schtasks", "darwin": "launchd"}.get(platform, "cron")


def preview(job: Job, system: str) -> list[str]:
    """Exactly what would be installed: cron's lines, or the one document. Runs and changes nothing."""
    _check(job, system)
    if system == "cron":
        return cron_lines(job)
    return [plist(job).decode() if system == "launchd" else task_xml(job)]


def status(job: Job, system: str, runner: Runner = run) -> Status:
    """What is installed for this mind, and what an old version left. Raises SchedulerFailed, BadValue."""
    _check(job, system)
    return {"cron": _cron_status, "launchd": _agent_status, "schtasks": _task_status}[system](job, runner)


def install(job: Job, system: str, runner: Runner = run, *, remove_old: bool = False) -> Status:
    """Install the run, or put it right where it is there already; entries of old go only when asked for.

    Raises SchedulerFailed, WriteFailed, BadValue for a folder that the scheduler can't hold.
    """
    before = status(job, system, runner)
    files.make_folder(job.folder)
    {"cron": _install_cron, "launchd": _install_agent, "schtasks": _install_task}[system](job, runner)
    if remove_old and before.old:
        _remove_old(before, runner)
    return _since(before, status(job, system, runner))


def remove(job: Job, system: str, runner: Runner = run) -> Status:
    """Take this mind's entries away, and no other; -> what is left. Raises SchedulerFailed, WriteFailed, BadValue."""
    before = status(job, system, runner)
    if system == "cron":
        _edit_cron(runner, lambda row: _is_mine(row, job))
    elif system == "launchd":
        _bootout(job, runner)
        _delete(plist_path(job))
    for name in before.entries if system == "schtasks" else ():
        _call(runner, ["schtasks", "/Delete", "/F", "/TN", name])
    return _since(before, status(job, system, runner))


def _since(before: Status, after: Status) -> Status:
    left = {*after.entries, *after.old}
    return replace(after, removed=[entry for entry in (*before.entries, *before.old) if entry not in left])


def _remove_old(found: Status, runner: Runner) -> None:
    if found.system == "schtasks":
        for name in found.old:
            _call(runner, ["schtasks", "/Delete", "/F", "/TN", name])
    else:
        _edit_cron(runner, _is_old)


def _check(job: Job, system: str) -> None:
    if system not in SYSTEMS:
        raise BadValue("--system", system, " | ".join(SYSTEMS))
    if any(ord(c) < 32 for c in str(job.folder)):  # a line of cron can't hold a line break, XML no control character
        raise BadValue("--mind", job.folder, "U+0020…")
    if system != "cron":
        check_unicode("--mind", str(job.folder))


# cron


def cron_lines(job: Job) -> list[str]:
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


def _is_mine(row: bytes, job: Job) -> bool:
    return row.rstrip().endswith(f"# {job.mark}".encode()) and not _is_comment(row)


def _is_old(row: bytes) -> bool:
    named = any(OLD_SCRIPT.encode(encoding) in row for encoding in ("utf-8", "gbk"))
    return named and not _is_comment(row) and f"# {_OWNER} ".encode() not in row


def _rows(table: bytes) -> list[bytes]:
    """The lines with their ends; only a newline ends one, as cron reads them."""
    return re.findall(rb"[^\n]*\n|[^\n]+", table)


def _shown(rows: Sequence[bytes]) -> list[str]:
    return [row.decode("utf-8", "surrogateescape").rstrip("\r\n") for row in rows]


def _cron_status(job: Job, runner: Runner) -> Status:
    rows = _rows(_crontab(runner))
    mine = _shown([row for row in rows if _is_mine(row, job)])
    times = [found for line in mine if (found := re.match(r"(\d+) (\d+) ", line))]
    at = f"{int(times[0][2]):02d}:{int(times[0][1]):02d}" if times else ""
    return Status("cron", mine, at, _shown([row for row in rows if _is_old(row)]))


def _install_cron(job: Job, runner: Runner) -> None:
    _edit_cron(runner, lambda row: _is_mine(row, job), cron_lines(job))


def _crontab(runner: Runner) -> bytes:
    """The table; empty only where there is none, for what can't be read must not be written over."""
    code, out, err = _call(runner, ["crontab", "-l"], ok=(0, 1))
    none = rb"no crontab|can't open .*no such file"  # the second is busybox's
    if code and not re.search(none, err.lower()):
        raise SchedulerFailed("crontab -l", _said(err) or f"exit {code}")
    return b"" if code else out


def _edit_cron(runner: Runner, drop: Callable[[bytes], bool], lines: Sequence[str] = ()) -> None:
    """Take rows out and put lines where the first of them stood, else in front; every other byte stays.

    In front, the table's own settings (SHELL, CRON_TZ) are not yet in force, and an unended last line stays as it is.
    """
    before = _crontab(runner)
    rows = _rows(before)
    place = next((at for at, row in enumerate(rows) if drop(row)), 0)
    new = [f"{line}\n".encode("utf-8", "surrogateescape") for line in lines]
    after = b"".join([*rows[:place], *new, *(row for row in rows[place:] if not drop(row))])
    if after == before:
        return
    _call(runner, ["crontab", "-"], after)
    if not _crontab(runner).endswith(after):  # some systems put a heading before it
        raise SchedulerFailed("crontab -", "crontab -l ≠ crontab -")


# launchd


def plist_path(job: Job) -> Path:
    """Where the user's agents lie."""
    return job.home / "Library" / "LaunchAgents" / f"{_OWNER}.{job.digest}.plist"


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


def _agent_status(job: Job, runner: Runner) -> Status:
    """The predecessor knew no launchd: there too it ran from cron, which need not be there."""
    try:
        old = _shown([row for row in _rows(_crontab(runner)) if _is_old(row)])
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


def _domain() -> str:
    return f"gui/{os.getuid() if hasattr(os, 'getuid') else 0}"


def _install_agent(job: Job, runner: Runner) -> None:
    """Write and load the agent; where it can't be loaded its file is again what it was."""
    path, wanted = plist_path(job), plist(job)
    before = files.read(path)
    loaded = ["launchctl", "print", f"{_domain()}/{path.stem}"]
    if before == wanted and _call(runner, loaded, ok=range(256))[0] == 0:
        return
    files.make_folder(path.parent)
    _bootout(job, runner)
    files.replace(path, wanted)
    try:
        _bootstrap(path, runner)
    except SchedulerFailed:
        files.replace(path, before) if before else _delete(path)
        raise


def _bootstrap(path: Path, runner: Runner) -> None:
    words = ["launchctl", "bootstrap", _domain(), str(path)]
    for pause in LAUNCHD_PAUSES:
        if _call(runner, words, ok=(0, 5, 37))[0] == 0:  # input/output error, already in progress
            return
        time.sleep(pause)
    _call(runner, words)


def _bootout(job: Job, runner: Runner) -> None:
    """Unload the agent; 3 and 113 say that it was not loaded, 36 that it is on its way out."""
    _call(runner, ["launchctl", "bootout", f"{_domain()}/{plist_path(job).stem}"], ok=(0, 3, 36, 113))


def _delete(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise WriteFailed(path, error.strerror or str(error)) from error


# schtasks


def task_xml(job: Job, name: str = TASK) -> str:
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


def _windowless(python: str) -> str:
    """`pythonw.exe` where it lies beside `python.exe`: the other opens a console each night."""
    quiet = re.sub(r"(?i)(?<=[\\/])python\.exe$", "pythonw.exe", python)
    return quiet if Path(quiet).is_file() else python


def _task(name: str, runner: Runner) -> bytes | None:
    """A task's document, in whatever code page: what we look for in it is ASCII. None where there is no such task."""
    code, out, _ = _call(runner, ["schtasks", "/Query", "/XML", "/TN", name], ok=(0, 1))
    return None if code else out.replace(b"\0", b"")


def _task_status(job: Job, runner: Runner) -> Status:
    """The first mind's task has the plain name, a further one's ends in its hash; a plain one of nobody's is old."""
    found = {name: _task(name, runner) for name in (TASK, f"{TASK} {job.digest}", OLD_TASK)}
    mine = [name for name, text in found.items() if text is not None and job.mark.encode() in text]
    old = [name for name in (TASK, OLD_TASK) if (text := found[name]) is not None and _OWNER.encode() not in text]
    when = re.search(rb"<StartBoundary>[^<]*T(\d\d:\d\d)", found[mine[0]] or b"") if mine else None
    return Status("schtasks", mine, when[1].decode() if when else "", old)


def _install_task(job: Job, runner: Runner) -> None:
    mine = _task_status(job, runner).entries
    free = TASK if _task(TASK, runner) is None else f"{TASK} {job.digest}"
    name = mine[0] if mine else free
    path = job.folder / ".task.xml"
    files.replace(path, task_xml(job, name).encode("utf-16"), durable=False)
    try:
        _call(runner, ["schtasks", "/Create", "/F", "/TN", name, "/XML", str(path)])
    finally:
        _delete(path)


# programs


def _call(
    runner: Runner, words: Sequence[str], given: bytes = b"", ok: Sequence[int] = (0,)
) -> tuple[int, bytes, bytes]:
    try:
        code, out, err = runner(words, given)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SchedulerFailed(words[0], getattr(error, "strerror", None) or str(error)) from error
    if code not in ok:
        raise SchedulerFailed(" ".join(words[:2]), _said(err) or f"exit {code}")
    return code, out, err


def _said(err: bytes) -> str:
    return " ".join(err.decode("utf-8", "replace").split())
