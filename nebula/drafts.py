"""From what a person or a file says to a memory that may be written (spec 1).

Words are folded to the record's own, values checked, the weight computed. Pure; the id is given where it is written.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nebula import clock
from nebula.errors import BadValue, EmptyText, check_unicode
from nebula.life.weight import weigh
from nebula.mindlib.record import (
    BY_NAME,
    EMO_WORDS,
    EMOTIONS,
    EXPECTED,
    LEDGER_WORDS,
    LEDGERS,
    SAY,
    VIA_WORDS,
    Memory,
    default_via,
    from_object,
    reads,
)
from nebula.mood import lexicon
from nebula.mood.expression import CALM, hormones
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from nebula.mood.expression import Feeling

_NOT_TAKEN = {"id", "ledger", "repeated", "captured", "uid", "run", "summarised"}
#: Fields that only one ledger has (spec 1).
OF_LEDGER = {"due": "promises", "topic": "tacts", "say": "tacts"}


def ledger_name(word: str) -> str:
    """`notes`, `事实`, `n` … -> `notes`; raises BadValue."""
    found = LEDGER_WORDS.get(word.strip().lower())
    if found is None:
        raise BadValue("ledger", word, " | ".join(f"{kind.name} {kind.chinese}" for kind in LEDGERS))
    return found


@dataclass(frozen=True)
class Heart:
    """What colours a memory as it is written: the mood, and by which names a text speaks to you."""

    felt: Feeling = CALM
    names: tuple[str, ...] = ()


def draft(
    text: str,
    ledger: str,
    fields: Mapping[str, Any],
    now: datetime,
    by: str,
    heart: Heart = Heart(),  # noqa: B008 - frozen
) -> Memory:
    """A memory ready to be written but for its id and uid. Raises EmptyText, BadValue naming the field.

    Its colour is what the lexicon hears in the text, where none is given. The mood is kept with it and weighs on it
    only where it is of this very moment.
    """
    if not isinstance(text, str):
        raise BadValue("text", text, "text")
    if not text.strip():
        raise EmptyText
    check_unicode("text", text)
    kind = ledger_name(ledger)
    given = {name: value for name, value in fields.items() if name not in _NOT_TAKEN and value is not None}
    values = {name: field_value(name, value, now) for name, value in given.items()}
    known = values.keys() & EXPECTED.keys()
    for name, owner in OF_LEDGER.items():
        if values.get(name) and kind != owner:
            raise BadValue(name, values[name], f"--ledger {owner} {BY_NAME[owner].chinese}")
    own = {"id": 0, "text": text, "at": clock.write(now), "tz": clock.offset(), "by": by}
    memory = from_object(kind, {**own, **_heard(text, known), **values})
    lived = memory.at == clock.write(now)
    if lived and "mood" not in known:
        memory = replace(memory, mood=heart.felt.snapshot)
    if "w" in known:
        return memory
    felt = hormones(heart.felt, memory.emo, mentions_you=mentions(text, heart.names)) if lived else 1.0
    weight = weigh(kind, memory.via or default_via(kind), memory.imp, memory.e, felt)
    return replace(memory, w=weight.w, w_why=weight.why)


def _heard(text: str, known: Collection[str]) -> dict[str, Any]:
    """Colour and strength as the lexicon hears them, where neither is given."""
    if {"emo", "e"} & set(known):
        return {}
    name, strength = lexicon.dominant(lexicon.hear(text))
    return {"emo": name, "e": round(strength, 3)} if name else {}


def mentions(text: str, names: Iterable[str]) -> bool:
    """Whether a text has one of the names in it; those in Latin letters as whole words."""
    folded = text.casefold()
    return any(
        re.search(rf"\b{re.escape(name.casefold())}\b", folded) if name.isascii() else name in text
        for name in names
        if name
    )


def emotion(word: str) -> str:
    """`难过`, `Sad` … -> `sad`; "" for what is none of the seven."""
    return EMO_WORDS.get(word.strip().lower(), "")


def field_value(name: str, value: Any, now: datetime) -> Any:
    """What a person or a file says a field is, as the record holds it; unknown fields pass. Raises BadValue."""
    read = _folded(name, value, now)
    if name in EXPECTED and not reads(name, read):
        raise BadValue(name, value, EXPECTED[name])
    return read


def due(text: str, now: datetime) -> str:
    """A due date as people write it (`明天`, `下周三`, `tomorrow`, `3d`, `2026-05-01`) as a promise holds it.

    A day, or a moment where one was said. Raises BadValue.
    """
    from nebula.text import dates

    span = dates.parse(text, now)
    if span is None:
        raise BadValue("due", text, "2026-05-01 / 明天 / 下周三 / tomorrow / 3d")
    return dates.due_text(span)


def _folded(name: str, value: Any, now: datetime) -> Any:
    if isinstance(value, str):
        check_unicode(name, value)
    if name == "at" and isinstance(value, str):
        return clock.write(clock.read("at", value))
    if name == "due" and isinstance(value, str) and value:
        return due(value, now)
    if name == "emo" and isinstance(value, str) and value:
        found = EMO_WORDS.get(value.lower())
        if found is None:
            raise BadValue("emo", value, " | ".join(EMOTIONS))
        return found
    if name == "via" and isinstance(value, str):
        return VIA_WORDS.get(value, value)
    if name == "say" and value not in SAY:
        raise BadValue("say", value, " | ".join(SAY))
    if name in {"imp", "e", "w"} and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value
