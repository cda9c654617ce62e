"""What an index on disk consists of, and what it has consumed: one small JSON file, replaced in one step."""

from __future__ import annotations

from dataclasses import asdict, field
from typing import TYPE_CHECKING, Any

from nebula.errors import LedgerUnusable
from nebula.mindlib import files
from nebula.mindlib.store import INDEX
from nebula.quick import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from nebula.mindlib.store import Store

#: Raised whenever the meaning of any array or field changes; another number is rebuilt, not read.
FORMAT = 8
NAME = "manifest.json"


@dataclass(frozen=True)
class Source:
    """A ledger as it was when last read: its stat, how far it was consumed, and the hash of the 4 KB before that.

    `whole` is the hash of all that was consumed, "" where it is not known (see mindlib.prefix).
    """

    size: int
    mtime: int  # ns
    inode: int
    consumed: int  # bytes
    tail: str
    whole: str = ""


@dataclass(frozen=True)
class Folded:
    """How much of a side ledger is in the state, in bytes, and the hash of the 4 KB before that."""

    consumed: int = 0
    tail: str = ""


@dataclass(frozen=True)
class Manifest:
    """File names of the parts in row order, and what they stand for. `rows` and `vectors` map file name to count."""

    rows: dict[str, int] = field(default_factory=dict)
    vectors: dict[str, int] = field(default_factory=dict)
    model: str = ""  # the encoder whose vectors these are
    state: str = ""
    folded: dict[str, Folded] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    next_id: dict[str, int] = field(default_factory=dict)
    serial: int = 0  # counts replacements, for file names that are never used twice
    whole: bool = True  # whether every line that was read could be; False too where that was not noted
    format: int = FORMAT


def folder(store: Store, variant: str) -> Path:
    """Where the index of one way of reading text (`variant`) lies."""
    return store.local / INDEX / variant


def load(folder: Path) -> Manifest | None:
    """The manifest of an index folder; None where there is none or it can't be understood."""
    import orjson

    try:
        raw: dict[str, Any] = orjson.loads(files.read(folder / NAME))
        if raw["format"] != FORMAT:
            return None
        sources = {name: Source(**source) for name, source in raw["sources"].items()}
        folded = {name: Folded(**part) for name, part in raw["folded"].items()}
        return Manifest(**{"whole": False, **raw, "sources": sources, "folded": folded})
    except (LedgerUnusable, ValueError, TypeError, KeyError, AttributeError):
        return None


def salvage(folder: Path) -> Manifest:
    """What holds across formats: the model, the names of the vectors' files and the ids given; empty where unreadable.

    Raising FORMAT costs a new reading of the ledgers, but no text is embedded twice and no id is given twice.
    """
    import orjson

    try:
        raw = orjson.loads(files.read(folder / NAME))
        vectors = {str(name): int(count) for name, count in raw["vectors"].items() if "/" not in name}
        ids = {str(kind): int(number) for kind, number in raw["next_id"].items()}
        return Manifest(model=str(raw["model"]), vectors=vectors, next_id=ids, serial=int(raw["serial"]))
    except (LedgerUnusable, ValueError, TypeError, KeyError, AttributeError):
        return Manifest()


def save(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest; not synced, since a lost index costs time alone. Raises WriteFailed."""
    import orjson

    files.replace(folder / NAME, orjson.dumps(asdict(manifest)), durable=False)
