"""Dates as people write them, Chinese and English: text and a moment -> a half-open interval of local time.

The rule above all: nothing wrong but confident. What is ambiguous (05/03, 明天8点, `the last week`), invalid
(2月30日) or unknown (lunar feasts) gives nothing. The words stand in `datewords`. What was chosen where people differ:

- Weeks begin on Monday. 上/下/last/next + week, weekend or weekday count calendar weeks: `next Monday` is in the one
  after this.
- `last/next` + month, season or feast: the nearest one wholly past, or not yet begun.
- Without such a word `prefer` decides. A bare weekday is never today (that is called 今天); a date may be today.
- Spring is March to May, and so on; the winter of a year runs from its December to the next February.
- 3点 and 3:15 are a clock face: they count where just one of the two readings lies between 5:00 and midnight; without
  a day that has to be still ahead today (or behind). 03:15 and 15:15 are the 24-hour clock.
- 两周前 is that very day; `about` says how loosely people mean it.
"""

from __future__ import annotations

import unicodedata
from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple

from nebula.text import datewords as words

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable

Granularity = Literal["minute", "hour", "daypart", "day", "weekend", "week", "month", "season", "year", "range"]
Prefer = Literal["future", "past"]
_WAKING = 5 * 3600
_DAY = timedelta(days=1)
_LAST = datetime(9999, 12, 31, 23, 59, 59, 999999)
_ABSOLUTE = frozenset({"month", "monthday", "numbers"})


@dataclass(frozen=True)
class Span:
    """[start, end) in local time, and where it stands in the text; `about`: how far off either way it may be meant."""

    start: datetime
    end: datetime
    text_from: int
    text_to: int
    granularity: Granularity
    about: timedelta = timedelta(0)


def parse(text: str, now: datetime, prefer: Prefer = "future") -> Span | None:
    """The date that the whole text writes; None where it is none or not certain. `prefer` decides a bare 周三."""
    plain = _plain(text)
    start, end = len(plain) - len(plain.lstrip()), len(plain.rstrip())
    found = _expression(plain[:end], start, _context(plain, now, prefer, whole=True))
    return None if found is None or found.end != end else _span(found)


def find(text: str, now: datetime, prefer: Prefer = "past") -> list[Span]:
    """The dates inside a sentence, in order, the longest at each place; what is uncertain is left out."""
    plain, spans, at = _plain(text), list[Span](), 0
    context = _context(plain, now, prefer, whole=False)
    while found := words.pattern(words.STARTS).search(plain, at):
        reading = _expression(plain, found.start(), context)
        at = found.start() + 1 if reading is None else reading.end
        span = None if reading is None else _span(reading)
        spans += [span] if span else []
    return spans


def due_text(span: Span) -> str:
    """How a due date stands in the ledger: a time as `%Y-%m-%dT%H:%M:%S`, all else as the last day of the span.

    A part of a day is its day, even where the night reaches into the next.
    """
    if span.granularity in {"minute", "hour"}:
        return span.start.replace(microsecond=0).isoformat()
    if span.granularity == "daypart":
        return span.start.date().isoformat()
    return (span.end - timedelta(microseconds=1)).date().isoformat()


class _Moment(NamedTuple):
    start: datetime
    end: datetime
    granularity: Granularity
    about: timedelta = timedelta(0)


class _Reading(NamedTuple):
    """What stands at one place: text[start:end] is a date, and its moment None where it must be refused."""

    start: int
    end: int
    moment: _Moment | None
    reader: str = ""
    use: str = ""


@dataclass(frozen=True)
class _Context:
    """`whole`: the text is a date and nothing else; `after`: the start of the range that the date ends."""

    now: datetime
    prefer: Prefer
    whole: bool
    after: datetime | None = None
    shapes: tuple[words.Shape, ...] = words.SHAPES

    @property
    def today(self) -> date:
        return self.now.date()


class _Clock(NamedTuple):
    """A time of day: seconds from midnight (two of them on a clock face), and how long it lasts."""

    choices: tuple[int, ...]
    length: int
    granularity: Granularity


