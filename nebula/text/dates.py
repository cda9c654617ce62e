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

import re
import unicodedata
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from nebula.quick import dataclass
from nebula.text import datewords as words
from nebula.text.datecalendar import READERS, Context, Granularity, Moment, Prefer, end_of, midnight
from nebula.text.dateclock import on_day, read_clock, time_alone

_ABSOLUTE = frozenset({"month", "monthday", "numbers"})
#: What shares its year or month with the date before it in a list: 2025年3月和5月, 5号6号.
_LISTED = frozenset({"month", "monthday", "half"})
_LONGEST_LIST = 12
_WEEKDAYS = frozenset({"week", "weekday"})
_CALENDAR = frozenset({"month", "numbers", "holiday", "season", "year", "year_end"})


@dataclass(frozen=True)
class Span:
    """[start, end) in local time, and where it stands in the text; `about`: how far off either way it may be meant."""

    start: datetime
    end: datetime
    text_from: int
    text_to: int
    granularity: Granularity
    about: timedelta = timedelta(0)
    #: Written by the calendar (6月18日, 元旦, May 2024), not counted from the day of speaking (昨天, 上个月, 3天前).
    calendar: bool = False


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
    if not context.shapes:
        return spans
    while found := words.pattern(words.STARTS).search(plain, at):
        reading = _expression(plain, found.start(), context)
        readings = [] if reading is None else _listed(plain, reading, context)
        at = readings[-1].end if readings else found.start() + 1
        spans += [span for reading in readings if (span := _span(reading))]
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


class _Reading(NamedTuple):
    """What stands at one place: text[start:end] is a date, and its moment None where it must be refused."""

    start: int
    end: int
    moment: Moment | None
    reader: str = ""
    use: str = ""
    calendar: bool = False


def _plain(text: str) -> str:
    """Full-width and traditional characters as plain ones, one for one, so that places in the text stay."""
    folded = text if text.isascii() else "".join(map(_folded, text))
    return folded.translate(words.SIMPLIFIED)


def _folded(char: str) -> str:
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 else char


def _context(text: str, now: datetime, prefer: Prefer, *, whole: bool) -> Context:
    return Context(now.replace(tzinfo=None), prefer, whole, shapes=words.shapes(text))


def _span(reading: _Reading) -> Span | None:
    moment = reading.moment
    if moment is None or moment.start >= moment.end:
        return None
    place = reading.start, reading.end
    return Span(moment.start, moment.end, *place, moment.granularity, moment.about, reading.calendar)


# The expression: bounds, ranges and what makes a date doubtful around one point in time


def _expression(text: str, at: int, context: Context) -> _Reading | None:
    lead = words.pattern(words.LEAD).match(text, at)
    start = lead.end() if lead else at
    first = _point(text, start, context)
    if first is None:
        return None
    doubtful = words.pattern(words.UNSURE_BEFORE).search(text[max(0, start - 40) : start]) is not None
    link = words.BETWEEN if lead and lead["between"] else words.RANGE
    if first.reader == "ago":
        doubtful = doubtful or words.pattern(words.PART_BEFORE).search(text[max(0, start - 40) : start]) is not None
        if near := words.pattern(words.AGO_AFTER).match(text, first.end):
            return _refuse(first, near.end())
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


def _ranged(text: str, first: _Reading, between: str, context: Context) -> _Reading | None:
    """`周一到周三`: the second date is the first such one after the first. None where no second date follows.

    In the past, 11月到2月 that now lies in may as well be the last one that is over: it is refused. A year written
    at the end counts for both: May-July 2025.
    """
    link = words.pattern(between).match(text, first.end)
    if link is None or (first.moment is None and first.reader == "refused"):
        return None
    after = first.moment.start if first.moment else context.now
    last = _point(text[link.end() :], 0, replace(context, after=after))
    if last is None:
        return None
    last = last._replace(start=link.end(), end=last.end + link.end())
    bare_year = text[last.start : last.end].isdigit()  # Christmas 2024-2025
    if bare_year and first.reader != "year" and link[0].strip() in "-–":
        return _Reading(first.start, last.end, None)
    first = _same_year(text, first, last, context)
    if first.moment is None or last.moment is None or last.moment.end <= first.moment.start:
        return _Reading(first.start, last.end, None)
    bare = first.calendar and last.calendar and not re.search(r"\d{4}|[年季]", text[first.start : last.end])
    if bare and context.prefer == "past" and last.moment.start.year > context.now.year:
        return _Reading(first.start, last.end, None)
    return _Reading(first.start, last.end, Moment(first.moment.start, last.moment.end, "range"))


def _same_year(text: str, first: _Reading, last: _Reading, context: Context) -> _Reading:
    """The first date, of the year written beside the last one if it has none of its own: the nearest before that."""
    written = [re.search(r"[0-9]{4}|年", text[one.start : one.end]) for one in (first, last)]
    if written[0] or not written[1] or not (first.calendar and last.calendar and last.moment):
        return first
    before = replace(context, now=last.moment.end, prefer="past", after=None)
    return _point(text, first.start, before) or first


