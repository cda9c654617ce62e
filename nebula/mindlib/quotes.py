"""Where one text stands in another: the stretches that they share and that are long enough to be no accident.

Long enough are 8 wide characters (Han, kana, Hangul) or 24 narrow ones: " with the" stands everywhere. A text that is
shorter as a whole is looked for whole from 4 wide or 12 narrow characters on; below that only a text that is nothing
else is a quote of it. Pure; a text of n characters is looked through in time proportional to n.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Span = tuple[int, int]

WIDE, ENOUGH, SHORT = 3, 24, 12  # units of a wide character; of a stretch; of a short text
FEW = 200  # windows, of a text of about as many characters
_FIRST_WIDE = 0x2E80  # CJK radicals; everything wide that people write with lies above
#: What stands where a quote was cut out.
CUT = "▇▇"


@dataclass(frozen=True)
class Sought:
    """Texts to be found: `windows` of those that are long, `whole` short ones, `words` taken as they are, any case."""

    windows: frozenset[str] = frozenset()
    whole: tuple[str, ...] = ()
    alone: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.windows or self.whole or self.alone or self.words)

    def __or__(self, other: Sought) -> Sought:
        return Sought(
            self.windows | other.windows,
            (*self.whole, *other.whole),
            self.alone | other.alone,
            (*self.words, *other.words),
        )


def sought(texts: Iterable[str], words: Iterable[str] = ()) -> Sought:
    """What has to be looked for to find quotes of `texts`; every place of `words` counts, however short they are."""
    windows: set[str] = set()
    whole, alone = [], set()
    for text in (text.strip() for text in texts):
        found = list(_windows(text))
        windows.update(text[start:end] for start, end in found)
        if not found and size(text) >= SHORT:
            whole.append(text)
        elif not found and text:
            alone.add(text)
    given = tuple(word for word in words if word)
    return Sought(frozenset(windows), tuple(whole), frozenset(alone), given)


def size(text: str) -> int:
    """Units of a text: 3 for a wide character, 1 for any other."""
    return sum(WIDE if ord(character) >= _FIRST_WIDE else 1 for character in text)


def find(wanted: Sought, text: str) -> list[Span]:
    """The stretches of `text` that quote, (start, end), merged, in order."""
    if text.strip() in wanted.alone:
        return [(0, len(text))]
    spans = list(_quoting(wanted, text))
    spans += [
        found.span()
        for word in (*wanted.whole, *wanted.words)
        for found in re.finditer(re.escape(word), text, re.IGNORECASE if word in wanted.words else 0)
    ]
    return _merged(sorted(spans))


def inside(wanted: Sought, text: str) -> int:
    """How often texts that are sought `alone`, in any case, stand within a text; narrow ones as words of their own."""
    return sum(
        len(
            re.findall(
                re.escape(one) if size(one) > len(one) else rf"(?<!\w){re.escape(one)}(?!\w)", text, re.IGNORECASE
            )
        )
        for one in wanted.alone
        if text.strip() != one
    )


def cut(wanted: Sought, text: str) -> str:
    """The text with every quote cut out, a mark in its place."""
    spans = find(wanted, text)
    for start, end in reversed(spans):
        text = text[:start] + CUT + text[end:]
    return text


def without(wanted: Sought, texts: Iterable[str]) -> Sought:
    """What is sought but does not stand in any of `texts`, as others say it themselves."""
    said: set[str] = set()
    short: set[str] = set()
    for text in texts:
        said.update(text[start:end] for start, end in _quoting(wanted, text))
        short.update(word for word in (*wanted.whole, *wanted.words) if word.casefold() in text.casefold())
        short.update({text.strip()} & wanted.alone)
    return Sought(
        wanted.windows - said,
        tuple(word for word in wanted.whole if word not in short),
        wanted.alone - short,
        tuple(word for word in wanted.words if word not in short),
    )


def probes(texts: Iterable[str]) -> set[str]:
    """Stretches of texts that lie side by side: any quote that is twice as long as must be has one in it."""
    found: set[str] = set()
    for text in (text.strip() for text in texts):
        reached = 0
        for start, end in _windows(text):
            if start >= reached:
                found.add(text[start:end])
                reached = end
        if not reached:
            found.add(text)
    return found


def _quoting(wanted: Sought, text: str) -> Iterable[Span]:
    """Every window of a text that is sought; a few are looked for by the string's own search, 1 ns a character."""
    if len(wanted.windows) <= FEW and not any(window in text for window in wanted.windows):
        return ()
    return ((start, end) for start, end in _windows(text) if text[start:end] in wanted.windows)


def _windows(text: str) -> Iterable[Span]:
    """From each place the shortest stretch that is long enough."""
    end = units = 0
    sizes = [WIDE if ord(character) >= _FIRST_WIDE else 1 for character in text]
    for start, own in enumerate(sizes):
        while units < ENOUGH and end < len(text):
            units += sizes[end]
            end += 1
        if units < ENOUGH:
            return
        yield start, end
        units -= own


def _merged(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
