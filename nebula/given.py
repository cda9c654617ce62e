"""What a caller from Python hands in, checked at the door: what is of another kind is refused by its name.

Types are for checkers; a script without one would else be told of an attribute deep within.
"""

from __future__ import annotations

from datetime import datetime

from nebula.errors import BadValue
from nebula.mindlib.record import BY_NAME
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


def filters(value: object) -> None:
    """Refuse what is no Filters, and one of a ledger that there is not."""
    if not isinstance(value, Filters):
        raise BadValue("filters", value, "Filters")
    for ledger in value.ledgers:
        if ledger not in BY_NAME:
            raise BadValue("filters.ledgers", ledger, " | ".join(BY_NAME))


def question(query: object, n: object, chosen: object, as_of: object) -> None:
    """Refuse a question of which a part is not what it has to be."""
    text("query", query)
    count("n", n)
    filters(chosen)
    if as_of is not None:
        moment("as_of", as_of)
