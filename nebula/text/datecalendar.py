"""Days, weeks, months and durations of a date's words: which one of many is meant, and the interval it spans."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple

from nebula.quick import dataclass
from nebula.text import datelunar
from nebula.text import datewords as words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Granularity = Literal["minute", "hour", "daypart", "day", "weekend", "week", "month", "season", "year", "range"]
Prefer = Literal["future", "past"]
_DAY = timedelta(days=1)
_LAST = datetime(9999, 12, 31, 23, 59, 59, 999999)


class Moment(NamedTuple):
    """A half-open interval; `about`: how far off either way people mean it."""

    start: datetime
    end: datetime
    granularity: Granularity
    about: timedelta = timedelta(0)


@dataclass(frozen=True)
class Context:
    """`whole`: the text is a date and nothing else; `after`: the start of the range that the date ends."""

    now: datetime
    prefer: Prefer
    whole: bool
    after: datetime | None = None
    shapes: tuple[words.Shape, ...] = words.SHAPES

    @property
    def today(self) -> date:
        """The day of speaking."""
        return self.now.date()


Groups = dict[str, str]


def nearest(options: Iterable[Moment | None], context: Context, *, strict: bool = False) -> Moment | None:
    """Of options in order of time the next or the latest; `strict`: one going on now is not the next."""
    found = [option for option in options if option is not None]
    now = context.now
    if context.after is not None:
        return next((one for one in found if one.start >= context.after), None)
    if context.prefer == "future":
        return next((one for one in found if (one.start if strict else one.end) > now), None)
    return next((one for one in reversed(found) if one.start <= now), None)


def _yearly(make: Callable[[int], Moment], groups: Groups, context: Context) -> Moment | None:
    """What comes once a year: of the year named, by last/this/next, or the nearest (eight years hold a 29 February)."""
    if "y" in groups:
        return make(_year(groups["y"], context))
    around = context.after or context.now
    options = [one for year in range(around.year - 8, around.year + 9) if (one := _made(make, year))]
    if "step" not in groups:
        return nearest(options, context)
    step = words.STEPS[groups["step"].lower()]
    if step == -1:
        return next((one for one in reversed(options) if one.end <= context.now), None)
    if step == 1:
        return next((one for one in options if one.start > context.now), None)
    running = [one for one in options if one.start <= context.now < one.end]
    return running[0] if running else make(context.now.year)


def _made(make: Callable[[int], Moment], year: int) -> Moment | None:
    try:
        return make(year)
    except (ValueError, OverflowError):
        return None


# Days, months and durations


def midnight(day: date) -> datetime:
    """The first moment of a day."""
    return datetime(day.year, day.month, day.day)


def end_of(start: datetime, days: int) -> datetime:
    """So many days later; the calendar's last moment where it has no such day."""
    return start + days * _DAY if (_LAST - start).days >= days else _LAST


def _days(first: date, count: int, granularity: Granularity, about: float = 0) -> Moment:
    start = midnight(first)
    return Moment(start, end_of(start, count), granularity, timedelta(hours=about))


def _months(year: int, month: int, count: int, granularity: Granularity) -> Moment:
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


def _year(text: str, context: Context) -> int:
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


def _third(year: int, month: int, which: str) -> Moment:
    whole = _months(year, month, 1, "range")
    first, last = words.THIRDS[which.lower()]
    start = whole.start + (first - 1) * _DAY
    return Moment(start, min(whole.end, end_of(start, last - first + 1)), "range")


# The readers: the groups of a shape -> the interval. ValueError and OverflowError mean that there is none.


def _read_day(groups: Groups, context: Context) -> Moment:
    word = " ".join(groups["day"].lower().split())
    return _days(context.today + words.DAYS[word] * _DAY, 1, "day")


def _read_week(groups: Groups, context: Context) -> Moment:
    monday = context.today + (7 * words.STEPS[groups["step"].lower()] - context.today.weekday()) * _DAY
    if "end" in groups:
        return _days(monday + 5 * _DAY, 2, "weekend")
    if "wd" in groups:
        return _days(monday + _weekday(groups) * _DAY, 1, "day")
    return _days(monday, 7, "week")


def _weekday(groups: Groups) -> int:
    return words.WEEKDAYS[groups["wd"].lower()[:3]]


def _read_weekday(groups: Groups, context: Context) -> Moment | None:
    around = context.after.date() if context.after else context.today
    first = around + (_weekday(groups) - around.weekday() - 7) * _DAY
    days = [_days(first + 7 * k * _DAY, 1, "day") for k in range(3)]
    other = [day for day in days if context.after or day.start.date() != context.today]
    return nearest(other, context)


def _read_weekend(_groups: Groups, context: Context) -> Moment | None:
    around = context.after.date() if context.after else context.today
    first = around + (5 - around.weekday() - 7) * _DAY
    return nearest([_days(first + 7 * k * _DAY, 2, "weekend") for k in range(3)], context)


def _read_month(groups: Groups, context: Context) -> Moment | None:
    """A month, a day or a third of it: of a year, counted from this month (上个月5号), or the nearest."""
    if "mon" not in groups and "m" not in groups:
        first = context.today.replace(day=1)
        month = _shifted(first, words.STEPS[groups["step"].lower()])
        return _in_month(month.year, month.month, groups)
    month_number = words.MONTHS[groups["mon"].lower()[:3]] if "mon" in groups else _number(groups["m"])
    return _yearly(lambda year: _in_month(year, month_number, groups), groups, context)