_Groups = dict[str, str]


def _plain(text: str) -> str:
    """Full-width and traditional characters as plain ones, one for one, so that places in the text stay."""
    folded = text if text.isascii() else "".join(map(_folded, text))
    return folded.translate(words.SIMPLIFIED)


def _folded(char: str) -> str:
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 else char


def _context(text: str, now: datetime, prefer: Prefer, *, whole: bool) -> _Context:
    return _Context(now.replace(tzinfo=None), prefer, whole, shapes=words.shapes(text))


def _span(reading: _Reading) -> Span | None:
    moment = reading.moment
    if moment is None or moment.start >= moment.end:
        return None
    return Span(moment.start, moment.end, reading.start, reading.end, moment.granularity, moment.about)


# The expression: bounds, ranges and what makes a date doubtful around one point in time


def _expression(text: str, at: int, context: _Context) -> _Reading | None:
    lead = words.pattern(words.LEAD).match(text, at)
    start = lead.end() if lead else at
    first = _point(text, start, context)
    if first is None:
        return None
    doubtful = words.pattern(words.UNSURE_BEFORE).search(text[max(0, start - 40) : start]) is not None
    link = words.BETWEEN if lead and lead["between"] else words.RANGE
    ranged = _ranged(text, first, link, context)
    if ranged is not None:
        return _refuse(ranged) if doubtful else ranged._replace(start=at)
    if lead and lead["since"]:
        first = _since(first._replace(start=at), first.end, context)
    elif until_now := words.pattern(words.SINCE).match(text, first.end):
        first = _since(first, until_now.end(), context)
    unsure = words.pattern(words.UNSURE_AFTER).match(text, first.end)
    if unsure or doubtful or (lead and lead["must"]):
        return _refuse(first, unsure.end() if unsure else first.end)
    return first


def _refuse(reading: _Reading, end: int | None = None) -> _Reading:
    return reading._replace(moment=None, end=reading.end if end is None else end)


def _ranged(text: str, first: _Reading, between: str, context: _Context) -> _Reading | None:
    """`周一到周三`: the second date is the first such one after the first. None where no second date follows."""
    link = words.pattern(between).match(text, first.end)
    if link is None or (first.moment is None and first.reader == "refused"):
        return None
    after = first.moment.start if first.moment else context.now
    last = _point(text[link.end() :], 0, replace(context, after=after))
    if last is None:
        return None
    last = last._replace(end=last.end + link.end())
    if first.moment is None or last.moment is None or last.moment.end <= first.moment.start:
        return _Reading(first.start, last.end, None)
    return _Reading(first.start, last.end, _Moment(first.moment.start, last.moment.end, "range"))


def _since(first: _Reading, end: int, context: _Context) -> _Reading:
    """From the date's beginning to the end of today; refused where that lies ahead."""
    begun = first.moment if first.moment and first.moment.start <= context.now else None
    moment = begun and _Moment(begun.start, _end(_midnight(context.today), 1), "range")
    return first._replace(moment=moment, end=end)


# A point in time: a day with or without a time, a time before its day, a time alone


def _point(text: str, at: int, context: _Context) -> _Reading | None:
    timed = _time_first(text, at, context)
    dated = _day_first(text, at, context)
    if timed is None or (dated is not None and dated.end >= timed.end):
        return dated
    return timed


def _day_first(text: str, at: int, context: _Context) -> _Reading | None:
    day = _with_weekday(text, at, context)
    if day is None:
        return None
    joint = words.pattern(words.JOINT).match(text, day.end)
    time = words.pattern(words.TIME).match(text, joint.end() if joint else day.end)
    if time is None:
        return None if day.use == "short" else day
    if day.moment is None:
        return _refuse(day, time.end())
    if day.moment.granularity != "day":
        return day
    return day._replace(end=time.end(), moment=_on(day.moment, _clock(time)))


