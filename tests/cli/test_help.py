"""The help of every command, in both languages, and the conventions that its tree keeps (ecosystem 4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from nebula import messages
from nebula.catalogue import en, zh
from nebula.cli.app import GROUPS, MODULES, commands, help_key, named, tree_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import Nebula

SHARED = {"json", "mind", "now", "quiet", "debug", "no_color", "no_pager", "lock_timeout"}


def walk(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every command that does something, with its dotted path."""
    for name, inner in getattr(command, "commands", {}).items():
        dotted = f"{path}.{name}".lstrip(".")
        if hasattr(inner, "commands"):
            yield from walk(inner, dotted)
        else:
            yield dotted, inner


PATHS = [path for path, _ in walk(commands("zh"))]


def test_both_languages_have_the_same_keys() -> None:
    """One catalogue, complete in both (design, Words)."""
    assert zh.SENTENCES.keys() == en.SENTENCES.keys()


def test_sentences_take_the_same_facts() -> None:
    """A fact named in one language is named in the other."""
    for key, sentence in zh.SENTENCES.items():
        assert set(re.findall(r"\{(\w+)", sentence)) == set(re.findall(r"\{(\w+)", en.SENTENCES[key])), key


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_every_command_and_option_has_its_help(language: str) -> None:
    """From the catalogue of the language, not from docstrings."""
    tree = commands(language)
    for path, command in walk(tree):
        assert command.help == messages.catalogue(language)[f"help.{path}"]
        for parameter in command.params:
            if parameter.param_type_name == "option" and parameter.name != "help":
                assert parameter.help == messages.catalogue(language)[help_key(path, parameter.name)]


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_the_names_alone_show_the_help_of_the_whole_tree(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The root's help loads no command; it must not say less for that."""
    shown = []
    for tree in (commands(language), named(language)):
        tree.main(args=["--help"], prog_name="nebula", standalone_mode=False)
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert "  recall " in shown[0]


@pytest.mark.parametrize(
    ("argv", "loads"),
    [
        (["--help"], False),
        (["-h", "recall"], False),
        (["recal"], False),
        (["recall", "-h"], True),
        (["--", "recall"], True),
    ],
)
def test_only_what_can_run_a_command_loads_it(argv: list[str], loads: bool) -> None:
    """A tree of names alone has commands that do nothing: none may be reached by it."""
    recall = tree_for("zh", argv).commands["recall"]
    assert (recall.callback is not None) == loads


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("path", ["", "config", *PATHS])
def test_help_everywhere(nebula: Nebula, path: str, flag: str) -> None:
    """Row 2: both flags at every command, exit 0, on stdout."""
    said = nebula(*path.split("."), flag) if path else nebula(flag)
    assert said.code == 0
    assert said.out.startswith("用法：nebula")
    assert "显示这段说明" in said.out
    assert said.err == ""


@pytest.mark.parametrize(
    ("language", "usage", "default", "required"),
    [
        ("zh", "用法：nebula", "[默认 8; 1<=x<=10000]", "KEY  [必填]"),
        ("en", "Usage: nebula", "[default: 8; 1<=x<=10000]", "KEY  [required]"),
    ],
)
def test_help_is_in_one_language(
    nebula: Nebula, monkeypatch: pytest.MonkeyPatch, language: str, usage: str, default: str, required: str
) -> None:
    """Typer's own words, too."""
    monkeypatch.setenv("NEBULA_LANG", language)
    recall, getting = nebula("recall", "-h").out, nebula("config", "get", "-h").out
    assert recall.startswith(f"{usage} recall [OPTIONS]")
    assert default in recall
    assert required in getting
    if language == "zh":
        assert not re.search(
            r"^(Usage|Options|Arguments|Commands)|\[(default|required)",
            recall + getting + nebula("mood", "-h").out,
            re.MULTILINE,
        )


def test_help_after_other_arguments(nebula: Nebula) -> None:
    """Row 2: also after an argument; nothing is done."""
    assert nebula("add", "一条", "-h").out.startswith("用法：nebula add")


def test_bare_command(nebula: Nebula) -> None:
    """Row 1: one sentence, three examples, commands in groups, at most 24 lines."""
    said = nebula()
    lines = said.out.splitlines()
    assert said.code == 0
    assert len(lines) <= 24
    assert lines[0] == "记忆星图：存在你自己硬盘上的长期记忆。"
    assert sum(line.startswith("  nebula ") for line in lines) == 3
    assert {name for names in GROUPS.values() for name in names} <= set(said.out.split())


def test_groups_name_every_command() -> None:
    """A new command does not stay out of the bare command's list."""
    assert {name for names in GROUPS.values() for name in names} == set(commands("zh").commands)


def test_each_command_is_found_in_its_module_alone() -> None:
    """A command starts without the modules of the others, and is the same."""
    assert sorted(name for names in MODULES.values() for name in names) == sorted(commands("zh").commands)
    for names in MODULES.values():
        for name in names:
            alone = commands("zh", name).commands
            assert set(alone) == set(names)
            assert [p.opts for p in alone[name].params] == [p.opts for p in commands("zh").commands[name].params]


def test_bare_group_is_help(nebula: Nebula) -> None:
    """`nebula config` alone shows its help."""
    said = nebula("config")
    assert (said.code, said.err) == (0, "")
    assert "unset" in said.out


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version(nebula: Nebula, flag: str) -> None:
    """Row 3."""
    said = nebula(flag)
    assert said.code == 0
    assert re.fullmatch(r"nebula \d+\.\d+\.\d+\n", said.out)


def test_shared_options_everywhere() -> None:
    """Rows 5, 9, 29: the shared options stand in every command."""
    for path, command in walk(commands("zh")):
        assert {parameter.name for parameter in command.params} >= SHARED, path


def test_same_flag_means_the_same() -> None:
    """Row 29: a spelling stands for one parameter in all commands, with the same type."""
    meaning: dict[str, tuple[str, str]] = {}
    whence = {"--from"}  # a program's name for import, a file for a subject: where it comes from in both
    for path, command in walk(commands("zh")):
        for parameter in command.params:
            for spelling in parameter.opts if parameter.param_type_name == "option" else ():
                if spelling in whence:
                    continue
                now = (parameter.name.rstrip("_"), parameter.type.name)
                assert meaning.setdefault(spelling, now) == now, (path, spelling)


def test_language_of_messages(nebula: Nebula, monkeypatch: pytest.MonkeyPatch) -> None:
    """NEBULA_LANG=en speaks English, help included."""
    monkeypatch.setenv("NEBULA_LANG", "en")
    assert nebula().out.startswith("A long-term memory")
    assert "Remember one thing" in nebula("add", "-h").out
    assert "No memory is called n9" in nebula("show", "n9").err
