"""Local time as the ledgers write it: parsing, printing, days and ages. Reads the clock in `now()` alone."""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta, timezone

from nebula.errors import BadValue

FORMAT = "%Y-%m-%dT%H:%M:%S"
DAY_SECONDS = 86_400
#: Seconds since 0001-01-01 in local wall time; a plain number so that ages and order work from year 1 to 9999.
EPOCH = datetime(1, 1, 1)
FOREVER = 2**62
#: The last moment that can be written.
LATEST = int((datetime(9999, 12, 31, 23, 59, 59) - EPOCH).total_seconds())

_PARTS = re.compile(
    r"\s*(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?\s*"
)


def now() -> datetime:
    """The wall clock's local time, whole seconds, without a zone."""
    return datetime.now().replace(microsecond=0)


def stamp(kind: str) -> str:
    """A name that sorts by the wall clock, whatever `--now` says: `cmd-…` for the run of a command."""
    return f"{kind}-{time.time_ns():016x}"


def parse(text: str) -> datetime | None:
    """`2026-05-01`, `2026-05-01T09:00` or with seconds, as local time; None where it can't be read (spec 1)."""
    found = _PARTS.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    try:
        return datetime(year, month, day, hour, minute, min(second, 59))
    except ValueError:
        return None


def read(name: str, text: str) -> datetime:
    """Like `parse`, for what a person typed: a zone is reckoned into local time; raises BadValue under `name`."""
    moment = parse(text)
    if moment is None:
        raise BadValue(name, text, "2026-05-01 / 2026-05-01T09:00:00")
    return localised(text, moment)


def localised(text: str, moment: datetime) -> datetime:
    """The local time of a moment that was read from a text, where that names a zone (`Z`, `+08:00`)."""
    found = _PARTS.fullmatch(text)
    if found is None or not found[7]:
        return moment
    zone = found[7].replace(":", "")
    away = timedelta(0) if zone == "Z" else timedelta(hours=int(zone[:3]), minutes=int(zone[0] + zone[3:]))
    try:
        return moment.replace(tzinfo=timezone(away)).astimezone().replace(tzinfo=None)
    except (OverflowError, ValueError):  # at the ends of the calendar no zone is reckoned
        return moment


def end_of(text: str, moment: datetime) -> datetime:
    """The last second that `text`, already read as `moment`, covers: a bare day lasts until 23:59:59."""
    bare_day = "T" not in text and ":" not in text
    return moment + timedelta(days=1, seconds=-1) if bare_day else moment


def write(moment: datetime) -> str:
    """The ledgers' form, `%Y-%m-%dT%H:%M:%S`, four digits of year on every platform."""
    return moment.replace(microsecond=0, tzinfo=None).isoformat()


def seconds(moment: datetime) -> int:
    """Whole seconds since 0001-01-01 local time."""
    return int((moment - EPOCH).total_seconds())


def from_seconds(value: int) -> datetime:
    """The inverse of `seconds`."""
    return EPOCH + timedelta(seconds=value)


def day(value: int) -> int:
    """The proleptic Gregorian ordinal less one of the day that `value` (see `seconds`) falls on."""
    return value // DAY_SECONDS


def offset() -> str:
    """The writer's own clock against UTC, `+08:00` (record field `tz`)."""
    raw = datetime.now().astimezone().strftime("%z")
    return f"{raw[:3]}:{raw[3:5]}"
