"""Known-item queries: what somebody may still know of a memory, made from its text, so that its place can be measured.

Three kinds, drawn from the memory's uid, so that a mind always asks the same: a few words; one sentence with words
lost; the whole with most words lost. The word that is rarest in the language is always lost: who asks seldom knows it.
They share words with what they ask for, which questions of people often do not: they flatter the route of words.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, NamedTuple

from nebula.mindlib.record import ECHO
from nebula.text import words
from nebula.text.keywords import content

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nebula.mindlib.record import Memory

KINDS = ("words", "sentence", "worn")
#: Queries below which nothing is learned, and as many as are asked at most.
LEAST, MOST = 50, 300
#: Words of a text below which it is left out; of the kinds: words drawn, shares kept.
WORDS, DRAWN, KEPT = 4, (2, 3), {"sentence": 0.6, "worn": 0.4}
_SENTENCES = re.compile(r"[。！？!?；;，,\n]+|\.\s")


class Known(NamedTuple):
    """A query and the ref of the memory that it was made from."""

    ref: str
    kind: str
    query: str


def known_items(memories: Iterable[Memory], most: int = MOST) -> list[Known]:
    """One query for each memory that says enough, at most so many, drawn evenly; echoes and repeated texts left out."""
    once: dict[str, Memory] = {}
    for memory in memories:
        if memory.via != ECHO:
            once.setdefault(memory.text, memory)
    drawn = sorted(once.values(), key=lambda memory: random.Random(memory.uid).random())  # noqa: S311 - a draw, no secret
    found: list[Known] = []
    for memory in drawn:
        known = _known(memory, KINDS[len(found) % len(KINDS)])
        if known is not None and len(found) < most:
            found.append(known)
    return found


def _known(memory: Memory, kind: str) -> Known | None:
    draw = random.Random(f"{memory.uid} {kind}")  # noqa: S311 - a draw, no secret
    every = content(memory.text)
    if len(every) < WORDS:
        return None
    lost = max(every, key=words.table().idf)
    left = [word for word in every if word != lost]
    if kind == "words":
        weights = [words.table().idf(word) for word in left]
        chosen = set(draw.choices(left, weights, k=draw.choice(DRAWN)))
        return Known(memory.ref, kind, " ".join(word for word in left if word in chosen))
    if kind == "sentence":
        sentences = [own for part in _SENTENCES.split(memory.text) if len(own := content(part)) >= 2]
        left = [word for word in draw.choice(sentences) if word != lost] if sentences else left
    kept = [word for word in left if draw.random() < KEPT[kind]] or left[:1]
    return Known(memory.ref, kind, _joined(kept))


def _joined(kept: Sequence[str]) -> str:
    """Words as a sentence: a space between those of scripts that have it."""
    text = ""
    for word in kept:
        text += word if not text or (words.unspaced(word) and words.unspaced(text[-1])) else f" {word}"
    return text
