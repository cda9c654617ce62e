"""Changing memories without losing anything. Each change is a later line, tells why, and can be undone (spec 10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nebula import clock, screen
from nebula.drafts import OF_LEDGER, field_value
from nebula.errors import AllPrivate, BadValue, NothingToUndo
from nebula.life.nights import is_night
from nebula.mindlib import changes
from nebula.mindlib.store import CAPTURED, CHANGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nebula.mind import Mind
    from nebula.mindlib.record import Memory
    from nebula.results import Notice

#: What a person may set by hand; the rest follows from what happens to a memory.
SETTABLE = ("imp", "e", "emo", "tag", "due", "topic", "say", "pinned")
#: Fields of a memory that its successor takes over where nothing else is said.
INHERITED = ("via", "tag", "imp", "e", "emo", "pinned", "due", "topic", "say", "speaker")


@dataclass(frozen=True)
class Changed:
    """Memories as they now stand, in the order named, and what should be known: what was private, or a key."""

    memories: Sequence[Memory]
    notices: Sequence[Notice] = ()


@dataclass(frozen=True)
class Undone:
    """What was taken back: the command's run, the refs it wrote, and the refs it had changed."""

    run: str
    written: Sequence[str]
    changed: Sequence[str]


@dataclass(frozen=True)
class Event:
    """One thing that happened to a memory: when, what (`written`, `set`, `hit`, `captured`, `undo` …), why, values."""

    at: str
    ref: str
    what: str
    why: str = ""
    values: Mapping[str, Any] | None = None


def change(mind: Mind, refs: Sequence[str], values: Mapping[str, Any], why: str) -> Changed:
    """Set fields of memories; what already is so is left alone.

    All refs and values are checked before the first line is written. Raises UnknownRef, BadValue, AllPrivate where
    nothing is left of a value, WriteFailed.
    """
    for name in values:
        if name not in (*SETTABLE, "done_at"):
            raise BadValue("set", name, " ".join(SETTABLE))
    now, run = mind.now(), clock.stamp("cmd")
    said = screen.value(dict(values), redact=mind.redacts)
    if said.private and any(value and not said.value[name] for name, value in values.items()):
        raise AllPrivate  # else what was there would be emptied, which nobody said
    wanted = {name: field_value(name, value, now) for name, value in said.value.items()}
    memories = [mind.get(ref) for ref in refs]
    lines = []
    for memory in memories:
        fresh = {name: value for name, value in wanted.items() if getattr(memory, name) != value}
        if fresh:
            lines.append(changes.set_line(clock.write(now), memory.ref, fresh, why, run))
    if lines:
        mind.store.append_lines(CHANGES, lines, durable=True)
    deltas = changes.fold(lines)
    stand = [changes.apply(memory, deltas.get(memory.ref)) for memory in memories]
    return Changed(stand, said.notices(" ".join(memory.ref for memory in memories)))


def keep(mind: Mind, refs: Sequence[str]) -> list[Memory]:
    """Mark promises as kept now; one that was kept before stays as it was. Raises UnknownRef, BadValue."""
    memories = [mind.get(ref) for ref in refs]
    for memory in memories:
        if memory.ledger != "promises":
            raise BadValue("promises done", memory.ref, "o1 …")
    fresh = [memory.ref for memory in memories if not memory.done_at]
    done = {m.ref: m for m in change(mind, fresh, {"done_at": clock.write(mind.now())}, "done").memories}
    return [done.get(memory.ref, memory) for memory in memories]


def rewrite(mind: Mind, ref: str, text: str, *, by: str = "cli", **fields: Any) -> Changed:
    """Replace a memory by one with another text, `fields`, and otherwise its own fields; the old one stays, closed.

    The same text, but for what is private, changes nothing. Raises UnknownRef, AlreadyReplaced, EmptyText, WriteFailed.
    """
    old = mind.get(ref)
    said = screen.value(text, redact=mind.redacts)
    if said.value.strip() == old.text.strip():
        return Changed([old], said.notices(old.ref))
    own = [name for name in INHERITED if OF_LEDGER.get(name, old.ledger) == old.ledger]
    kept = {name: value for name in own if (value := getattr(old, name)) not in ("", False)}
    added = mind.add(text, ledger=old.ledger, supersedes=old.ref, by=by, **(kept | fields))
    return Changed(added.memories, added.notices)


def undo(mind: Mind) -> Undone:
    """Take back the last command that wrote: its changes are undone, the memories it wrote are closed.

    Recalls are no commands, and a night is taken back by `night.undo`. Raises NothingToUndo, WriteFailed.
    """
    from nebula.echo import take_back

    lines = mind.store.events(CHANGES)
    memories = mind.store.read_all().memories
    gone = changes.undone_runs(lines)
    runs = {str(line.get("run")) for line in lines if isinstance(line.get("run"), str) and not is_night(line["run"])}
    runs |= {memory.run for memory in memories if memory.run and not is_night(memory.run)}
    if not runs - gone:
        raise NothingToUndo
    run, now = max(runs - gone), clock.write(mind.now())
    written = [memory.ref for memory in memories if memory.run == run]
    changed = sorted({str(line["ref"]) for line in lines if line.get("run") == run and "ref" in line})
    closing = [changes.set_line(now, ref, {"valid_to": now}, "undo") for ref in written]
    mind.store.append_lines(CHANGES, [changes.undo_line(now, run), *closing], durable=True)
    take_back(mind, written)
    return Undone(run, written, changed)


def history(mind: Mind, ref: str) -> list[Event]:
    """All that ever happened to a memory, in order; what was taken back later stands there too. Raises UnknownRef."""
    memory = mind.get(ref)
    born = Event(memory.at, memory.ref, "written", memory.by)
    return [born, *(event for event in _events(mind) if event.ref == memory.ref)]


def journal(mind: Mind, limit: int) -> list[Event]:
    """What happened lately to all memories, the newest first: written, changed, captured, recalled, taken back."""
    events = [Event(m.at, m.ref, "written", m.by) for m in mind.store.read_all().memories]
    events += _events(mind)
    events.sort(key=lambda event: event.at)
    return events[::-1][:limit]


def _events(mind: Mind) -> list[Event]:
    """Every line of the side ledgers as events, one for each ref that it speaks of."""
    lines = mind.store.events(CHANGES)
    gone = changes.undone_runs(lines)
    found: list[Event] = []
    for line in [*lines, *mind.store.events(CAPTURED)]:
        at, ref = str(line.get("at", "")), str(line.get("ref", ""))
        taken_back = " ↶" if line.get("run") in gone else ""
        if isinstance(line.get("set"), dict):
            found.append(Event(at, ref, "set", f"{line.get('why', '')}{taken_back}", line["set"]))
        elif isinstance(line.get("hit"), list):
            found += [Event(at, str(hit), "hit", str(line.get("session", ""))) for hit in line["hit"]]
        elif "factor" in line:
            found.append(Event(at, ref, "captured", f"{line.get('by', '')}{taken_back}"))
        elif "surfaced" in line:
            found.append(Event(at, ref, "surfaced", str(line["surfaced"])))
        elif "taken" in line:
            found.append(Event(at, ref, "taken" if line["taken"] else "not_taken"))
        elif "undo" in line:
            found.append(Event(at, "", "undo", str(line["undo"])))
    return sorted(found, key=lambda event: event.at)
