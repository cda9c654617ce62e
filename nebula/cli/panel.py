"""The panel: a local page with the sky and the mood."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from nebula import messages
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    command(app, "panel")(panel)


def panel(
    run: Run,
    *,
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65_535)] = 0,
    open_: Annotated[bool, typer.Option("--open")] = False,
) -> Outcome:
    """A local page with the sky, every setting, and the mood; ends with its terminal."""
    from nebula.panel import server

    def shown(address: str) -> None:
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()
        sys.stderr.write(messages.say("panel.serving") + "\n")
        if open_:
            typer.launch(address)

    server.serve(run.mind(), shown, port)
    return Outcome({})
