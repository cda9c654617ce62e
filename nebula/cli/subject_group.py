"""The group `subject`: what characters of a story lived and believe."""

from __future__ import annotations

import typer

from nebula.cli import endpoint, subject, subject_recall


def register(app: typer.Typer) -> None:
    """Add the group with all its commands."""
    group = typer.Typer()
    app.add_typer(group, name="subject")
    for module in (subject, subject_recall, endpoint):
        module.register(group)
