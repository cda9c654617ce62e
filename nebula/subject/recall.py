"""What the doors ask of a subject: search, context, states of the index, who knows what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from nebula.errors import BadValue, EmptyQuery
from nebula.mindlib import files
from nebula.mindlib.record import MAX_ID
from nebula.subject import context as blocks
from nebula.subject import index as indexes
from nebula.subject import saving
from nebula.subject.cast import for_actor, index_path
from nebula.subject.files import MIND, STATE, read_text
from nebula.subject.index import SOURCES, State
from nebula.subject.search import LIMIT, search

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from nebula.subject.files import Lived
    from nebula.subject.index import Embedder
    from nebula.subject.project import Project
    from nebula.subject.records import View
    from nebula.subject.search import Found

    Looked = Callable[[Sequence[str], int], list[Found]]


@dataclass(frozen=True)
class Asker:
    """Who asks whom: one subject of a project, with the embedder that the settings name."""

    project: Project
    subject: str
    embedder: Embedder
    now: datetime
    timeout: float = files.LOCK_TIMEOUT


@dataclass(frozen=True)
class Moment:
    """As of a line of events, or of the last line that bears a tick; neither: now."""

    line: int | None = None
    tick: str = ""

    def of(self, lived: Lived) -> int | None:
        """The line. Raises UnknownTick, BadValue for both or a line below 0."""
        if self.line is not None and self.tick:
            raise BadValue("--until-tick", self.tick, "--until-tick | --until-line")
        if self.line is not None and self.line < 0:
            raise BadValue("--until-line", self.line, "0…")
        if self.tick:
            return lived.line_of_tick(self.tick)
        return None if self.line is None else min(self.line, MAX_ID)  # an index counts no further


NOW = Moment()
T = TypeVar("T")
LEAST = 200  # characters of a block


def find(
    asker: Asker, query: str, *, sources: Sequence[str] = SOURCES, limit: int = 6, moment: Moment = NOW
) -> list[Found]:
    """Search a subject. Raises EmptyQuery, BadValue, UnknownTick, and what the embedder and the index raise."""
    if limit not in LIMIT:
        raise BadValue("--limit", limit, f"{LIMIT[0]}…{LIMIT[-1]}")
    with saving.held(asker.project, asker.subject, asker.now, asker.timeout) as actor:
        lived = actor.lived()
        line = moment.of(lived)
        return _looked(asker, actor, lived, query, line, lambda look: look(sources, limit))


def context(asker: Asker, query: str, *, budget: int = blocks.BUDGET) -> str:
    """The block for an actor's run. Raises as `find`; then there is no block."""
    if budget < LEAST:
        raise BadValue("--budget", budget, f"{LEAST}…")
    with saving.held(asker.project, asker.subject, asker.now, asker.timeout) as actor:
        lived = actor.lived()
        mind, state = (for_actor(read_text(actor.folder, name)) for name in (MIND, STATE))

        def both(look: Looked) -> str:
            return blocks.block(mind, state, look(["events"], blocks.EVENTS), look(["memory"], blocks.VIEWS), budget)

        return _looked(asker, actor, lived, query, None, both)


def _looked(
    asker: Asker, actor: saving.Actor, lived: Lived, query: str, line: int | None, work: Callable[[Looked], T]
) -> T:
    if not query.strip():
        raise EmptyQuery

    def on(index: indexes.SubjectIndex) -> T:
        index.sync(actor.subject, actor.folder, lived, asker.embedder)
        return work(
            lambda sources, limit: search(
                index, actor.subject, lived, asker.embedder, query, sources=sources, limit=limit, line=line
            )
        )

    return indexes.using(index_path(asker.project), on)


def rebuild(asker: Asker) -> int:
    """Build a subject's rows anew; unchanged text keeps its vectors. -> texts embedded."""
    with saving.held(asker.project, asker.subject, asker.now, asker.timeout) as actor:
        lived = actor.lived()
        return indexes.using(
            index_path(asker.project),
            lambda index: index.sync(actor.subject, actor.folder, lived, asker.embedder, force=True),
        )


def states(project: Project) -> list[State]:
    """How both sources of every subject stand; nothing is made or changed."""
    path = index_path(project)
    if not path.is_file():
        return [State(subject, source, "absent") for subject in project.ids() for source in SOURCES]
    with project.reading() as place:
        folders = place.folders().items()
        return indexes.using(path, lambda index: [index.state(s, source, f) for s, f in folders for source in SOURCES])


@dataclass(frozen=True)
class Known:
    """A topic, and what either of two subjects thinks of it; None for no view."""

    topic: str
    first: View | None
    second: View | None


def diff(project: Project, first: str, second: str, now: datetime) -> list[Known]:
    """Who knows what: a topic is one where a name of it is shared. Raises UnknownSubject."""
    views = []
    for subject in (first, second):
        with saving.held(project, subject, now) as actor:
            views.append(list(actor.lived().views))
    mine, theirs = views
    found = []
    for one in mine:
        names = {one.topic, *one.aliases}
        other = next((view for view in theirs if names & {view.topic, *view.aliases}), None)
        found.append(Known(one.topic, one, other))
    met = {id(known.second) for known in found}
    return found + [Known(other.topic, None, other) for other in theirs if id(other) not in met]
