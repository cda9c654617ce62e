"""JSONL: bytes -> lines and damages, objects -> bytes. One byte form: UTF-8, one object a line, ended by a newline.

Bytes are split on newlines alone: U+2028 and U+0085 are ordinary characters of a text. A line that can't be read costs
itself only and becomes a Damage; its bytes stay where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula import private, reasons
from nebula.errors import BadValue
from nebula.quick import dataclass
from nebula.reasons import because

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

BOM = b"\xef\xbb\xbf"
#: Objects and arrays within each other that a line may have; no program that means well writes more than a few.
DEEPEST = 100


@dataclass(frozen=True)
class Line:
    """A readable line: where it lies in its file (byte offset, length without the newline) and its object."""

    offset: int
    length: int
    obj: dict[str, Any]


@dataclass(frozen=True)
class Damage:
    """A line that can't be read: file, physical line counted from 1, reason.

    `whole`: it is an object, of a kind unknown here, perhaps a later version's; repair leaves it.
    """

    path: Path
    line: int
    reason: str
    whole: bool = False


@dataclass(frozen=True)
class Scan:
    """What a stretch of a ledger holds, and up to where (file offset) it may be counted as consumed.

    A last line without a newline counts when it is whole (no prefix of an object is an object); a cut one may still
    be growing under another program's hands and stays unconsumed.
    """

    lines: list[Line]
    damages: list[Damage]
    consumed: int


def scan(
    path: Path,
    data: bytes,
    *,
    base: int = 0,
    first_line: int = 1,
    reason_unreadable: Callable[[object], str | None] | None = None,
) -> Scan:
    """Read the bytes of `path` that begin at file offset `base`; `first_line` numbers the damages."""
    lines: list[Line] = []
    damages: list[Damage] = []
    position = 0
    number = first_line - 1
    end = len(data)
    while position < end:
        number += 1
        stop = data.find(b"\n", position)
        whole = stop >= 0
        stop = stop if whole else end
        raw = data[position:stop]
        start, position = position, stop + 1
        if base == 0 and start == 0:
            raw = raw.removeprefix(BOM)
        if not raw.strip():
            continue
        obj, reason = parse(raw, reason_unreadable)
        if reason is None:
            lines.append(Line(base + start, stop - start, obj))
            continue
        damages.append(Damage(path, number, reason, isinstance(obj, dict)))
        if not whole:
            return Scan(lines, damages, base + start)
    return Scan(lines, damages, base + end)


def parse(raw: bytes, reason_unreadable: Callable[[object], str | None] | None = None) -> tuple[Any, str | None]:
    """One line without its newline -> its object, and why it can't be read (None: it can)."""
    import orjson

    try:
        obj = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return None, reasons.of(error)
    if _is_deep(raw, obj):
        return None, because("deep")
    if reason_unreadable:
        return obj, reason_unreadable(obj)
    return obj, None if isinstance(obj, dict) else because("no_object")


def split(data: bytes) -> list[bytes]:
    """The physical lines of a ledger, each with its newline; joined they are `data` again."""
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def objects(data: bytes) -> list[tuple[bytes, dict[str, Any] | None]]:
    """The physical lines of a ledger (see `split`), each with the object that it holds, None where it holds none."""
    lines = split(data)
    return [(line, _object(line.removeprefix(BOM) if at == 0 else line)) for at, line in enumerate(lines)]


def _object(line: bytes) -> dict[str, Any] | None:
    import orjson

    try:
        obj = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return obj if isinstance(obj, dict) and not _is_deep(line, obj) else None


def _is_deep(raw: bytes, obj: object) -> bool:
    """Whether an object or array lies in DEEPEST others: more than what looks into each of them can bear."""
    if raw.count(b"{") + raw.count(b"[") <= DEEPEST:
        return False
    level = [obj]
    for _ in range(DEEPEST):
        inner = (item for one in level for item in (one.values() if isinstance(one, dict) else one))  # type: ignore[attr-defined]
        level = [item for item in inner if isinstance(item, dict | list)]
        if not level:
            return False
    return True


def dump(objects: Iterable[Mapping[str, Any]]) -> bytes:
    """Objects -> whole lines, without private passages.

    Raises BadValue for text that is not Unicode (a lone surrogate), a number too large, or what is nested too deeply.
    """
    import orjson

    parts = []
    for obj in objects:
        try:
            line = orjson.dumps(obj, option=orjson.OPT_APPEND_NEWLINE)
            if private.marked(line):
                line = orjson.dumps(private.strip_all(obj), option=orjson.OPT_APPEND_NEWLINE)
            if _is_deep(line, obj):
                raise BadValue("JSON", because("deep"), f"≤ {DEEPEST}")
            parts.append(line)
        except (TypeError, orjson.JSONEncodeError) as error:
            raise BadValue("JSON", because("number"), "UTF-8, int64") from error
    return b"".join(parts)
