"""Summaries of a night: the built-in extract, or the user's own command with all the ways it can fail."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from nebula import digests, night
from nebula.mind import Mind
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nebula.night import Slept

NOW = datetime(2026, 5, 1, 22, 5)


def slept(folder: Path, command: str = "", days: float = 0) -> Slept:
    mind = Mind(folder, now=lambda: NOW + timedelta(days=days), overrides={"summarizer.command": command})
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return night.consolidate(mind)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    mind = Mind(tmp_path, now=lambda: NOW - timedelta(hours=3))
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    for text in ("渡轮改到七点开了", "晚饭吃了饺子", "外面下着大雨"):
        mind.add(text)
    mind.add("我觉得该买把伞", ledger="thoughts")
    return tmp_path


def script(folder: Path, body: str) -> str:
    path = folder / "summarise.py"
    path.write_text(f"import sys\n{body}\n", encoding="utf-8")
    return f'"{sys.executable}" "{path}"'


def test_the_notes_of_the_period_alone(folder: Path) -> None:
    """Thoughts are not digested; the summary names what it covers; its weight is 1."""
    done = slept(folder)
    summary = Mind(folder).get(done.summary)
    assert summary.covers == ("n1", "n2", "n3")
    assert (summary.ledger, summary.w, summary.by) == ("summaries", 1.0, "night")
    assert summary.text == "渡轮改到七点开了。晚饭吃了饺子。外面下着大雨。"


def test_a_single_note_waits(tmp_path: Path) -> None:
    """And is digested with the next night's."""
    for day in (0, 1):
        mind = Mind(tmp_path, now=lambda day=day: NOW + timedelta(days=day, hours=-1))  # type: ignore[misc]
        mind._encoder = DrawnEncoder()  # type: ignore[assignment]
        mind.add(f"第{day}天的事")
        done = slept(tmp_path, days=day)
        assert bool(done.summary) == (day == 1)
    assert Mind(tmp_path).get(done.summary).covers == ("n1", "n2")


def test_summaries_are_never_summarised(folder: Path) -> None:
    """Night after night: one summary, whatever else is written beside it."""
    assert slept(folder).summary == "s1"
    for day in range(1, 4):
        assert slept(folder, days=day).summary == ""
    assert [m.ref for m in Mind(folder).store.read_all().memories if m.ledger == "summaries"] == ["s1"]


def test_the_users_own_command(folder: Path) -> None:
    """Notes on stdin, one a line with their time; its output is the summary."""
    command = script(folder, "sys.stdout.buffer.write(b'>' + sys.stdin.buffer.read().replace(b'\\n', b'|'))")
    text = Mind(folder).get(slept(folder, command).summary).text
    assert text == ">" + "".join(
        f"2026-05-01T19:05:00 {t}|" for t in ("渡轮改到七点开了", "晚饭吃了饺子", "外面下着大雨")
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("sys.exit('no key')", "退出码 1，它说“no key”"),
        ("pass", "没有回答"),
        ("print('x' * 5000)", "回答太长（5000 > 4000）"),
        ("import time; time.sleep(30)", "0.5 秒内没有做完"),
    ],
)
def test_a_command_that_fails(folder: Path, body: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notes stay unsummarised, it is said, all else is done; the next night digests them."""
    monkeypatch.setattr(digests, "TIMEOUT", 0.5)
    done = slept(folder, script(folder, body))
    assert [(n.code, n.facts["reason"]) for n in done.notices] == [("not_summarised", reason)]
    assert done.summary == ""
    assert not any(m.summarised for m in Mind(folder).store.read_all().memories)
    assert slept(folder, days=1).summary == "s1"


def test_a_command_that_is_not_there(folder: Path) -> None:
    done = slept(folder, "/nowhere/summarise --short")
    assert [n.code for n in done.notices] == ["not_summarised"]


def test_without_an_encoder_words_decide(
    folder: Path, monkeypatch: pytest.MonkeyPatch, lose_numpy: Callable[[], None]
) -> None:
    """A digest of words is still one."""
    from nebula.errors import NumpyMissing

    def missing(self: Mind) -> object:
        raise NumpyMissing

    monkeypatch.setattr(Mind, "encoder", missing)
    lose_numpy()
    assert Mind(folder).get(slept(folder).summary).covers == ("n1", "n2", "n3")
