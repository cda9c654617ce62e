"""The one folding of text for everything lexical (index, query, keywords). The encoder has its own."""

from __future__ import annotations

import unicodedata


def compose(text: str) -> str:
    """NFKC: full-width, circled and other dressed-up characters become plain ones; letter case stays."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def fold(text: str) -> str:
    """NFKC, then case folding: `ＧｉｔＨｕｂ②` and `github2` become one. Surrogates and controls stay."""
    return compose(text).casefold()
