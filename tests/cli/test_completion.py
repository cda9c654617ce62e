"""Row 25 of what people expect: completion by bash, zsh, fish and PowerShell, of commands, refs, tags, subjects."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.completion import get_completion_script  # type: ignore[attr-defined]  # imported there

from nebula import candidates
from nebula.cli.app import MODULES
from nebula.importers import FORMATS
from nebula.settings import RULES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Nebula

ROOT = Path(__file__).parents[2]
SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")


@pytest.fixture
def asked(nebula: Nebula, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """What is offered to a shell at the end of what was typed, as the shell gets it, a line each."""

    def ask(line: str, shell: str = "bash") -> list[str]:
        words = line.split(" ")
        with monkeypatch.context() as told:
            told.setenv("_NEBULA_COMPLETE", f"complete_{shell}")
            if shell == "bash":
                told.setenv("COMP_WORDS", line)
                told.setenv("COMP_CWORD", str(len(words) - 1))
            else:
                told.setenv("_TYPER_COMPLETE_ARGS", line.rstrip() if shell.endswith("shell") else line)
                told.setenv("_TYPER_COMPLETE_WORD_TO_COMPLETE", words[-1])
                told.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
            said = nebula()
        assert said.err == ""
        return said.out.splitlines()

    return ask


def values(lines: list[str], shell: str) -> list[str]:
    """The words alone, taken from a shell's form."""
    if shell == "zsh":
        body = "\n".join(lines).removeprefix("_arguments '*: :((").removesuffix("))'")
        return [row.split('"')[1] for row in body.splitlines()]
    return [row.split("\t")[0].split(":::")[0] for row in lines]


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_in_every_protocol(asked: Callable[..., list[str]], shell: str) -> None:
    """The first word is a command's name; no module of a command is loaded for it."""
    assert values(asked("nebula re", shell), shell) == ["recall"]
    every = {name for names in MODULES.values() for name in names}
    assert set(values(asked("nebula ", shell), shell)) == every


@pytest.mark.parametrize("shell", SHELLS)
def test_refs_in_every_protocol(nebula: Nebula, asked: Callable[..., list[str]], shell: str) -> None:
    """The newest first, with what they say where the shell shows it."""
    nebula("add", "渡轮早上六点开")
    nebula("add", "渡轮改到七点开了")
    lines = asked("nebula show n", shell)
    assert values(lines, shell) == ["n2", "n1"]
    assert (shell == "bash") != any("渡轮改到七点开了" in line for line in lines)


@pytest.mark.parametrize(
    "line",
    ["nebula pin ", "nebula add 新 --supersedes ", "nebula erase ", "nebula yes ", "nebula tag ", "nebula forecast "],
)
def test_refs_wherever_one_is_taken(nebula: Nebula, asked: Callable[..., list[str]], line: str) -> None:
    nebula("add", "渡轮早上六点开")
    nebula("add", "记得带伞", "-l", "promises")
    assert asked(line) == ["n1", "o1"]
    assert asked(line + "o") == ["o1"]


def test_tags(nebula: Nebula, asked: Callable[..., list[str]]) -> None:
    """Those in use, also those that were set later; what no shell takes as a plain word is not offered."""
    for tag in ("出行", "work", "two words", "$(reboot)", "a'b"):
        nebula("add", f"一条 {tag}", "--tag", tag)
    nebula("tag", "n1", "海边")
    assert asked("nebula recall 船 --tag ") == ["work", "出行", "海边"]
    assert asked("nebula list --tag 出") == ["出行"]
    assert asked("nebula tag n1 w") == ["work"]


def test_the_mind_that_was_named(nebula: Nebula, asked: Callable[..., list[str]], tmp_path: Path) -> None:
    """--mind before the word that is typed."""
    nebula("add", "别处的一条", "-l", "tacts", "--mind", str(tmp_path / "other"))
    assert asked(f"nebula show --mind {tmp_path / 'other'} ") == ["t1"]


def test_names_that_the_program_knows(asked: Callable[..., list[str]]) -> None:
    """Ledgers, formats, settings, options, commands of a group."""
    assert asked("nebula list -l pro") == ["profile", "promises"]
    assert asked("nebula import x --from ") == list(FORMATS)
    assert asked("nebula config get ") == list(RULES)
    assert asked("nebula list --vi") == ["--via"]
    assert asked("nebula config un") == ["unset"]
    assert asked("nebula --ver") == ["--version"]


