"""How much of what came to mind has room: whole hits, the best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula.quick import dataclass
from nebula.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nebula.recall.hit import Hit


def text_length(hit: Hit) -> int:
    """The characters of a hit's text."""
    return len(hit.memory.text)


#: Characters of scripts with spaces that make a token, roughly; of the others each is one.
PER_TOKEN = 4


def estimate(text: str) -> int:
    """Tokens of a text where no vocabulary is at hand: each Han, kana or hangul character one, of the rest every four.

    `渡轮 ferry` -> 2 + 2.
    """
    alone = sum(words.unspaced(character) for character in text)
    return alone + -(-(len(text) - alone) // PER_TOKEN)


@dataclass(frozen=True)
class Budget:
    """So much in all, in characters or whatever `room` counts: how many of them a hit takes."""

    most: int
    room: Callable[[Hit], int] = text_length

    def split(self, hits: Sequence[Hit]) -> tuple[list[Hit], list[Hit]]:
        """The hits that have room, each as long as it fits into what those before it left; and those left out."""
        left = self.most
        kept: list[Hit] = []
        out: list[Hit] = []
        for hit in hits:
            needed = self.room(hit)
            (kept if needed <= left else out).append(hit)
            left -= needed if needed <= left else 0
        return kept, out
