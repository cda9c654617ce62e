"""The handwritten long-term notes `longterm.md`, and each earlier text of them in `longterm.history.jsonl` (spec 1)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from nebula import clock, reasons, screen
from nebula.errors import AllPrivate, ChangedMeanwhile, FileUnusable, LedgerUnusable, check_unicode
from nebula.origins import ORIGIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nebula.mind import Mind
    from nebula.mindlib.store import Store

NAME = "longterm.md"
HISTORY = "longterm.history.jsonl"
LOCK = ".longterm.lock"


def read(mind: Mind) -> str:
    """The text, "" where there is none. Raises FileUnusable."""
    try:
        return (mind.store.document(NAME) or b"").decode("utf-8-sig")
    except (LedgerUnusable, UnicodeDecodeError) as error:
        raise FileUnusable(mind.store.named(NAME), reasons.of(error)) from error


def write(mind: Mind, text: str, before: str, *, at: str | None = None) -> bool:
    """Replace the text that was `before`; the earlier one goes into the history first. -> whether it changed.

    Private passages are left out, and keys masked where `privacy.secrets` says so. `at` is when the text was written:
    None is now, "" not known. Of a first text the history keeps that alone.

    Raises AllPrivate where nothing is left to stand in the place of what is there, ChangedMeanwhile where another has
    written since, WriteFailed, LockedTooLong.
    """
    check_unicode(NAME, text)
    said = screen.value(text, redact=mind.redacts)
    if said.private and not said.value.strip() and before:
        raise AllPrivate
    text = said.value
    with mind.store.lock(LOCK):
        if digest(read(mind)) != digest(before):
            raise ChangedMeanwhile(mind.store.named(NAME))
        if text == before:
            return False
        when = clock.write(mind.now()) if at is None else at
        if before or when:
            line = {"at": when, **({"text": before} if before else {})}
            mind.store.append_lines(HISTORY, [line], durable=True)
        mind.store.put_document(NAME, text.encode())
    return True


def history(mind: Mind) -> Sequence[tuple[str, str]]:
    """(until when it stood, text) of every earlier text, oldest first."""
    lines = (line.obj for line in mind.store.scan(HISTORY).lines)
    return [(str(line.get("at", "")), str(line["text"])) for line in lines if "text" in line]


def since(store: Store) -> str:
    """When a mind's own text was written; "" where its history does not tell. What a merge brought says nothing of it.

    An edit by other means than nebula's is on no record.
    """
    own = (line for line in store.events(HISTORY) if ORIGIN not in line and "erased" not in line)
    return max((line["at"] for line in own if "at" in line), default="")


def digest(text: str) -> str:
    """What tells one text from another."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
