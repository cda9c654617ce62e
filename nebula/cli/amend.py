"""Commands that change without losing: edit, tag, set, undo, and what happened: log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula import messages
from nebula.cli import editor, options
from nebula.cli.command import Run, command, json_or_text
from nebula.cli.printing import Outcome, one_line
from nebula.cli.remember import piped, shown
from nebula.errors import BadValue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nebula.amend import Changed, Event
    from nebula.cli.printing import Line

Ref = Annotated[str, typer.Argument(metavar="REF")]
NAMED = 20  # refs that a line names


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    for name, body in (("edit", edit), ("tag", tag), ("set", set_), ("undo", undo), ("log", log)):
        command(app, name, anywhere=True)(body)


def edit(
    run: Run, ref: Ref, text: Annotated[str | None, typer.Argument(metavar="[TEXT|-]", show_default=False)] = None
) -> Outcome:
    """Replace a memory by one with another text; the old one stays, closed."""
    from nebula import amend

    mind = run.mind()
    old = mind.get(ref)
    if text == "-":
        text = piped().decode("utf-8", "surrogateescape")
    wanted = editor.edit(old.text + "\n", run.environ).removesuffix("\n") if text is None else text
    return _now(amend.rewrite(mind, ref, wanted))


def tag(run: Run, ref: Ref, tag: Annotated[str, typer.Argument(metavar="TAG")]) -> Outcome:
    """Give a memory another tag; an empty one takes it away."""
    from nebula import amend

    return _now(amend.change(run.mind(), [ref], {"tag": tag}, "tag"))


def set_(run: Run, ref: Ref, values: Annotated[list[str], typer.Argument(metavar="KEY=VALUE…")]) -> Outcome:
    """Change fields of a memory."""
    from nebula import amend

    return _now(amend.change(run.mind(), [ref], _pairs(values), "set"))


def _pairs(values: Sequence[str]) -> dict[str, Any]:
    from nebula.mindlib.record import EXPECTED

    found: dict[str, Any] = {}
    for item in values:
        key, equals, text = item.partition("=")
        if not equals:
            raise BadValue("set", item, "KEY=VALUE")
        found[key.strip()] = text.strip() if EXPECTED.get(key.strip()) == "str" else json_or_text(text.strip())
    return found


def _now(done: Changed) -> Outcome:
    rows = [shown(memory) for memory in done.memories]
    return Outcome({"memories": rows}, [[(m.ref, "bold")] for m in done.memories], notices=done.notices)


def undo(run: Run) -> Outcome:
    """Take back the last command that wrote."""
    from nebula import amend

    done = amend.undo(run.mind())
    data = {"run": done.run, "written": list(done.written), "changed": list(done.changed)}
    said = [messages.say("undo.done")]
    said += [messages.say("undo.written", refs=_named(done.written))] if done.written else []
    said += [messages.say("undo.changed", refs=_named(done.changed))] if done.changed else []
    return Outcome(data, [[(line, "")] for line in said])


def _named(refs: Sequence[str]) -> str:
    """The refs, of many the first and how many: an import may have been thousands. --json has them all."""
    return " ".join(refs) if len(refs) <= NAMED else f"{' '.join(refs[:NAMED])} … ({len(refs)})"


def log(run: Run, *, limit: options.Limit = 20, jsonl: options.Jsonl = False) -> Outcome:
    """What happened lately, and why."""
    from nebula import amend

    events = amend.journal(run.mind(), limit)
    rows = [event_object(event) for event in events]
    lines = [event_line(event) for event in events]
    return Outcome({"events": rows}, lines, rows=rows if jsonl else None, long=True)


def event_object(event: Event) -> dict[str, Any]:
    """An event as JSON shows it."""
    return {"at": event.at, "ref": event.ref, "what": event.what, "why": event.why, "values": dict(event.values or {})}


def event_line(event: Event) -> Line:
    """`2026-12-01 22:05  n12  changed  沉降  depth 2`."""
    values = "  ".join(f"{name}={value}" for name, value in (event.values or {}).items())
    what = messages.say(f"event.{event.what}")
    when = one_line(event.at.replace("T", " ")[:16])
    return [
        (when, "dim"),
        (f"  {one_line(event.ref):<5}", "bold"),
        (f" {what}  {one_line(event.why)}  ", ""),
        (one_line(values), "none"),
    ]
