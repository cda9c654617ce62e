"""A mood as a document holds it: JSON of another program, brought to one shape.

A map says where in the document each field lies, `{"value": "$.moods.default.mood", "dims": "$.moods.default.dims"}`;
a field that the map does not name is the root's key of that name. Each field is judged alone: a number that is none
(text, true, null) counts as absent, one out of range is clipped. `value` is 0…100. `dims` may be 0…1 or
0…100: where any of the seven is above 2 all of them are hundredths (so 1.2 is a 0…1 that overshot, and 30 is 0.3);
names are English or Chinese, others are left out. Without `value` the gauge of the dimensions stands for it; without
either the source has failed.
"""

from __future__ import annotations

import codecs
import math
import os
import stat
from typing import TYPE_CHECKING

import orjson

from nebula import messages, reasons
from nebula.errors import short
from nebula.mindlib.record import EMO_WORDS
from nebula.mood.expression import Feeling, gauge
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SIZE_LIMIT = 256 * 1024  # bytes of a document
HUNDREDTHS_ABOVE = 2.0  # a dimension above it tells that all are 0…100
LABEL_LENGTH, REASON_LENGTH = 60, 200  # characters


class MoodSourceFailed(Exception):
    """A source gave no mood; `reason` is one short line (`mood.failed.…`). `read` turns it into a stale reading."""

    def __init__(self, key: str, **facts: object) -> None:
        self.reason = short(messages.say(f"mood.failed.{key}", **facts), REASON_LENGTH)
        super().__init__(self.reason)


@dataclass(frozen=True)
class Reading:
    """A mood as a source gave it."""

    value: float  # 0…100, 50 neutral
    dims: Mapping[str, float]  # 0…1, those of the seven that the source gave
    label: str  # the source's word, else the dominant dimension, "" for calm ground
    reason: str  # the source's; of a stale reading: why there is no fresh one
    source: str  # builtin | file:NAME | http
    stale: bool
    at: str  # when it was read; in a scan: when its file was written


def file_bytes(path: Path, *, follow: bool = True) -> bytes:
    """A regular file's bytes; never waits for a pipe and never opens a device."""
    flags = os.O_RDONLY
    for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY", *(() if follow else ("O_NOFOLLOW",))):
        flags |= getattr(os, name, 0)
    try:
        _check_regular(path.stat(follow_symlinks=follow).st_mode)
        with os.fdopen(os.open(path, flags), "rb") as file:
            _check_regular(os.fstat(file.fileno()).st_mode)  # what was opened may no longer be what was looked at
            data = file.read(SIZE_LIMIT + 1)
    except (OSError, ValueError) as error:
        raise MoodSourceFailed("system", reason=reasons.of(error)) from error
    return bounded(data)


def _check_regular(mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise MoodSourceFailed("irregular")


def bounded(data: bytes) -> bytes:
    """The bytes, where they are at most 256 kB. Raises MoodSourceFailed."""
    if len(data) > SIZE_LIMIT:
        raise MoodSourceFailed("large", limit=SIZE_LIMIT // 1024)
    return data


def parsed(data: bytes) -> object:
    """What JSON of UTF-8 holds, with a byte order mark or without. Raises MoodSourceFailed."""
    try:
        return orjson.loads(data.removeprefix(codecs.BOM_UTF8))
    except orjson.JSONDecodeError as error:
        raise MoodSourceFailed("json") from error


def reading(document: object, paths: Mapping[str, str], source: str, at: str) -> Reading:
    """A document brought to the one shape. Raises MoodSourceFailed."""
    dims = read_dims(_at(document, paths, "dims"))
    value = read_number(_at(document, paths, "value"))
    if value is None and not dims:
        raise MoodSourceFailed("empty")
    value = gauge(dims) if value is None else clipped(value, 100.0)
    label, reason = _text(_at(document, paths, "label"), LABEL_LENGTH), _text(_at(document, paths, "reason"))
    label = EMO_WORDS.get(label.lower(), label) or Feeling(value, dims).dominant
    return Reading(value, dims, label, reason, source, stale=False, at=at)


def _at(document: object, paths: Mapping[str, str], name: str) -> object:
    """What a field's path leads to, its first match; None for nothing."""
    if name not in paths:
        return document.get(name) if isinstance(document, dict) else None
    from jsonpath_ng.parser import parse

    try:
        matches = parse(paths[name]).find(document)
    except Exception as error:  # its parser, its walk and its recursion raise what they like
        raise MoodSourceFailed("path", name=name, path=short(paths[name])) from error
    return matches[0].value if matches else None


def read_number(raw: object) -> float | None:
    """A finite number, None for anything else."""
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None
    try:
        return float(raw) if math.isfinite(raw) else None
    except OverflowError:
        return None


def clipped(value: float, high: float) -> float:
    """0…high."""
    return min(high, max(0.0, value))


def read_dims(raw: object) -> dict[str, float]:
    """The seven by their English names, 0…1; of two spellings of one the first counts."""
    found: dict[str, float] = {}
    for key, level in raw.items() if isinstance(raw, dict) else ():
        name, number = EMO_WORDS.get(str(key).strip().lower()), read_number(level)
        if name is not None and number is not None:
            found.setdefault(name, number)
    whole = 100.0 if any(level > HUNDREDTHS_ABOVE for level in found.values()) else 1.0
    return {name: clipped(level / whole, 1.0) for name, level in found.items()}


def _text(raw: object, limit: int = REASON_LENGTH) -> str:
    return short(raw.strip(), limit) if isinstance(raw, str) else ""


def file_badge(path: Path) -> str:
    """`file:NAME`."""
    return f"file:{short(path.name)}"
