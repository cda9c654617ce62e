"""Local time as the ledgers write it (spec 1: missing parts are 0)."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nebula import clock
from nebula.errors import BadValue


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-05-01T09:05:07", datetime(2026, 5, 1, 9, 5, 7)),
        ("2026-05-01 09:05", datetime(2026, 5, 1, 9, 5)),
        ("2026-05-01", datetime(2026, 5, 1)),
        ("2026-05-01T09:05:07.25+08:00", datetime(2026, 5, 1, 9, 5, 7)),
        ("2026-02-30", None),
        ("昨天", None),
        ("", None),
    ],
)
def test_what_reads_as_a_moment(text: str, moment: datetime | None) -> None:
    """A day, with minutes, with seconds; what is no moment is None, and refused under its name when typed."""
    assert clock.parse(text) == moment
    if moment is None:
        with pytest.raises(BadValue):
            clock.read("at", text)


@given(st.datetimes().map(lambda moment: moment.replace(microsecond=0)))
def test_round_trips(moment: datetime) -> None:
    """Text and seconds both lead back, from year 1 to 9999."""
    assert clock.parse(clock.write(moment)) == moment
    assert clock.from_seconds(clock.seconds(moment)) == moment
    assert clock.day(clock.seconds(moment)) == moment.toordinal() - 1


def test_a_bare_day_lasts_until_its_last_second() -> None:
    """Also the last day there is."""
    last = datetime(9999, 12, 31)
    assert clock.end_of("9999-12-31", last) == datetime(9999, 12, 31, 23, 59, 59)
    assert clock.end_of("9999-12-31T00:00", last) == last
