"""ChatGPT's export: `conversations.json` (or its numbered parts, their folder, or the archive they come in).

A conversation is a tree of messages, `mapping`; what was last seen is the branch that ends in `current_node`, and that
one comes: what was edited away or made again was withdrawn. A memory is one turn of the person's, via 他说的: it is
their life that a mind remembers. What a model answered is long, and true of nobody; it comes only when asked for
(`--replies`), via 工具. System and tool messages, hidden ones and pictures never come. What is of another shape costs
itself alone and is named; only a branch that can't be followed further costs what was said before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula import reasons
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
    return conversations(path, "mapping", dict, lambda obj, where: _turns(obj, where, replies=replies))


def _turns(talk: Mapping[str, Any], place: str, *, replies: bool) -> Iterator[Item | Passed]:
    name = storable(talk.get("conversation_id")) or storable(talk.get("id"))
    title = storable(talk.get("title"))
    if not name:
        yield Passed(place, because("lacks", what="id"))
        return
    begun, turn = moment(talk.get("create_time")), 0
    branch, broken = _branch(talk)
    yield from (Passed(f"“{title}”" if title else place, why) for why in broken)
    for node, message in branch:
        why = _odd(message)
        role = "" if why else _role(message)
        text = _text(message) if role else ""
        if not why and (not role or (role == "assistant" and not text)):
            continue  # none of the two, or a thought of the model's
        turn += bool(text)
        where = f"“{title}” {turn}" if title else f"{place} {turn}"
        if why:
            yield Passed(f"{where} ({node})", why)
        elif not text or (role == "assistant" and not replies):
            yield Passed(where, "a reply" if text else "no text", damaged=False)
        else:
            at = moment(message.get("create_time")) or begun
            fields = {"session": name, "turn": turn, "speaker": role, **({"title": title} if title else {})}
            source = f"{NAME}:{name}/{storable(message.get('id')) or node}"
            yield Item(source, text, ROLES[role], NAME, at, fields=fields)


def _branch(talk: Mapping[str, Any]) -> tuple[list[tuple[str, Any]], list[str]]:
    """((node, message) from the root to `current_node`, why no further); where that is missing, to what came last."""
    mapping: Mapping[str, Any] = talk["mapping"]
    node, broken = talk.get("current_node"), []
    if not isinstance(node, str) or node not in mapping:
        broken += [reasons.odd("current_node", node, "mapping")] if node is not None else []
        node = max(mapping, key=lambda name: _time(mapping[name]), default=None)
    found: list[tuple[str, Any]] = []
    seen = set()
    while node is not None:
        if not isinstance(node, str) or node in seen or not isinstance(mapping.get(node), dict):
            broken.append(reasons.odd("parent", node, "mapping"))
            break
        seen.add(node)
        if mapping[node].get("message") is not None:
            found.append((storable(node), mapping[node]["message"]))
        node = mapping[node].get("parent")
    return found[::-1], broken


def _time(node: object) -> float:
    message = node.get("message") if isinstance(node, dict) else None
    time = message.get("create_time") if isinstance(message, dict) else None
    return float(time) if isinstance(time, int | float) else -1.0


def _odd(message: object) -> str:
    """Why a message is of no shape that is known; "" for one that can be read, or was not meant to be."""
    if not isinstance(message, dict):
        return because("no_object")
    author, content = message.get("author"), message.get("content")
    if not isinstance(author, dict) or not isinstance(author.get("role"), str):
        return because("lacks", what="author.role")
    if not isinstance(message.get("recipient"), str | None):
        return reasons.odd("recipient", message["recipient"], "all")
    if author["role"] not in ROLES or _hidden(message):
        return ""
    if not isinstance(content, dict) or not isinstance(content.get("content_type"), str):
        return because("lacks", what="content.content_type")
    parts = content.get("parts")
    if content["content_type"] not in _SAID:
        return ""
    if not isinstance(parts, list):
        return because("lacks", what="content.parts")
    return "" if all(isinstance(part, str | dict) for part in parts) else because("lacks", what="content.parts.text")


def _hidden(message: Mapping[str, Any]) -> bool:
    """Whether it was not shown, or was said to a tool."""
    metadata = message.get("metadata")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    return bool(hidden) or message.get("recipient") not in (None, "all")


def _role(message: Mapping[str, Any]) -> str:
    """Who says it, of the two whose turns come; "" for all else."""
    role = str(message["author"]["role"])
    return role if role in ROLES and not _hidden(message) else ""


def _text(message: Mapping[str, Any]) -> str:
    content = message["content"]
    parts = content["parts"] if content["content_type"] in _SAID else []
    said = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text for part in said if (text := storable(part)))
