"""Every sentence for people, in Chinese and in English, complete in both; labels and field names are not translated.

A door chooses the language once (`use`): NEBULA_LANG, else the locale, else Chinese. The catalogues themselves
are in `nebula/catalogue/`.
"""

from __future__ import annotations

import os
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LANGUAGES = ("zh", "en")
_LANGUAGE: ContextVar[str] = ContextVar("language")


def use(language: str) -> None:
    """Speak `zh` or `en` from here on."""
    _LANGUAGE.set(language if language in LANGUAGES else "zh")


def language() -> str:
    """The language in use; where nobody chose, as from Python, the environment's."""
    return _LANGUAGE.get("") or choose(os.environ)


def choose(environ: Mapping[str, str]) -> str:
    """NEBULA_LANG, else the locale's variables, else Chinese (design, Words)."""
    asked = environ.get("NEBULA_LANG", "").lower()[:2]
    if asked in LANGUAGES:
        return asked
    found = next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), "")
    return "en" if found.lower().startswith("en") else "zh"


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """All sentences of a language by key."""
    if language == "en":
        from nebula.catalogue import en

        return en.SENTENCES
    from nebula.catalogue import zh

    return zh.SENTENCES


def told(code: str, facts: Mapping[str, object]) -> str:
    """The sentence of a notice (see results)."""
    return say(f"notice.{code}", **facts)


def say(key: str, /, **facts: object) -> str:
    """The sentence under a key with its facts filled in; facts are data and never read as a format."""
    return catalogue(language())[key].format(**{name: str(fact) for name, fact in facts.items()})