def _time_first(text: str, at: int, context: _Context) -> _Reading | None:
    """`3pm tomorrow`, or a time alone; that only where the text is nothing else or a range ends."""
    time = words.pattern(words.TIME).match(text, at)
    if time is None:
        return None
    gap = words.pattern(r"\s+(?:on\s+)?(?=[a-z0-9])").match(text, time.end())
    day = _with_weekday(text, gap.end(), context) if gap else None
    if day is not None and day.use != "short" and day.moment and day.moment.granularity == "day":
        return _Reading(at, day.end, _on(day.moment, _clock(time)))
    if not (context.whole or context.after):
        return None
    clock = _clock(time)
    return _Reading(at, time.end(), clock and _time_alone(clock, context))


def _with_weekday(text: str, at: int, context: _Context) -> _Reading | None:
    """A day; beside a calendar date may stand its weekday, which has to be the right one."""
    beside = words.pattern(words.WEEKDAY_BESIDE)
    head = beside.match(text, at)
    day = _longest(text, head.end(), context) if head else None
    if head is not None and day is not None and _is_date(day):
        return _checked(day, head, at, day.end)
    day = _longest(text, at, context)
    tail = beside.match(text, day.end) if day is not None and _is_date(day) else None
    if day is None or tail is None:
        return day
    return _checked(day, tail, at, day.end + len(tail[0].rstrip(" ,")))


def _is_date(reading: _Reading) -> bool:
    return reading.reader in _ABSOLUTE and (reading.moment is None or reading.moment.granularity == "day")


def _checked(day: _Reading, beside: re.Match[str], start: int, end: int) -> _Reading:
    weekday = words.WEEKDAYS[(beside["wd"] or beside["wd2"]).lower()]
    right = day.moment is not None and day.moment.start.weekday() == weekday
    return day._replace(start=start, end=end, moment=day.moment if right else None)


def _longest(text: str, at: int, context: _Context) -> _Reading | None:
    """The longest shape at this place, also where its meaning is refused: 2月30日 must not turn into February."""
    best: tuple[words.Shape, re.Match[str]] | None = None
    for shape in context.shapes:
        if shape.use == "alone" and not (context.whole or context.after):
            continue
        found = words.pattern(shape.pattern).match(text, at)
        if found and (best is None or found.end() > best[1].end()):
            best = shape, found
    if best is None:
        return None
    shape, found = best
    return _Reading(at, found.end(), _meaning(shape.reader, found, context), shape.reader, shape.use)


def _meaning(reader: str, found: re.Match[str], context: _Context) -> _Moment | None:
    """The reader's answer; a day that no calendar has, or none within the years 1 to 9999, is no answer."""
    groups = {name.rstrip("23456"): value for name, value in found.groupdict().items() if value is not None}
    try:
        return _READERS[reader](groups, context)
    except (ValueError, OverflowError):
        return None


# Times of day


def _clock(found: re.Match[str]) -> _Clock | None:
    """The match of TIME as seconds from midnight; None for 25点 and for 早上3点."""
    part = words.PARTS[(found["part"] or found["part2"]).lower()] if found["part"] or found["part2"] else None
    hour_text = found["h"] or found["h2"] or found["h3"] or found["h4"] or found["h5"]
    if found["noon"]:
        return _Clock((12 * 3600,), 60, "minute")
    if hour_text is None:
        assert part is not None
        return _Clock((part.start * 3600,), (part.end - part.start) * 3600, "daypart")
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
        return _Clock(tuple(h * 3600 for h in hours), 3600, "hour")
    return _Clock(tuple(h * 3600 + rest for h in hours), length, "minute")


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
        return (hour % 12 + 12 * (half == "p"),) if 1 <= hour <= 12 else ()
    if part:
        choices = {hour, hour + 12} | ({0} if hour == 12 else set())
        fitting = tuple(sorted(h for h in choices if part.clock_from <= h < part.clock_to))
        return fitting if len(fitting) == 1 else ()
    if exact or not 1 <= hour <= 12:
        return (hour,)
    return (hour, hour + 12) if hour < 12 else (0, 12)


