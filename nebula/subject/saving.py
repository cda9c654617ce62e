"""Writing to a subject: events and changes of views as one transaction, under its lock, all or nothing.

What is to be written lies in `.nbook/pending/ID.json` first, whole; then it goes into events, history and memory. Cut
short anywhere, the next command finishes it. A save bears its id in what it wrote, so the same one twice adds nothing.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from nebula import clock
from nebula.errors import BadRecord, BadValue, WrongUsage
from nebula.mindlib import files, ledger
from nebula.quick import dataclass
from nebula.screen import Screened, value
from nebula.subject import beliefs, records
from nebula.subject.files import EVENTS, HISTORY, MEMORY, history, lived
from nebula.subject.project import read_own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from nebula.results import Notice
    from nebula.subject.beliefs import Step, Views
    from nebula.subject.files import Lived
    from nebula.subject.project import Project
    from nebula.subject.records import Event

    Change = Callable[[Views], Sequence[Step]]


@dataclass(frozen=True)
class Saved:
    """What was written: the events' physical lines and the topics that changed; nothing of a save that was there."""

    events: Sequence[int]
    topics: Sequence[str]
    repeated: bool = False
    notices: Sequence[Notice] = ()


@dataclass(frozen=True)
class Actor:
    """One subject, held under its lock, with nothing under way; `project` is the folder to work in.

    `redact`: what looks like a key is masked as it comes in.
    """

    project: Project
    subject: str
    folder: Path
    now: datetime
    redact: bool = False

    def lived(self) -> Lived:
        """What it lived and believes."""
        return lived(self.folder, self.now)


@contextmanager
def held(
    project: Project, subject: str, now: datetime, timeout: float = files.LOCK_TIMEOUT, *, redact: bool = False
) -> Iterator[Actor]:
    """An existing subject under its lock; a save that was cut short is finished first.

    Raises BadSubjectId, UnknownSubject, FileUnusable, LockedTooLong, WriteFailed.
    """
    name = project.known(subject)
    with project.writing(name, timeout) as place:
        folder = place.folder(name)
        finish(place, name, folder)
        yield Actor(place, name, folder, now, redact)


@dataclass(frozen=True)
class Draft:
    """What is to be written: events, then changes of views in their order; `save` names the whole, "" for no name."""

    events: Sequence[Event] = ()
    changes: Sequence[Change] = ()
    tick: str = ""
    save: str = ""


def read_save(obj: Mapping[str, Any]) -> Draft:
    """`{"events": […], "memory": [{"op": …}], "tick"?, "time"?, "id"?}` as a draft. Raises BadRecord, BadValue."""
    unknown = obj.keys() - {"events", "memory", "tick", "time", "id"}
    if unknown:
        raise BadValue("save", ", ".join(sorted(unknown)), "events, memory, tick, time, id")
    shared = {name: obj[name] for name in ("tick", "time") if obj.get(name)}
    events = []
    for number, one in enumerate(_objects(obj, "events"), start=1):
        try:
            events.append(records.event({**shared, **one}))
        except WrongUsage as error:
            raise BadRecord(number, f"events: {error.message}") from error
    changes = [_operation(number, one) for number, one in enumerate(_objects(obj, "memory"), start=1)]
    name = str(obj.get("id") or files.fingerprint(orjson.dumps(obj, option=orjson.OPT_SORT_KEYS))[:16])
    return Draft(events, changes, str(shared.get("tick", "")), name)


