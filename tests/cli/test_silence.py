"""Recall that has nothing to say."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Nebula


def test_the_command_says_so(nebula: Nebula) -> None:
    """Exit 1, stdout empty, the closest named on stderr; --nearest brings them, still exits 1; JSON says abstained."""
    nebula("add", "渡轮早上六点开")
    said = nebula("recall", "该剧的主题曲由谁演唱？")
    assert (said.code, said.out) == (1, "")
    assert said.err == "不记得有这回事；最接近的是「渡轮早上六点开」（n1），未必相关；--nearest 列出更多。\n"
    near = nebula("recall", "该剧的主题曲由谁演唱？", "--nearest")
    assert near.code == 1
    assert "渡轮早上六点开" in near.out
    assert near.err == "不记得有这回事；下面只是最接近的。\n"
    data = nebula("recall", "该剧的主题曲由谁演唱？", "--json").data
    assert (data["abstained"], data["hits"]) == (True, [])
    assert (data["closest"]["ref"], data["closest"]["text"]) == ("n1", "渡轮早上六点开")
    assert nebula("recall", "渡轮几点开", "--json").data["closest"] is None


def test_what_came_closest_is_named_openly_shortened(nebula: Nebula) -> None:
    """A long text takes no more than its line, and the memory was handed out: said again, it is an echo."""
    told = (
        "渡轮早上六点开，票在码头左边第三个窗口买，带上身份证，老人和学生半价，"
        "下雨天停航，要提前一天打电话问清楚再去，别白跑一趟码头"
    )
    nebula("add", told)
    said = nebula("recall", "该剧的主题曲由谁演唱？")
    assert f"「{told[:59]}…」（n1）" in said.err
    nebula("add", told)
    assert nebula("show", "n2", "--json").data["memories"][0]["echo_of"] == "n1"
