"""What a tool answers: small, with a way to the rest. Pure; the protocol's own package is not needed here.

An answer goes out twice, as structure and as text, and all of it stays below 32 kB: the structure takes at most
`LIMIT` bytes. A text is cut at `CUT` characters and says so; `show` gives it whole, page by page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from nebula import messages
from nebula.mindlib.record import VIA_ENGLISH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nebula.mindlib.record import Memory
    from nebula.recall.hit import Hit
    from nebula.results import Notice

LIMIT = 10_000  # bytes of an answer's JSON; as JSON in a JSON string it can double, and goes out beside itself
CUT = 500  # characters of a text in a list
VALUE = 120  # characters of any other value
PAGE = 6_000  # bytes of a page's text as JSON
#: What a list tells of a memory beside ref, ledger, at, text and via, where it says something.
TOLD = ("tag", "due", "done_at", "topic", "say", "speaker", "session", "valid_to", "supersedes", "by")


def dumped(data: object) -> bytes:
    """An answer's JSON; what is no UTF-8 can't be in it, since no ledger line can hold it."""
    return orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS)


def row(memory: Memory, **more: object) -> dict[str, Any]:
    """A memory in a list, its source in the words that a tool takes; `cut` says that its text goes on."""
    text, own = memory.text, {name: getattr(memory, name) for name in TOLD}
    said = {name: short(value) for name, value in own.items() if value and (name != "say" or memory.topic)}
    whole = {"ref": memory.ref, "ledger": memory.ledger, "at": short(memory.at), "text": text[:CUT]}
    pinned = {"pinned": True} if memory.pinned else {}
    cut = {"cut": True} if len(text) > CUT else {}
    return {**whole, "via": VIA_ENGLISH.get(memory.via, short(memory.via)), **said, **pinned, **cut, **more}


def hit_row(hit: Hit) -> dict[str, Any]:
    """A memory that came to mind."""
    return row(hit.memory, score=round(hit.score, 4), label=hit.label, old=hit.old)


def short(value: object) -> str:
    """A value that is not the answer itself, openly shortened."""
    text = str(value)
    return text if len(text) <= VALUE else text[: VALUE - 1] + "…"


def page(memory: Memory, start: int) -> dict[str, Any]:
    """A memory with its text from character `start` on, as much as a page holds; `next` is where the rest begins."""
    text = memory.text[start : start + PAGE]
    while len(dumped(text)) > PAGE:
        text = text[: len(text) * 3 // 4]
    end = start + len(text)
    more = {"start": start, "length": len(memory.text), **({"next": end} if end < len(memory.text) else {})}
    told = row(memory, imp=memory.imp, depth=memory.depth, hits=memory.hits, w=memory.w, w_why=short(memory.w_why))
    told.pop("cut", None)
    return {**told, "text": text, **more}


def listed(name: str, rows: Sequence[Mapping[str, Any]], **more: object) -> dict[str, Any]:
    """A list's first rows, as many as the limit holds; `left_off` counts the others."""
    kept = list(rows)
    while len(dumped(answer := {name: kept, "left_off": len(rows) - len(kept), **more})) > LIMIT and kept:
        kept = kept[: len(kept) * 3 // 4]
    return answer


def said(notices: Iterable[Notice]) -> list[str]:
    """Notices as sentences."""
    return [messages.told(notice.code, notice.facts)[:300] for notice in list(notices)[:5]]
