"""The one folding of text for everything lexical (index, query, keywords). The encoder has its own."""

from __future__ import annotations

import unicodedata

from nebula.text.simplified import simplified

#: For `str.translate`: takes out what leaves no trace on a screen though Unicode calls it a letter, mark or symbol
#: (Default_Ignorable_Code_Point but category Cf, and the empty Braille cell), in which whole texts have been hidden.
#: The two selectors of an emoji's look are not among it.
UNSEEN = dict.fromkeys(
    [
        *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0),
        *(*range(0xFE00, 0xFE0E), *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE0200)),
    ]
)


def compose(text: str) -> str:
    """NFKC and simplified: full-width, circled and other dressed-up characters become plain ones; letter case stays."""
    return text if text.isascii() else simplified(unicodedata.normalize("NFKC", text))


def fold(text: str) -> str:
    """NFKC, simplified, then case folding: `ＧｉｔＨｕｂ②` and `github2` become one. Surrogates and controls stay."""
    return compose(text).casefold()
