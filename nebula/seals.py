"""Knowing again what was erased, without keeping anything of it: seals under a key that lies outside of every mind.

What an old copy or another program's export holds has a name that is a hash of its text: a uid that is derived, a
`source`, a line's origin. Kept as it is, such a name would confirm whoever guesses the text. So its seal is kept,
HMAC-SHA-256 (RFC 2104) under 32 random bytes in the program's own data folder, which neither a mind's folder nor its
copies, exports and backups hold: without the key a seal tells nothing. Whoever has both, as the user does, may test
guesses of the whole text with its time. On another machine, or with the key lost, seals know nothing again.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nebula import importers, places
from nebula.errors import LedgerUnusable, LockedTooLong, WriteFailed
from nebula.mindlib import erasing, files
from nebula.mindlib.record import LEDGERS
from nebula.mindlib.store import SIDE_LEDGERS
from nebula.origins import ORIGIN
from nebula.results import Notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nebula.mindlib.record import Memory
    from nebula.mindlib.store import Store

SEALS = "seals"
#: Holds what a memory was in the program that it was taken over from, `format:…` (see importers).
SOURCE = "source"
_BYTES = 32


def key(*, create: bool = False) -> bytes:
    """This machine's key, made where there is none and `create`; b"" where there is none or it can't be had."""
    path = places.erase_key()
    try:
        held = files.read(path).strip()
        if not held and create:
            files.make_folder(path.parent)
            with files.appending(path) as file:  # of two at once the second finds the first one's
                if not file.read().strip():
                    file.append(secrets.token_hex(_BYTES).encode() + b"\n")
                held = file.read().strip()
        under = bytes.fromhex(held.decode("ascii"))
        return under if len(under) == _BYTES else b""
    except (LedgerUnusable, WriteFailed, LockedTooLong, ValueError):
        return b""


def seal(under: bytes, name: str) -> str:
    """A name's seal: 8 hex digits of the key's own, `:`, 32 of the name's; "" without a key."""
    return f"{_mac(under, '')[:8]}:{_mac(under, name)[:32]}" if under else ""


def _mac(under: bytes, name: str) -> str:
    return hmac.new(under, name.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def of_memory(under: bytes, memory: Memory, obj: Mapping[str, Any]) -> tuple[str, list[str]]:
    """(the uid that may stay as it is, the seals of all other names) of a memory that goes, with its line's object.

    A uid stays as `erasing.own_uid` has it.
    """
    own = erasing.own_uid(memory, obj)
    names = [*([] if own else [memory.uid]), *_sources(memory)]
    return own, [sealed for name in names if (sealed := seal(under, name))]


def _sources(memory: Memory) -> list[str]:
    """What a memory was elsewhere; a field of that name in other programs' records says something else."""
    source = memory.extra.get(SOURCE)
    known = isinstance(source, str) and memory.by == "import" and source.partition(":")[0] in importers.FORMATS
    return [str(source)] if known else []


@dataclass(frozen=True)
class Stones:
    """What was erased in a mind, as far as can be told: uids that stayed, and seals."""

    uids: frozenset[str] = frozenset()
    seals: frozenset[str] = frozenset()
    under: bytes = field(default=b"", repr=False)

    def knows(self, *names: str) -> bool:
        """Whether any of the names was sealed here."""
        return bool(self.seals) and any(seal(self.under, name) in self.seals for name in names)

    def bury(self, memory: Memory) -> bool:
        """Whether a memory that comes from elsewhere was erased here."""
        return memory.uid in self.uids or self.knows(memory.uid, *_sources(memory))

    @property
    def notices(self) -> list[Notice]:
        """Seals of another machine, or of a key that is lost, know nothing here."""
        own = seal(self.under, "")[:9]
        strange = sum(not own or not one.startswith(own) for one in self.seals)
        return [Notice("seals_elsewhere", {"n": strange})] if strange else []


def stones(store: Store) -> Stones:
    """All that was erased in a mind."""
    left = [obj for kind in LEDGERS for obj in store.erased(kind.name)]
    uids = frozenset(str(obj["uid"]) for obj in left if obj.get("uid"))
    seals = frozenset(_seals([*left, *(line.obj for name in SIDE_LEDGERS for line in store.scan(name).lines)]))
    return Stones(uids, seals, key() if seals else b"")


def _seals(objects: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    for obj in objects:
        kept: Sequence[Any] = obj[SEALS] if isinstance(obj.get(SEALS), list) else ()
        yield from (one for one in (obj.get(ORIGIN), *kept) if isinstance(one, str) and ":" in one)
