"""Long texts in pieces: nothing lost or too long, breaks at sentence ends, the tail findable by meaning."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nebula.encoder import bundled_folder
from nebula.encoder.pieces import pieces
from nebula.encoder.weights import load
from nebula.encoder.wordpiece import WordPiece

if TYPE_CHECKING:
    from nebula.encoder import Encoder

WORDPIECE = WordPiece(load(bundled_folder()).words, lowercase=True)


def covered(found: list[list[int]], ids: list[int]) -> bool:
    """Whether the pieces' bodies, laid over each other in order, are the whole text with no gap."""
    reach = 0
    for piece in found:
        body = piece[1:-1]
        starts = [at for at in range(max(0, reach - len(body)), reach + 1) if ids[at : at + len(body)] == body]
        if not starts:
            return False
        reach = max(at + len(body) for at in starts)
    return reach == len(ids)


@given(st.text(st.sampled_from("海。，记忆ab \n!x"), max_size=300), st.integers(4, 40))
@settings(max_examples=300, deadline=None)
def test_nothing_is_lost(text: str, longest: int) -> None:
    """Every token is in a piece, in order; each piece is framed and within the limit; there is always one."""
    found = pieces(text, WORDPIECE, longest)
    assert found
    assert all(p[0] == WORDPIECE.first and p[-1] == WORDPIECE.last and len(p) <= longest for p in found)
    assert covered(found, WORDPIECE.tokens(text))


def test_breaks_at_sentence_ends_with_an_overlap() -> None:
    """Pieces of a long note end with a sentence; the next begins with the last one again."""
    text = "".join(f"这是第{n}句话，说的是海和记忆。" for n in range(100))
    found = pieces(text, WORDPIECE, 512)
    stop = WORDPIECE.id_of("。")
    assert stop is not None
    assert len(found) > 2
    assert all(piece[-2] == stop for piece in found)
    for before, after in pairwise(found):
        sentence = after[1 : after.index(stop) + 1]
        assert sentence == before[-1 - len(sentence) : -1] or sentence in [
            before[at : at + len(sentence)] for at in range(len(before))
        ]
        assert sum(1 for token in after if token == stop) > 2


def test_lines_are_breaks_too() -> None:
    """Without punctuation the ends of lines serve."""
    line = "海" * 100
    bodies = [len(piece) - 2 for piece in pieces("\n".join([line] * 8), WORDPIECE, 512)]
    assert bodies[0] == 500


def test_the_tail_of_a_long_note_is_found_by_meaning(encoder: Encoder) -> None:
    """What stands after 3,000 characters of something else is nearer to its question than the rest."""
    text = "今天开会讨论了项目预算和排期，大家意见不一。" * 150 + "晚上女儿说她想养一只橘猫。"
    found = encoder.encode([text, "他想知道小孩想要什么宠物"])
    notes, question = found.vectors[found.owner == 0], found.vectors[-1]
    assert len(notes) > 5
    assert np.argmax(notes @ question) == len(notes) - 1
    assert (notes @ question)[-1] > (notes @ question)[0] + 0.05


def test_a_megabyte(encoder: Encoder) -> None:
    """A million characters are cut in linear time, whatever they are."""
    assert len(encoder.pieces("海" * 340_000)) > 600
    assert len(encoder.pieces("a" * 1_000_000)) == 1
    assert len(encoder.pieces(("x" * 99 + " ") * 10_000)) > 100
