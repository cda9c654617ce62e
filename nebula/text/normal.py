"""The one folding of text for everything lexical (index, query, keywords). The encoder has its own."""

from __future__ import annotations

import unicodedata

from nebula.text.simplified import simplified


def compose(text: str) -> str:
    """NFKC and simplified: full-width, circled and other dressed-up characters become plain ones; letter case stays."""
    return text if text.isascii() else simplified(unicodedata.normalize("NFKC", text))


def fold(text: str) -> str:
    """NFKC, simplified, then case folding: `ＧｉｔＨｕｂ②` and `github2` become one. Surrogates and controls stay."""
    return compose(text).casefold()
