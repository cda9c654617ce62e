"""Quotes of one text in another, by the fast way and by the definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nebula.mindlib import quotes

_TEXT = st.text("潮汐灯塔ab ", max_size=40)


def stretches(text: str) -> set[str]:
    """From each place the shortest stretch that is long enough."""
    found = set()
    for start in range(len(text)):
        end = next((end for end in range(start, len(text) + 1) if quotes.size(text[start:end]) >= quotes.ENOUGH), 0)
        found |= {text[start:end]} - {""}
    return found


@pytest.mark.parametrize("few", [0, quotes.FEW])
@given(st.lists(_TEXT, max_size=3), _TEXT, st.integers(0, 30), st.integers(1, 40))
def test_every_stretch_that_is_long_enough_is_found(few: int, texts: list[str], other: str, at: int, long: int) -> None:
    """Of few windows and of many alike; a piece of the first text stands in the middle of the other."""
    piece = (texts or [""])[0].strip()[at : at + long]
    text = f"{other}|{piece}|{other}"
    wanted = quotes.sought(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quotes, "FEW", few)
        spans = quotes.find(wanted, text)
    there = {s for one in texts for s in stretches(one.strip())}
    expected = {(at, at + len(s)) for s in there for at in range(len(text)) if text.startswith(s, at)}
    whole = {one.strip() for one in texts if not stretches(one.strip()) and quotes.size(one.strip()) >= quotes.SHORT}
    expected |= {(at, at + len(s)) for s in whole for at in range(len(text)) if text.startswith(s, at)}
    covered = {n for start, end in spans for n in range(start, end)}
    assert covered == {n for start, end in expected for n in range(start, end)}
