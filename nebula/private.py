"""`<private>…</private>`: what stands between is never stored, whichever way it comes in.

`mindlib.ledger.dump`, through which every line goes, takes it out once more: a new way in can't forget it.
"""

from __future__ import annotations

import re
from typing import Any

# compiled when a text first has a bracket in it: few do. Brackets may be full-width, as an input method writes them;
# blanks, line ends and attributes may stand within; in JSON all of these may be escaped
_TAG = r"(?i)[<＜]\s*(/?)\s*private(?:\s[^<>＜＞]*)?[>＞]"
_MARK = (
    rb"(?i)(?:<|\xef\xbc\x9c|\\u003c|\\uff1c)(?:\s|\\[nrt])*private"
    rb"(?:(?:\s|\\[nrt])[^<>]*?)?(?:>|\xef\xbc\x9e|\\u003e|\\uff1e)"
)


def marked(data: bytes) -> bool:
    """Whether UTF-8 bytes, JSON or plain, open a private passage anywhere."""
    begun = b"<" in data or b"\xef\xbc\x9c" in data or b"\\u" in data
    return begun and re.search(_MARK, data) is not None


def strip(text: str) -> tuple[str, int]:
    """A text without its private passages, and how many there were; one that is not closed goes to the end.

    Passages may lie in one another. Of the blanks on both sides of one, one goes. What is left may be no passage again.
    """
    count = 0
    while (once := _stripped(text))[1]:
        text, count = once[0], count + once[1]
    return text, count


def _stripped(text: str) -> tuple[str, int]:
    if "<" not in text and "＜" not in text:
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
