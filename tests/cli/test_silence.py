"""Recall that has nothing to say."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Nebula


def test_the_command_says_so(nebula: Nebula) -> None:
    """Exit 1, one line on stderr, nothing on stdout; --nearest brings them, and still exits 1; JSON says abstained."""
    nebula("add", "渡轮早上六点开")
    said = nebula("recall", "该剧的主题曲由谁演唱？")
    assert (said.code, said.out) == (1, "")
    assert "--nearest" in said.err
    near = nebula("recall", "该剧的主题曲由谁演唱？", "--nearest")
    assert near.code == 1
    assert "渡轮早上六点开" in near.out
    data = nebula("recall", "该剧的主题曲由谁演唱？", "--json").data
    assert (data["abstained"], data["hits"]) == (True, [])
