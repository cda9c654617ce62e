"""A second encoder for what is mainly in Latin script: added, used and removed; without one nothing here is loaded.

A query in Latin script is asked under both encoders, and memories in Latin script have vectors of both; how the two
are mixed is `recall.mixed`'s business, and so is its part of what says that nothing is remembered. What else meaning
does (the graph's edges, duplicates, digests) stays the bundled encoder's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nebula.encoder import added
from nebula.errors import EncoderUnusable, NebulaError, WrongUsage
from nebula.quick import dataclass
from nebula.results import Notice
from nebula.text.script import mainly_latin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from nebula.encoder import Encoder
    from nebula.encoder.added import Added
    from nebula.index.catchup import Embedder
    from nebula.index.view import Index
    from nebula.mind import Mind
    from nebula.recall.floor import Nulls
    from nebula.recall.hit import Probe

SETTING = "recall.second_encoder"


@dataclass(frozen=True)
class Listed:
    """An added encoder as a list shows it: whether this mind uses it, what of it is damaged, its bytes."""

    encoder: Added
    used: bool
    wrong: Sequence[str]
    bytes: int


def add(mind: Mind, folder: Path, instruction: str | None = None) -> Added:
    """Take over a folder and let the mind use it. Raises EncoderUnusable, NumpyMissing, WriteFailed."""
    found = added.add(folder, instruction)
    mind.configure(SETTING, found.name)
    return found


def listed(mind: Mind) -> list[Listed]:
    """All added encoders; one whose record can't be read is wrong in that, and says nothing else of itself."""
    return [_listed(mind, name) for name in added.names()]


def _listed(mind: Mind, name: str) -> Listed:
    try:
        one = added.get(name)
        wrong = one.wrong()
    except EncoderUnusable:
        one, wrong = added.Added(name, "", 0, True, 0, "", "", "", {}), [added.RECORD]
    size = sum(path.stat().st_size for path in one.folder.rglob("*") if path.is_file())
    return Listed(one, name == mind.settings.recall.second_encoder, wrong, size)


def remove(mind: Mind, name: str) -> str:
    """Forget an encoder, by default the mind's own: its copy, the mind's setting, and its vectors here; -> its name.

    Raises WrongUsage where there is none to forget, EncoderUnusable.
    """
    import shutil

    chosen = name or mind.settings.recall.second_encoder
    if not chosen:
        raise WrongUsage("encoder remove NAME", "nothing_named")
    used = chosen == mind.settings.recall.second_encoder
    if chosen in added.names() or not used:
        added.remove(chosen)
    if used:
        mind.configure(SETTING, None)
        from nebula.index import has_numpy

        if has_numpy():
            shutil.rmtree(_folder(mind), ignore_errors=True)
    return chosen


def probe(mind: Mind, query: str, first: Probe) -> tuple[Probe, list[Notice]]:
    """The query under both encoders where it is mainly in Latin script; else, and where one can't work, as it is."""
    if not mainly_latin(query):
        return first, []
    from nebula.recall import asking

    try:
        found, encoder = _opened(mind)
        second = asking.probe(query, encoder, mind.settings.recall, found.query)
    except NebulaError as error:
        return first, [_broken(error)]
    return replace(first, model=mind.encoder().model, second=replace(second, model=found.name)), []


def over(
    mind: Mind,
    index: Index,
    limit: int | None,
    progress: Callable[[int, int], None] | None = None,
    *,
    write: bool = True,
) -> Index:
    """The index with the second encoder's vectors, missing ones made as far as `limit` bytes of lines go.

    Raises EncoderUnusable, ModelUnusable.
    """
    from nebula.index import second

    found = added.get(mind.settings.recall.second_encoder)
    embedder = _embedder(mind, found, limit, progress)
    vectors, waiting = second.open_over(index, _folder(mind), mind.cache().mode, embedder, write=write)
    return replace(index, second=vectors, second_waiting=waiting)


def over_or_told(
    mind: Mind,
    index: Index,
    limit: int | None,
    progress: Callable[[int, int], None] | None = None,
    *,
    write: bool = True,
) -> tuple[Index, list[Notice]]:
    """The same; where the encoder can't work the index as it is, and a notice. A notice too of texts that wait."""
    try:
        found = over(mind, index, limit, progress, write=write)
    except NebulaError as error:
        return index, [_broken(error)]
    waiting = found.second_waiting
    return found, [Notice("second_behind", {"waiting": waiting})] if waiting else []


def nulls(mind: Mind, index: Index, kind: str, *, keep: bool) -> Nulls | None:
    """What stock queries of a kind find under the second encoder; None where it can't work."""
    from nebula import calibration

    if index.second is None:
        return None
    try:
        found, encoder = _opened(mind)
        folder = _folder(mind) if keep else None
        over = replace(index, vectors=index.second)
        return calibration.nulls(over, kind, encoder, mind.settings.recall, folder, found.query)
    except NebulaError:
        return None


def adopt(mind: Mind, other: Path) -> int:
    """Take over the second encoder's vectors from another mind's index folder; -> how many."""
    from nebula.index.cache import Cache

    try:
        key = added.get(mind.settings.recall.second_encoder).key
    except NebulaError:
        return 0
    return Cache(mind.store, _folder(mind).name, mind.cache().mode).adopt(other, key)


def _broken(error: NebulaError) -> Notice:
    return Notice("second_broken", {"reason": error.message})


def _folder(mind: Mind) -> Path:
    from nebula.index import second

    return second.folder_of(mind.cache().folder)


def _opened(mind: Mind) -> tuple[Added, Encoder]:
    """The mind's second encoder, opened once a mind."""
    if mind.second_opened is None:
        found = added.get(mind.settings.recall.second_encoder)
        mind.second_opened = (found, found.open())
    return mind.second_opened


def _embedder(mind: Mind, found: Added, limit: int | None, progress: Callable[[int, int], None] | None) -> Embedder:
    """Opened only when there is something to embed: who adds a memory in Han script does not wait for it."""
    from nebula.index.catchup import Embedder, by_text

    def embed(texts: Sequence[str]) -> Any:
        _, encoder = _opened(mind)
        return by_text(encoder.encode([found.passage + text for text in texts]), len(texts))

    return Embedder(found.key, embed, limit, progress)
