"""WordPiece: against the `tokenizers` library on any text, and the figures of BERT's rules."""

from __future__ import annotations

import sys
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nebula.encoder import bundled_folder
from nebula.encoder.weights import load
from nebula.encoder.wordpiece import SPECIAL, WordPiece, fold_width

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = load(bundled_folder()).words
OURS = {mode: WordPiece(WORDS, lowercase=mode) for mode in (False, True)}


def reference(*, lowercase: bool) -> Callable[[str], list[int]]:
    """BERT's tokenizer as the `tokenizers` library has it, special words aside."""
    tokenizers = pytest.importorskip("tokenizers", reason="the dev extra's tokenizers is not installed")
    made: Any = tokenizers.Tokenizer(
        tokenizers.models.WordPiece(
            {word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]", max_input_chars_per_word=100
        )
    )
    made.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=lowercase)
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return lambda text: list(made.encode(text, add_special_tokens=False).ids)


def stable(character: str) -> bool:
    """Assigned since Unicode 3.2: the library's tables and Python's can't differ by age alone."""
    return unicodedata.ucd_3_2_0.category(character) == unicodedata.category(character) != "Cn"


TEXTS = st.text(
    st.one_of(
        st.sampled_from(
            "海记忆，。！the quick ##[]()-'\t\n\r\x00\x1b\u200b\u200d\u3000\ufeff\ufffdＡｚ９éÅßİΣ한か゛①½🐈"
        ),
        st.characters(exclude_categories=["Cs", "Cn", "Co"]).filter(stable),
    ),
    max_size=60,
).filter(lambda text: not SPECIAL.search(text))


@pytest.mark.parametrize("lowercase", [False, True])
def test_same_ids_as_the_library(lowercase: bool) -> None:
    """Any text, both modes."""
    theirs = reference(lowercase=lowercase)

    @given(TEXTS)
    @settings(max_examples=500, deadline=None)
    def check(text: str) -> None:
        assert OURS[lowercase].tokens(text) == theirs(text)

    check()


@pytest.mark.parametrize("lowercase", [False, True])
def test_every_character_alone(lowercase: bool) -> None:
    """Each stable character between two letters: kept, dropped, split or spaced as the library does."""
    theirs = reference(lowercase=lowercase)
    wrong = [
        f"U+{code:04X}"
        for code in range(0x30000)
        if not 0xD800 <= code < 0xE000 and stable(chr(code)) and unicodedata.category(chr(code)) != "Co"
        if OURS[lowercase].tokens(f"a{chr(code)}a") != theirs(f"a{chr(code)}a")
    ]
    assert wrong == []


def test_folding_letters_and_digits_alone() -> None:
    """Full-width A-Z, a-z, 0-9 become ASCII; full-width punctuation and all else stays."""
    assert fold_width("ＡＺａｚ０９，：！？（）　ｶ①") == "AZaz09，：！？（）　ｶ①"
    folded = [chr(code) for code in range(sys.maxunicode + 1) if fold_width(chr(code)) != chr(code)]
    assert len(folded) == 62


def test_long_words_and_hostile_text() -> None:
    """100 characters are spelled, 101 are [UNK]; surrogates, NUL and controls vanish; nothing raises."""
    ours = OURS[True]
    assert len(ours.tokens("a" * 100)) > 1
    assert ours.tokens("a" * 101) == [ours.unknown]
    assert ours.tokens("\ud800海\udfff\x00\x07\ufffd") == ours.tokens("海")
    assert ours.tokens("") == ours.tokens(" \n\t\u3000") == []
    assert ours.tokens("[CLS]") == [ours.first]
    assert ours.first not in ours.tokens("[cls] [CLS")


def test_a_line_separator_can_be_a_word() -> None:
    """The vocabulary has 21,128 words: it is split at line feeds alone."""
    assert len(WORDS) == 21_128
    assert any(word.splitlines() != [word] for word in WORDS)


def test_what_is_remembered_stays_bounded() -> None:
    """Many unlike words and characters do not grow the memory of either without bound."""
    from nebula.encoder import wordpiece

    ours = WordPiece(WORDS, lowercase=True)
    ours.tokens(" ".join(f"zq{n}x" for n in range(60_000)))
    ours.tokens("".join(map(chr, range(0x10000, 0x30000))))
    assert len(ours._split) <= wordpiece.REMEMBERED
    assert len(ours._characters) <= wordpiece.REMEMBERED
