"""The command doctor."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome

if TYPE_CHECKING:
    import typer

    from nebula.cli.printing import Line

MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "bad": ("✗", "red")}


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    command(app, "doctor")(doctor)


def doctor(run: Run) -> Outcome:
    """Six checks, each with the next step."""
    from nebula.doctor import examine

    now = run.now()  # a wrong --now is refused before anything is done
    report = examine(run.place(), run.environ, now=lambda: now)
    lines: list[Line] = []
    for check in report.checks:
        mark, style = MARKS[check.status]
        next_step = [("  → " + check.hint, "dim")] if check.hint else []
        lines.append([(f"{mark} ", style), (check.line, ""), *next_step])
    return Outcome({"ok": report.ok, "checks": [asdict(c) for c in report.checks]}, lines, 0 if report.ok else 1)
