"""The table of Chinese feasts, held against the sun and the moon."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest

from nebula.text import datelunar

YEARS = range(datelunar.FIRST_YEAR, datelunar.FIRST_YEAR + 60)
NEW_MOON, MONTH = date(2000, 1, 6), 29.530589  # 18:14 UTC, that is 7 January in China


def test_each_follows_the_moon() -> None:
    """New year at a new moon between 21 January and 20 February, 端午 four days after one, 中秋 14 days."""
    for year in YEARS:
        assert date(year, 1, 21) <= datelunar.day("春节", year) <= date(year, 2, 20)
        for name, after in (("春节", 0), ("端午", 4), ("中秋", 14)):
            moons = ((datelunar.day(name, year) - NEW_MOON).days - after - 0.76) / MONTH
            assert abs(moons - round(moons)) * MONTH < 1.5, (name, year)


def test_a_year_has_twelve_months_or_thirteen() -> None:
    lengths = {(b - a).days for a, b in pairwise(datelunar.day("春节", year) for year in YEARS)}
    assert lengths <= {353, 354, 355, 383, 384, 385}


def test_the_eve_and_the_sun() -> None:
    assert datelunar.day("除夕", 2026) == date(2026, 2, 16)
    assert {datelunar.day("清明", year).day for year in YEARS} == {4, 5}
    assert {datelunar.day("清明", year).month for year in YEARS} == {4}


@pytest.mark.parametrize("year", [1989, 2050])
def test_nothing_beyond_the_table(year: int) -> None:
    with pytest.raises(ValueError, match=str(year)):
        datelunar.day("除夕", year)
