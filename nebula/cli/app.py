"""The tree of commands, with its help in the language in use.

Help stands in the catalogue: `help.<command>` for a command, `option.<command>.<name>` for a parameter, or
`option.<name>` where it means the same everywhere.
"""

from __future__ import annotations

import os
import re
import sys
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from nebula import messages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
#: Commands by what one does with them, as the bare command lists them.
GROUPS = {
    "remember": ("add", "edit", "tag", "set", "pin", "unpin", "undo"),
    "recall": ("recall", "list", "show", "more", "why", "why-not", "promises", "context", "surface", "yes", "no"),
    "life": ("consolidate", "schedule", "forecast", "stats", "log", "longterm", "mood"),
    "look": ("map", "sky", "panel"),
    "story": ("subject",),
    "tend": ("doctor", "embed", "encoder", "config", "tune", "import", "export", "merge", "mind", "store", "erase"),
    "agents": ("mcp", "hooks"),
    "try": ("demo", "bench"),
}

#: The module of each command, in the order in which help and README show them.
MODULES: Mapping[str, tuple[str, ...]] = {
    "remember": ("add", "pin", "unpin"),
    "amend": ("edit", "tag", "set", "undo", "log"),
    "recall": ("recall", "list", "show"),
    "context": ("context",),
    "more": ("more",),
    "why": ("why", "why-not"),
    "outlook": ("promises", "forecast", "stats"),
    "night": ("consolidate", "surface", "yes", "no"),
    "longterm": ("longterm",),
    "mood": ("mood",),
    "map": ("map", "sky"),
    "panel": ("panel",),
    "schedule": ("schedule",),
    "transfer": ("import", "export", "merge", "mind"),
    "store": ("store",),
    "erase": ("erase",),
    "subject_group": ("subject",),
    "meaning": ("embed",),
    "encoder": ("encoder",),
    "config": ("config",),
    "doctor": ("doctor",),
    "mcp": ("mcp",),
    "hooks": ("hooks",),
    "demo": ("demo",),
    "tune": ("tune",),
    "bench": ("bench",),
}

UNFOLDED = 10_000  # columns, wider than any paragraph of help
WIDEST = 100  # columns of a page of help; longer lines are hard to read
HELP_FLAGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


@cache
def commands(language: str, name: str = "") -> Any:
    """The command tree that typer runs, helps filled in; built once a language.

    With a command's name only its module is loaded and built: all of them would cost a recall 40 ms.
    """
    app = _bare()
    own = [module for module, names in MODULES.items() if name in names]
    for module in own or MODULES:
        import_module(f"nebula.cli.{module}").register(app)
    return _filled(app, language)


@cache
def named(language: str) -> Any:
    """The root with every command's name and help, none of them loaded: for its own help, and to tell what exists."""
    root = _filled(_bare(), language)
    for names in MODULES.values():
        for name in names:
            root.add_command(TyperCommand(name, help=messages.say(f"help.{name}"), rich_markup_mode=None))
    return root


def tree_for(language: str, args: Sequence[str]) -> Any:
    """The least of the tree that can run some arguments (at least one) and tell what is wrong with them."""
    known = any(args[0] in names for names in MODULES.values())
    if known or (args[0].startswith("-") and args[0] not in HELP_FLAGS["help_option_names"]):
        return commands(language, args[0])
    return named(language)


def _bare() -> typer.Typer:
    app = typer.Typer(
        name="nebula",
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings=dict(HELP_FLAGS),
    )
    app.callback(invoke_without_command=False)(_root)
    return app


def _filled(app: typer.Typer, language: str) -> Any:
    root: Any = typer.main.get_command(app)
    # typer puts groups behind commands
    root.commands = {name: root.commands[name] for names in MODULES.values() for name in names if name in root.commands}
    messages.use(language)
    _fill("", root)
    return root


def _version(asked: bool) -> None:
    if asked:
        from nebula.version import __version__

        typer.echo(f"nebula {__version__}")
        raise typer.Exit


def _root(version: Annotated[bool, typer.Option("-V", "--version", is_eager=True, callback=_version)] = False) -> None:
    """The root's own option."""


def _fill(path: str, command: Any) -> None:
    command.help = messages.say(f"help.{path or 'nebula'}")
    command.context_settings = dict(HELP_FLAGS)
    command.get_help = partial(_help, command)
    command.get_help_option(typer.Context(command, **HELP_FLAGS)).help = messages.say("option.help")
    for parameter in command.params:
        if parameter.param_type_name == "option" and parameter.name != "help":
            parameter.help = messages.say(help_key(path, parameter.name))
        elif "REF" in (parameter.metavar or ""):
            parameter.help = messages.say("argument.ref")
    for name, inner in getattr(command, "commands", {}).items():
        _fill(f"{path}.{name}".lstrip("."), inner)


def _help(command: Any, context: Any) -> str:
    """A command's help page. On a terminal we fold it: typer stops at 50 columns and counts Chinese single."""
    if sys.stdout.isatty():
        context.terminal_width = UNFOLDED
    return fitted(_spoken(type(command).get_help(command, context)))


def _spoken(page: str) -> str:
    """A page with typer's own words in the language in use."""

    def said(found: re.Match[str]) -> str:
        return messages.say(f"help.word.{found[1]}")

    page = re.sub(r"^(Usage: |(?:Arguments|Options|Commands):)", said, page, flags=re.MULTILINE)
    return re.sub(r"(?<=\[)(default: |required)(?=[^\]]*\]$)", said, page, flags=re.MULTILINE)


def _show_help(context: Any, _: Any, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        from nebula.cli import printing

        printing.show_page(context.get_help() + "\n", printing.pager(os.environ))
        context.exit()


def fitted(page: str) -> str:
    """A page of help as the terminal has room for it; in a pipe as it is."""
    from nebula.cli import folding

    return folding.page(page, min(folding.columns(), WIDEST)) if sys.stdout.isatty() else page


def with_examples(path: str, command: Any, *, paged: bool = False) -> None:
    """Put each command's examples under its help; only help needs them, so they are not part of the tree.

    `paged`: a page that does not fit the terminal goes through a pager.
    """
    from nebula.catalogue import examples

    lines = examples.of(path, messages.language())
    if lines:
        shown = "\n".join(f"  {line}" for line in lines)
        command.epilog = f"\b\n{messages.say('word.examples')}\n{shown}"
    if paged:
        command.get_help_option(typer.Context(command, **HELP_FLAGS)).callback = _show_help
    for name, inner in getattr(command, "commands", {}).items():
        with_examples(f"{path}.{name}".lstrip("."), inner, paged=paged)


def help_key(path: str, name: str) -> str:
    """The catalogue key of an option's help: its own where there is one, else the shared one."""
    own = f"option.{path}.{name}"
    return own if own in messages.catalogue(messages.language()) else f"option.{name.rstrip('_')}"


def overview() -> str:
    """What the bare command says: one sentence, examples, commands by group; at most 24 lines."""
    lines = [messages.say("help.nebula"), "", messages.say("help.examples"), ""]
    for group, names in GROUPS.items():
        lines += [messages.say(f"group.{group}"), f"  {'  '.join(names)}"]
    return "\n".join([*lines, messages.say("help.footer")])
