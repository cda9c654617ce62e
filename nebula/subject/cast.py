"""The subjects of a project: made, listed, shown, removed."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nebula import messages, reasons
from nebula.errors import AllPrivate, BadRecord, BadValue, WriteFailed, WrongUsage
from nebula.mindlib import files, ledger
from nebula.quick import dataclass
from nebula.subject import beliefs, index, records, saving
from nebula.subject.files import EVENTS, MEMORY, SIX, SOUL, SUBJECT, read_text
from nebula.subject.project import read_own
from nebula.subject.templates import KINDS, pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from nebula.results import Notice
    from nebula.subject.project import Project
    from nebula.subject.records import Event, View
    from nebula.subject.saving import Saved

INDEX = "subject-rag.sqlite"
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


@dataclass(frozen=True)
class Part:
    """A part to be made, with the first that it lived and believes."""

    subject: str
    name: str = ""
    kind: str = "npc"
    events: Sequence[Event] = ()
    views: Sequence[View] = ()


@dataclass(frozen=True)
class Made:
    """What `init` did: the files that it wrote; none of one that was there whole."""

    subject: str
    files: Sequence[str]
    events: int = 0
    views: int = 0
    notices: Sequence[Notice] = ()


def index_path(project: Project) -> Path:
    """Where the derived index lies."""
    return project.own / INDEX


def part(obj: Mapping[str, Any]) -> Part:
    """`{"id", "name"?, "kind"?, "events"?: [{…}|"…"], "memory"?: [{…}]}` as a part. Raises WrongUsage."""
    unknown = obj.keys() - {"id", "name", "kind", "events", "memory"}
    if unknown:
        raise BadValue("init", ", ".join(sorted(unknown)), "id, name, kind, events, memory")
    subject, name, kind = str(obj.get("id", "")), str(obj.get("name", "")), str(obj.get("kind") or "npc")
    lived = [one if isinstance(one, dict) else {"text": one} for one in obj.get("events") or []]
    views = [one if isinstance(one, dict) else {} for one in obj.get("memory") or []]
    return Part(subject, name, kind, each(lived, records.event), each(views, records.view))


def sorted_records(objects: Iterable[Mapping[str, Any]]) -> tuple[list[Event], list[View]]:
    """Objects with a `topic` are views, all others events. Raises BadRecord."""
    found = list(objects)
    views = each([one for one in found if "topic" in one], records.view)
    return each([one for one in found if "topic" not in one], records.event), views


def each(objects: Iterable[Mapping[str, Any]], make: Any) -> list[Any]:
    """What `make` makes of each. Raises BadRecord with the number of the first that it refuses."""
    made = []
    for number, one in enumerate(objects, start=1):
        try:
            made.append(make(one))
        except WrongUsage as error:
            raise BadRecord(number, error.message) from error
    return made


def init(
    project: Project,
    parts: Sequence[Part],
    now: datetime,
    timeout: float = files.LOCK_TIMEOUT,
    *,
    redact: bool = False,
) -> list[Made]:
    """Make the six files of each part, never overwriting one; first experiences only where there is none yet.

    All parts are checked before the first file is written. Raises BadSubjectId, SubjectTaken, BadValue, WriteFailed.
    """
    ids = {}
    for one in parts:
        if one.kind not in KINDS:
            raise BadValue("--kind", one.kind, " | ".join(KINDS))
        ids[one.subject] = project.free(one.subject)
        _seed(one)
    return [_make(project, one, ids[one.subject], now, timeout, redact=redact) for one in parts]


def _seed(one: Part) -> list[beliefs.Step]:
    steps: list[beliefs.Step] = []
    views: beliefs.Views = {}
    for view in one.views:
        made = beliefs.set_view(views, view.topic, view.view, view.aliases)
        views = beliefs.apply(views, made)
        steps += made
    return steps


def _make(project: Project, one: Part, name: str, now: datetime, timeout: float, *, redact: bool) -> Made:
    with project.writing(name, timeout) as place:
        folder = place.new_folder(name)
        files.make_folder(place.subjects.parent)
        files.make_folder(place.subjects)
        files.make_folder(folder)
        wanted = pages(name, one.name, one.kind)
        missing = [page for page in SIX if not (folder / page).exists() and not (folder / page).is_symlink()]
        for page in missing:
            files.replace(folder / page, wanted[page].encode())
        blank = not read_own(folder / EVENTS).strip() and not read_own(folder / MEMORY).strip()
        if not blank or not (one.events or one.views):
            return Made(name, missing)
        draft = saving.Draft(one.events, [_given(_seed(one))])
        written = saving.write(saving.Actor(place, name, folder, now, redact), draft)
    return Made(name, missing, len(written.events), len(written.topics), written.notices)


def _given(steps: list[beliefs.Step]) -> saving.Change:
    return lambda _views: steps


def front_matter(text: str) -> dict[str, str]:
    """The front matter's plain `key: value` lines."""
    front = _FRONT.match(text)
    pairs = (line.partition(":") for line in front[1].splitlines()) if front else ()
    return {key.strip(): value.strip() for key, _, value in pairs}


