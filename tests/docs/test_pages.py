"""The pages under assets/pages: those of the commands are the program's own words, and what the others say runs.

`PYTHONPATH=. python tests/docs/test_pages.py` writes the generated ones anew.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer

from nebula import messages
from nebula.catalogue import examples
from nebula.cli.app import GROUPS, commands, help_key
from nebula.cli.command import SHARED
from nebula.importers import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "assets" / "pages"
COMMANDS = PAGES / "commands"
WRITTEN = ("recipes.md", "faq.md", "importing.md", "hosts.md", "tested.md")


def cell(text: object) -> str:
    """Text as a table's cell shows it."""
    return str(text).replace("|", "\\|").replace("\n", " ")


def leaves(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """What does something under a command, by its path."""
    inner = getattr(command, "commands", {})
    for below in inner:
        yield from leaves(f"{name}.{below}", inner[below])
    if not inner:
        yield name, command


def section(path: str, command: Any) -> list[str]:
    """One command: what it does, how it is called, what it takes, examples."""
    words = path.replace(".", " ")
    usage = list(command.collect_usage_pieces(typer.Context(command, info_name=words)))
    lines = [command.help, "", "```", f"nebula {words} {' '.join(usage)}", "```", ""]
    own = [one for one in command.params if one.param_type_name == "option" and one.name not in (*SHARED, "help")]
    if own:
        lines += ["| option | what it does |", "|---|---|"]
        for one in own:
            value = f" {one.metavar or one.type.name.upper()}" if not one.is_flag else ""
            text = messages.catalogue("en")[help_key(path, one.name)]
            lines.append(f"| `{cell(', '.join((*one.opts, *one.secondary_opts)))}{cell(value)}` | {cell(text)} |")
        lines.append("")
    return [*lines, "```sh", *examples.of(path, "en"), "```", ""]


def page(name: str, command: Any) -> str:
    """The page of a command or a group."""
    messages.use("en")
    lines = [f"# nebula {name}", ""]
    found = list(leaves(name, command))
    if len(found) > 1 or found[0][0] != name:
        lines += [command.help, ""]
        for path, leaf in found:
            lines += [f"## {path.replace('.', ' ')}", "", *section(path, leaf)]
    else:
        lines += section(*found[0])
    return "\n".join([*lines, "[All commands](README.md), and the options that all of them take.", ""])


def index() -> str:
    """The list of commands by what one does with them, and the options of all."""
    messages.use("en")
    tree = commands("en").commands
    lines = ["# Commands", "", "Made from the program's own help; `nebula COMMAND -h` says the same.", ""]
    for group, names in GROUPS.items():
        lines += [f"**{messages.say(f'group.{group}')}**", ""]
        lines += [f"- [`{name}`]({name}.md) {tree[name].help.splitlines()[0]}" for name in names] + [""]
    lines += ["## Every command also takes", "", "| option | what it does |", "|---|---|"]
    doctor = {one.name: one for one in tree["doctor"].params}
    for name in SHARED:
        text = messages.catalogue("en")[help_key("doctor", name)]
        lines.append(f"| `{', '.join(doctor[name].opts)}` | {cell(text)} |")
    return "\n".join([*lines, ""])


def generated() -> dict[Path, str]:
    """Every page that is made from the code."""
    try:
        pages = {COMMANDS / f"{name}.md": page(name, command) for name, command in commands("en").commands.items()}
        return {**pages, COMMANDS / "README.md": index()}
    finally:
        messages.use("zh")


def test_pages_of_commands_are_current() -> None:
    """Made from the code as it is; no page is left of a command that went."""
    wanted = generated()
    assert {path.name for path in COMMANDS.iterdir()} == {path.name for path in wanted}
    for path, text in wanted.items():
        assert path.read_text(encoding="utf-8") == text, path.name


@pytest.mark.parametrize("name", ["README.md", *WRITTEN])
def test_links_point_at_pages(name: str) -> None:
    """And every page can be reached from the first."""
    text = (PAGES / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (PAGES / target).exists(), target
    if name == "README.md":
        assert all(f"]({other})" in text for other in (*WRITTEN, "commands/README.md"))


def test_importing_names_every_format() -> None:
    text = (PAGES / "importing.md").read_text(encoding="utf-8")
    assert all(f"## {name}\n" in text for name in FORMATS)


def recipes(name: str) -> dict[str, str]:
    """The shell blocks of a page by the heading that they stand under; those of one heading are one script."""
    found: dict[str, str] = {}
    heading = fence = ""
    for line in (PAGES / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            fence = "" if fence else line[3:] or "text"
        elif not fence and line.startswith("#"):
            heading = line.lstrip("# ")
        elif fence == "sh":
            found[heading] = found.get(heading, "") + line + "\n"
    return found


RECIPES = [(name, heading) for name in ("recipes.md", "faq.md", "importing.md") for heading in recipes(name)]


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32" or not shutil.which("bash"), reason="the recipes are for a POSIX shell")
@pytest.mark.parametrize(("name", "heading"), RECIPES, ids=[f"{name}: {heading}" for name, heading in RECIPES])
def test_recipes_run(name: str, heading: str, place: Path, own_environment: Path) -> None:
    """Each as it stands, by a shell that stops at the first failure, in a home of its own with a crontab of its own."""
    program = own_environment / "bin" / "nebula"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m nebula "$@"\n')
    program.chmod(0o755)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NEBULA_LANG": "en"}
    script = "set -eu\nset -o pipefail\n" + recipes(name)[heading]
    done = subprocess.run(["bash", "-c", script], env=env, cwd=place, capture_output=True, timeout=170, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert b"Traceback" not in done.stderr


if __name__ == "__main__":
    shutil.rmtree(COMMANDS, ignore_errors=True)
    COMMANDS.mkdir(parents=True)
    for path, text in generated().items():
        path.write_text(text, encoding="utf-8")
