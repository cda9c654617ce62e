"""The command that takes over another folder: import."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation when it builds the command
from typing import TYPE_CHECKING, Annotated

import typer

from nebula import messages
from nebula.cli import progress
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome
from nebula.results import Notice

if TYPE_CHECKING:
    from nebula.cli.printing import Line
    from nebula.transfer import Imported


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    command(app, "import")(import_)


def import_(
    run: Run,
    folder: Annotated[Path, typer.Argument(metavar="DIR")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run")] = False,
) -> Outcome:
    """Take over another mind's folder; twice is once."""
    from nebula import transfer

    with progress.bar(run, messages.say("progress.embedding")) as advance:
        found = transfer.import_folder(run.mind(), folder, dry_run=dry_run, progress=advance)
    where = [f"{damage.path.name}:{damage.line}" for damage in found.damages]
    data = {
        "dry_run": dry_run,
        "records": dict(found.records),
        "here": found.here,
        "lines": dict(found.lines),
        "damages": where,
        "longterm": found.longterm,
        "settings": found.settings,
        "vectors": found.vectors,
    }
    damaged = [Notice("damaged_lines", {"n": len(where), "where": ", ".join(where[:5])})] if where else []
    return Outcome(data, _lines(found, dry_run=dry_run), notices=[*damaged, *found.notices])


def _lines(found: Imported, *, dry_run: bool) -> list[Line]:
    from nebula.mindlib.record import BY_NAME

    records = "  ".join(f"{BY_NAME[kind].chinese} {count}" for kind, count in found.records.items()) or "0"
    said = [messages.say("import.would" if dry_run else "import.done", records=records, here=found.here)]
    if found.lines:
        said.append("  ".join(f"{name} {count}" for name, count in found.lines.items()))
    if found.vectors:
        said.append(messages.say("import.vectors", n=found.vectors))
    said += [
        f"{name}: {messages.say(f'import.{state}')}"
        for name, state in (("longterm.md", found.longterm), ("mind-config.json", found.settings))
        if state != "absent"
    ]
    return [[(line, "")] for line in said]
