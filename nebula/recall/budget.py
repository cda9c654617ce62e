"""How much of what came to mind has room: whole hits, the best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nebula.recall.hit import Hit


def text_length(hit: Hit) -> int:
    """The characters of a hit's text."""
    return len(hit.memory.text)


@dataclass(frozen=True)
class Budget:
    """So many characters in all; `room` says how many a hit takes."""

    characters: int
    room: Callable[[Hit], int] = text_length

    def split(self, hits: Sequence[Hit]) -> tuple[list[Hit], list[Hit]]:
        """The hits that have room, each as long as it fits into what those before it left; and those left out."""
        left = self.characters
        kept: list[Hit] = []
        out: list[Hit] = []
        for hit in hits:
            needed = self.room(hit)
            (kept if needed <= left else out).append(hit)
            left -= needed if needed <= left else 0
        return kept, out
