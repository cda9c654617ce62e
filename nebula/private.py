"""`<private>…</private>`: what stands between is never stored, whichever way it comes in.

`mindlib.ledger.dump`, through which every line goes, takes it out once more: a new way in can't forget it.
"""

from __future__ import annotations

import re
from typing import Any

# compiled when a text first has a bracket in it: few do
_TAG = r"(?i)<(/?) *private *>"
_MARK = rb"(?i)< *private *>"


def marked(data: bytes) -> bool:
    """Whether UTF-8 bytes, JSON or plain, open a private passage anywhere."""
    return b"<" in data and re.search(_MARK, data) is not None


def strip(text: str) -> tuple[str, int]:
    """A text without its private passages, and how many there were; one that is not closed goes to the end.

    Passages may lie in one another. Of the blanks on both sides of one, one goes.
    """
    if "<" not in text:
        return text, 0
    kept, depth, start, count = "", 0, 0, 0
    for tag in re.finditer(_TAG, text):
        if not tag[1]:
            if depth == 0:
                kept = _joined(kept, text[start : tag.start()])
                count += 1
            depth += 1
        elif depth:
            depth -= 1
            start = tag.end()
    return (_joined(kept, "" if depth else text[start:]), count) if count else (text, 0)


def _joined(before: str, after: str) -> str:
    return before + (after[1:] if before.endswith((" ", "\n")) and after.startswith((" ", "\n")) else after)


def strip_all(value: Any) -> Any:
    """A JSON value with private passages taken out of every text in it."""
    if isinstance(value, str):
        return strip(value)[0]
    if isinstance(value, list | tuple):
        return [strip_all(item) for item in value]
    if isinstance(value, dict):
        return {strip(key)[0]: strip_all(item) for key, item in value.items()}
    return value
