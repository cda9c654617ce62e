"""Folding: one form for what reads the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nebula.text import normal


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("GitHub", "github"),
        ("ＧｉｔＨｕｂ②", "github2"),
        ("Straße", "strasse"),
        ("，。！", ",。!"),
        ("ｶﾞ", "ガ"),
        ("灯塔\x00\ud800😀", "灯塔\x00\ud800😀"),
        ("", ""),
    ],
)
def test_fold(text: str, folded: str) -> None:
    """Width, compatibility forms and case go; Chinese, controls and lone surrogates stay."""
    assert normal.fold(text) == folded


@given(st.text())
def test_compose_keeps_case(text: str) -> None:
    """`fold` is `compose` and then case folding."""
    assert normal.compose(text).casefold() == normal.fold(text)
