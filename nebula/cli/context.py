"""The command that an agent's prompt begins with: context."""

from __future__ import annotations

from typing import Annotated

import typer

from nebula.cli import options  # noqa: TC001 - typer reads the annotation when it builds the command
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome
from nebula.cli.recall import query_text
from nebula.errors import BadValue
from nebula.results import Notice


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    command(app, "context", anywhere=True)(context)


def context(
    run: Run,
    *,
    query: Annotated[str, typer.Option("--query", metavar="TEXT|-")] = "",
    budget: Annotated[int, typer.Option("--budget", metavar="CHARACTERS", min=200)] = 2000,
    session: options.Session = "",
    trust: Annotated[str, typer.Option("--trust", metavar="VIA,…")] = "",
    no_touch: Annotated[bool, typer.Option("--no-touch")] = False,
) -> Outcome:
    """The short passage for a prompt; each memory in it is data."""
    asked = query_text(query) if query == "-" else query
    told = run.mind().context(asked, budget=budget, session=session, vias=sources(trust), touch=not no_touch)
    nothing = [Notice("nothing_to_tell")] if not (told.text or run.json) else []
    shown = {name: [memory.ref for memory in memories] for name, memories in told.shown.items()}
    lines = [[(line, "")] for line in told.text.splitlines()]
    return Outcome({"text": told.text, "shown": shown}, lines, notices=[*told.notices, *nothing], verbatim=True)


def sources(trust: str) -> list[str]:
    """`self,user` or `我自己想的，他说的` as the ledgers' words; raises BadValue."""
    from nebula.mindlib.record import VIA_WORDS

    words = [word.strip() for word in trust.replace("，", ",").split(",") if word.strip()]
    unknown = next((word for word in words if word not in VIA_WORDS), None)
    if unknown is not None:
        raise BadValue("--trust", unknown, " ".join(VIA_WORDS))
    return [VIA_WORDS[word] for word in words]
