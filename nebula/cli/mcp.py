"""The server for agents: mcp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula.cli import options  # noqa: TC001 - typer reads the annotation when it builds the command
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome
from nebula.errors import ExtraMissing

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    command(app, "mcp", anywhere=True)(mcp)


def mcp(run: Run, *, project: options.ProjectDir = None) -> Outcome:
    """A server of the Model Context Protocol on standard input and output; ends with its input."""
    mind = run.mind()
    try:
        import mcp as sdk  # noqa: F401 - asked first, so that no other ImportError is mistaken for it
    except ImportError as error:
        raise ExtraMissing("mcp", "mcp") from error
    from nebula.mcp import server

    server.serve(mind, project)
    return Outcome({}, rows=())
