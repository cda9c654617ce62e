"""Times of a day as people write them: `下午三点半`, `15:00`, `3pm`, a part of the day, and on which day that is."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from nebula.text import datewords as words
from nebula.text.datecalendar import Context, Granularity, Moment, midnight, nearest

if TYPE_CHECKING:
    import re

_WAKING = 5 * 3600


class Clock(NamedTuple):
    """A time of day: seconds from midnight (two of them on a clock face), and how long it lasts."""

    choices: tuple[int, ...]
    length: int
    granularity: Granularity


def read_clock(found: re.Match[str]) -> Clock | None:
    """The match of TIME as seconds from midnight; None for 25点 and for 早上3点."""
    part = words.PARTS[(found["part"] or found["part2"]).lower()] if found["part"] or found["part2"] else None
    hour_text = found["h"] or found["h2"] or found["h3"] or found["h4"] or found["h5"]
    if found["noon"]:
        return Clock((12 * 3600,), 60, "minute")
    if hour_text is None:
        assert part is not None
        return Clock((part.start * 3600,), (part.end - part.start) * 3600, "daypart")
    hour, minute = words.number(hour_text), _minute(found)
    if hour is None or minute is None or hour > 24 or minute > 59 or int(found["s"] or 0) > 59:
        return None
    half = found["ap"] or found["ap2"]
    hours = _hours(hour, part, half.lower() if half else None, exact=bool(found["h2"]) and len(hour_text) == 2)
    if not hours or (hour == 24 and minute):
        return None
    rest = minute * 60 + int(found["s"] or 0)
    length = 1 if found["s"] else 60
    if minute == 0 and not found["m3"] and not found["sharp"]:
        return Clock(tuple(h * 3600 for h in hours), 3600, "hour")
    return Clock(tuple(h * 3600 + rest for h in hours), length, "minute")


def _minute(found: re.Match[str]) -> int | None:
    if found["half"]:
        return 30
    if found["quarter"]:
        return 15 if found["quarter"] == "一" else 45
    text = found["m"] or found["m2"] or found["m3"]
    return words.number(text) if text else 0


def _hours(hour: int, part: words.Part | None, half: str | None, *, exact: bool) -> tuple[int, ...]:
    """The hours of the day that may be meant: one where a part, am/pm or two digits (`exact`) say so, else two."""
    if half:
        said = hour % 12 + 12 * (half == "p")
        if part and said + 24 < part.end:
            said += 24  # last night at 2am: the night is named after the day on which it began
        fits = part is None or part.clock_from <= said < max(part.clock_to, part.end)
        early = part is not None and said < part.end <= 12  # 3am is of the morning, too
        return (said,) if 1 <= hour <= 12 and (fits or early) else ()
    if part:
        choices = {hour, hour + 12} | ({0} if hour == 12 else set())
        fitting = tuple(sorted(h for h in choices if part.clock_from <= h < part.clock_to))
        return fitting if len(fitting) == 1 else ()
    if exact or not 1 <= hour <= 12:
        return (hour,)
    return (hour, hour + 12) if hour < 12 else (0, 12)


def _awake(clock: Clock) -> tuple[int, ...]:
    return clock.choices if len(clock.choices) == 1 else tuple(c for c in clock.choices if c >= _WAKING)


def on_day(day: Moment, clock: Clock | None) -> Moment | None:
    """That time of that day, if it is one time only."""
    choices = _awake(clock) if clock else ()
    return _timed(day.start, choices[0], clock) if clock and len(choices) == 1 else None


def _timed(first: datetime, second: int, clock: Clock) -> Moment | None:
    try:
        start = first + timedelta(seconds=second)
        return Moment(start, start + timedelta(seconds=clock.length), clock.granularity)
    except OverflowError:
        return None


def time_alone(clock: Clock, context: Context) -> Moment | None:
    """The nearest such time in the direction asked for; on a clock face only today's, if it is one only."""
    base = context.after or context.now
    first = midnight(base.date())
    if context.after is None and len(clock.choices) == 2:
        awake = _awake(clock)
        return nearest([_timed(first, awake[0], clock)], context, strict=True) if len(awake) == 1 else None
    options = [_timed(first, 86_400 * k + choice, clock) for k in (-1, 0, 1) for choice in clock.choices]
    return nearest(options, context, strict=clock.granularity != "daypart")
