"""Stored text inside a prompt: data that can neither close its block nor begin a line or tag of its own.

A block is lines between an opening and a closing tag. What stands in it is escaped, one thing a line, so the block's
shape is the program's alone, whatever a text says (reliability 5.4: structure is promised, not detection).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from nebula.text import normal

#: Characters that end a line, steer a terminal, turn the direction or can't be seen; the joiner is judged by itself.
_GONE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_JOINER = "\u200d"
#: The joiner and the two selectors of an emoji's look, which can't be seen: in rows of them a text can be hidden.
_OF_EMOJI = re.compile("[\ufe0e\ufe0f\u200d]+")
_KEYCAP = "\u20e3"
_BLOCK = re.compile(r"<memory-([0-9a-f]{12})>\n(.*?)\n</memory-\1>", re.DOTALL)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_PRINTABLE_ASCII = re.compile(r"[ -~]*")


def escaped(text: str) -> str:
    """One line that opens and closes nothing: `&`, `<` and `>` as entities, controls and line ends as a space."""
    if not _PRINTABLE_ASCII.fullmatch(text):
        text = "".join(" " if unicodedata.category(c) in _GONE and c != _JOINER else c for c in text)
        text = _OF_EMOJI.sub(_of_emoji, text.translate(normal.UNSEEN))
    flat = re.sub(r"\s+", " ", text).strip()
    return re.sub("[&<>]", lambda found: _ENTITIES[found[0]], flat)


def _of_emoji(found: re.Match[str]) -> str:
    """What an emoji needs of joiners and selectors: one selector after a symbol, one joiner between two."""
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    if not (_is_symbol(before) or (after == _KEYCAP and before in "#*0123456789")):
        return ""
    selector = found[0][0] if found[0][0] != _JOINER else ""
    return selector + (_JOINER if _JOINER in found[0] and _is_symbol(after) else "")


def _is_symbol(character: str) -> bool:
    return character != "" and (unicodedata.category(character) in {"So", "Sk", "Sm"} or character in "‼⁉ℹ〰")


def fitted(text: str, room: int) -> str:
    """An escaped text, cut openly where it is longer; never within an entity."""
    if len(text) <= room:
        return text
    cut = text[: max(0, room - 1)]
    return re.sub(r"&[a-z]*$", "", cut).rstrip() + "…" if room > 1 else ""


def word(text: str, limit: int = 20) -> str:
    """A short value from outside as one word of a line's head: no blank, no bracket; `?` where nothing is left."""
    return re.sub(r"[\s\[\]]+", "_", escaped(text[: 4 * limit]))[:limit].replace("&", "+") or "?"


def boundary(body: str) -> str:
    """A block's own mark, 12 hex digits of its body's hash: the same block has the same, and no text can hold its own.

    So a run can be repeated and a prompt be cached, and yet nobody who writes a memory can name the tag it will be in.
    """
    return hashlib.blake2b(body.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def without_blocks(text: str) -> str:
    """A text without the whole blocks in it, which their marks prove to be ours."""
    if "<memory-" not in text:
        return text
    return _BLOCK.sub(lambda found: "\n" if boundary(found[2]) == found[1] else found[0], text)