def _objects(obj: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = obj.get(name) or []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise BadValue(name, value, "[{…}]")
    return value


def _operation(number: int, obj: Mapping[str, Any]) -> Change:
    def change(views: Views) -> Sequence[Step]:
        try:
            return beliefs.operate(views, obj)
        except WrongUsage as error:
            raise BadRecord(number, f"memory: {error.message}") from error

    return change


def write(actor: Actor, draft: Draft) -> Saved:
    """Write a draft, all or nothing. Raises WrongUsage before anything is written, WriteFailed."""
    found = actor.lived()
    if draft.save and _is_there(actor, found, draft.save):
        return Saved((), (), repeated=True)
    events, seen = screened(draft.events, redact=actor.redact)
    views = {one.topic: one for one in found.views}
    steps: list[Step] = []
    for change in draft.changes:
        made, looked = _screened_steps(change(views), redact=actor.redact)
        views, seen = beliefs.apply(views, made), seen | looked
        steps += made
    if not events and not steps:
        return Saved((), ())
    mark = {"save": draft.save} if draft.save else {}
    line = found.lines + len(events)
    at = clock.write(actor.now)
    pending = {
        EVENTS: ledger.dump([{**event.to_object(), **mark} for event in events]).decode(),
        HISTORY: ledger.dump([step.to_object(at, line, draft.tick, mark) for step in steps]).decode(),
        MEMORY: records.dump(list(views.values())).decode() if steps else None,
        "sizes": {name: len(read_own(actor.folder / name)) for name in (EVENTS, HISTORY)},
    }
    path = pending_path(actor.project, actor.subject)
    files.make_folder(path.parent)
    files.replace(path, orjson.dumps(pending))
    finish(actor.project, actor.subject, actor.folder)
    lines = range(found.lines + 1, line + 1)
    topics = list(dict.fromkeys(step.topic for step in steps))
    return Saved(list(lines), topics, notices=tuple(seen.notices(actor.subject, code="secret_told")))


def screened(events: Sequence[Event], *, redact: bool) -> tuple[list[Event], Screened]:
    """Events as they may be stored, and what was seen in their texts."""
    seen, kept = Screened(None), []
    for event in events:
        said = value(event.text, redact=redact)
        seen |= said
        kept.append(replace(event, text=said.value))
    return kept, seen


def _screened_steps(steps: Sequence[Step], *, redact: bool) -> tuple[list[Step], Screened]:
    """Changes of views as they may be stored; one that says no more than what is there already is none."""
    seen, kept = Screened(None), []
    for step in steps:
        view, why = value(step.new.view if step.new else "", redact=redact), value(step.why, redact=redact)
        seen |= view | why
        screened = replace(step, new=step.new and replace(step.new, view=view.value), why=why.value)
        if screened.new != screened.old:
            kept.append(screened)
    return kept, seen


def _is_there(actor: Actor, found: Lived, save: str) -> bool:
    lines = [event.more for event in found.events] + history(actor.folder)
    return any(line.get("save") == save for line in lines)


def pending_path(project: Project, subject: str) -> Path:
    """Where a save lies while it is under way."""
    return project.own / "pending" / f"{subject}.json"


def finish(project: Project, subject: str, folder: Path) -> None:
    """Do what is left of a save that was cut short; the caller holds the lock. Raises WriteFailed."""
    path = pending_path(project, subject)
    if not path.exists():
        return
    for name, data, size in _under_way(read_own(path)):
        if name == MEMORY:
            read_own(folder / MEMORY)
            files.replace(folder / MEMORY, data)
        else:
            _append_once(folder / name, data, size)
    path.unlink(missing_ok=True)
    files.sync_folder(path.parent)


def _under_way(data: bytes) -> list[tuple[str, bytes, int]]:
    """(file, bytes, size before) of a save under way; nothing for what is none: ours is there whole or not at all."""
    try:
        pending = orjson.loads(data)
        found = [(name, pending[name].encode(), int(pending["sizes"][name])) for name in (EVENTS, HISTORY)]
        return found + ([(MEMORY, pending[MEMORY].encode(), 0)] if pending[MEMORY] is not None else [])
    except (ValueError, TypeError, KeyError, AttributeError):
        return []


def _append_once(path: Path, data: bytes, size: int) -> None:
    """Append the lines of `data` that do not stand after the first `size` bytes already, in their order.

    A write that was cut short leaves some of them whole, and perhaps a piece of the next.
    """
    read_own(path)
    if not data:
        return
    with files.appending(path) as file:
        left = data.split(b"\n")[:-1]
        for line in file.read(min(size, file.size)).split(b"\n"):
            if left and line == left[0]:
                left = left[1:]
        if left:
            file.append(b"\n".join([*left, b""]))
