"""English endings: which forms become one term, and which words stay apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nebula.text.endings import stem


@pytest.mark.parametrize(
    "forms",
    [
        ("painting", "paintings", "painted", "paint", "paints"),
        ("like", "likes", "liked", "liking"),
        ("plan", "plans", "planned", "planning"),
        ("story", "stories"),
        ("movie", "movies"),
        ("wish", "wishes", "wished"),
        ("class", "classes"),
        ("quick", "quickly"),
        ("carry", "carries", "carried"),
    ],
)
def test_forms_of_one_word(forms: tuple[str, ...]) -> None:
    """All forms of a row have one term."""
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize(
    "word", ["bus", "this", "glass", "king", "red", "v3", "café", "海鸥", "2026", "speed", "thing", ""]
)
def test_words_that_stay(word: str) -> None:
    """Short words, numbers, other scripts and what only looks like an ending."""
    assert stem(word) == word


@given(st.text())
def test_never_empty(word: str) -> None:
    """A word that is there leaves a term."""
    assert bool(stem(word)) == bool(word)
