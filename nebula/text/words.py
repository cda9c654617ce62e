"""Text to tokens for the lexical route and for keywords, cut alike for the index and for a query.

jieba cuts, over the mapped word table instead of its own dictionary: same cuts, no load of over a second, no
cache file in a shared folder, no output. It is imported on the first Chinese text, not before. This is its
only user.

A text falls into runs: of Han, kana and hangul characters, which have no spaces and are cut into words and
character grams, and of all other letters and digits, which are words as they stand. So `GitHub备份` is found
by either half, and `events.jsonl` or `DeepSeek-V3` by its parts.
"""

from __future__ import annotations

import importlib
import re
import sys
import threading
import warnings
from functools import cache, lru_cache
from itertools import pairwise
from types import ModuleType
from typing import TYPE_CHECKING, Final, Literal, Protocol

from nebula.text import endings, normal, wordtable
from nebula.text.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from nebula.text.wordtable import WordTable

Mode = Literal["full", "words"]


class Tokenizer(Protocol):
    """What is used of `jieba.Tokenizer`."""

    def cut(self, sentence: str) -> Iterator[str]:
        """Cut into words, everything kept."""

    def cut_for_search(self, sentence: str) -> Iterator[str]:
        """Cut into words, long ones also into the dictionary words inside."""


#: First and last characters of the scripts that are searched by characters too: Han, kana, hangul.
RANGES: Final = (
    ("\u4e00", "\u9fff"),
    ("\u3041", "\u3096"),
    ("\u309d", "\u309f"),
    ("\u30a1", "\u30fa"),
    ("\u30fc", "\u30ff"),
    ("\u31f0", "\u31ff"),
    ("\uac00", "\ud7af"),
    ("\u3005", "\u3007"),
    ("\u3400", "\u4dbf"),
    ("\uf900", "\ufaff"),
    ("\U00020000", "\U000323af"),
)
RANGES_START: Final = min(first for first, _ in RANGES)
UNSPACED: Final = "".join(f"{first}-{last}" for first, last in RANGES)
#: A run of those, or a word of any other script.
RUNS: Final = re.compile(f"[{UNSPACED}]+|[^\\W_{UNSPACED}]+")

#: The parts of an identifier in camel case (`getUserName`).
CAMEL: Final = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])")
#: A name with a number at its end (`python3`).
NUMBERED: Final = re.compile(r"([a-z]{2,})([0-9]+)")

#: In a run of unknown characters jieba copies a path for each, which is quadratic: longer runs are cut up.
PIECE: Final = 1024
#: Where cutting a text early changes no word: jieba's blocks end at each of these (folded) characters.
BLOCK_END: Final = re.compile(r"(?<=[\s,。、;:!?()\"“”])")

#: Runs whose cut is remembered: those of the text at hand.
CUT: Final = 256

_LOCK: Final = threading.Lock()


@cache
def table() -> WordTable:
    """The word table, opened once a process; raises AssetDamaged."""
    return wordtable.WordTable(wordtable.words_file())


@cache
def _open_tokenizer() -> Tokenizer:
    words = table()
    jieba = importlib.import_module("jieba") if "jieba" in sys.modules else _import_jieba(words)
    # an instance of its own: jieba.dt stays as other users of the process expect it
    own = jieba.Tokenizer()
    own.FREQ, own.total, own.initialized = words.frequencies, words.total, True
    return own  # type: ignore[no-any-return]  # jieba ships no types


def _import_jieba(words: WordTable) -> ModuleType:
    """Import jieba without what makes that slow or loud.

    `pkg_resources` (150 ms, deprecated) is hidden, so that jieba falls back to plain files; its emission
    table, 1.3 MB of source (600 ms without byte-code), is replaced by the mapped one; the invalid escapes in
    its source warn on Python >= 3.12 and are not ours to mend.
    """
    emission = ModuleType("jieba.finalseg.prob_emit")
    emission.__dict__["P"] = words.emissions
    sys.modules[emission.__name__] = emission
    hidden = "pkg_resources" not in sys.modules
    if hidden:
        # how Python marks a module as absent
        sys.modules["pkg_resources"] = None  # type: ignore[assignment]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module("jieba")
    finally:
        if hidden:
            del sys.modules["pkg_resources"]


