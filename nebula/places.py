"""Where a mind lies and which rule decided (spec 9), and where the program's own data lies. Creates nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nebula.address import Address, is_address
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A folder is a mind when one of these lies in it.
MARKS = ("notes.jsonl", "profile.jsonl", "promises.jsonl", "tacts.jsonl", "thoughts.jsonl", "summaries.jsonl")


@dataclass(frozen=True)
class Place:
    """A mind's folder and the rule that chose it: flag, NEBULA_MIND, NEBULA_HOME, original or platform.

    With an `address` the mind lies in that database, and the folder is this machine's, for what may be deleted.
    """

    folder: Path
    rule: str
    address: Address | None = None

    @property
    def mind(self) -> Path | Address:
        """Where the mind itself lies."""
        return self.address or self.folder


def home(environ: Mapping[str, str]) -> Path:
    """The user's home folder, by the environment given (tests move it), else the system's."""
    return Path(environ["HOME"]) if environ.get("HOME") else Path.home()


def original(environ: Mapping[str, str]) -> Path:
    """The predecessor's place."""
    return home(environ) / ".dsh" / "nebula-mind" / "memory"


def _data() -> Path:
    import platformdirs

    return Path(platformdirs.user_data_dir("nebula-mind", appauthor=False))


def platform_default() -> Path:
    """The platform's user data folder, by platformdirs."""
    return _data() / "memory"


def erase_key() -> Path:
    """The machine's own key (see seals), beside the platform's mind and in none."""
    return _data() / "erase.key"


def encoders() -> Path:
    """Where encoders that a person added lie, one folder each (see encoder.added)."""
    return _data() / "encoders"


def cache_of(address: Address) -> Path:
    """This machine's folder for a mind in a database: its index, and what was shown lately."""
    import hashlib

    import platformdirs

    name = hashlib.blake2b(str(address).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return Path(platformdirs.user_cache_dir("nebula-mind", appauthor=False)) / f"postgresql-{name}"


def named(text: str, rule: str) -> Place:
    """The place that a text names: a folder, or a database by its postgresql:// address."""
    if is_address(text):
        return Place(cache_of(Address(text)), rule, Address(text))
    return Place(Path(text).expanduser() if rule != "--mind" else Path(text), rule)


def decide(environ: Mapping[str, str], flag: Path | str | None = None) -> Place:
    """Apply the rules in their order: --mind, NEBULA_MIND, NEBULA_HOME/memory, the original's place, the platform's."""
    if flag is not None:
        return named(str(flag), "--mind")
    if environ.get("NEBULA_MIND"):
        return named(environ["NEBULA_MIND"], "NEBULA_MIND")
    if environ.get("NEBULA_HOME"):
        return Place(Path(environ["NEBULA_HOME"]).expanduser() / "memory", "NEBULA_HOME")
    if original(environ).is_dir():
        return Place(original(environ), "original")
    return Place(platform_default(), "platform")


def is_mind(folder: Path) -> bool:
    """Whether any ledger lies there."""
    return any((folder / mark).exists() for mark in MARKS)


def other_minds(environ: Mapping[str, str], chosen: Path) -> list[Path]:
    """Every other known place where a mind lies, for an empty mind's doctor."""
    candidates = [original(environ), platform_default()]
    if environ.get("NEBULA_HOME"):
        candidates.append(Path(environ["NEBULA_HOME"]).expanduser() / "memory")
    return [place for place in dict.fromkeys(candidates) if place != chosen and is_mind(place)]


def asset(name: str) -> Path:
    """A file or folder that ships with the program: inside the wheel `nebula/assets`, in a checkout `assets`."""
    inside = Path(__file__).parent / "assets" / name
    return inside if inside.exists() else Path(__file__).parent.parent / "assets" / name
