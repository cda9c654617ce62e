"""The cast of a story: subject init, list, show, soul, rm, check, event, tell, diff, leak-test."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula import messages
from nebula.cli import options  # noqa: TC001 - typer reads the annotation when it builds the command
from nebula.cli.command import Run, command
from nebula.cli.printing import FIT, Outcome, one_line
from nebula.cli.remember import given_text
from nebula.errors import BadValue, WrongUsage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nebula.cli.printing import Line
    from nebula.subject.cast import Part
    from nebula.subject.project import Project
    from nebula.subject.records import Event, View


def register(group: typer.Typer) -> None:
    """Add the commands of this module to the group `subject`."""
    own: dict[str, Callable[..., Outcome]] = {
        "init": init,
        "list": list_,
        "show": show,
        "soul": soul,
        "rm": rm,
        "check": check,
        "event": event,
        "tell": tell,
        "diff": diff,
        "leak-test": leak_test,
    }
    for name, body in own.items():
        command(group, name, anywhere=True)(body)


def project_of(run: Run, given: str | None) -> Project:
    """The project that is meant: the one named, else the nearest upwards, else the mind's database."""
    from nebula.subject import project

    return project.find(Path.cwd(), given, run.place().mind, run.lock_timeout)


def event_object(event: Event) -> dict[str, Any]:
    """An event as JSON shows it."""
    return {"line": event.line, **event.to_object()}


def view_line(view: View) -> Line:
    """A view in one line."""
    names = f"（{'、'.join(view.aliases)}）" if view.aliases else ""
    return [(one_line(view.topic + names), "bold"), (f"  {one_line(view.view)}", FIT)]


def init(
    run: Run,
    ids: Annotated[list[str], typer.Argument(metavar="ID…|-")],
    *,
    project: options.ProjectDir = None,
    name: Annotated[str, typer.Option("--name", metavar="NAME")] = "",
    kind: Annotated[str, typer.Option("--kind", metavar="npc|player|faction")] = "npc",
    event: Annotated[list[str] | None, typer.Option("--event", metavar="TEXT")] = None,
    memory: Annotated[list[str] | None, typer.Option("--memory", metavar="TOPIC=VIEW")] = None,
    from_: Annotated[Path | None, typer.Option("--from", metavar="FILE.jsonl")] = None,
) -> Outcome:
    """Make subjects: six files each, none overwritten."""
    from nebula.subject import cast

    parts = _piped(name, kind) if ids == ["-"] else [cast.Part(one, name, kind) for one in ids]
    if event or memory or from_ or name:
        if len(parts) != 1:
            raise WrongUsage(
                "subject init ID [--name NAME] [--event TEXT] [--memory TOPIC=VIEW] [--from FILE]", "one_subject"
            )
        events, views = _first(event or [], memory or [], from_)
        parts = [cast.Part(parts[0].subject, parts[0].name, parts[0].kind, events, views)]
    found, redact = project_of(run, project), run.mind().redacts
    made = [(found.named(m.subject), m) for m in cast.init(found, parts, run.now(), run.lock_timeout, redact=redact)]
    rows = [
        {"id": m.subject, "folder": where, "files": list(m.files), "events": m.events, "memory": m.views}
        for where, m in made
    ]
    lines: list[Line] = [
        [(m.subject, "bold"), (f"  {where}", FIT), ("" if m.files else f"  {messages.say('subject.kept')}", "dim")]
        for where, m in made
    ]
    hints, notices = [messages.say("hint.after_init", folder=made[0][0])], [n for _, m in made for n in m.notices]
    return Outcome({"subjects": rows}, lines, hints=hints, notices=notices)


def _piped(name: str, kind: str) -> list[Part]:
    """Ids one a line, or JSON objects with first events and views."""
    from nebula.subject import cast

    text = given_text("-")
    if text.lstrip().startswith("{"):
        return [cast.part(obj) for obj in cast.objects(text.encode(), Path("-"))]
    return [cast.Part(line.strip(), name, kind) for line in text.splitlines() if line.strip()]


def _first(events: Sequence[str], memory: Sequence[str], file: Path | None) -> tuple[list[Event], list[View]]:
    from nebula.mindlib import files
    from nebula.subject import cast, records

    lived = [records.event({"text": text}) for text in events]
    views = []
    for pair in memory:
        topic, equals, view = pair.partition("=")
        if not equals:
            raise BadValue("--memory", pair, "TOPIC=VIEW")
        views.append(records.view({"topic": topic, "view": view}))
    if file is not None:
        more, held = cast.sorted_records(cast.objects(files.read_given(file), file))
        lived, views = [*lived, *more], [*views, *held]
    return lived, views


