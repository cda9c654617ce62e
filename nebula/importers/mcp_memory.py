"""The MCP reference server's knowledge graph: `memory.jsonl` (or `memory.json`), a line an entity or a relation.

`{"type": "entity", "name", "entityType", "observations": […]}`, `{"type": "relation", "from", "to", "relationType"}`;
or the answer of `read_graph`, `{"entities": […], "relations": […]}`. An observation is one memory, that is what the
server adds and removes one by one, and reads `name: observation`; so is a relation, and an entity without
observations. All were written by a program: via 工具. The tag is the entity's type. The format keeps no times, so
they count from now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula import reasons
from nebula.importers import TOOL, Item, Passed
from nebula.importers.exports import digest, loaded, storable, unreadable, whole
from nebula.reasons import because

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NAME = "mcp-memory"


def read(path: Path, replies: bool) -> Iterator[Item | Passed]:  # noqa: ARG001 - one signature for all formats
    """Every observation and relation of a file. Raises FileUnusable."""
    data = whole(path)
    graph = loaded(data)
    if isinstance(graph, dict) and any(isinstance(graph.get(kind), list) for kind in ("entities", "relations")):
        for kind, one in (("entities", "entity"), ("relations", "relation")):
            listed = graph.get(kind)
            if not isinstance(listed, list | None):
                yield Passed(path.name, reasons.odd(kind, listed, "[…]"))
            for number, obj in enumerate(listed if isinstance(listed, list) else [], start=1):
                yield from _items({**obj, "type": one} if isinstance(obj, dict) else obj, f"{path.name} {one} {number}")
        return
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        if line.strip():
            obj, where = loaded(line), f"{path.name}:{number}"
            yield from _items(obj, where) if isinstance(obj, dict) else [Passed(where, unreadable(line))]


def _items(obj: object, where: str) -> Iterator[Item | Passed]:
    if not isinstance(obj, dict):
        yield Passed(where, because("no_object"))
    elif obj.get("type") == "entity":
        yield from _entity(obj, where)
    elif obj.get("type") == "relation":
        yield _relation(obj, where)
    else:
        yield Passed(where, reasons.odd("type", obj.get("type"), "entity | relation"))


def _entity(obj: Mapping[str, Any], where: str) -> Iterator[Item | Passed]:
    name, kind = storable(obj.get("name")), storable(obj.get("entityType"))
    observations = obj.get("observations")
    if not name or not isinstance(observations, list):
        yield Passed(where, because("lacks", what="observations" if name else "name"))
        return
    group = f"{NAME}:{name}"
    if not observations:
        yield Item(group, f"{name}: {kind}" if kind else name, TOOL, kind or NAME)
    for number, observation in enumerate(observations, start=1):
        if text := storable(observation):
            yield Item(f"{group}#{digest(text)}", f"{name}: {text}", TOOL, kind or NAME, group=group)
        else:
            yield Passed(f"{where} observation {number}", because("lacks", what="text"))


def _relation(obj: Mapping[str, Any], where: str) -> Item | Passed:
    parts = [storable(obj.get(key)) for key in ("from", "relationType", "to")]
    if not all(parts):
        return Passed(where, because("lacks", what="from, relationType, to"))
    text, group = " ".join(parts), f"{NAME}:{parts[0]}→"
    return Item(f"{group}#{digest(text)}", text, TOOL, NAME, group=group)
