"""What a tool answers stays small whatever a memory holds, and its text can be had whole."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nebula.mcp import answers
from nebula.mindlib.record import Memory

LONG = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
    st.sampled_from(["灯塔" * 9_000, '"\\' * 9_000, "\x00" * 9_000, "🌊" * 9_000]),
)


def memory(text: str, number: int = 1, **more: str) -> Memory:
    return Memory("notes", number, "2026-05-01T09:00:00", text, **more)  # type: ignore[arg-type]


@given(st.lists(LONG, max_size=20), LONG)
def test_a_list_keeps_the_limit(texts: list[str], other: str) -> None:
    """However long the texts: below the limit, the first ones kept, the others counted."""
    rows = [answers.row(memory(text, n, tag=other, topic=other, via=other)) for n, text in enumerate(texts, start=1)]
    answer = answers.listed("hits", rows, notices=[])
    assert len(answers.dumped(answer)) <= answers.LIMIT
    assert answer["hits"] == rows[: len(answer["hits"])]
    assert len(answer["hits"]) + answer["left_off"] == len(rows)
    for shown, text in zip(answer["hits"], texts, strict=False):
        assert (shown["text"], shown.get("cut", False)) == (text[:500], len(text) > 500)


@given(LONG, LONG)
def test_pages_make_the_whole_text(text: str, other: str) -> None:
    """Page after page, each below the limit, nothing twice and nothing left out."""
    one, at, parts = memory(text, tag=other, w_why=other), 0, []
    while True:
        shown = answers.page(one, at)
        assert len(answers.dumped({"memory": shown})) <= answers.LIMIT
        assert (shown["start"], shown["length"]) == (at, len(text))
        parts.append(shown["text"])
        if "next" not in shown:
            break
        assert shown["next"] > at
        at = shown["next"]
    assert "".join(parts) == text


@pytest.mark.parametrize(
    ("via", "told"),
    [("他说的", "user"), ("我自己想的", "self"), ("工具", "tool"), ("网页", "web"), ("回声", "echo"), ("x", "x")],
)
def test_a_source_is_told_in_the_words_that_tools_take(via: str, told: str) -> None:
    assert answers.row(memory("短", via=via))["via"] == told


def test_past_the_end_there_is_nothing() -> None:
    assert answers.page(memory("短"), 9)["text"] == ""


def test_an_answer_in_an_answer_is_below_32_kb() -> None:
    """As structure and as JSON in a string, where every quote and backslash doubles."""
    rows = [answers.row(memory('"\\' * 9_000, n)) for n in range(20)]
    answer = answers.listed("hits", rows)
    whole = orjson.dumps({"text": answers.dumped(answer).decode(), "structured": answer})
    assert answer["hits"]
    assert len(whole) < 32_000
