"""In which script a text is written, as far as an encoder for one of them has to know."""

from __future__ import annotations

import re

#: Part of a text's letters that are Latin from which on it counts as Latin. An ideograph is a word or half of one and
#: a Latin letter a fifth of one: a Chinese sentence with two English names in it is well below.
LATIN_SHARE = 0.8
#: Latin letters: ASCII, Latin-1 without × and ÷, Extended-A and -B and IPA, Additional, and the full-width ones.
_LATIN = re.compile(r"[A-Za-zª\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a]")


def mainly_latin(text: str) -> bool:
    """Whether at least 80 % of a text's letters are Latin; False for a text without letters."""
    latin = len(_LATIN.findall(text))
    return bool(latin) and (text.isascii() or latin >= LATIN_SHARE * sum(map(str.isalpha, text)))
