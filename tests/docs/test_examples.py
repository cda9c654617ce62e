"""Every command has examples in its help, and each of them runs as it stands."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from nebula import messages
from nebula.catalogue import examples
from nebula.cli.app import commands
from tests.cli.test_help import walk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Nebula, Said

PATHS = [path for path, _ in walk(commands("zh"))]
#: Not run here: one serves until it is ended, some ask a server, one takes long; all have tests of their own.
ELSEWHERE = {
    "panel",
    "mcp",
    "hooks.run",
    "subject.endpoint.test",
    "bench.recall",
    "store.migrate",
    "store.copy",
    "store.verify",
    "encoder.add",  # a folder of weights is made in test_second
    "encoder.remove",
}
#: What has to have happened before, and codes other than 0 that are right.
BEFORE = {
    "unpin": ["nebula pin n1"],
    "undo": ["nebula pin n1"],
    "mood.history": ["nebula mood feel happy 0.6"],
    "longterm.history": ['echo "先前" | nebula longterm edit -'],
}
#: An English question of a Chinese mind; a mind too small to learn from, where nothing was written either.
CODES = {"surface": {1}, "recall": {0, 1}, "tune": {1}}


def test_every_command_has_examples() -> None:
    """And no example is of a command that is not there."""
    assert examples.paths() == set(PATHS)


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_help_shows_them(nebula: Nebula, monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    """As they are, at the end, not wrapped."""
    monkeypatch.setenv("NEBULA_LANG", language)
    for path in PATHS:
        said = nebula(*path.split("."), "-h").out
        for line in examples.of(path, language):
            assert f"    {line}\n" in said, path
            assert line.split("nebula ", 1)[1].startswith(path.replace(".", " ")), path


def test_a_group_s_help_has_the_first_of_each_of_its_commands(nebula: Nebula) -> None:
    for group in sorted({path.partition(".")[0] for path in PATHS if "." in path}):
        shown = examples.of(group, "zh")
        assert 1 <= len(shown) <= max(examples.OF_A_GROUP, len(examples._ZH.get(group, "").splitlines()))
        said = nebula(group, "-h").out
        assert all(f"    {line}\n" in said for line in shown), group


@pytest.mark.parametrize("path", [path for path in PATHS if path not in ELSEWHERE])
def test_they_run(
    path: str, place: Path, mind_dir: Path, typed: Callable[[str], Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other, in Chinese and then in English, in a place of its own."""
    monkeypatch.setattr(sys, "platform", "linux")
    chinese = examples.of(path, "zh")
    english = [line for line in examples.of(path, "en") if line not in chinese]
    with (mind_dir / "changes.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"at": "2026-05-19T08:00:00", "ref": "n1", "surfaced": "s"}\n')  # so that yes and no can answer
    for line in [*BEFORE.get(path, []), *chinese, *english]:
        said = typed(line.replace("edit n1", "edit n2") if line in english else line)
        assert said.code in CODES.get(path, {0}), (line, said.err)
