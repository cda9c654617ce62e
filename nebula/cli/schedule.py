"""The nightly run in the system's scheduler: schedule install, status, remove."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula import messages
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome, one_line
from nebula.errors import BadValue

if TYPE_CHECKING:
    from nebula.cli.printing import Line
    from nebula.schedule import Job, Status


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="schedule")
    command(group, "install")(install)
    command(group, "status")(status)
    command(group, "remove")(remove)


At = Annotated[str, typer.Option("--at", metavar="HH:MM")]
System = Annotated[str, typer.Option("--system", metavar="NAME")]


def install(
    run: Run,
    *,
    at: At = "",
    print_: Annotated[bool, typer.Option("--print")] = False,
    remove_old: Annotated[bool, typer.Option("--remove-old")] = False,
    system: System = "auto",
) -> Outcome:
    """Run the consolidation every night; twice is once."""
    from nebula import schedule

    job, name = _job(run, at), _system(system)
    if print_:
        entries = schedule.preview(job, name)
        lines: list[Line] = [[(line, "")] for entry in entries for line in entry.splitlines()]
        return Outcome({"system": name, "entries": entries}, lines, verbatim=True)
    if at:  # or `--if-missed` would reckon with another time than the scheduler
        run.mind().configure("night.at", job.at)
    return _told(run, schedule.install(job, name, remove_old=remove_old))


def status(run: Run, *, system: System = "auto") -> Outcome:
    """What is installed, when the last night was, what an old version left."""
    from nebula import schedule

    return _told(run, schedule.status(_job(run, ""), _system(system)))


def remove(run: Run, *, system: System = "auto") -> Outcome:
    """Take this mind's entries out of the scheduler, and no other."""
    from nebula import schedule

    return _told(run, schedule.remove(_job(run, ""), _system(system)))


def _system(given: str) -> str:
    from nebula import schedule

    return schedule.system_of(sys.platform) if given == "auto" else given


def _job(run: Run, at: str) -> Job:
    """The mind's run at the time asked for, in the language in use. Raises BadValue for a time that is none."""
    from nebula import places, schedule, settings

    mind = run.mind()
    try:
        when = str(settings.check("night.at", at)) if at else mind.settings.night.at
    except BadValue:
        raise BadValue("--at", at, "HH:MM") from None
    home = places.home(run.environ)
    return schedule.Job(mind.folder.absolute(), when, language=messages.language(), home=home)


def _told(run: Run, found: Status) -> Outcome:
    """What was taken away behind a minus, what is there, the last night, and what of old is still there."""
    from nebula import night

    last = night.last_night(run.mind())
    lines: list[Line] = [[(f"- {one_line(entry)}", "dim")] for entry in found.removed]
    if found.entries:
        lines.append([(f"{found.system} {found.at}".rstrip(), "bold")])
    lines += [[(one_line(entry), "")] for entry in found.entries] or [[(messages.say("schedule.none"), "")]]
    lines.append([(messages.say("schedule.last", at=last or "—"), "dim")])
    if found.old:
        lines.append([(messages.say("schedule.old", entries=" | ".join(map(one_line, found.old))), "yellow")])
    data: dict[str, Any] = {
        "system": found.system,
        "installed": bool(found.entries),
        "at": found.at,
        "entries": list(found.entries),
        "old": list(found.old),
        "removed": list(found.removed),
        "last": last,
    }
    return Outcome(data, lines)
