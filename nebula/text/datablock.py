"""Stored text inside a prompt: data that can neither close its block nor begin a line or tag of its own.

A block is lines between an opening and a closing tag. What stands in it is escaped, one thing a line, so the block's
shape is the program's alone, whatever a text says (reliability 5.4: structure is promised, not detection).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from nebula.text import normal

#: Characters that end a line, steer a terminal, turn the direction or can't be seen; the joiner of emoji stays.
_GONE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_JOINER = "\u200d"
#: More joiners and selectors in a row than an emoji has: a text may be hidden in them.
_MORE_THAN_AN_EMOJI = re.compile("([\ufe0e\ufe0f\u200d]{2})[\ufe0e\ufe0f\u200d]+")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_PRINTABLE_ASCII = re.compile(r"[ -~]*")


def escaped(text: str) -> str:
    """One line that opens and closes nothing: `&`, `<` and `>` as entities, controls and line ends as a space."""
    if not _PRINTABLE_ASCII.fullmatch(text):
        text = "".join(" " if unicodedata.category(c) in _GONE and c != _JOINER else c for c in text)
        text = _MORE_THAN_AN_EMOJI.sub(r"\1", text.translate(normal.UNSEEN))
    flat = re.sub(r"\s+", " ", text).strip()
    return re.sub("[&<>]", lambda found: _ENTITIES[found[0]], flat)


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
