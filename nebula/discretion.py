"""What may be spoken of: the tacts (分寸) hold their topics back from a prompt, or come along with a query (spec 1).

`never`: nothing about the topic is told. `if-asked`: only when the query speaks of it. `gently` and `freely` hold
nothing back; they come along as the rule of how to speak. Judged by words, so that anyone can say why. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from nebula.quick import dataclass
from nebula.text import normal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nebula.mindlib.record import Memory

NEVER, IF_ASKED = "never", "if-asked"
HOLDING = (NEVER, IF_ASKED)  # what keeps a topic back
#: What a tact without a topic must share with a text to speak of the same: as many keywords as bind an edge (spec 4).
SHARED = 2
WHOLE = 5  # letters from which a Latin word's beginning is taken for the word
_SEPARATORS = re.compile(r"[,，、/;；|\n]+")


@dataclass(frozen=True)
class Topic:
    """What a tact is about: a text speaks of it where at least `need` of the folded terms stand in it."""

    terms: Sequence[str]
    need: int = 1

    def named(self, said: Said) -> list[str]:
        """Its terms that stand in a text."""
        return [term for term in self.terms if said.holds(term)]

    def within(self, said: Said) -> bool:
        """Whether a text speaks of it."""
        return bool(self.terms) and len(self.named(said)) >= self.need


class Said:
    """A text as topics are looked for in it: folded, without what can't be seen, so that nothing hides a word."""

    def __init__(self, *texts: str) -> None:
        folded = normal.fold("\n".join(texts))
        seen = folded if folded.isascii() else _seen(folded)
        self._words, self._run = seen, "".join(seen.split())

    def holds(self, term: str) -> bool:
        """Latin terms stand as words, in any form of theirs; others anywhere, also where blanks part them."""
        return _latin(term).search(self._words) is not None if term.isascii() else term in self._run


@lru_cache(maxsize=1024)
def _latin(term: str) -> re.Pattern[str]:
    """A term's words one after another, as they are written or bent."""
    words = r"[\W_]+".join(_forms(word) for word in term.split())
    return re.compile(rf"(?<![^\W_]){words}(?![^\W_])")


def _forms(word: str) -> str:
    """A word and what comes of it, as a pattern: `cancer` has cancerous, `divorce` divorcing, `salary` salaries.

    From `WHOLE` letters on whatever begins with it is taken for a form of it: a memory held back in vain is the lesser
    harm. Shorter words have endings alone, so that `ex` is in no `example`.
    """
    if len(word) < WHOLE or not word.isalpha():
        twice = f"{word[-1]}?" if word[-1].isalpha() else ""  # begged, planning
        return rf"{re.escape(word)}(?:'?s|es|{twice}(?:ed|ing|er|ers|or|ors)|d|r)?"
    if word.endswith("y"):
        return rf"{re.escape(word[:-1])}(?:y[^\W_]*|i(?:es|ed|er|ers|ous|al))(?:'s)?"
    if word.endswith("e"):
        return rf"{re.escape(word[:-1])}(?:e[^\W_]*|ing|ings|able|ation)(?:'s)?"
    return rf"{re.escape(word)}[^\W_]*(?:'s)?"


def _seen(text: str) -> str:
    kept = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return kept.translate(normal.UNSEEN).translate(dict.fromkeys((0xFE0E, 0xFE0F)))


def topic(tact: Memory) -> Topic:
    """By its topic, whose alternatives `，` `/` `;` or, in Chinese, blanks part; without one by its text's keywords."""
    parts = (part.strip() for part in _SEPARATORS.split(normal.fold(tact.topic)))
    terms = [term for part in parts if part for term in ([part] if part.isascii() else part.split())]
    if terms:
        return Topic(terms)
    from nebula.text.keywords import keywords

    words = keywords(tact.text)
    return Topic(words, min(SHARED, len(words)))


@dataclass(frozen=True)
class Discretion:
    """The topics that are held back for one query, and the tacts that come along with it."""

    held: Sequence[Topic] = ()
    rules: Sequence[Memory] = ()

    def allows(self, memory: Memory) -> bool:
        """Whether a memory may be told."""
        return self._free(memory.text, memory.tag, memory.topic, memory.speaker, memory.via, memory.due)

    def allows_text(self, text: str) -> bool:
        """Whether a text may be told."""
        return self._free(text)

    def _free(self, *texts: str) -> bool:
        said = Said(*texts) if self.held else None
        return said is None or not any(one.within(said) for one in self.held)


def judge(tacts: Iterable[Memory], query: str) -> Discretion:
    """What the tacts that hold say for a query ("" without one: nothing was asked).

    A rule comes along where the query speaks of its topic itself, a never-tact with what of its topic the query named:
    nothing is told that was not said.
    """
    said = Said(query)
    topics = [(tact, topic(tact)) for tact in tacts]
    asked = {tact.ref for tact, about in topics if about.within(said)}
    held = [about for tact, about in topics if tact.say == NEVER or (tact.say == IF_ASKED and tact.ref not in asked)]
    others = Discretion(held)
    rules = [
        replace(tact, topic=" ".join(about.named(said))) if tact.say == NEVER else tact
        for tact, about in topics
        if tact.ref in asked and (tact.say == NEVER or others.allows(tact))
    ]
    return Discretion(held, rules)