def test_subjects(
    nebula: Nebula, asked: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the story in the current folder, or the one that is named."""
    story = tmp_path / "story"
    for name in ("林小满", "艾琳娜"):
        assert nebula("subject", "init", name, "--project", str(story)).code == 0
    assert sorted(asked(f"nebula subject show --project {story} ")) == ["林小满", "艾琳娜"]
    monkeypatch.chdir(story)
    assert asked("nebula subject search 林") == ["林小满"]
    assert asked("nebula subject tell 林小满 艾") == ["艾琳娜"]


@pytest.mark.parametrize("shell", SHELLS)
def test_nothing_hostile_reaches_a_shell(nebula: Nebula, asked: Callable[..., list[str]], shell: str) -> None:
    """zsh evaluates what it gets: of a memory's text only letters, digits and plain marks come."""
    nebula("add", "`touch a` $(touch b) '; touch c; ' \"))' [red]\\x \x1b[2J\n渡轮")
    lines = asked("nebula show n", shell)
    assert values(lines, shell) == ["n1"]
    told = "".join(lines).removeprefix("_arguments '*: :((").removesuffix("))'")
    assert not set("`$()';\\[]\x1b") & set(told)


def test_nothing_to_offer(asked: Callable[..., list[str]], mind_dir: Path) -> None:
    """No mind, or damaged lines: silence."""
    assert asked("nebula show ") == [""]
    mind_dir.mkdir()
    (mind_dir / "notes.jsonl").write_bytes(b'{"id": 1, "te\n\xff\n[]\n{"id": 3, "text": "still"}\n')
    assert asked("nebula show ") == ["n3"]
    assert not [path for path in mind_dir.iterdir() if path.name != "notes.jsonl"]


def test_only_the_end_of_a_ledger_is_read(tmp_path: Path) -> None:
    """However long it is; the line that the end cuts through is left out."""
    with (tmp_path / "notes.jsonl").open("w", encoding="utf-8") as file:
        for number in range(1, 20_001):
            file.write(f'{{"id": {number}, "text": "第{number}条"}}\n')
    found = candidates.refs(tmp_path, "n")
    assert found[0] == ("n20000", "第20000条")
    assert len(found) == candidates.MOST
    assert candidates.refs(tmp_path, "n1999")[0][0] == "n19999"


@pytest.mark.process
@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_itself(tmp_path: Path, mind_dir: Path) -> None:
    """The script that --install-completion lays down, run by bash, completes."""
    program = tmp_path / "nebula"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m nebula "$@"\n')
    program.chmod(0o755)
    script = get_completion_script(prog_name="nebula", complete_var="_NEBULA_COMPLETE", shell="bash")
    typed = 'COMP_WORDS=(nebula re); COMP_CWORD=1; _nebula_completion nebula; printf "%s\\n" "${COMPREPLY[@]}"'
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", f"{script}\n{typed}"], env=env, capture_output=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == (b"recall\n", b"")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_installed_for_the_shell_that_is_named(nebula: Nebula, tmp_path: Path, monkeypatch: Any, shell: str) -> None:
    """Whatever shell asks; for zsh with an answer to the very first Tab, for which it loads the file."""
    monkeypatch.setenv("HOME", str(tmp_path))
    said = nebula("--install-completion", shell)
    assert said.code == 0
    places = {
        "bash": ".bash_completions/nebula.sh",
        "zsh": ".zfunc/_nebula",
        "fish": ".config/fish/completions/nebula.fish",
    }
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert written & set(places.values()) == {places[shell]}
    assert str(tmp_path / places[shell]) in said.out
    laid = (tmp_path / places[shell]).read_text()
    assert laid.strip() == nebula("--show-completion", shell).out.strip()
    assert ('_nebula_completion "$@"' in laid) == (shell == "zsh")


@pytest.mark.parametrize("option", ["--install-completions", "--show-completionX"])
def test_an_option_that_only_begins_like_it_installs_nothing(
    nebula: Nebula, tmp_path: Path, monkeypatch: Any, option: str
) -> None:
    """It is an unknown option like any other."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert nebula(option, "bash").code == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("argv", [("csh",), ("bash", "zsh"), ("",)])
def test_no_shell(nebula: Nebula, tmp_path: Path, monkeypatch: Any, argv: tuple[str, ...]) -> None:
    """Another word, or no shell that asks: refused with those that are served, and nothing is written."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("typer.completion._get_shell_name", lambda: None)
    said = nebula("--install-completion", *argv)
    assert said.code == 2
    assert "zsh" in said.err
    assert not list(tmp_path.iterdir())


@pytest.mark.process
def test_what_is_loaded() -> None:
    """Neither numpy nor jieba nor rich for a name or a ref in bash."""
    code = (
        "import sys; from nebula.cli import main; main([]); "
        "sys.stderr.write(' '.join(m for m in ('numpy', 'jieba', 'rich', 'nebula.mind') if m in sys.modules))"
    )
    for line, place in (("nebula re", "1"), ("nebula show n", "2")):
        env = {**os.environ, "PYTHONPATH": str(ROOT), "_NEBULA_COMPLETE": "complete_bash"}
        env |= {"COMP_WORDS": line, "COMP_CWORD": place}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True, timeout=60)
        assert done.stderr == b""


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("nebula hooks install ", ["claude-code", "codex", "gemini"]),
        ("nebula hooks status co", ["codex"]),
        ("nebula add x --echo ", ["mark", "refuse", "off"]),
        ("nebula mood source f", ["file"]),
    ],
)
def test_what_a_metavar_lists(asked: Callable[..., list[str]], line: str, offered: list[str]) -> None:
    """Where a few words are all that can stand, they are offered."""
    assert asked(line) == offered
