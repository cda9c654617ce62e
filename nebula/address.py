"""The address of a mind in PostgreSQL, in libpq's URI form, and how it may be shown: never with a password."""

from __future__ import annotations

import re
from urllib.parse import unquote

from nebula.quick import dataclass

_SCHEME = re.compile(r"postgres(?:ql)?://", re.IGNORECASE)
_ANY = re.compile(r"(postgres(?:ql)?):/{1,2}([^\s/]\S*)", re.IGNORECASE)
#: Shorter ones are no words of a message, and blotting them out would only tell them.
_LEAST = 4


@dataclass(frozen=True)
class Address:
    """A database's address; whatever prints it gets it without passwords."""

    uri: str

    def __str__(self) -> str:
        head, mark, query = self.uri.partition("?")
        who, at, where = head.rpartition("@")
        name, colon, _ = who.removeprefix(self._scheme).partition(":")
        shown = f"{self._scheme}{name}:***{at}{where}" if colon else head
        return shown + mark + "&".join(_masked(part) for part in query.split("&"))

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    @property
    def _scheme(self) -> str:
        found = _SCHEME.match(self.uri)
        return found[0] if found else ""

    def clean(self, message: str) -> str:
        """Another program's message as one line, without a password of this address."""
        for secret in self._secrets():
            message = message.replace(secret, "***")
        return " ".join(message.split())

    def _secrets(self) -> set[str]:
        head, _, query = self.uri.partition("?")
        who = head.rpartition("@")[0].removeprefix(self._scheme)
        raw = [who.partition(":")[2]]
        raw += [part.partition("=")[2] for part in query.split("&") if _masked(part) != part]
        return {said for one in raw for said in (one, unquote(one)) if len(said) >= _LEAST}


def is_address(text: str) -> bool:
    """Whether a text names a database and no folder."""
    return _SCHEME.match(text) is not None


def masked(text: str) -> str:
    """A text with every address in it as it may be shown; of one that was cut short nothing after a colon."""
    return _ANY.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    said = str(Address(f"{found[1]}://{found[2]}"))  # a path has one slash less
    scheme, _, rest = said.partition("://")
    cut = "@" not in said and "…" in said and ":" in rest
    return f"{scheme}://{rest.partition(':')[0]}:***…" if cut else said


def _masked(part: str) -> str:
    name, equals, _ = part.partition("=")
    return f"{name}=***" if equals and unquote(name).strip().lower().endswith("password") else part
