"""The commands encoder add, list, remove: a second encoder for what is in Latin script."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation when it builds the command
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula import messages
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome, one_line

if TYPE_CHECKING:
    from nebula.encoder.added import Added


def register(app: typer.Typer) -> None:
    """Add the group and its commands."""
    group = typer.Typer(no_args_is_help=True)
    app.add_typer(group, name="encoder")
    command(group, "add")(add)
    command(group, "list")(list_)
    command(group, "remove")(remove)


def add(
    run: Run,
    folder: Annotated[Path, typer.Argument(metavar="DIR")],
    *,
    instruction: Annotated[str | None, typer.Option("--instruction", metavar="TEXT", show_default=False)] = None,
) -> Outcome:
    """Copy a BERT folder to the program's data and use it in this mind."""
    from nebula import second

    found = second.add(run.mind(), folder, instruction)
    lines = [messages.say("encoder.added", **_facts(found)), messages.say("encoder.next")]
    return Outcome(_object(found), [[(line, "")] for line in lines])


def list_(run: Run) -> Outcome:
    """The encoders that were added."""
    from nebula import second

    rows, lines = [], []
    for one in second.listed(run.mind()):
        rows.append({**_object(one.encoder), "used": one.used, "wrong": list(one.wrong), "bytes": one.bytes})
        said = messages.say("encoder.line", size=f"{one.bytes / (1 << 20):.0f}MB", **_facts(one.encoder))
        state = [messages.say("encoder.used")] if one.used else []
        state += [messages.say("encoder.wrong", names=", ".join(one.wrong))] if one.wrong else []
        lines.append([(one_line("  ".join([said, *state])), "")])
    return Outcome({"encoders": rows}, lines or [[(messages.say("encoder.none"), "")]])


def remove(run: Run, name: Annotated[str, typer.Argument(metavar="[NAME]", show_default=False)] = "") -> Outcome:
    """Delete the copy of an encoder, by default this mind's, and its vectors here."""
    from nebula import second

    gone = second.remove(run.mind(), name)
    return Outcome({"removed": gone}, [[(messages.say("encoder.removed", name=gone), "")]])


def _facts(found: Added) -> dict[str, object]:
    return {"name": found.name, "dimensions": found.dimensions, "longest": found.longest}


def _object(found: Added) -> dict[str, Any]:
    told = ("name", "model", "dimensions", "lowercase", "longest", "query", "passage")
    return {**{name: getattr(found, name) for name in told}, "sha256": dict(found.sha256)}