def list_(run: Run, *, project: options.ProjectDir = None) -> Outcome:
    """The subjects of a project."""
    from nebula.subject import cast

    found = project_of(run, project)
    rows = cast.listed(found)
    lines: list[Line] = [
        [(row.id, "bold"), (f"  {one_line(row.name)}  {row.kind}  ", FIT),
         (messages.say("subject.counts", events=row.events, memory=row.memory), "dim")]
        for row in rows
    ]  # fmt: skip
    none: list[Line] = [[(messages.say("subject.none", folder=found.where), "")]]
    return Outcome({"subjects": [vars(row) for row in rows]}, lines or none, long=True)


def show(
    run: Run, subject: Annotated[str, typer.Argument(metavar="ID")], *, project: options.ProjectDir = None
) -> Outcome:
    """Everything of one subject, its hidden truth too: for the leader."""
    from nebula.subject import saving
    from nebula.subject.files import MIND, SOUL, STATE, SUBJECT, read_text

    found = project_of(run, project)
    with saving.held(found, subject, run.now(), run.lock_timeout) as actor:
        lived = actor.lived()
        pages = {name: read_text(actor.folder, name) for name in (SUBJECT, SOUL, MIND, STATE)}
    data = {
        "id": actor.subject,
        "folder": found.named(actor.subject),
        "pages": pages,
        "events": [event_object(one) for one in lived.events],
        "memory": [view.to_object() for view in lived.views],
    }
    lines: list[Line] = []
    for name, text in pages.items():
        lines += [[(name, "bold")], *([(line, "")] for line in text.strip().splitlines()), [("", "")]]
    lines += [[("events.jsonl", "bold")], *(event_line(one) for one in lived.events), [("", "")]]
    lines += [[("memory.jsonl", "bold")], *(view_line(view) for view in lived.views)]
    return Outcome(data, lines, long=True)


def event_line(event: Event) -> Line:
    """An event in one line: its number, story time, text."""
    when = f"{event.time} " if event.time else ""
    return [(f"{event.line:>4} ", "dim"), (one_line(when), "dim"), (one_line(event.text), FIT)]


def soul(
    run: Run,
    subject: Annotated[str, typer.Argument(metavar="ID")],
    *,
    project: options.ProjectDir = None,
) -> Outcome:
    """The handbook of the part, for the actor's main run; comments to the author are left out."""
    from nebula.subject import cast

    found = project_of(run, project)
    name = found.known(subject)
    text = cast.soul(found, name)
    return Outcome({"id": name, "soul": text}, [[(line, "")] for line in text.splitlines()], verbatim=True)


def rm(
    run: Run,
    subject: Annotated[str, typer.Argument(metavar="ID")],
    *,
    project: options.ProjectDir = None,
    dry_run: Annotated[bool, typer.Option("--dry-run")] = False,
    yes: Annotated[bool, typer.Option("--yes")] = False,
) -> Outcome:
    """Remove a subject for good."""
    from nebula.subject import cast

    found = project_of(run, project)
    name = found.known(subject)
    if dry_run:
        said = messages.say("subject.would_remove", folder=found.named(name))
        return Outcome({"dry_run": True, "id": name}, [[(said, "")]])
    if not yes:
        if not sys.stdin.isatty():
            raise WrongUsage(f"subject rm {subject} --yes", "unasked")
        typer.confirm(messages.say("subject.confirm", folder=found.named(name)), abort=True, err=True)
    cast.remove(found, subject, run.now(), run.lock_timeout)
    return Outcome({"removed": name}, [[(messages.say("subject.removed", subject=name), "")]])


def check(
    run: Run,
    subjects: Annotated[list[str] | None, typer.Argument(metavar="[ID…]")] = None,
    *,
    project: options.ProjectDir = None,
) -> Outcome:
    """Whether all files are sound, and whether a secret of subject.md got out."""
    from nebula.subject import audit

    faults = audit.check(project_of(run, project), subjects or ())
    lines: list[Line] = [
        [
            (f"{one.subject}/{one.file}{f':{one.line}' if one.line else ''}  ", "bold"),
            (messages.say(f"fault.{one.kind}", reason=one.reason), FIT),
        ]
        for one in faults
    ]
    sound: list[Line] = [[(messages.say("subject.sound"), "green")]]
    return Outcome({"faults": [vars(one) for one in faults]}, lines or sound, 1 if faults else 0)