def _listed(text: str, first: _Reading, context: Context) -> list[_Reading]:
    """A date and those listed after it, which share its year and month: 2025年3月和5月, 5月5日和6日.

    Looking back, a list that runs into the future may as well be one that is over: it is refused.
    """
    run = [first]
    while len(run) < _LONGEST_LIST and (last := run[-1]).moment and (last.reader in _LISTED or _is_range(last)):
        link = words.pattern(words.LIST).match(text, last.end)
        if link is None:
            break
        following = _expression(text[link.end() :], 0, replace(context, after=last.moment.start))
        if following is None or not following.moment or not (following.reader in _LISTED or _is_range(following)):
            break
        following = following._replace(start=link.end(), end=link.end() + following.end)
        run = [_same_year(text, one, following, context) for one in run] + [following]
    ahead = context.prefer == "past" and any(one.moment and one.moment.start > context.now for one in run[1:])
    return [_refuse(one) for one in run] if ahead else run


def _is_range(reading: _Reading) -> bool:
    return not reading.reader and reading.moment is not None and reading.moment.granularity == "range"


def _since(first: _Reading, end: int, context: Context) -> _Reading:
    """From the date's beginning to the end of today; refused where that lies ahead."""
    begun = first.moment if first.moment and first.moment.start <= context.now else None
    moment = begun and Moment(begun.start, end_of(midnight(context.today), 1), "range")
    return first._replace(moment=moment, end=end)


# A point in time: a day with or without a time, a time before its day, a time alone


def _point(text: str, at: int, context: Context) -> _Reading | None:
    timed = _time_first(text, at, context)
    dated = _day_first(text, at, context)
    if timed is None or (dated is not None and dated.end >= timed.end):
        return dated
    return timed


def _day_first(text: str, at: int, context: Context) -> _Reading | None:
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
    return day._replace(end=time.end(), moment=on_day(day.moment, read_clock(time)))


def _time_first(text: str, at: int, context: Context) -> _Reading | None:
    """`3pm tomorrow`, or a time alone; that only where the text is nothing else or a range ends."""
    time = words.pattern(words.TIME).match(text, at)
    if time is None:
        return None
    gap = words.pattern(r"\s+(?:on\s+)?(?=[a-z0-9])").match(text, time.end())
    day = _with_weekday(text, gap.end(), context) if gap else None
    if day is not None and day.use != "short" and day.moment and day.moment.granularity == "day":
        return _Reading(at, day.end, on_day(day.moment, read_clock(time)))
    if not (context.whole or context.after):
        return None
    clock = read_clock(time)
    return _Reading(at, time.end(), clock and time_alone(clock, context))


def _with_weekday(text: str, at: int, context: Context) -> _Reading | None:
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


def _longest(text: str, at: int, context: Context) -> _Reading | None:
    """The longest shape at this place, also where its meaning is refused: 2月30日 must not turn into February."""
    best: tuple[words.Shape, re.Match[str]] | None = None
    for shape in context.shapes:
        if shape.use == "alone" and not (context.whole or context.after):
            continue
        found = words.pattern(shape.pattern).match(text, at)
        if (
            found
            and (best is None or found.end() > best[1].end())
            and not (shape.reader in _WEEKDAYS and _is_word(text, found))
        ):
            best = shape, found
    if best is None:
        return None
    shape, found = best
    groups = {name.rstrip("23456"): value for name, value in found.groupdict().items() if value is not None}
    counted = "step" in groups or groups.get("y", "").lower() in words.YEARS
    calendar = shape.reader in _CALENDAR and not counted
    return _Reading(at, found.end(), _meaning(shape.reader, groups, context), shape.reader, shape.use, calendar)


def _is_word(text: str, found: re.Match[str]) -> bool:
    """Whether the weekday in a match rather begins a longer word: 一直 in 上周一直, 五金店 in 周五金店.

    So it is where the cut says it; and after 上 or 下, where the week holds the day anyway, where that word is
    commoner than the one that begins a character later (一共 and 共花), or counts something (三个, 三本).
    """
    names = found.groupdict()
    if not names.get("wd") or names["wd"].isascii():
        return False
    at = found.end("wd")
    rest = words.pattern(words.HAN).match(text, at)
    if rest is None or words.pattern(words.TIME).match(text, at):
        return False
    from nebula.text import words as cutting

    known = cutting.table().frequencies
    here, later = (max(known.get(text[start : start + size], 0) or 0 for size in (2, 3, 4)) for start in (at - 1, at))
    if not here:
        return False
    if names.get("step") and (here > later or text[at] in words.COUNTED):
        return True
    return cutting.cut("周" + text[at - 1 : rest.end()])[0] == "周"


def _meaning(reader: str, groups: dict[str, str], context: Context) -> Moment | None:
    """The reader's answer; a day that no calendar has, or none within the years 1 to 9999, is no answer."""
    try:
        return READERS[reader](groups, context)
    except (ValueError, OverflowError):
        return None
