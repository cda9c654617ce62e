"""What of a subject is searched: an event is one chunk, a view one or more parts (subject.md, Search and index)."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from nebula.mindlib import files
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nebula.subject.files import Lived

LONGEST = 1200  # characters of a part of a view


@dataclass(frozen=True)
class Chunk:
    """What is searched: an event, or a part of a version of a view. `line`: of events, or the version's number."""

    line: int
    part: int
    since: int  # the line of events from which it is known
    until: int | None  # and from which no more; None: it still is
    text: str

    @property
    def hash(self) -> str:
        """Of the text."""
        return files.fingerprint(self.text.encode("utf-8", "surrogatepass"))


def event_chunks(lived: Lived) -> list[Chunk]:
    """One for each event: its story time, then its text."""
    return [
        Chunk(event.line, 0, event.line, None, f"{event.time} {event.text}" if event.time else event.text)
        for event in lived.events
    ]


def memory_chunks(lived: Lived) -> list[Chunk]:
    """For each version of a view its topic with aliases, and the text, in parts of at most 1,200 characters."""
    return [
        Chunk(number, part, version.since, version.until, text)
        for number, version in enumerate(lived.versions)
        for part, text in enumerate(parts(_head(version.view.topic, version.view.aliases), version.view.view))
    ]


def _head(topic: str, aliases: Sequence[str]) -> str:
    return f"{topic}（{'、'.join(aliases)}）: " if aliases else f"{topic}: "


def parts(head: str, text: str) -> list[str]:
    """A text with its head, cut at paragraphs, else at sentences, else anywhere between two characters."""
    head = head[: LONGEST // 2]
    room = LONGEST - len(head)
    found: list[str] = []
    rest = text.strip()
    while len(rest) > room:
        cut = max(rest.rfind(mark, 1, room) + 1 for mark in ("\n\n", "\n"))
        cut = cut if cut > 0 else max(rest.rfind(mark, 1, room) + 1 for mark in "。！？.!?")
        cut = cut if cut > 0 else _between(rest, room)
        found.append(head + rest[:cut].strip())
        rest = rest[cut:].strip()
    return [*found, head + rest] if rest or not found else found


def _between(text: str, room: int) -> int:
    """A place at most `room` that parts no character from what is joined to it (marks, joiners, variation)."""
    joined = {"\u200d", "\ufe0f", "\ufe0e"}
    cut = room
    while cut > 1 and (unicodedata.combining(text[cut]) or {text[cut], text[cut - 1]} & joined):
        cut -= 1
    return cut


CHUNKS: Mapping[str, Callable[[Lived], list[Chunk]]] = {"events": event_chunks, "memory": memory_chunks}
