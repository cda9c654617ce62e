"""The tree of commands, with its help in the language in use.

Help stands in the catalogue: `help.<command>` for a command, `option.<command>.<name>` or, where an option means the same
everywhere, `option.<name>` for a parameter.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import typer

from nebula import messages
from nebula.cli import bench, config, demo, doctor, meaning, recall, remember

#: Commands by what one does with them, as the bare command lists them.
GROUPS = {
    "remember": ("add", "pin", "unpin"),
    "recall": ("recall", "list", "show"),
    "tend": ("doctor", "embed", "config"),
    "try": ("demo", "bench"),
}


@cache
def commands(language: str) -> Any:
    """The command tree that typer runs, helps filled in; built once a language."""
    app = typer.Typer(
        name="nebula",
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for module in (remember, recall, meaning, config, doctor, demo, bench):
        module.register(app)
    root = typer.main.get_command(app)
    messages.use(language)
    root.help = messages.say("help.nebula")
    for name, command in root.commands.items():  # type: ignore[attr-defined]  # a group, by construction
        _fill(name, command)
    return root


def _fill(path: str, command: Any) -> None:
    command.help = messages.say(f"help.{path}")
    command.context_settings = {"help_option_names": ["-h", "--help"]}
    for parameter in command.params:
        if parameter.param_type_name == "option":
            parameter.help = messages.say(help_key(path, parameter.name))
    for name, inner in getattr(command, "commands", {}).items():
        _fill(f"{path}.{name}", inner)


def help_key(path: str, name: str) -> str:
    """The catalogue key of an option's help: its own where there is one, else the shared one."""
    own = f"option.{path}.{name}"
    return own if own in messages.catalogue(messages.language()) else f"option.{name.rstrip('_')}"


def overview() -> str:
    """What the bare command says: one sentence, examples, commands by group; at most 24 lines."""
    lines = [messages.say("help.nebula"), "", messages.say("help.examples"), ""]
    for group, names in GROUPS.items():
        lines.append(f"{messages.say(f'group.{group}')}")
        lines += [f"  {name:<9} {messages.say(f'help.{name}').splitlines()[0]}" for name in names]
    return "\n".join([*lines, messages.say("help.more")])
