"""What is kept back as a text comes in: private passages always; keys and the like are named, or masked if so set."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nebula import private
from nebula.errors import AllPrivate
from nebula.quick import dataclass
from nebula.results import Notice

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Screened:
    """A value as it may be stored, how many private passages it had, and the kinds of secrets found in it."""

    value: Any
    private: int = 0
    kinds: tuple[str, ...] = ()
    masked: bool = False

    def __or__(self, other: Screened) -> Screened:
        """Both counts together, this one's value."""
        kinds = tuple(dict.fromkeys((*self.kinds, *other.kinds)))
        return replace(self, private=self.private + other.private, kinds=kinds, masked=self.masked or other.masked)

    def notices(self, where: str, code: str = "secret") -> list[Notice]:
        """What a person should know of it; `where` names what was written, `code` how a secret there is told of."""
        said = [Notice("private", {"n": self.private})] if self.private else []
        if self.kinds:
            said.append(Notice("masked" if self.masked else code, {"kinds": ", ".join(self.kinds), "ref": where}))
        return said


def value(given: Any, *, redact: bool) -> Screened:
    """A text, or every text in a JSON value, screened."""
    if isinstance(given, str):
        return _text(given, redact=redact)
    if isinstance(given, dict):
        items = {key: value(item, redact=redact) for key, item in given.items()}
        return _all({key: item.value for key, item in items.items()}, list(items.values()))
    if isinstance(given, list | tuple):
        parts = [value(item, redact=redact) for item in given]
        return _all(type(given)(part.value for part in parts), parts)
    return Screened(given)


def record(text: Any, fields: Mapping[str, Any], *, redact: bool) -> tuple[Screened, dict[str, Any]]:
    """A memory's text and its other fields, as they may be stored. Raises AllPrivate where no text is left."""
    said, others = value(text, redact=redact), value(dict(fields), redact=redact)
    if said.private and not said.value.strip():
        raise AllPrivate
    return said | others, others.value


def _text(text: str, *, redact: bool) -> Screened:
    from nebula.text import credentials

    kept, count = private.strip(text)
    found = credentials.find(kept)
    kinds = tuple(dict.fromkeys(one.kind for one in found))
    return Screened(credentials.mask(kept, found) if redact else kept, count, kinds, bool(found) and redact)


def _all(whole: Any, parts: list[Screened]) -> Screened:
    screened = Screened(whole)
    for part in parts:
        screened |= part
    return screened
