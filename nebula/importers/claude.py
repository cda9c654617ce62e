"""Claude's export: `conversations.json`, its folder, or the archive it comes in.

A conversation holds `chat_messages` in order, each with `sender` (human, assistant), `text` or blocks of `content`.
As from ChatGPT, a memory is one turn of the person's, via 他说的; the model's turns come only when asked for
(`--replies`), via 工具. Of blocks only text comes: no thinking, no tools, no attached documents, which nobody said.
What is of another shape costs itself alone and is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula.importers import TOOL, USER, Item, Passed
from nebula.importers.exports import conversations, moment, storable
from nebula.reasons import because

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NAME = "claude"
#: `sender` there -> (`speaker` here, via).
SENDERS = {"human": ("user", USER), "assistant": ("assistant", TOOL)}


def read(path: Path, replies: bool) -> Iterator[Item | Passed]:
    """The person's turns, and with `replies` the model's, of every conversation. Raises FileUnusable."""
    return conversations(path, "chat_messages", list, lambda obj, where: _turns(obj, where, replies=replies))


def _turns(talk: Mapping[str, Any], place: str, *, replies: bool) -> Iterator[Item | Passed]:
    name, title = storable(talk.get("uuid")), storable(talk.get("name"))
    if not name:
        yield Passed(place, because("lacks", what="uuid"))
        return
    begun = moment(talk.get("created_at"))
    for turn, message in enumerate(talk["chat_messages"], start=1):
        where = f"“{title}” {turn}" if title else f"{place} {turn}"
        sender = message.get("sender") if isinstance(message, dict) else None
        if not isinstance(sender, str) or sender not in SENDERS or not storable(message.get("uuid")):
            yield Passed(where, because("lacks", what="sender, uuid"))
            continue
        speaker, via = SENDERS[sender]
        text = _text(message)
        if _odd(message) and (speaker == "user" or replies):
            yield Passed(where, because("lacks", what="content.text"))
            if not text:
                continue
        if not text or (speaker == "assistant" and not replies):
            yield Passed(where, "a reply" if text else "no text", damaged=False)
            continue
        at = moment(message.get("created_at")) or begun
        fields = {"session": name, "turn": turn, "speaker": speaker, **({"title": title} if title else {})}
        yield Item(f"{NAME}:{name}/{storable(message['uuid'])}", text, via, NAME, at, fields=fields)


def _odd(message: Mapping[str, Any]) -> bool:
    """Whether a part of what was said is of no shape that is known."""
    blocks = message.get("content")
    if not isinstance(blocks, list | None) or not isinstance(message.get("text"), str | None):
        return True
    return any(
        not isinstance(block, dict)
        or not isinstance(block.get("type"), str)
        or (block["type"] == "text" and not isinstance(block.get("text"), str))
        for block in blocks or []
    )


def _text(message: Mapping[str, Any]) -> str:
    blocks = message.get("content")
    said = [
        text
        for block in (blocks if isinstance(blocks, list) else [])
        if isinstance(block, dict) and block.get("type") == "text" and (text := storable(block.get("text")))
    ]
    return "\n".join(said) or storable(message.get("text"))
