"""BERT's WordPiece: text -> token ids, with the vocabulary's own [UNK] for what it can't spell.

Basic tokenisation (clean, set Chinese characters and punctuation apart, optionally lower-case and strip
accents), then the longest piece first, as in Devlin et al. 2018 and its reference `tokenization.py`. Pure
Python: no numpy. What a long text's token ids are cut into is `pieces.py`'s business.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: A word of more characters becomes [UNK] as a whole, as BERT has it.
LONGEST_WORD = 100
#: What is remembered of characters and words met; a hostile text must not grow them without bound.
REMEMBERED = 50_000

#: Special words that stand for themselves wherever they occur in a text, as in every BERT tokenizer.
SPECIAL = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")

#: The blocks that BERT calls Chinese: ideographs, their extensions and compatibility forms; no kana, no
#: Hangul.
CHINESE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip

#: Full-width letters and digits, and theirs in ASCII. Punctuation is left: ，：！？ have their own vectors.
FULL_WIDTH = {
    code: code - 0xFEE0
    for first, last in ((0xFF10, 0xFF19), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A))
    for code in range(first, last + 1)
}


def fold_width(text: str) -> str:
    """Full-width letters and digits as ASCII, all else as it is: `ＮＡＳＡ，３` -> `NASA，3`."""
    return text if text.isascii() else text.translate(FULL_WIDTH)


class WordPiece:
    """A vocabulary and a mode, with what was learned about characters and words so far."""

    def __init__(self, words: Sequence[str], *, lowercase: bool) -> None:
        self.lowercase = lowercase
        self._ids = dict(zip(words, range(len(words)), strict=True))
        self._words = words
        self._longest = 0
        self._characters = _Characters(lowercase=lowercase)
        self._split: dict[str, list[int]] = {}
        self.unknown = self._ids["[UNK]"]
        self.first = self._ids["[CLS]"]
        self.last = self._ids["[SEP]"]

    def tokens(self, text: str) -> list[int]:
        """The text's token ids, without [CLS] and [SEP]; [] for a text without visible characters."""
        if "[" not in text:
            return self._plain(text)
        ids: list[int] = []
        for place, part in enumerate(SPECIAL.split(text)):
            if place % 2 and part in self._ids:
                ids.append(self._ids[part])
            else:
                ids += self._plain(part)
        return ids

    def id_of(self, word: str) -> int | None:
        """The word's id, None where the vocabulary lacks it."""
        return self._ids.get(word)

    def continues(self, token: int) -> bool:
        """Whether the piece goes on a word (`##…`)."""
        return self._words[token].startswith("##")

    def _plain(self, text: str) -> list[int]:
        known = self._ids.get
        ids: list[int] = []
        for word in text.translate(self._characters).split():
            token = known(word)
            if token is not None and len(word) <= LONGEST_WORD:
                ids.append(token)
            else:
                ids += self._spelled(word)
        return ids

    def _spelled(self, word: str) -> list[int]:
        found = self._split.get(word)
        if found is None:
            found = self._spell(word) if len(word) <= LONGEST_WORD else [self.unknown]
            if len(self._split) >= REMEMBERED:
                self._split.clear()
            if len(word) <= LONGEST_WORD:
                self._split[word] = found
        return found

    def _spell(self, word: str) -> list[int]:
        """Longest piece first; a rest that no piece begins makes the whole word [UNK]."""
        if not self._longest:
            self._longest = max(map(len, self._words))
        ids: list[int] = []
        at, mark = 0, ""
        while at < len(word):
            for end in range(min(len(word), at + self._longest), at, -1):
                token = self._ids.get(mark + word[at:end])
                if token is not None:
                    break
            else:
                return [self.unknown]
            ids.append(token)
            at, mark = end, "##"
        return ids


class _Characters(dict[int, str]):
    """`str.translate` table that works out each character when it is first met."""

    def __init__(self, *, lowercase: bool) -> None:
        super().__init__()
        self.lowercase = lowercase

    def __missing__(self, code: int) -> str:
        shown = _clean(chr(code), lowercase=self.lowercase)
        if len(self) < REMEMBERED:
            self[code] = shown
        return shown


def _clean(character: str, *, lowercase: bool) -> str:
    """What stands for one character: nothing, a space, itself, or itself between spaces."""
    if character in "\t\n\r":
        return " "
    category = unicodedata.category(character)
    if character == "\ufffd" or category[0] == "C":
        return ""
    if character.isspace():
        return " "
    if any(first <= ord(character) <= last for first, last in CHINESE):
        character = f" {character} "
    if lowercase:
        character = unicodedata.normalize("NFD", character)
        character = "".join(c.lower() for c in character if unicodedata.category(c) != "Mn")
    return "".join(f" {c} " if _punctuation(c) else c for c in character)


def _punctuation(character: str) -> bool:
    """BERT's punctuation: Unicode's, and every ASCII sign that is no letter, digit or space."""
    if character.isascii():
        return character.isprintable() and not character.isalnum() and character != " "
    return unicodedata.category(character)[0] == "P"
