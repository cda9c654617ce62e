"""What a person may be about to type, for the shell's completion: refs, tags, a story's subjects.

A key is waiting, so only the ends of the ledgers are read: the newest memories are those that one speaks of. Nothing
here raises: where something can't be read there is nothing to offer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from nebula.errors import NebulaError
from nebula.mindlib import files
from nebula.mindlib.record import LEDGERS, is_tombstone, reason_unreadable
from nebula.mindlib.store import CHANGES, ERASING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Bytes at the end of a ledger that are read for refs, and for tags, which repeat.
REFS_END = 32 * 1024
TAGS_END = 512 * 1024
#: How many of each are offered.
MOST = 40
_TAG = re.compile(rb'"tag": ?("(?:[^"\\]|\\.)*")')
#: What a shell takes as one plain word; others are not offered, since some shells would run them.
_PLAIN = re.compile(r"[\w./-]+")
_ODD = re.compile(r"[^\w .,…，。！？、；：/-]+")


def refs(folder: Path, begun: str) -> list[tuple[str, str]]:
    """(ref, how its text begins) of the newest memories whose ref begins like that, the newest of each ledger first."""
    found = []
    for kind in LEDGERS:
        if not kind.letter.startswith(begun[:1].lower()):
            continue
        newest = [(f"{kind.letter}{number}", text) for number, text in _records(folder, kind.file)]
        found += [pair for pair in reversed(newest) if pair[0].startswith(begun.lower())][:MOST]
    return found[:MOST] if begun else sorted(found, key=lambda pair: pair[0][0])[: 2 * MOST]


def tags(folder: Path, begun: str) -> list[str]:
    """Tags that begin like that, the latest first; those that no shell takes as a plain word are left out."""
    found: dict[str, None] = {}
    for name in (*(kind.file for kind in LEDGERS), CHANGES):
        for raw in reversed(_TAG.findall(_end(folder / _file(name), TAGS_END))):
            tag = _text(raw)
            if tag.startswith(begun) and _PLAIN.fullmatch(tag):
                found.setdefault(tag)
    return list(found)[:MOST]


def subjects(start: Path, given: str | None, begun: str) -> list[str]:
    """Ids of the story's subjects that begin like that."""
    from nebula.subject import project

    try:
        folder = project.find(start, given).subjects
        names = sorted(path.name for path in folder.iterdir() if path.is_dir())
    except (NebulaError, OSError):
        return []
    return [name for name in names if name.startswith(begun) and _PLAIN.fullmatch(name)][:MOST]


def plain(text: str, limit: int = 40) -> str:
    """The beginning of a text with nothing in it that means something to a shell."""
    return _ODD.sub(" ", text.replace("\n", " ")).strip()[:limit]


def _records(folder: Path, name: str) -> Iterator[tuple[int, str]]:
    for raw in _end(folder / name, REFS_END).split(b"\n"):
        try:
            obj = orjson.loads(raw)
        except orjson.JSONDecodeError:
            continue
        if reason_unreadable(obj) is None and not is_tombstone(obj):
            yield obj["id"], plain(obj["text"])


def _file(name: str) -> str:
    return name if name.endswith(".jsonl") else f"{name}.jsonl"


def _end(path: Path, size: int) -> bytes:
    """The whole lines in the last `size` bytes of a file; none where it can't be read, or an erase is begun there."""
    if (path.parent / ERASING).exists():
        return b""
    try:
        length = path.stat().st_size
        data = files.read_span(path, max(0, length - size), size)
    except (OSError, NebulaError):
        return b""
    return data if length <= size else data.partition(b"\n")[2]


def _text(raw: bytes) -> str:
    try:
        return str(orjson.loads(raw))
    except orjson.JSONDecodeError:
        return ""
