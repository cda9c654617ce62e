"""The README tells the truth: its commands run, its tables are those of the program, and it stays short.

Tables between marks are generated: `PYTHONPATH=. python tests/test_readme.py` writes them anew.
"""

from __future__ import annotations

import re
import shlex
import textwrap
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nebula import errors
from nebula.cli import main
from nebula.cli.app import commands
from nebula.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command that does something, with its full name."""
    inner = getattr(command, "commands", {})
    for name in inner:
        yield from leaves(inner[name], (*path, name))
    if not inner:
        yield " ".join(path), command


def shown(parameter: Any) -> str:
    """`-n/--limit`, or an argument's name."""
    if parameter.param_type_name == "option":
        return f"`{'/'.join(parameter.opts)}`"
    return f"`{parameter.metavar or parameter.name.upper()}`"


def commands_list() -> str:
    """The names of all commands, wrapped; what each takes stands on its page."""
    return textwrap.fill(" · ".join(f"`{name}`" for name in commands("en").commands), 120, break_on_hyphens=False)


def shared_options() -> str:
    """What each and every command takes, in the order of a help page."""
    every = [[shown(parameter) for parameter in command.params] for _, command in leaves(commands("en"))]
    return " ".join(name for name in every[0] if all(name in names for names in every))


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_plain(item) for item in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value) or '""'


GENERATED = {"commands": commands_list}


def filled(text: str) -> str:
    """The README with its generated parts as they must be."""
    for name, make in GENERATED.items():
        pattern = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        text = pattern.sub(partial(_between, f"{make()}\n"), text)
    return re.sub("(<!-- shared -->).*?(<!-- /shared -->)", partial(_between, shared_options()), text)


def _between(made: str, found: re.Match[str]) -> str:
    return found[1] + made + found[2]


def blocks(language: str) -> list[str]:
    """The contents of the fenced blocks of one language; fences are taken in pairs."""
    text = README.read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [body for name, body in found if name == language]


COMMANDS = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("nebula ")]


def test_generated_parts_are_current() -> None:
    """Every command is named: the list is the one the program gives; tests/docs holds the pages to the code."""
    text = README.read_text(encoding="utf-8")
    assert all(f"<!-- {name} -->" in text for name in (*GENERATED, "shared", "bench"))
    assert text == filled(text)


def test_command_lines_run_in_order(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The README's commands, typed one after the other into an empty mind and folder, all exit 0."""
    monkeypatch.chdir(tmp_path)
    assert len(COMMANDS) >= 10
    for line in COMMANDS:
        code = main(shlex.split(line)[1:])
        out, err = capfd.readouterr()
        assert (line, code) == (line, 0)
        assert out
        if "--build" not in line:  # which says beforehand what it is going to do
            assert (line, err) == (line, "")


def test_sample_hit_is_what_recall_prints(capfd: pytest.CaptureFixture[str]) -> None:
    """The sample line has the form of a real one, and the query brings what the README says."""
    for line in COMMANDS[:3]:
        main(shlex.split(line)[1:])
    capfd.readouterr()
    main(["recall", "搬家去海边城市"])
    first = capfd.readouterr().out.splitlines()[0]
    form = re.compile(r"\d\.\d{3} \[(?:[词义图]#\d+ ?)+\] \d{4}-\d\d-\d\d 答应妈妈下个月搬回青岛住，离她近一点  o1")
    assert form.fullmatch(first)
    assert any(form.fullmatch(line) for block in blocks("") for line in block.splitlines())


def test_python_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = blocks("python")
    exec(compile(example, "README.md", "exec"), {})
    assert "n1 渡轮早上六点开" in capsys.readouterr().out


def test_exit_codes_are_those_of_the_error_tree() -> None:
    """The sentence names each code that an error can give, and 0, 1 and 130."""

    def tree(kind: type[errors.NebulaError]) -> set[int]:
        return {kind.exit_code}.union(*(tree(inner) for inner in kind.__subclasses__()))

    section = README.read_text(encoding="utf-8").split("Exit codes: ", 1)[1].split("\n\n", 1)[0]
    documented = {int(part.split()[0]) for part in section.split(" · ")}
    assert documented == tree(errors.NebulaError) | {0, 1, 130}


def test_short_and_begins_in_chinese() -> None:
    """House rule 40: at most 200 lines; design, Words: opens with a Chinese section."""
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 200
    assert lines[2].startswith("**中文**")


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)]+)\)", README.read_text(encoding="utf-8")))
def test_links_point_at_files(target: str) -> None:
    assert (ROOT / target).is_file()


def test_changelog_begins_with_this_version() -> None:
    """House rule 41: the top version of the changelog is the package's."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", text, re.MULTILINE)[0] == __version__


if __name__ == "__main__":
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