def event(
    run: Run,
    subject: Annotated[str, typer.Argument(metavar="ID")],
    text: Annotated[str | None, typer.Argument(metavar="[TEXT|-]")] = None,
    *,
    project: options.ProjectDir = None,
    time: Annotated[str, typer.Option("--time", metavar="TEXT")] = "",
    tick: Annotated[str, typer.Option("--tick", metavar="TICK")] = "",
    kind: Annotated[str, typer.Option("--kind", metavar="KIND")] = "",
    jsonl: Annotated[bool, typer.Option("--jsonl")] = False,
) -> Outcome:
    """Write what a subject lived: one text, or with --jsonl an event a line from standard input."""
    from nebula.subject import cast, index, records, saving

    found = project_of(run, project)
    found.known(subject)  # an id that is none is refused before standard input is read
    shared = {"time": time, "tick": tick, "kind": kind}
    objects = cast.objects(given_text("-").encode(), Path("-")) if jsonl else [{"text": given_text(text)}]
    events = cast.each([{**{k: v for k, v in shared.items() if v}, **one} for one in objects], records.event)
    with saving.held(found, subject, run.now(), run.lock_timeout, redact=run.mind().redacts) as actor:
        saved = saving.write(actor, saving.Draft(events))
    index.mark_dirty(cast.index_path(found), actor.subject)
    lines: list[Line] = [[(str(line), "bold")] for line in saved.events]
    return Outcome({"lines": list(saved.events)}, lines, notices=saved.notices)


def tell(
    run: Run,
    teller: Annotated[str, typer.Argument(metavar="A")],
    listener: Annotated[str, typer.Argument(metavar="B")],
    line: Annotated[int, typer.Argument(metavar="LINE")],
    *,
    project: options.ProjectDir = None,
    text: Annotated[str, typer.Option("--text", metavar="TEXT")] = "",
    tick: Annotated[str, typer.Option("--tick", metavar="TICK")] = "",
) -> Outcome:
    """B hears from A what A lived at a line: hearsay, with its origin."""
    from nebula.subject import cast

    found, redact = project_of(run, project), run.mind().redacts
    heard, saved = cast.tell(found, teller, listener, line, run.now(), words=text, tick=tick, redact=redact)
    (at,) = saved.events
    lines: list[Line] = [[(f"{at} ", "bold"), (one_line(heard.text), FIT)]]
    return Outcome({"line": at, "event": heard.to_object()}, lines, notices=saved.notices)


def diff(
    run: Run,
    first: Annotated[str, typer.Argument(metavar="A")],
    second: Annotated[str, typer.Argument(metavar="B")],
    *,
    project: options.ProjectDir = None,
) -> Outcome:
    """Who knows what: the topics of two subjects side by side, for the leader."""
    from nebula.subject import recall

    found = recall.diff(project_of(run, project), first, second, run.now())
    rows = [
        {"topic": k.topic, first: k.first and k.first.to_object(), second: k.second and k.second.to_object()}
        for k in found
    ]
    lines: list[Line] = []
    for known in found:
        lines.append([(one_line(known.topic), "bold")])
        for name, view in ((first, known.first), (second, known.second)):
            said = one_line(view.view) if view else messages.say("subject.knows_not")
            lines.append([(f"  {name}  ", "dim"), (said, FIT if view else "dim")])
    none: list[Line] = [[(messages.say("subject.no_views"), "")]]
    return Outcome({"topics": rows}, lines or none)


def leak_test(run: Run, *, project: options.ProjectDir = None) -> Outcome:
    """Plant canaries in a copy and look for them in everything that comes out."""
    from nebula.subject import leaktest

    trial = leaktest.run(project_of(run, project), run.now())
    crossings = [{"planted_in": one.planted_in, "came_out": one.came_out} for one in trial.crossings]
    data = {"subjects": trial.subjects, "canaries": trial.canaries, "ways": trial.ways, "crossings": crossings}
    lines: list[Line] = [[(f"{c['planted_in']} → {c['came_out']}", "red")] for c in crossings]
    told = messages.say("subject.tried", subjects=trial.subjects, canaries=trial.canaries, ways=trial.ways)
    lines.append([(f"{told} {messages.say('subject.crossed', n=len(crossings))}", "red" if crossings else "green")])
    return Outcome(data, lines, 1 if crossings else 0)
