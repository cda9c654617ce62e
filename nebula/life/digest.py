"""A digest of a period's notes: the sentences nearest to their common centre, each adding something (spec 6).

Extractive, so that it says nothing that was not said. Chosen by maximal marginal relevance (Carbonell & Goldstein
1998) on whatever vectors the caller has: an encoder's, or counts of words where there is none.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    #: Sparse or dense, as {dimension: value}.
    Vector = Mapping[object, float]

NOTES_FROM = 2  # a single note is no period: it waits for the next night
SENTENCES = 5
CHARACTERS = 300  # of a digest; its first sentence is kept whatever its length
AT_MOST = 400  # sentences looked at, the latest: comparing them costs their square
NEARNESS = (
    0.5  # lambda of MMR: 1 looks at nearness alone, 0 at novelty alone; at 0.7 two wordings of one thing both stayed
)
TOO_SHORT = 4  # characters: "好的。" tells nothing

_ENDINGS = "。！？!?；;.…"
_ENDS = re.compile(r"(?<=[。！？!?；;\n])|(?<=\.)\s+")


def sentences(texts: Sequence[str]) -> list[str]:
    """The texts' sentences in order, each once, without those too short to tell anything; at most the latest 400."""
    found = [part.strip() for text in texts for part in _ENDS.split(text)]
    known = dict.fromkeys(part for part in found if len(part) >= TOO_SHORT)
    return list(known or dict.fromkeys(part for part in found if part))[-AT_MOST:]


def extract(parts: Sequence[str], vectors: Sequence[Vector]) -> str:
    """Up to five sentences, at most 300 characters, in their own order, joined in one paragraph; "" for none.

    Each step takes the sentence of the highest λ·cos(s, centre) - (1 - λ)·max cos(s, chosen), λ 0.5, ties to the
    earlier one.
    """
    units = [_unit(vector) for vector in vectors]
    centre = _unit(_sum(units))
    near = [_dot(unit, centre) for unit in units]
    chosen: list[int] = []
    closest = [0.0] * len(parts)
    while len(chosen) < min(SENTENCES, len(parts)):
        room = CHARACTERS - sum(len(parts[at]) for at in chosen)
        fits = [at for at in range(len(parts)) if at not in chosen and (not chosen or len(parts[at]) <= room)]
        if not fits:
            break
        best = max(fits, key=lambda at: (NEARNESS * near[at] - (1 - NEARNESS) * closest[at], -at))
        chosen.append(best)
        closest = [max(known, _dot(unit, units[best])) for known, unit in zip(closest, units, strict=True)]
    return _joined([parts[at] for at in sorted(chosen)])


def _joined(parts: Sequence[str]) -> str:
    ended = [part if part[-1:] in _ENDINGS else part + ("." if part.isascii() else "。") for part in parts]
    text = ""
    for part in ended:
        text += (" " if text and part.isascii() else "") + part
    return text


def _unit(vector: Vector) -> Vector:
    length = math.sqrt(sum(value * value for value in vector.values()))
    return {key: value / length for key, value in vector.items()} if length else {}


def _dot(a: Vector, b: Vector) -> float:
    small, large = (a, b) if len(a) <= len(b) else (b, a)
    return sum(value * large.get(key, 0.0) for key, value in small.items())


def _sum(vectors: Sequence[Vector]) -> Vector:
    total: dict[object, float] = {}
    for vector in vectors:
        for key, value in vector.items():
            total[key] = total.get(key, 0.0) + value
    return total
