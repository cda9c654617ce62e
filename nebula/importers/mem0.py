"""mem0: what `get_all` or an export gives, `{"results": [{"id", "memory", "created_at", "updated_at", …}]}`.

Also a bare list, pages of such objects in one list, `memories` for `results`, and `text` or `content` for `memory`
(exports of OpenMemory). Each is one memory, made by a program from what was said: via 工具. Its tag is the first of its
categories. `relations` are facts of their own. What is marked deleted there does not come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula import reasons
from nebula.errors import FileUnusable
from nebula.importers import TOOL, Item, Passed
from nebula.importers.exports import digest, loaded, moment, storable, unreadable, whole
from nebula.reasons import because

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NAME = "mem0"
_LISTS = ("results", "memories")
#: Who a memory belongs to there; kept as they are.
_OWNERS = ("user_id", "agent_id", "run_id")


def read(path: Path, replies: bool) -> Iterator[Item | Passed]:  # noqa: ARG001 - one signature for all formats
    """Every memory and relation of a file. Raises FileUnusable."""
    data = whole(path)
    document = loaded(data)
    if not isinstance(document, dict | list):
        raise FileUnusable(path, unreadable(data))
    yield from _all(document, path.name)


def _all(document: dict[str, Any] | list[Any], where: str) -> Iterator[Item | Passed]:
    if isinstance(document, dict) and not any(isinstance(document.get(name), list) for name in _LISTS):
        yield Passed(where, because("lacks", what="results"))
        return
    held = document if isinstance(document, dict) else {}
    for name in (*_LISTS, "relations"):
        if not isinstance(held.get(name), list | None):
            yield Passed(where, reasons.odd(name, held[name], "[…]"))
    listed = [held[name] for name in _LISTS if isinstance(held.get(name), list)]
    entries = document if isinstance(document, list) else [one for some in listed for one in some]
    for number, entry in enumerate(entries, start=1):
        place = f"{where} [{number}]"
        if isinstance(entry, dict) and any(isinstance(entry.get(name), list) for name in _LISTS):
            yield from _all(entry, place)  # a page
        else:
            yield _memory(entry, place)
    relations = held.get("relations")
    for number, relation in enumerate(relations if isinstance(relations, list) else [], start=1):
        yield _relation(relation, f"{where} relations [{number}]")


def _memory(entry: object, where: str) -> Item | Passed:
    if not isinstance(entry, dict):
        return Passed(where, because("no_object"))
    name = entry.get("id")
    if not isinstance(name, str | int) or isinstance(name, bool) or not (name := storable(str(name))):
        return Passed(where, because("lacks", what="id"))
    text = next((said for key in ("memory", "text", "content") if (said := storable(entry.get(key)))), "")
    if not text:
        return Passed(f"{where} {name}", because("lacks", what="memory"))
    if entry.get("state") == "deleted":
        return Passed(f"{where} {name}", "deleted there", damaged=False)
    return Item(
        f"{NAME}:{name}",
        text,
        TOOL,
        _category(entry) or NAME,
        moment(entry.get("created_at")),
        moment(entry.get("updated_at")),
        fields={key: value for key in _OWNERS if (value := storable(entry.get(key)))},
    )


def _category(entry: Mapping[str, Any]) -> str:
    said = entry.get("metadata")
    metadata: Mapping[str, Any] = said if isinstance(said, dict) else {}
    for found in (entry.get("categories"), metadata.get("category")):
        first = found[0] if isinstance(found, list) and found else found
        if text := storable(first):
            return text
    return ""


def _relation(relation: object, where: str) -> Item | Passed:
    if not isinstance(relation, dict):
        return Passed(where, because("no_object"))
    parts = [storable(relation.get("source")), storable(relation.get("relationship") or relation.get("relation"))]
    parts.append(storable(relation.get("target") or relation.get("destination")))
    if not all(parts):
        return Passed(where, because("lacks", what="source, relationship, target"))
    text, group = " ".join(parts), f"{NAME}:{parts[0]}→"
    return Item(f"{group}#{digest(text)}", text, TOOL, NAME, group=group)
