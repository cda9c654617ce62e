"""No line is wider than the terminal, whatever the command: Chinese counts double, only what has no break is."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from nebula.cli import app, folding, main, progress

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WIDTH = 40
LONG_ZH = "他说今天的渡轮因为大雾停开了，灯塔看守要我们明天早上六点再来码头看看有没有船"
LONG_EN = "The ferry did not sail today because of the fog, so come back to the pier at six tomorrow morning"
#: Documents to copy, or bytes to keep: nothing of ours may stand between their words.
VERBATIM = ("context", "hooks install codex --print", "schedule install --print --system cron")
COMMANDS = """add X|recall 渡轮|recall ferry --explain|recall 没有的词|recall|list|show n1|show n99|more n1|why n1 渡轮
why-not 渡轮 n1|promises|surface|consolidate --plan|consolidate|schedule status --system cron|forecast|stats
log|longterm|longterm history|mood|mood trace|sky|subject|subject list|subject init 艾琳娜|doctor
doctor --verify|embed|embed --build|encoder|encoder list|config|config list|config list --explain
config set recal.k 3|tune|mind|mind path|store|hooks status|hooks install codex|hooks remove codex|pin n1
tag n1 海|set n1 imp=0.4|set n1 imp|edit n1 新的文本|undo|nosuch|help nosuch|add --ledger nosuch x
import nosuch.json --from mem0|erase n1|erase n1 --yes|merge nosuch|demo"""


class Screen(io.StringIO):
    """A stream that is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Screen:
    """A terminal of 40 columns, in a folder where a project may begin."""
    monkeypatch.chdir(tmp_path)
    size = os.terminal_size((WIDTH, 500))
    monkeypatch.setattr(shutil, "get_terminal_size", lambda *_, **__: size)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    for name, value in (("NO_COLOR", "1"), ("TERM", "xterm"), ("PAGER", "cat")):
        monkeypatch.setenv(name, value)
    return Screen()


def shown(screen: Screen, *argv: str) -> str:
    """What a command puts on the screen."""
    before = len(screen.getvalue())
    with redirect_stdout(screen), redirect_stderr(screen):
        main(list(argv))
    said = screen.getvalue()[before:]
    assert said or argv[:1] in {("hooks",), ("mind",)}, argv
    return said


def paths(command: object, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command and group of the tree."""
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from paths(inner, (*words, name))


def too_wide(text: str) -> list[str]:
    """Lines wider than the terminal that could have been broken."""
    lines = re.split(r"[\r\n]", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text))  # a bar of progress is drawn anew and anew
    return [line for line in lines if cell_len(line) > WIDTH and len(line.split()) > 1 and not is_command(line)]


def is_command(line: str) -> bool:
    """Whether a line is one to copy and run."""
    return line.split(maxsplit=1)[0] in {"nebula", "$"} or " | nebula " in line


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_help(screen: Screen, monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    monkeypatch.setenv("NEBULA_LANG", language)
    calls = [*paths(app.commands(language)), None]
    assert len(calls) > 60
    for words in calls:
        said = shown(screen) if words is None else shown(screen, *words, "--help")
        assert too_wide(said) == []


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_command(screen: Screen, monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    """Results, refusals and hints; a session over one mind, texts of both scripts."""
    monkeypatch.setenv("NEBULA_LANG", language)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    for text in (LONG_ZH, LONG_EN):
        shown(screen, "add", text, "--tag", "渡轮")
        shown(screen, "add", text + "，带伞", "--ledger", "promises", "--due", "2027-01-02")
    for line in COMMANDS.replace("\n", "|").split("|"):
        said = shown(screen, *(LONG_EN if word == "X" else word for word in line.split()))
        assert "Traceback" not in said
        assert too_wide(said) == [], line


def test_what_is_to_be_copied_stays_whole(screen: Screen) -> None:
    """A memory of a passage stands in one line, JSON and crontab lines come back as they are."""
    shown(screen, "add", LONG_EN)
    for line in VERBATIM:
        shown(screen, *line.split())
    assert LONG_EN in screen.getvalue()
    assert '"command": "' in screen.getvalue()
    assert any("hooks run codex" in line and line.endswith('",') for line in screen.getvalue().splitlines())


@given(st.text(st.sampled_from("a bc 渡轮，。 é"), max_size=200), st.integers(16, 60))
def test_nothing_is_lost_and_all_fits(text: str, width: int) -> None:
    """Folded lines have the text's characters but for blanks, and fit where every word does."""
    lines = folding.folded([(text, "bold")], width)
    shown = ["".join(part for part, _ in line) for line in lines]
    assert "".join("".join(shown).split()) == "".join(text.split())
    longest = max((cell_len(word) for word in text.split()), default=0)
    assert all(cell_len(line.rstrip()) <= width for line in shown) or longest > width // 2
    assert {style for line in lines for part, style in line if part.strip()} <= {"bold"}


@pytest.mark.parametrize(("after", "drawn"), [(60.0, False), (0.0, True)])
def test_a_bar_comes_after_a_moment(screen: Screen, monkeypatch: pytest.MonkeyPatch, after: float, drawn: bool) -> None:
    """Row 11: on a terminal, too, work that is over at once draws no bar."""
    monkeypatch.setattr("nebula.cli.progress.AFTER", after)
    with redirect_stderr(screen), progress.bar(SimpleNamespace(quiet=False), "在做") as advance:  # type: ignore[arg-type]
        assert advance
        advance(1, 2)
    assert ("在做" in screen.getvalue()) is drawn
