"""ChatGPT's export: `conversations.json` (or its numbered parts, their folder, or the archive they come in).

A conversation is a tree of messages, `mapping`; what was last seen is the branch that ends in `current_node`, and that
one comes: what was edited away or made again was withdrawn. A memory is one turn of the person's, via 他说的: it is
their life that a mind remembers. What a model answered is long, and true of nobody; it comes only when asked for
(`--replies`), via 工具. System and tool messages, hidden ones and pictures never come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula.importers import TOOL, USER, Item, Passed
from nebula.importers.exports import conversations, moment, storable
from nebula.reasons import because

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NAME = "chatgpt"
ROLES = {"user": USER, "assistant": TOOL}
_SAID = ("text", "multimodal_text")


def read(path: Path, replies: bool) -> Iterator[Item | Passed]:
    """The person's turns, and with `replies` the model's, of every conversation. Raises FileUnusable."""
    return conversations(path, "mapping", lambda obj, where: _turns(obj, where, replies=replies))


def _turns(talk: Mapping[str, Any], place: str, *, replies: bool) -> Iterator[Item | Passed]:
    name = storable(talk.get("conversation_id")) or storable(talk.get("id"))
    title = storable(talk.get("title"))
    if not name:
        yield Passed(place, because("lacks", what="id"))
        return
    begun, turn = moment(talk.get("create_time")), 0
    for node, message in _branch(talk):
        role, text = _role(message), _text(message)
        if role not in ROLES or not text:
            continue
        turn += 1
        where = f"“{title}” {turn}" if title else f"{place} {turn}"
        if role == "assistant" and not replies:
            yield Passed(where, "a reply", damaged=False)
            continue
        at = moment(message.get("create_time")) or begun
        fields = {"session": name, "turn": turn, "speaker": role, **({"title": title} if title else {})}
        yield Item(f"{NAME}:{name}/{storable(message.get('id')) or node}", text, ROLES[role], NAME, at, fields=fields)


def _branch(talk: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """(node, message) from the root to `current_node`; where that is missing, to the message that came last."""
    mapping: Mapping[str, Any] = talk["mapping"] if isinstance(talk["mapping"], dict) else {}
    node = talk.get("current_node")
    if node not in mapping:
        node = max(mapping, key=lambda name: _time(mapping[name]), default=None)
    found: list[tuple[str, Mapping[str, Any]]] = []
    seen = set()
    while isinstance(node, str) and node in mapping and node not in seen and isinstance(mapping[node], dict):
        seen.add(node)
        message = mapping[node].get("message")
        if isinstance(message, dict):
            found.append((node, message))
        node = mapping[node].get("parent")
    return found[::-1]


def _time(node: object) -> float:
    message = node.get("message") if isinstance(node, dict) else None
    time = message.get("create_time") if isinstance(message, dict) else None
    return float(time) if isinstance(time, int | float) else -1.0


def _role(message: Mapping[str, Any]) -> str:
    author, metadata = message.get("author"), message.get("metadata")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    to_tool = message.get("recipient") not in (None, "all")
    return "" if hidden or to_tool or not isinstance(author, dict) else str(author.get("role"))


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if not isinstance(content, dict) or content.get("content_type") not in _SAID:
        return ""
    parts = content.get("parts")
    said = [part.get("text") if isinstance(part, dict) else part for part in (parts if isinstance(parts, list) else [])]
    return "\n".join(text for part in said if (text := storable(part)))
