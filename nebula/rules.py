"""Rules of settings' values: what each kind of value may be, and how it is told to a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nebula.quick import dataclass

LEDGERS = ("notes", "profile", "promises", "tacts", "thoughts", "summaries")


@dataclass(frozen=True)
class Rule:
    """What a value may be: `read` returns it in its type or raises ValueError; `expected` says it to a person."""

    expected: str
    read: Callable[[object], object]


def number(low: float, high: float) -> Rule:
    """A finite number, both ends allowed."""

    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise ValueError
        return float(value)

    return Rule(f"{low:g}…{high:g}", read)


def whole(low: int, high: int) -> Rule:
    """A whole number, both ends allowed."""

    def read(value: object) -> int:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or value != value // 1
            or not low <= value <= high
        ):
            raise ValueError
        return int(value)

    return Rule(f"{low}…{high}", read)


def numbers(count: int, low: float, high: float) -> Rule:
    """A list of exactly `count` numbers."""
    one = number(low, high)

    def read(value: object) -> tuple[object, ...]:
        if not isinstance(value, list | tuple) or len(value) != count:
            raise ValueError
        return tuple(one.read(v) for v in value)

    return Rule(f"[{count} × {one.expected}]", read)


def by_ledger(low: float, high: float) -> Rule:
    """An object from ledger name to number."""
    one = number(low, high)

    def read(value: object) -> dict[str, object]:
        if not isinstance(value, Mapping) or not set(value) <= set(LEDGERS):
            raise ValueError
        return {str(k): one.read(v) for k, v in value.items()}

    return Rule(f"{{{'|'.join(LEDGERS)}: {one.expected}}}", read)


def choice(*names: str) -> Rule:
    """One of a few words."""

    def read(value: object) -> object:
        if value not in names:
            raise ValueError
        return value

    return Rule(" | ".join(names), read)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError
    return tuple(_text(v) for v in value)


def _text_map(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ValueError
    return {_text(k): _text(v) for k, v in value.items()}


def _clock_time(value: object) -> str:
    hour, _, minute = _text(value).partition(":")
    if not (hour.isdecimal() and minute.isdecimal() and len(minute) == 2 and int(hour) < 24 and int(minute) < 60):
        raise ValueError
    return f"{int(hour):02d}:{minute}"


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


TEXT = Rule("text", _text)
TEXTS = Rule('["text", …]', _texts)
TEXT_MAP = Rule('{"text": "text"}', _text_map)
CLOCK_TIME = Rule("HH:MM", _clock_time)
FLAG = Rule("true | false", _flag)
WEIGHT = number(0, 1000)
SHARE = number(0, 1)
