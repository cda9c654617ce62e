"""A mind as it was at a moment: read-only, nothing of it is touched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nebula import clock, given
from nebula.errors import UnknownRef
from nebula.recall.hit import Filters

if TYPE_CHECKING:
    from datetime import datetime

    from nebula.mind import Mind
    from nebula.mindlib.record import Memory
    from nebula.mood.expression import Feeling
    from nebula.results import Listing, Recalled


@dataclass(frozen=True)
class Past:
    """What `mind` would have answered at `moment`: texts, layers, weights, edges and mood as they were then."""

    mind: Mind
    moment: datetime

    def recall(
        self,
        query: str,
        *,
        n: int = 8,
        filters: Filters = Filters(),  # noqa: B008 - frozen
        explain: bool = False,
    ) -> Recalled:
        """The n memories that would have come to mind; what has been replaced since is marked old. See Mind.recall."""
        return self.mind.recall(query, n=n, filters=filters, explain=explain, as_of=self.moment)

    def list(self, filters: Filters = Filters(), n: int | None = 20) -> Listing:  # noqa: B008 - frozen
        """Memories that held then, newest first. See Mind.list."""
        return self.mind.list(filters, n, self.moment)

    def get(self, ref: str) -> Memory:
        """One memory as it stood then, by ref or uid. Raises UnknownRef where it was not written yet."""
        given.text("ref", ref)
        wanted = ref.strip().lower()
        everything = self.list(replace(Filters(), old=True), None).memories
        found = next((memory for memory in everything if wanted in (memory.ref, memory.uid)), None)
        if found is None:
            raise UnknownRef(f"{ref} ({clock.write(self.moment)})")
        return found

    def mood(self) -> Feeling:
        """The mood then. Never raises."""
        return self.mind.mood(self.moment)
