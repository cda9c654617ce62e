"""Completion by the shell, through typer's own protocol (`nebula --install-completion`): commands, refs, tags and more.

The shell runs `nebula` with what has been typed in its environment. Up to the command's name no command is loaded;
after it that command alone.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.models import ArgumentInfo, ParameterInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

#: Set by the script that a shell has read, to `complete_bash` and the like.
VARIABLE = "_NEBULA_COMPLETE"


def run(language: str) -> int:
    """Answer a shell that asks; -> the exit code."""
    name = _command(os.environ)
    from nebula.cli import app

    tree = app.commands(language, name) if name else _names(language)
    try:
        tree.main(args=[], prog_name="nebula", standalone_mode=False)
    except SystemExit as done:
        return int(done.code or 0)
    return 0


def _command(environ: Mapping[str, str]) -> str:
    """The word in the command's place, once it is finished; "" while it is being typed."""
    if "COMP_WORDS" in environ:
        words = environ["COMP_WORDS"].split()
        typed = environ.get("COMP_CWORD", "0")
        finished = int(typed) if typed.isdecimal() else 0
    else:
        line = environ.get("_TYPER_COMPLETE_ARGS", "")
        words = line.split()
        finished = len(words) if line.endswith(" ") else len(words) - 1
        if environ[VARIABLE].endswith("shell") and not environ.get("_TYPER_COMPLETE_WORD_TO_COMPLETE"):
            finished = len(words)  # PowerShell leaves the space at the end out
    if finished >= 2 and len(words) >= 2:
        return words[1]
    return words[-1] if words and words[-1].startswith("-") else ""


def _names(language: str) -> Any:
    """A tree of the commands' names and helps alone."""
    from nebula import messages
    from nebula.candidates import plain
    from nebula.cli.app import MODULES

    messages.use(language)
    app = typer.Typer(name="nebula", rich_markup_mode=None)
    for names in MODULES.values():
        for name in names:
            app.command(name, help=plain(messages.say(f"help.{name}"), 80))(lambda: None)
    return typer.main.get_command(app)


def attach(annotation: Any) -> None:
    """Give a parameter its offers, by what its metavar says it takes."""
    for info in getattr(annotation, "__metadata__", ()):
        if isinstance(info, ParameterInfo) and info.metavar:
            name = info.metavar.strip("[]").removesuffix("…")
            offers = OF_ARGUMENT.get(name) if isinstance(info, ArgumentInfo) else None
            info.autocompletion = offers or OFFERS.get(name) or _alternatives(name) or info.autocompletion


def _alternatives(metavar: str) -> Callable[[str], list[str]] | None:
    """The words that a metavar such as `mark|refuse|off` lists."""
    words = [word for word in metavar.split("|") if re.fullmatch(r"[a-z][a-z0-9-]*", word)]

    def offered(incomplete: str) -> list[str]:
        return _beginning(words, incomplete)

    return offered if "|" in metavar and words else None


def _folder(ctx: typer.Context) -> Path:
    from nebula import places

    named = ctx.params.get("mind")
    return places.decide(os.environ, named or None).folder


def refs(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """The newest memories' refs, each with how its text begins."""
    from nebula import candidates

    return candidates.refs(_folder(ctx), incomplete)


def tags(ctx: typer.Context, incomplete: str) -> list[str]:
    """Tags in use."""
    from nebula import candidates

    return candidates.tags(_folder(ctx), incomplete)


def subjects(ctx: typer.Context, incomplete: str) -> list[str]:
    """The ids of the story that the current folder belongs to."""
    from nebula import candidates

    named = ctx.params.get("project")
    return candidates.subjects(Path.cwd(), named, incomplete)


def settings(incomplete: str) -> list[str]:
    """The settings' keys."""
    from nebula.settings import RULES

    return _beginning(RULES, incomplete)


def ledgers(incomplete: str) -> list[str]:
    """The ledgers' names."""
    from nebula.mindlib.record import BY_NAME

    return _beginning(BY_NAME, incomplete)


def formats(incomplete: str) -> list[str]:
    """The formats that `import --from` knows."""
    from nebula.importers import FORMATS

    return _beginning(FORMATS, incomplete)


def vias(incomplete: str) -> list[str]:
    """The sources' English names."""
    return _beginning(("user", "self", "tool", "web", "echo"), incomplete)


def _beginning(names: Iterable[str], begun: str) -> list[str]:
    return [name for name in names if name.startswith(begun)]


#: By metavar: of options and arguments, and of arguments alone (a session's ID is no subject's).
OFFERS: Mapping[str, Callable[..., Any]] = {
    "REF": refs,
    "TAG": tags,
    "LEDGER": ledgers,
    "VIA": vias,
    "FORMAT": formats,
}
OF_ARGUMENT: Mapping[str, Callable[..., Any]] = {
    "KEY": settings,
    "ID": subjects,
    "A": subjects,
    "B": subjects,
    "done REF": refs,
}