def _awake(clock: _Clock) -> tuple[int, ...]:
    return clock.choices if len(clock.choices) == 1 else tuple(c for c in clock.choices if c >= _WAKING)


def _on(day: _Moment, clock: _Clock | None) -> _Moment | None:
    """That time of that day, if it is one time only."""
    choices = _awake(clock) if clock else ()
    return _timed(day.start, choices[0], clock) if clock and len(choices) == 1 else None


def _timed(midnight: datetime, second: int, clock: _Clock) -> _Moment | None:
    try:
        start = midnight + timedelta(seconds=second)
        return _Moment(start, start + timedelta(seconds=clock.length), clock.granularity)
    except OverflowError:
        return None


def _time_alone(clock: _Clock, context: _Context) -> _Moment | None:
    """The nearest such time in the direction asked for; on a clock face only today's, if it is one only."""
    base = context.after or context.now
    midnight = _midnight(base.date())
    if context.after is None and len(clock.choices) == 2:
        awake = _awake(clock)
        return _nearest([_timed(midnight, awake[0], clock)], context, strict=True) if len(awake) == 1 else None
    options = [_timed(midnight, 86_400 * k + choice, clock) for k in (-1, 0, 1) for choice in clock.choices]
    return _nearest(options, context, strict=clock.granularity != "daypart")


# Which one of many is meant


def _nearest(options: Iterable[_Moment | None], context: _Context, *, strict: bool = False) -> _Moment | None:
    """Of options in order of time the next or the latest; `strict`: one going on now is not the next."""
    found = [option for option in options if option is not None]
    now = context.now
    if context.after is not None:
        return next((one for one in found if one.start >= context.after), None)
    if context.prefer == "future":
        return next((one for one in found if (one.start if strict else one.end) > now), None)
    return next((one for one in reversed(found) if one.start <= now), None)


def _yearly(make: Callable[[int], _Moment], groups: _Groups, context: _Context) -> _Moment | None:
    """What comes once a year: of the year named, by last/this/next, or the nearest (eight years hold a 29 February)."""
    if "y" in groups:
        return make(_year(groups["y"], context))
    around = context.after or context.now
    options = [one for year in range(around.year - 8, around.year + 9) if (one := _made(make, year))]
    if "step" not in groups:
        return _nearest(options, context)
    step = words.STEPS[groups["step"].lower()]
    if step == -1:
        return next((one for one in reversed(options) if one.end <= context.now), None)
    if step == 1:
        return next((one for one in options if one.start > context.now), None)
    running = [one for one in options if one.start <= context.now < one.end]
    return running[0] if running else make(context.now.year)


def _made(make: Callable[[int], _Moment], year: int) -> _Moment | None:
    try:
        return make(year)
    except (ValueError, OverflowError):
        return None


# Days, months and durations


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)


def _end(start: datetime, days: int) -> datetime:
    """So many days later; the calendar's last moment where it has no such day."""
    return start + days * _DAY if (_LAST - start).days >= days else _LAST


def _days(first: date, count: int, granularity: Granularity, about: float = 0) -> _Moment:
    start = _midnight(first)
    return _Moment(start, _end(start, count), granularity, timedelta(hours=about))


