"""How much of a text is said by others, by runs of tokens (see `forms`), and what a text says otherwise than another.

`cover` lays the sources' runs over the tokens. What no run covers is new, and one new token may change everything (a
figure, a negation, a name in another's place), so the answer is the tokens themselves.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING
from zlib import crc32

from nebula.quick import dataclass
from nebula.text import forms, framing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Tokens of a run that is worth something, and of the grams by which sources are found.
RUN = 3
COSTLY = 100_000  # pairs of equal tokens in two texts, some 20 ms
WINDOW = 4  # grams in a row of which one is a fingerprint
#: A part of a source counts from so many tokens on, or from half of the source.
PART = 12
#: Characters of a text that is compared; a longer one is taken as news, for the matching would cost too much.
LONGEST = 16_000
#: Tokens on either side of a part of a source among which a word left out turns it.
EDGE = 4

#: What may come or go and changes nothing.
_PARTICLES = frozenset([*"的地得了呢吧啊呀嘛", "a", "an", "the"])
#: What is denied, doubted or forbidden: the part of a source beside it does not say what the source says.
_TURNS = re.compile(
    r"[不没无未别非勿莫否禁拒绝假误]|反对|停止|取消|避免|如果|要是"
    r"|\b(?:no|not|never|none|nor|neither|nothing|nobody|without|cannot|refuse[sd]?|hardly|avoid|stop|if|unless|except|false)\b"
    r"|n't\b"
)


@dataclass(frozen=True)
class Cover:
    """What sources say of a text: tokens of each source's runs, and the tokens that differ.

    `differs`: what the text adds, what is left out between runs or stands in their place, and words beside a part of a
    source that turn it; what frames the text (see `framing`) counts as nothing. `total`: the text's tokens.
    """

    by: Mapping[int, int] = field(default_factory=dict)
    differs: Sequence[str] = ()
    total: int = 0

    @property
    def share(self) -> float:
        """How many tokens differ to one of the text, 0…; 1 where no source says anything of it."""
        return len(self.differs) / self.total if self.by else 1.0

    @property
    def says_nothing_new(self) -> bool:
        """Whether nothing but particles differs."""
        return bool(self.by) and _PARTICLES.issuperset(self.differs)


def grams(said: Sequence[str]) -> list[int]:
    """A number for every run of three tokens, in order; 20 bits are enough to find candidates by."""
    return [
        crc32(" ".join(said[at : at + RUN]).encode("utf-8", "surrogatepass")) & 0xFFFFF
        for at in range(len(said) - RUN + 1)
    ]


def fingerprints(said: Sequence[str]) -> list[int]:
    """Of every `WINDOW` grams in a row the least, each once (winnowing, Schleimer et al. 2003).

    Whatever shares six tokens in a row with the text has one of them among its grams.
    """
    numbers = grams(said)
    return sorted(
        {min(numbers[at : at + WINDOW]) for at in range(max(1, len(numbers) - WINDOW + 1))} if numbers else ()
    )


def likeliest(said: Sequence[str], prints: Sequence[Sequence[int]], at_most: int = 12) -> list[int]:
    """The places of those fingerprints that meet a text's grams most, best first, the latest among equals.

    A single print met is chance, unless it is a third of a short text's.
    """
    wanted = set(grams(said))
    counts = [len(wanted.intersection(one)) for one in prints]
    met = [at for at, count in enumerate(counts) if count > 1 or count * 3 >= max(1, len(prints[at]))]
    return sorted(met, key=lambda at: (-counts[at], -at))[:at_most]


def cover(said: Sequence[str], sources: Mapping[int, Sequence[str]]) -> Cover:
    """What sources (number -> tokens, the likeliest first) say of one line. Each lays its runs over what is left."""
    for number, source in sources.items():
        if list(said) == list(source):
            return Cover({number: len(said)}, total=len(said))
    left, by = [_Piece(said)], dict[int, int]()
    differs: list[str] = []
    for number, source in sources.items():
        for place, piece in enumerate(left):
            found = _runs(piece.said, source)
            if not found:
                continue
            by[number] = sum(size for _, _, size in found)
            for (a, b, size), (next_a, next_b, _) in pairwise(found):
                differs += [*piece.said[a + size : next_a], *source[b + size : next_b]]
            (a, b, _), (last_a, last_b, size) = found[0], found[-1]
            before, behind = source[:b], source[last_b + size :]
            differs += [*_turning(before[-EDGE:]), *_turning(behind[:EDGE])]
            front, rest = piece.said[:a], piece.said[last_a + size :]
            if len(rest) == 1 and behind and _is_begun(rest[0], behind[0]):
                rest = rest[:0]
            pieces = [_Piece(front, source, before), _Piece(rest, (), behind)]
            left[place : place + 1] = [one for one in pieces if one.said]
            break
    return Cover(by, differs + [token for piece in left for token in piece.new()], len(said))


@dataclass(frozen=True)
class _Piece:
    """Tokens that no run covers yet, the source beside them, and what of it is left out in their place."""

    said: Sequence[str]
    source: Sequence[str] = ()
    instead_of: Sequence[str] = ()

    def new(self) -> Sequence[str]:
        """The tokens; none where they frame what follows, or say once more how it begins: `听说听说…` in a loop.

        Nothing frames in the place of other words: `the user` before `is in room 203` of `Grandma is in room 203`.
        """
        if not framing.is_frame(self.instead_of):
            return self.said
        sizes = range(len(self.said), 1, -1)
        again = next((size for size in sizes if list(self.said[-size:]) == list(self.source[:size])), 0)
        return () if framing.is_frame(self.said[: len(self.said) - again]) else self.said


def _is_begun(token: str, word: str) -> bool:
    """Whether a token is a word that was cut short with its text; of a figure the beginning is another."""
    return len(token) > 1 and token.isalpha() and word.startswith(token)


def _turning(beside: Sequence[str]) -> Sequence[str]:
    """The tokens beside a part of a source where they turn it, else none."""
    return beside if _TURNS.search(forms.joined(beside)) else ()


def _runs(said: Sequence[str], source: Sequence[str]) -> list[tuple[int, int, int]]:
    """The common runs (place in the text, in the source, length) between the first and the last that is long enough.

    None where the source says too little of it: less than `PART` tokens and less than half of itself, unless all of a
    short one is there.
    """
    found = _common(said, source)
    long = [at for at, (_, _, size) in enumerate(found) if size >= min(RUN, len(source))]
    if not long:
        return []
    found = found[long[0] : long[-1] + 1]
    covered = sum(size for _, _, size in found)
    enough = covered >= PART or (covered * 2 >= len(source) and covered > RUN) or covered == len(source)
    return found if enough else []


def _common(said: Sequence[str], source: Sequence[str]) -> list[tuple[int, int, int]]:
    """All common runs in order; none where a few tokens come so often in both that finding them would take seconds."""
    import difflib

    often = Counter(source)
    if sum(often[token] for token in said) > COSTLY:
        return []
    blocks = difflib.SequenceMatcher(None, said, source, autojunk=False).get_matching_blocks()
    return [(a, b, size) for a, b, size in blocks if size]


def together(covers: Iterable[Cover]) -> Cover:
    """The covers of a text's lines as one."""
    by, differs, total = Counter[int](), list[str](), 0
    for one in covers:
        by.update(one.by)
        differs += one.differs
        total += one.total
    return Cover(by, differs, total)


def changes(said: Sequence[str], source: Sequence[str]) -> tuple[float, list[tuple[Sequence[str], Sequence[str]]]]:
    """The share of both texts' tokens in common runs, 0…1, and what stands between them: (source's, text's) tokens.

    Particles are no change, nor is what frames either.
    """
    found = [(0, 0, 0), *_common(said, source), (len(said), len(source), 0)]
    share = 2 * sum(size for _, _, size in found) / max(1, len(said) + len(source))
    between = [
        (source[b + size : next_b], said[a + size : next_a]) for (a, b, size), (next_a, next_b, _) in pairwise(found)
    ]
    for at in (0, -1):
        old, new = between[at]
        if framing.is_frame(old) and framing.is_frame(new):
            between[at] = ((), ())
    return share, [(old, new) for old, new in between if not _PARTICLES.issuperset([*old, *new])]
