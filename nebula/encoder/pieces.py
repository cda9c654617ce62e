"""How a long text becomes several pieces, each short enough for the encoder, so that nothing of it is lost.

Works on token ids alone. Pieces end where a sentence or line ends if one does in their second half, else at a
comma, else between two words; each begins a little before the last one's end, so that no thought is cut in
both. Every token is in at least one piece.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nebula.encoder.wordpiece import WordPiece

#: Names this rule in an encoder's key: vectors made by another rule are not comparable piece by piece.
RULE = "pieces-1"

#: Signs after which a sentence, or a part of one, ends.
SENTENCE_ENDS = "。！？；!?;…."
PART_ENDS = "，、：,:）)"
#: An overlap is at most this part of a piece (48 tokens of 510 at most, then).
OVERLAP_PART = 10


def pieces(text: str, wordpiece: WordPiece, longest: int) -> list[list[int]]:
    """Token ids of each piece, with [CLS] and [SEP], each at most `longest` (>= 4) long; at least one piece.

    Time and memory grow linearly with the text.
    """
    body = longest - 2
    ids, line_ends = _tokens_by_line(text, wordpiece)
    if len(ids) <= body:
        return [[wordpiece.first, *ids, wordpiece.last]]
    strong = _ids_of(SENTENCE_ENDS, wordpiece)
    weak = _ids_of(PART_ENDS, wordpiece)
    sentences = {at + 1 for at, token in enumerate(ids) if token in strong} | line_ends
    parts = {at + 1 for at, token in enumerate(ids) if token in weak}
    words = {at for at, token in enumerate(ids) if not wordpiece.continues(token)}
    found: list[list[int]] = []
    start = 0
    while len(ids) - start > body:
        end = _end(start, body, (sentences, parts, words))
        found.append([wordpiece.first, *ids[start:end], wordpiece.last])
        start = _next_start(end, body, (sentences, parts, words))
    found.append([wordpiece.first, *ids[start:], wordpiece.last])
    return found


def _tokens_by_line(text: str, wordpiece: WordPiece) -> tuple[list[int], set[int]]:
    """The text's tokens, and the positions at which a line has just ended."""
    ids: list[int] = []
    ends: set[int] = set()
    for line in text.split("\n"):
        ids += wordpiece.tokens(line)
        ends.add(len(ids))
    return ids, ends


def _ids_of(signs: str, wordpiece: WordPiece) -> set[int]:
    """Those signs that the vocabulary has ([UNK] is never among them)."""
    return {token for sign in signs if (token := wordpiece.id_of(sign)) is not None}


def _end(start: int, body: int, breaks: tuple[set[int], set[int], set[int]]) -> int:
    """Where a piece from `start` on ends: the last break of the best kind in its second half, else full."""
    full = start + body
    for kind in breaks:
        for at in range(full, start + body // 2, -1):
            if at in kind:
                return at
    return full


def _next_start(end: int, body: int, breaks: tuple[set[int], set[int], set[int]]) -> int:
    """Where the next piece begins: the earliest break of the best kind in the overlap, else at the end."""
    for kind in breaks:
        for at in range(end - body // OVERLAP_PART, end):
            if at in kind:
                return at
    return end
