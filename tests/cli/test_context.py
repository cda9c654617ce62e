"""The command `context`: what an agent's hook gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.test_startup import NEVER, loaded

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Nebula

NOW = ("--now", "2026-05-01T09:00:00")


def test_the_passage(nebula: Nebula) -> None:
    """A block of lines; the same again for the same moment, whatever the query came by."""
    nebula("add", "我说话直", "-l", "profile", "--tag", "我", "--via", "self", *NOW)
    nebula("add", "渡轮 <改到> 七点开", "--via", "web", *NOW)
    said = nebula("context", *NOW)
    assert said.code == 0
    assert said.err == ""
    lines = said.out.splitlines()
    assert lines[2:-1] == [
        "[我是谁]",
        "- [p1 2026-05-01 我自己想的] 我说话直",
        "[最近]",
        "- [n1 2026-05-01 网页] 渡轮 &lt;改到&gt; 七点开",
    ]
    assert nebula("context", *NOW).out == said.out
    asked = nebula("context", "--query", "渡轮", "--no-touch", *NOW)
    assert "[想起]\n- [n1 " in asked.out
    assert nebula("context", "--query", "-", "--no-touch", *NOW, given="渡轮".encode()).out == asked.out
    assert "web" not in nebula("context", "--trust", "user,self", *NOW).out


def test_as_json(nebula: Nebula) -> None:
    nebula("add", "渡轮改到七点开", *NOW)
    data = nebula("context", "--query", "渡轮", "--session", "s1", "--json", *NOW).data
    assert data["shown"] == {"recalled": ["n1"]}
    assert data["text"].startswith("<memory-")
    assert nebula("context", "--trust", "tool", "--json", *NOW).data == {"text": "", "shown": {}}


def test_nothing_to_tell(nebula: Nebula, mind_dir: Path) -> None:
    """Nothing on stdout, a word on stderr, no failure: an agent starts all the same. No mind is made."""
    said = nebula("context", "--query", "渡轮")
    assert (said.code, said.out) == (0, "")
    assert said.err.strip()
    assert not mind_dir.exists()


@pytest.mark.parametrize("argv", [("--trust", "user,友人"), ("--budget", "100")])
def test_refusals(nebula: Nebula, argv: tuple[str, ...]) -> None:
    said = nebula("context", *argv)
    assert said.code == 2
    assert len(said.err.splitlines()) == 1


@pytest.mark.process
def test_it_loads_what_a_recall_loads(tmp_path: Path) -> None:
    loaded(tmp_path / "mind", "add", "渡轮早上六点开")
    for argv in (["context"], ["context", "--query", "渡轮"]):
        code, tops, out = loaded(tmp_path / "mind", *argv)
        assert (code, "渡轮早上六点开" in out) == (0, True)
        assert not tops & NEVER