def _in_month(year: int, month: int, groups: Groups) -> Moment:
    first = date(year, month, 1)
    if "d" in groups:
        return _days(first.replace(day=_number(groups["d"])), 1, "day")
    return _third(year, month, groups["third"]) if "third" in groups else _months(year, month, 1, "month")


def _read_monthday(groups: Groups, context: Context) -> Moment | None:
    """`5号`: the nearest month that has such a day."""
    return nearest(_monthly(lambda year, month: _in_month(year, month, groups), context), context)


def _read_third(groups: Groups, context: Context) -> Moment | None:
    return nearest(_monthly(lambda year, month: _third(year, month, groups["third"]), context), context)


def _monthly(make: Callable[[int, int], Moment], context: Context) -> list[Moment]:
    first = (context.after or context.now).date().replace(day=1)
    found = []
    for k in range(-2, 3):
        try:
            month = _shifted(first, k)
            found.append(make(month.year, month.month))
        except (ValueError, OverflowError):
            continue
    return found


def _read_numbers(groups: Groups, _context: Context) -> Moment:
    return _in_month(int(groups["y"]), int(groups["m"]), groups)


def _read_season(groups: Groups, context: Context) -> Moment | None:
    """Refused where no one can say which winter: 去年冬天 said in January, `this winter` looking back in May."""
    month = words.SEASONS[groups["season"].lower()]
    if "until" in groups and (month != 12 or (_year(groups["y"], context) + 1 - int(groups["until"])) % 100):
        return None
    if month == 12 and not groups.get("y", "0")[0].isdigit() and context.today.month < 3:
        return None
    found = _yearly(lambda year: _months(year, month, 3, "season"), groups, context)
    if month == 12 and groups.get("step", "").lower() in {"这", "this"} and context.prefer == "past":
        return found if found and found.start <= context.now else None
    return found


def _read_half(groups: Groups, context: Context) -> Moment:
    year = _year(groups["y"], context) if "y" in groups else (context.after or context.now).year
    return _months(year, 1 if groups["half"] == "上" else 7, 6, "range")


def _read_year_end(groups: Groups, context: Context) -> Moment | None:
    return _yearly(lambda year: _months(year, 12, 1, "range"), groups, context)


def _read_holiday(groups: Groups, context: Context) -> Moment | None:
    word = " ".join(groups["holiday"].lower().split())
    lunar = next((name for name in datelunar.STRETCH if word.startswith(name)), None)
    if lunar:
        hours = 24 * datelunar.STRETCH[lunar]
        return _yearly(lambda year: _days(datelunar.day(lunar, year), 1, "day", hours), groups, context)
    name = next(name for name in words.HOLIDAYS if word.startswith(name))
    month, day, stretch = words.HOLIDAYS[name]
    return _yearly(lambda year: _days(date(year, month, day), 1, "day", 24 * stretch), groups, context)


def _read_year(groups: Groups, context: Context) -> Moment:
    return _months(_year(groups["y"], context), 1, 12, "year")


def _measure(groups: Groups) -> tuple[words.Amount, int]:
    found = words.amount(groups.get("n", "one"), groups["unit"])
    if found is None or found[1] == 0:
        raise ValueError(groups["unit"])
    return found


def _moved(now: datetime, one: words.Amount, times: int) -> datetime:
    """Minutes are counted from this minute, all else from today's beginning."""
    if one.kind == "minutes":
        return now.replace(second=0, microsecond=0) + timedelta(minutes=one.size * times)
    if one.kind == "days":
        return midnight(now.date() + one.size * times * _DAY)
    return midnight(_shifted(now.date(), one.size * times))


def _read_ago(groups: Groups, context: Context) -> Moment | None:
    """`3天前`, `in two weeks`; without a direction (`3d`) the one preferred. 2024年前 is before that year: refused."""
    one, times = _measure(groups)
    way = groups.get("way", "").lower()
    if groups["unit"] == "年" and times >= 1000:
        return None
    back = way in {"前", "ago"} or (not way and context.prefer == "past")
    start = _moved(context.now, one, -times if back else times)
    about = timedelta(hours=one.about if way in {"前", "ago"} else 0)
    if one.kind == "minutes":
        return Moment(start, start + timedelta(minutes=1), "minute", about)
    return Moment(start, end_of(start, 1), "day", about)


def _read_rolling(groups: Groups, context: Context) -> Moment:
    """`最近三天`: from the beginning of the day three days ago to the end of today; hours to this minute."""
    one, times = _measure(groups)
    back = groups["way"].lower() in {"最近", "过去", "近", "past", "last"}
    other = _moved(context.now, one, -times if back else times)
    unit = timedelta(minutes=1) if one.kind == "minutes" else _DAY
    here = _moved(context.now, one, 0)
    first, last = (other, here) if back else (here, other)
    return Moment(first, last + unit, "range")


def _read_within(groups: Groups, context: Context) -> Moment:
    return _read_rolling({**groups, "way": "过去" if context.prefer == "past" else "未来"}, context)


def _read_refused(_groups: Groups, _context: Context) -> None:
    return None


READERS: dict[str, Callable[[Groups, Context], Moment | None]] = {
    "day": _read_day, "week": _read_week, "weekday": _read_weekday, "weekend": _read_weekend, "month": _read_month,
    "monthday": _read_monthday, "third": _read_third, "numbers": _read_numbers, "season": _read_season,
    "half": _read_half, "year_end": _read_year_end, "holiday": _read_holiday, "year": _read_year, "ago": _read_ago,
    "rolling": _read_rolling, "within": _read_within, "refused": _read_refused,
}  # fmt: skip
