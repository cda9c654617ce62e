"""What other programs kept, read as memories: one module a format, each `read(path, replies) -> Item | Passed …`.

A reader knows its format and nothing of a mind; `taking` writes what any of them reads. Formats are named by the person
(`--from`), never guessed. Each module's opening says what of its format becomes a memory, and why.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

#: Name of a format -> its module.
FORMATS: Mapping[str, str] = {
    "mem0": "mem0",
    "mcp-memory": "mcp_memory",
    "chatgpt": "chatgpt",
    "claude": "claude",
    "markdown": "markdown",
}
USER, TOOL = "他说的", "工具"


@dataclass(frozen=True)
class Item:
    """One memory to be. `source` names what it was there, so that it is known again when it comes once more.

    Where the other program has no name for it but what it says, `group` names what it belongs to, and `source` is that,
    `#` and a hash of the text. `at` and `changed` (when it got this text) are ledger times, "" where nothing tells.
    """

    source: str
    text: str
    via: str = USER
    tag: str = ""
    at: str = ""
    changed: str = ""
    group: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Passed:
    """What did not become an item: where it stands and why; `damaged` where it could not be read at all."""

    where: str
    why: str
    damaged: bool = True


def reader(name: str) -> Callable[[Path, bool], Iterator[Item | Passed]]:
    """The `read` of a format. Raises KeyError for none."""
    read: Callable[[Path, bool], Iterator[Item | Passed]] = import_module(f"nebula.importers.{FORMATS[name]}").read
    return read
