"""A query taken apart: lines of a dialogue without their labels, sentences, and the names it calls.

What is being spoken of stands at the end of a dialogue; a label (`Bart:`) says who speaks, not what is meant.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from nebula.text import normal, words

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The last sentences of a query that are looked at one by one; of a longer one the whole still counts.
AT_MOST: Final = 12
#: Characters of a sentence; a shorter one says nothing.
SHORTEST: Final = 2
#: Labels that name a part, not a person.
ROLES: Final = frozenset({"user", "assistant", "ai", "system", "bot", "human", "用户", "助手", "助理", "系统"})
_LABEL: Final = re.compile(r"\s*([^\W\d_][^:：\n]{0,24}?)\s*(?:：|:(?!//))\s*")
_ENDS: Final = re.compile(r"(?<=[。！？!?；;…])\s*|(?<=\.)\s+|\n+")
#: Characters of a name without spaces, words of a name with them.
_NAME_LENGTHS: Final = range(2, 7)
_NAME_WORDS: Final = range(1, 4)


class Clause(NamedTuple):
    """A sentence of a query, and how many lines before the last one it stands (0 in a query of one line)."""

    text: str
    back: int


def is_dialogue(query: str) -> bool:
    """Whether most of two or more lines begin with a speaker's label."""
    lines = _lines(query)
    return len(lines) > 1 and 2 * sum(_LABEL.match(line) is not None for line in lines) > len(lines)


def lines(query: str) -> list[Clause]:
    """The lines that are not empty, as they stand."""
    found = _lines(query)
    return [Clause(line, len(found) - 1 - at) for at, line in enumerate(found)]


def clauses(query: str) -> list[Clause]:
    """The last sentences, labels of a dialogue taken off; empty where that is just the query itself."""
    labelled = is_dialogue(query)
    found = [
        Clause(sentence.strip(), line.back)
        for line in lines(query)
        for sentence in _ENDS.split(_LABEL.sub("", line.text, count=1) if labelled else line.text)
        if sentence and len(sentence.strip()) >= SHORTEST
    ]
    return found[-AT_MOST:] if len(found) > 1 or labelled else []


def speaker(text: str) -> str:
    """Who a memory's text says is speaking (`Caroline: …`), folded; "" for nobody or a mere part (`User: …`)."""
    found = _LABEL.match(text)
    return named(found[1]) if found else ""


def spoken_by(field: str, text: str) -> str:
    """Who speaks in a memory, folded: by its record's field, else by its text's label."""
    return named(field) or speaker(text)


def named(name: str) -> str:
    """A name as it is compared; "" for what names a part and no person."""
    folded = " ".join(normal.fold(name).split())
    return "" if folded in ROLES or len(folded) < SHORTEST else folded


def names(query: str) -> set[str]:
    """All that could be a speaker's name in a query, as `named` writes it; nothing in a dialogue, which names both."""
    return set() if is_dialogue(query) else set(_names(normal.fold(query)))


def _names(folded: str) -> Iterator[str]:
    runs = words.RUNS.findall(folded)
    for run in runs:
        if words.unspaced(run):
            yield from (run[at : at + size] for size in _NAME_LENGTHS for at in range(len(run) - size + 1))
    for size in _NAME_WORDS:
        yield from (" ".join(runs[at : at + size]) for at in range(len(runs) - size + 1))


def _lines(query: str) -> list[str]:
    return [line for line in query.split("\n") if line.strip()]