def _tokenizer() -> Tokenizer:
    with _LOCK:
        return _open_tokenizer()


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces that jieba cuts in linear time."""
    if len(text) <= PIECE:
        yield text
        return
    for block in BLOCK_END.split(text):
        for start in range(0, len(block), PIECE):
            yield block[start : start + PIECE]


def unspaced(run: str) -> bool:
    """Whether a run (one match of RUNS) is of Han, kana or hangul characters."""
    return run >= RANGES_START and any(first <= run[0] <= last for first, last in RANGES)


def words(text: str) -> list[str]:
    """The words of a text, folded: jieba's search words where scripts have no spaces, else as they stand."""
    return [
        word for run in RUNS.findall(normal.fold(text)) for word in (_search_words(run) if unspaced(run) else [run])
    ]


@lru_cache(maxsize=CUT)
def cut(run: str) -> Sequence[str]:
    """The words that a run of Han, kana or hangul consists of, none inside another."""
    return [word for piece in _pieces(run) for word in _tokenizer().cut(piece)]


def _search_words(run: str) -> list[str]:
    """As jieba's `cut_for_search`: before each word the dictionary's words of two and three characters inside it."""
    known = table().frequencies
    found: list[str] = []
    for word in cut(run):
        for size in (2, 3):
            if len(word) > size:
                parts = (word[at : at + size] for at in range(len(word) - size + 1))
                found += [part for part in parts if known.get(part)]
        found.append(word)
    return found


def grams(text: str) -> list[str]:
    """Character unigrams and bigrams of the runs of Han, kana and hangul."""
    return [gram for run in RUNS.findall(normal.fold(text)) if unspaced(run) for gram in _run_grams(run)]


def _run_grams(run: str) -> list[str]:
    return [*run, *map("".join, pairwise(run))]


def _identifier(run: str) -> list[str]:
    """A word of another script, as written -> itself and the parts it is made of, folded, each once."""
    word = run.casefold()
    parts = [word]
    if run.isascii() and not (run.islower() or run.istitle()):
        parts += [part.casefold() for part in CAMEL.findall(run)]
    numbered = NUMBERED.fullmatch(word) if word[-1].isdigit() else None
    return list(dict.fromkeys((*parts, *numbered.groups()) if numbered else parts))


def _full(text: str, skip: Collection[str]) -> Iterator[str]:
    """Words and grams, each as often as it comes (a bigram that is a word: twice; measured, no worse)."""
    for run in RUNS.findall(normal.compose(text)):
        if unspaced(run):
            yield from (term for term in (*_search_words(run), *_run_grams(run)) if term not in skip)
        else:
            yield from (endings.stem(word) for word in _identifier(run) if word not in skip)


def _plain(text: str) -> list[str]:
    """Search words of the whole text as jieba cuts it, those without a letter or digit left out."""
    cuts = (_tokenizer().cut_for_search(piece) for piece in _pieces(normal.fold(text)))
    return [word for words_ in cuts for word in words_ if any(map(str.isalnum, word))]


def tokens(text: str, mode: Mode = "full") -> list[str]:
    """The terms of a text, each as often as it stands there.

    `full`: words with English endings off, the parts of identifiers, character unigrams and bigrams. `words`:
    jieba's search words alone (profile `original`; BM25 over these gives the baseline's very rankings).
    """
    return list(_full(text, ())) if mode == "full" else _plain(text)


def query_tokens(text: str, mode: Mode = "full") -> list[str]:
    """The terms a query asks for: its `tokens`; in mode `full` no stop words unless nothing else is there."""
    if mode == "words":
        return tokens(text, mode)
    return list(_full(text, STOP_WORDS)) or tokens(text, mode)