def _months(year: int, month: int, count: int, granularity: Granularity) -> _Moment:
    """Whole months; `month` may lie outside 1 to 12 and is carried into the years."""
    first = _shifted(date(year, 1, 1), month - 1)
    last = min(12 * first.year + first.month - 1 + count - 1, 12 * 9999 + 11)
    final = date(last // 12, last % 12 + 1, monthrange(last // 12, last % 12 + 1)[1])
    return _days(first, (final - first).days + 1, granularity)


def _shifted(day: date, months: int) -> date:
    """So many months later, on the same day or the month's last: 31 January and a month is 28 or 29 February."""
    year, month = divmod(12 * day.year + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        raise ValueError(year)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _year(text: str, context: _Context) -> int:
    """`2024年`, `二〇二四年`, `2024`, `去年` or `last year` as a year; ValueError where it is none."""
    word = " ".join(text.lower().split())
    if word in words.YEARS:
        return context.today.year + words.YEARS[word]
    return _number(word.removesuffix("年"))


def _number(text: str) -> int:
    value = words.number(text)
    if value is None:
        raise ValueError(text)
    return value


def _third(year: int, month: int, which: str) -> _Moment:
    whole = _months(year, month, 1, "range")
    first, last = words.THIRDS[which.lower()]
    start = whole.start + (first - 1) * _DAY
    return _Moment(start, min(whole.end, _end(start, last - first + 1)), "range")


# The readers: the groups of a shape -> the interval. ValueError and OverflowError mean that there is none.


def _read_day(groups: _Groups, context: _Context) -> _Moment:
    word = " ".join(groups["day"].lower().split())
    return _days(context.today + words.DAYS[word] * _DAY, 1, "day")


def _read_week(groups: _Groups, context: _Context) -> _Moment:
    monday = context.today + (7 * words.STEPS[groups["step"].lower()] - context.today.weekday()) * _DAY
    if "end" in groups:
        return _days(monday + 5 * _DAY, 2, "weekend")
    if "wd" in groups:
        return _days(monday + _weekday(groups) * _DAY, 1, "day")
    return _days(monday, 7, "week")


def _weekday(groups: _Groups) -> int:
    return words.WEEKDAYS[groups["wd"].lower()[:3]]


def _read_weekday(groups: _Groups, context: _Context) -> _Moment | None:
    around = context.after.date() if context.after else context.today
    first = around + (_weekday(groups) - around.weekday() - 7) * _DAY
    days = [_days(first + 7 * k * _DAY, 1, "day") for k in range(3)]
    other = [day for day in days if context.after or day.start.date() != context.today]
    return _nearest(other, context)


def _read_weekend(_groups: _Groups, context: _Context) -> _Moment | None:
    around = context.after.date() if context.after else context.today
    first = around + (5 - around.weekday() - 7) * _DAY
    return _nearest([_days(first + 7 * k * _DAY, 2, "weekend") for k in range(3)], context)


def _read_month(groups: _Groups, context: _Context) -> _Moment | None:
    """A month, a day or a third of it: of a year, counted from this month (上个月5号), or the nearest."""
    if "mon" not in groups and "m" not in groups:
        first = context.today.replace(day=1)
        month = _shifted(first, words.STEPS[groups["step"].lower()])
        return _in_month(month.year, month.month, groups)
    month_number = words.MONTHS[groups["mon"].lower()[:3]] if "mon" in groups else _number(groups["m"])
    return _yearly(lambda year: _in_month(year, month_number, groups), groups, context)


def _in_month(year: int, month: int, groups: _Groups) -> _Moment:
    first = date(year, month, 1)
    if "d" in groups:
        return _days(first.replace(day=_number(groups["d"])), 1, "day")
    return _third(year, month, groups["third"]) if "third" in groups else _months(year, month, 1, "month")


def _read_monthday(groups: _Groups, context: _Context) -> _Moment | None:
    """`5号`: the nearest month that has such a day."""
    return _nearest(_monthly(lambda year, month: _in_month(year, month, groups), context), context)


def _read_third(groups: _Groups, context: _Context) -> _Moment | None:
    return _nearest(_monthly(lambda year, month: _third(year, month, groups["third"]), context), context)


def _monthly(make: Callable[[int, int], _Moment], context: _Context) -> list[_Moment]:
    first = (context.after or context.now).date().replace(day=1)
    found = []
    for k in range(-2, 3):
        try:
            month = _shifted(first, k)
            found.append(make(month.year, month.month))
        except (ValueError, OverflowError):
            continue
    return found


def _read_numbers(groups: _Groups, _context: _Context) -> _Moment:
    return _in_month(int(groups["y"]), int(groups["m"]), groups)


def _read_season(groups: _Groups, context: _Context) -> _Moment | None:
    """Refused where no one can say which winter: 去年冬天 said in January, `this winter` looking back in May."""
    month = words.SEASONS[groups["season"].lower()]
    if month == 12 and not groups.get("y", "0")[0].isdigit() and context.today.month < 3:
        return None
    found = _yearly(lambda year: _months(year, month, 3, "season"), groups, context)
    if month == 12 and groups.get("step", "").lower() in {"这", "this"} and context.prefer == "past":
        return found if found and found.start <= context.now else None
    return found


def _read_half(groups: _Groups, context: _Context) -> _Moment:
    year = _year(groups["y"], context) if "y" in groups else context.today.year
    return _months(year, 1 if groups["half"] == "上" else 7, 6, "range")


def _read_year_end(groups: _Groups, context: _Context) -> _Moment | None:
    return _yearly(lambda year: _months(year, 12, 1, "range"), groups, context)


def _read_holiday(groups: _Groups, context: _Context) -> _Moment | None:
    word = " ".join(groups["holiday"].lower().split())
    name = next(name for name in words.HOLIDAYS if word.startswith(name))
    month, day, stretch = words.HOLIDAYS[name]
    return _yearly(lambda year: _days(date(year, month, day), 1, "day", 24 * stretch), groups, context)


def _read_year(groups: _Groups, context: _Context) -> _Moment:
    return _months(_year(groups["y"], context), 1, 12, "year")


def _measure(groups: _Groups) -> tuple[words.Amount, int]:
    found = words.amount(groups.get("n", "one"), groups["unit"])
    if found is None or found[1] == 0:
        raise ValueError(groups["unit"])
    return found


def _moved(now: datetime, one: words.Amount, times: int) -> datetime:
    """Minutes are counted from this minute, all else from today's beginning."""
    if one.kind == "minutes":
        return now.replace(second=0, microsecond=0) + timedelta(minutes=one.size * times)
    if one.kind == "days":
        return _midnight(now.date() + one.size * times * _DAY)
    return _midnight(_shifted(now.date(), one.size * times))


def _read_ago(groups: _Groups, context: _Context) -> _Moment | None:
    """`3天前`, `in two weeks`; without a direction (`3d`) the one preferred. 2024年前 is before that year: refused."""
    one, times = _measure(groups)
    way = groups.get("way", "").lower()
    if groups["unit"] == "年" and times >= 1000:
        return None
    back = way in {"前", "ago"} or (not way and context.prefer == "past")
    start = _moved(context.now, one, -times if back else times)
    about = timedelta(hours=one.about if way in {"前", "ago"} else 0)
    if one.kind == "minutes":
        return _Moment(start, start + timedelta(minutes=1), "minute", about)
    return _Moment(start, _end(start, 1), "day", about)


def _read_rolling(groups: _Groups, context: _Context) -> _Moment:
    """`最近三天`: from the beginning of the day three days ago to the end of today; hours to this minute."""
    one, times = _measure(groups)
    back = groups["way"].lower() in {"最近", "过去", "近", "past", "last"}
    other = _moved(context.now, one, -times if back else times)
    unit = timedelta(minutes=1) if one.kind == "minutes" else _DAY
    here = _moved(context.now, one, 0)
    first, last = (other, here) if back else (here, other)
    return _Moment(first, last + unit, "range")


def _read_within(groups: _Groups, context: _Context) -> _Moment:
    return _read_rolling({**groups, "way": "过去" if context.prefer == "past" else "未来"}, context)


def _read_refused(_groups: _Groups, _context: _Context) -> None:
    return None


_READERS: dict[str, Callable[[_Groups, _Context], _Moment | None]] = {
    "day": _read_day, "week": _read_week, "weekday": _read_weekday, "weekend": _read_weekend, "month": _read_month,
    "monthday": _read_monthday, "third": _read_third, "numbers": _read_numbers, "season": _read_season,
    "half": _read_half, "year_end": _read_year_end, "holiday": _read_holiday, "year": _read_year, "ago": _read_ago,
    "rolling": _read_rolling, "within": _read_within, "refused": _read_refused,
}  # fmt: skip
