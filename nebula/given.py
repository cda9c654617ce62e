"""What a caller from Python hands in, checked at the door: what is of another kind is refused by its name.

Types are for checkers; a script without one would else be told of an attribute deep within.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from nebula.errors import BadValue
from nebula.mindlib.record import BY_NAME, LEDGER_WORDS, VIA_WORDS
from nebula.recall.hit import Filters


def text(name: str, value: object) -> None:
    """Refuse what is no str."""
    if not isinstance(value, str):
        raise BadValue(name, value, "text")


def count(name: str, value: object, least: int = 1) -> None:
    """Refuse what is no whole number from `least` on."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise BadValue(name, value, f"{least}…")


def moment(name: str, value: object) -> None:
    """Refuse what is no datetime."""
    if not isinstance(value, datetime):
        raise BadValue(name, value, "datetime")


def either(name: str, value: object, kinds: tuple[type, ...], expected: str) -> None:
    """Refuse what is neither None nor of one of some kinds."""
    if value is not None and not isinstance(value, kinds):
        raise BadValue(name, value, expected)


def environment(value: object) -> None:
    """Refuse what is no mapping of names to texts."""
    if not isinstance(value, Mapping):
        raise BadValue("environ", value, '{"NAME": text}')


def told(progress: object) -> None:
    """Refuse what can't be told how far it is."""
    if progress is not None and not callable(progress):
        raise BadValue("progress", progress, "(done, of) -> None")


def seconds(name: str, value: object) -> None:
    """Refuse what is no number of seconds."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not value >= 0:
        raise BadValue(name, value, "0…")


def words(name: str, value: object) -> list[str]:
    """The texts that were given, one of them as a list of it. Refuses what holds anything else."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Iterable) or isinstance(value, bytes | Mapping):
        raise BadValue(name, value, "[text …]")
    found = list(value)
    for one in found:
        text(name, one)
    return found


def budget(value: object) -> None:
    """Refuse what is no Budget."""
    from nebula.recall.budget import Budget

    either("budget", value, (Budget,), "Budget")


def objects(value: object) -> Iterable[Any]:
    """Refuse what is no row of objects, such as a text or a single one."""
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping):
        raise BadValue("objects", value, '[{"text": …} …]')
    return value


def vias(name: str, value: object) -> list[str]:
    """Sources as the ledgers write them, of words in either language."""
    return [VIA_WORDS.get(word, word) for word in words(name, value)]


def filters(value: object) -> Filters:
    """The filters with the ledgers' own words. Refuses what is no Filters, and one of a ledger that there is not."""
    if not isinstance(value, Filters):
        raise BadValue("filters", value, "Filters")
    ledgers = words("filters.ledgers", value.ledgers)
    for ledger in ledgers:
        if ledger.strip().lower() not in LEDGER_WORDS:
            raise BadValue("filters.ledgers", ledger, " | ".join(BY_NAME))
    for name in ("since", "until"):
        either(f"filters.{name}", getattr(value, name), (int,), "int")
    return replace(
        value,
        ledgers=[LEDGER_WORDS[ledger.strip().lower()] for ledger in ledgers],
        tags=words("filters.tags", value.tags),
        vias=vias("filters.vias", value.vias),
    )


def question(query: object, n: object, chosen: object, as_of: object) -> Filters:
    """The filters of a question. Refuses one of which a part is not what it has to be."""
    text("query", query)
    count("n", n)
    if as_of is not None:
        moment("as_of", as_of)
    return filters(chosen)
