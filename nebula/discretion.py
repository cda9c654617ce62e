"""What may be spoken of: the tacts (分寸) hold their topics back from a prompt, or come along with a query (spec 1).

`never`: nothing about the topic is told. `if-asked`: only when the query speaks of it. `gently` and `freely` hold
nothing back; they come along as the rule of how to speak. Judged by words, so that anyone can say why. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nebula.text import normal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nebula.mindlib.record import Memory

NEVER, IF_ASKED = "never", "if-asked"
#: What a tact without a topic must share with a text to speak of the same: as many keywords as bind an edge (spec 4).
SHARED = 2
_SEPARATORS = re.compile(r"[,，、/;；|\n]+")


@dataclass(frozen=True)
class Topic:
    """What a tact is about: a text speaks of it where at least `need` of the folded terms stand in it."""

    terms: Sequence[str]
    need: int = 1

    def within(self, *texts: str) -> bool:
        """Whether the texts, taken together, speak of it."""
        folded = normal.fold("\n".join(texts))
        return bool(self.terms) and sum(_stands(term, folded) for term in self.terms) >= self.need


def _stands(term: str, folded: str) -> bool:
    """Latin terms stand as whole words, a plural allowed; others anywhere."""
    if term.isascii():
        return re.search(rf"(?<!\w){re.escape(term)}(?:s|es|'s)?(?!\w)", folded) is not None
    return term in folded


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
        return not any(one.within(memory.text, memory.tag, memory.topic, memory.speaker) for one in self.held)

    def allows_text(self, text: str) -> bool:
        """Whether a text may be told."""
        return not any(one.within(text) for one in self.held)


def judge(tacts: Iterable[Memory], query: str) -> Discretion:
    """What the tacts that hold say for a query ("" without one: nothing was asked).

    A rule comes along where the query speaks of its topic itself; so a never-tact names nothing that was not named.
    """
    held: list[Topic] = []
    rules: list[Memory] = []
    for tact in tacts:
        about = topic(tact)
        asked = about.within(query)
        if tact.say == NEVER or (tact.say == IF_ASKED and not asked):
            held.append(about)
        if asked:
            rules.append(tact)
    return Discretion(held, rules)
