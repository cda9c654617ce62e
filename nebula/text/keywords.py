"""Keywords of a memory (spec 4): its up to eight most informative words, by a fixed table.

They depend on the text alone, so they don't change as the mind grows; what half a mind shares is judged
elsewhere.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from nebula.text import normal, words
from nebula.text.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator


#: Keywords of a memory (spec 4).
AT_MOST = 8


def keywords(text: str, limit: int = AT_MOST) -> tuple[str, ...]:
    """The words with the highest tf x idf, best first, ties by first position.

    tf: how often the word stands in the text. idf: jieba's fixed list, the list's median (11.95) for a word
    not in it, Latin words among them. Words: folded, two characters or more, no stop words, no pure numbers.
    Worked figure: in `灯塔下的灯塔` 灯塔 weighs 2 x 9.28.
    """
    counts = Counter(word for word in _words(text) if informative(word))
    table = words.table()
    # sorted() is stable and Counter keeps the order of first occurrence
    return tuple(sorted(counts, key=lambda word: -counts[word] * table.idf(word))[:limit])


def content(text: str) -> list[str]:
    """The words of a text that say something, each once, in their order."""
    return list(dict.fromkeys(word for word in _words(text) if informative(word)))


def _words(text: str) -> Iterator[str]:
    for run in words.RUNS.findall(normal.fold(text)):
        if words.unspaced(run):
            yield from words.cut(run)
        else:
            yield run


def informative(word: str) -> bool:
    """Whether a word may be a keyword."""
    return len(word) >= 2 and word not in STOP_WORDS and not word.isnumeric()
