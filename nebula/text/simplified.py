"""Traditional characters as simplified ones, one for one: either script finds what was written in the other.

For matching and for the encoder, never for showing. Characters alone, no words: places in the text stay, and a text in
simplified script comes back as it is. The table is OpenCC's (assets/hanzi), read on the first text that isn't ASCII.
"""

from __future__ import annotations

from functools import cache

from nebula import places


@cache
def _table() -> dict[str, str]:
    lines = (places.asset("hanzi") / "simplified.txt").read_text(encoding="utf-8").splitlines()
    return {line[0]: line[1] for line in lines}


@cache
def _codes() -> dict[int, str]:
    return {ord(traditional): simplified for traditional, simplified in _table().items()}


def simplified(text: str) -> str:
    """`後天去臺北` -> `后天去台北`; as long as the text."""
    return text if text.isascii() or _table().keys().isdisjoint(text) else text.translate(_codes())
