"""The command of the dense route: embed."""

from __future__ import annotations

from typing import Annotated

import typer

from nebula import messages
from nebula.cli import printing, progress
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome
from nebula.errors import WrongUsage


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    command(app, "embed", anywhere=True)(embed)


def embed(
    run: Run,
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", show_default=False)] = None,
    build: Annotated[bool, typer.Option("--build")] = False,
) -> Outcome:
    """Make every missing vector, or show the vector of a text."""
    if build == (text is not None):
        raise WrongUsage("embed TEXT | embed --build", "just_one")
    mind = run.mind()
    if text is not None:
        pieces = mind.embed(text)
        lines = [[(" ".join(f"{number:.6f}" for number in piece), "")] for piece in pieces]
        return Outcome({"vectors": pieces, "dimensions": len(pieces[0]), "model": mind.encoder().model}, lines)
    if not run.quiet:
        before = mind.peek()
        printing.tell(messages.say("progress.plan", missing=before.total - before.present, total=before.total))
    with progress.embedding(run) as advance:
        built = mind.build(advance)
    size = f"{built.bytes / 1024:.1f}KB"
    facts = {"present": built.present, "total": built.total, "dimensions": built.dimensions, "size": size}
    said = messages.say("word.vectors", embedded=built.embedded, **facts)
    data = {name: getattr(built, name) for name in ("total", "present", "embedded", "model", "dimensions", "bytes")}
    return Outcome(data, [[(said, "")]])
