"""One character of a story, as a program asks it: the same operations that the commands of `subject` call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nebula import given
from nebula.errors import BadValue
from nebula.subject import cast, context, embedders, index, recall, saving

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nebula.mind import Mind
    from nebula.subject.files import Lived
    from nebula.subject.project import Project
    from nebula.subject.saving import Saved
    from nebula.subject.search import Found


@dataclass(frozen=True)
class Subject:
    """What one subject recalls and believes, and nothing of others. `mind` lends its settings, clock and patience."""

    mind: Mind
    project: Project
    id: str
    environ: Mapping[str, str]

    def search(
        self,
        query: str,
        *,
        sources: Sequence[str] = index.SOURCES,
        limit: int = 6,
        until_line: int | None = None,
        until_tick: str = "",
    ) -> list[Found]:
        """What comes to its mind, as of a line or tick of the story.

        Raises EmptyQuery, BadValue, UnknownTick, and what the embedder and the index raise.
        """
        given.text("query", query)
        given.count("limit", limit)
        given.text("until_tick", until_tick)
        if until_line is not None:
            given.count("until_line", until_line, least=0)
        sources = given.words("sources", sources)
        moment = recall.Moment(until_line, until_tick)
        return recall.find(self._asker(), query, sources=sources, limit=limit, moment=moment)

    def context(self, query: str, *, budget: int = context.BUDGET) -> str:
        """The block that its actor gets before a run. Raises as `search`."""
        given.text("query", query)
        given.count("budget", budget)
        return recall.context(self._asker(), query, budget=budget)

    def save(self, obj: Mapping[str, Any]) -> Saved:
        """Events and changes of views, `{"events": [{"text"…}], "memory": [{"op"…}], "tick"?, "time"?, "id"?}`.

        All or nothing, and the same one twice adds nothing. Raises BadRecord, BadValue, WriteFailed, LockedTooLong.
        """
        if not isinstance(obj, Mapping):
            raise BadValue("obj", obj, '{"events": […], "memory": […]}')
        draft = saving.read_save(obj)
        now, timeout, redact = self.mind.now(), self.mind.store.lock_timeout, self.mind.redacts
        with saving.held(self.project, self.id, now, timeout, redact=redact) as actor:
            saved = saving.write(actor, draft)
        index.mark_dirty(cast.index_path(self.project), actor.subject)
        return saved

    def lived(self) -> Lived:
        """Its events and views as they stand. Raises FileUnusable, LockedTooLong."""
        with saving.held(self.project, self.id, self.mind.now(), self.mind.store.lock_timeout) as actor:
            return actor.lived()

    def rebuild(self) -> int:
        """Build its index anew; -> texts embedded, which those that did not change are not."""
        return recall.rebuild(self._asker())

    @cached_property
    def _embedder(self) -> index.Embedder:
        return embedders.embedder(self.mind.settings, self.project.root, self.mind.store.local, self.environ)

    def _asker(self) -> recall.Asker:
        return recall.Asker(self.project, self.id, self._embedder, self.mind.now(), self.mind.store.lock_timeout)
