"""The handwritten long-term notes: longterm show, edit, history."""

from __future__ import annotations

from typing import Annotated

import typer

from nebula import messages
from nebula.cli import editor, printing
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome
from nebula.cli.remember import piped
from nebula.errors import BadValue


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="longterm")
    command(group, "show", anywhere=True)(show)
    command(group, "edit", anywhere=True)(edit)
    command(group, "history", anywhere=True)(history)


def show(run: Run) -> Outcome:
    """The long-term notes."""
    from nebula import longterm

    text = longterm.read(run.mind())
    lines = [[(printing.clean(line), "")] for line in text.splitlines()]
    return Outcome({"text": text}, lines or [[(messages.say("longterm.empty"), "")]], long=True, verbatim=bool(lines))


def edit(run: Run, text: Annotated[str | None, typer.Argument(metavar="[-]", show_default=False)] = None) -> Outcome:
    """Change them in your editor, or with `-` from standard input; the earlier text goes into the history."""
    from nebula import longterm, screen

    if text not in {None, "-"}:
        raise BadValue("longterm edit", text, "-")
    mind = run.mind()
    before = longterm.read(mind)
    after = piped().decode("utf-8", "surrogateescape") if text == "-" else editor.edit(before, run.environ, ".md")
    taken = screen.value(after, redact=mind.redacts)
    changed = longterm.write(mind, taken.value, before)
    said = messages.say("longterm.changed" if changed else "longterm.same")
    return Outcome({"changed": changed}, [[(said, "")]], notices=taken.notices(longterm.NAME))


def history(run: Run) -> Outcome:
    """Every earlier text, and until when it stood."""
    from nebula import longterm

    found = longterm.history(run.mind())
    lines = [part for at, text in found for part in _one(at, text)]
    data = {"history": [{"at": at, "text": text} for at, text in found]}
    return Outcome(data, lines or [[(messages.say("longterm.no_history"), "")]], long=True)


def _one(at: str, text: str) -> list[list[tuple[str, str]]]:
    return [[(f"— {printing.one_line(at)}", "dim")], *([(printing.clean(line), "")] for line in text.splitlines())]
