"""A subject's files: six of the story's, and the history of its views. The only place of `subject` that writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula import clock, reasons
from nebula.errors import FileUnusable, UnknownTick
from nebula.mindlib import files, ledger
from nebula.quick import dataclass
from nebula.subject import beliefs, records
from nebula.subject.project import read_own

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from nebula.subject.beliefs import Step, Version
    from nebula.subject.records import Event, Problem, View

EVENTS, MEMORY, HISTORY = "events.jsonl", "memory.jsonl", "memory.history.jsonl"
SUBJECT, SOUL, MIND, STATE = "subject.md", "soul.md", "mind.md", "state.md"
SIX = (SUBJECT, SOUL, EVENTS, MEMORY, MIND, STATE)


@dataclass(frozen=True)
class Lived:
    """What an actor may be told of: events, every view ever held, and the lines that could not be read."""

    events: Sequence[Event]
    versions: Sequence[Version]
    lines: int  # physical lines of events.jsonl
    event_problems: Sequence[Problem] = ()
    memory_problems: Sequence[Problem] = ()

    @property
    def views(self) -> list[View]:
        """Those held now."""
        return beliefs.held(self.versions)

    def line_of_tick(self, tick: str) -> int:
        """The last line that bears a tick. Raises UnknownTick: ticks are never compared."""
        line = max((event.line for event in self.events if event.tick == tick), default=0)
        if not line:
            raise UnknownTick(tick)
        return line


def read_text(folder: Path, name: str) -> str:
    """One of the four pages, "" where it is absent. Raises FileUnusable."""
    data = read_own(folder / name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileUnusable(folder / name, reasons.of(error)) from error


def lived(folder: Path, now: datetime) -> Lived:
    """Read events, views and history; the caller holds the subject's lock. Opens neither subject.md nor soul.md.

    What memory.jsonl holds beyond its history was written by hand and enters it first, as of the events there are now.
    """
    data = read_own(folder / EVENTS)
    events, problems = records.events(data)
    found, memory_problems = records.views(read_own(folder / MEMORY))
    steps = read_history(folder)
    line = records.count(data)
    changed = beliefs.by_hand({one.topic: one for one in beliefs.held(beliefs.versions(steps))}, found)
    if memory_problems:  # a line that can't be read is no view that was given up
        changed = [step for step in changed if step.new is not None]
    if changed:
        append_history(folder, [step.to_object(clock.write(now), line) for step in changed])
        steps += [(line, step) for step in changed]
    return Lived(events, beliefs.versions(steps), line, problems, memory_problems)


def read_history(folder: Path) -> list[tuple[int, Step]]:
    """The history's steps with the line of events of each; lines that can't be understood are left out."""
    found = (beliefs.read_step(obj) for obj in history(folder))
    return [step for step in found if step is not None]


def history(folder: Path) -> list[dict[str, Any]]:
    """The history's lines as they are."""
    path = folder / HISTORY
    return [line.obj for line in ledger.scan(path, read_own(path)).lines]


def append_history(folder: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """Write lines of history, durably. Raises WriteFailed."""
    read_own(folder / HISTORY)  # a link is refused before anything is opened to write
    with files.appending(folder / HISTORY) as file:
        file.append(ledger.dump(lines))