def for_actor(text: str) -> str:
    """A page as an actor may read it: without the comments to its author."""
    return _COMMENT.sub("", text).strip()


def remove(project: Project, subject: str, now: datetime, timeout: float = files.LOCK_TIMEOUT) -> None:
    """Remove a subject, its rows in the index and its save under way. Raises UnknownSubject, WriteFailed."""
    with saving.held(project, subject, now, timeout) as actor:
        path = index_path(project)
        if path.is_file():
            index.using(path, lambda found: found.forget(actor.subject))
        try:
            shutil.rmtree(actor.folder)
        except OSError as error:
            raise WriteFailed(actor.folder, reasons.of(error)) from error


def tell(
    project: Project,
    teller: str,
    listener: str,
    line: int,
    now: datetime,
    *,
    words: str = "",
    tick: str = "",
    redact: bool = False,
) -> tuple[Event, Saved]:
    """What one lived is told to another, in other `words` or its own: an event `heard`, with its origin, as it is kept.

    Raises UnknownSubject, BadValue for a line that holds no event, AllPrivate for words of which nothing is left.
    """
    with saving.held(project, teller, now) as one:
        told = next((event for event in one.lived().events if event.line == line), None)
        name = one.subject
    if told is None:
        raise BadValue("LINE", line, f"{teller}/{EVENTS}")
    with saving.held(project, listener, now, redact=redact) as other:
        if other.subject == name:
            raise BadValue("B", listener, f"≠ {teller}")
        text = words or messages.say("subject.told", teller=name, text=told.text)
        heard = replace(
            told, text=text, kind="heard", origin={"subject": name, "line": line}, tick=tick or told.tick, more={}
        )
        (kept,), seen = saving.screened([heard], redact=redact)
        if seen.private and not kept.text.strip():
            raise AllPrivate
        saved = saving.write(other, saving.Draft([heard]))
    index.mark_dirty(index_path(project), other.subject)
    return kept, saved


@dataclass(frozen=True)
class Listed:
    """A subject as the leader's list has it: name and kind by its omniscient page, lines of events and of views."""

    id: str
    name: str
    kind: str
    events: int
    memory: int


def listed(project: Project) -> list[Listed]:
    """Every subject, by id. Raises FileUnusable."""
    with project.reading() as place:
        return [_listed(name, folder) for name, folder in place.folders().items()]


def _listed(name: str, folder: Path) -> Listed:
    front = front_matter(read_text(folder, SUBJECT))
    events, views = (len(records.lines(read_own(folder / file))) for file in (EVENTS, MEMORY))
    return Listed(name, front.get("name", name), front.get("kind", ""), events, views)


def soul(project: Project, subject: str) -> str:
    """The handbook of a part, as its actor may read it. Raises UnknownSubject, FileUnusable."""
    with project.reading(subject) as place:
        return for_actor(read_text(place.folder(subject), SOUL))


def objects(data: bytes, path: Path) -> list[dict[str, Any]]:
    """The objects of JSONL that a person hands over, none of them broken. Raises BadRecord."""
    scan = ledger.scan(path, data)
    if scan.damages:
        raise BadRecord(scan.damages[0].line, scan.damages[0].reason)
    return [line.obj for line in scan.lines]
