"""A mind: the one place where reading, thinking and writing meet; every door calls these operations.

An operation reads, calls pure functions, and appends. Nothing is created before the first write.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebula import clock
from nebula.drafts import draft
from nebula.errors import EmptyText, LockedTooLong, NebulaError, SettingsUnusable, UnknownRef, WriteFailed
from nebula.life import forgetting
from nebula.mindlib import changes, files
from nebula.mindlib.record import LEDGERS
from nebula.mindlib.store import CHANGES, CONFIG, Store
from nebula.recall.hit import Filters, Question
from nebula.recall.recollect import admits, recollect
from nebula.settings import RULES, build, check, flatten, origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from nebula.encoder import Encoder
    from nebula.index.cache import Cache
    from nebula.index.catchup import Embedder
    from nebula.index.view import Index
    from nebula.mindlib.ledger import Damage
    from nebula.mindlib.record import Memory
    from nebula.recall.hit import Hit
    from nebula.recall.modulation import Ageing
    from nebula.recall.recollect import Search

#: Bytes of lines that a recall or an add embeds on its way, some seconds' work; more wants `embed --build`.
CATCH_UP_BYTES = 16_000
#: Characters of a query that the encoder reads.
QUERY_CHARACTERS = 8_000


@dataclass(frozen=True)
class Notice:
    """Something a person should know though the operation was done: a code, and the facts of its sentence."""

    code: str
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Added:
    """What was written, in the order given."""

    memories: Sequence[Memory]
    notices: Sequence[Notice] = ()


@dataclass(frozen=True)
class Recalled:
    """What came to mind for a query, and each route's own refs before fusion."""

    query: str
    hits: Sequence[Hit]
    notices: Sequence[Notice] = ()
    rankings: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Listing:
    """Memories, newest first; `total` counts those that passed the filters."""

    memories: Sequence[Memory]
    total: int
    damages: Sequence[Damage] = ()


@dataclass(frozen=True)
class Built:
    """The state of the dense index: memories, those with a vector, texts embedded now, and what it takes on disk."""

    total: int
    present: int
    embedded: int
    model: str
    dimensions: int
    bytes: int


@dataclass(frozen=True)
class Setting:
    """One setting: its value, which rule decided it, and what it takes."""

    key: str
    value: object
    origin: str
    expected: str


def has_numpy() -> bool:
    """Whether the dense route and the mapped index can work."""
    try:
        import numpy as np
    except ImportError:
        return False
    return bool(np.__name__)


class Mind:
    """The mind in a folder, under settings. `overrides` are dotted settings above the file's; `now` tells the time.

    Opening creates nothing. Raises SettingsUnusable where `mind-config.json` can't be used.
    """

    def __init__(
        self,
        folder: Path,
        *,
        overrides: Mapping[str, object] | None = None,
        now: Callable[[], datetime] = clock.now,
        lock_timeout: float = files.LOCK_TIMEOUT,
    ) -> None:
        self.store = Store(Path(folder), lock_timeout)
        self.overrides = dict(overrides or {})
        self.now = now
        try:
            self.settings = build(self.store.config(), self.overrides)
        except SettingsUnusable as error:
            raise SettingsUnusable(
                self.store.path(CONFIG), str(error.facts["key"]), str(error.facts["reason"])
            ) from error
        self._encoder: Encoder | None = None

    @property
    def folder(self) -> Path:
        """Where the mind lies."""
        return self.store.folder

    # remembering

    def add(self, text: str, *, ledger: str = "notes", by: str = "cli", **fields: Any) -> Added:
        """Write one memory; on return it is on the disk. `fields` are the record's (spec 1).

        Raises EmptyText, BadValue, WriteFailed, LockedTooLong; then nothing was written. An index that fails to follow
        is a notice.
        """
        return self._write([draft(text, ledger, fields, self.now(), by)])

    def add_many(
        self,
        objects: Iterable[Mapping[str, Any]],
        *,
        by: str = "import",
        ledger: str = "notes",
        progress: Callable[[int, int], None] | None = None,
    ) -> Added:
        """Write many memories, each an object with `text`, perhaps `ledger`, and the record's fields.

        All are checked before the first is written. Raises as `add`.
        """
        drafts = [
            draft(obj.get("text", ""), str(obj.get("ledger", ledger)), _fields(obj), self.now(), by) for obj in objects
        ]
        return self._write(drafts, limit=None, progress=progress)

    def _write(
        self,
        drafts: Sequence[Memory],
        limit: int | None = CATCH_UP_BYTES,
        progress: Callable[[int, int], None] | None = None,
    ) -> Added:
        marks = self._cache().marks() if has_numpy() else None
        written: dict[int, Memory] = {}
        for kind in LEDGERS:
            places = [at for at, memory in enumerate(drafts) if memory.ledger == kind.name]
            if places:
                named = [replace(drafts[at], uid=secrets.token_hex(8)) for at in places]
                written |= dict(zip(places, self.store.append(kind.name, named, marks), strict=True))
        return Added([written[at] for at in range(len(drafts))], self._follow(limit, progress))

    def _follow(self, limit: int | None, progress: Callable[[int, int], None] | None) -> list[Notice]:
        """Bring the index after what was written. What is written is safe whatever happens here."""
        if not has_numpy():
            return [Notice("dense_off")]
        try:
            index = self._cache().follow(self._embedder(limit, progress))
        except NebulaError as error:
            return [Notice("index_behind", {"reason": error.message})]
        return _missing(index) if index else []

    # recalling

    def recall(
        self,
        query: str,
        *,
        n: int = 8,
        filters: Filters = Filters(),  # noqa: B008 - frozen
        touch: bool = True,
        explain: bool = False,
    ) -> Recalled:
        """The n memories that come to mind; `touch` counts their use (spec 5). Raises EmptyText, LedgerUnusable."""
        if not query.strip():
            raise EmptyText
        now = self.now()
        search, vector, notices = self._search(query, filters, clock.seconds(now))
        question = Question(self._tokens(query), vector, n)
        found = recollect(search, question, self.settings, explain=explain)
        if touch and found.hits:
            notices += self._touch([hit.memory.ref for hit in found.hits], now)
        return Recalled(query, found.hits, notices, found.rankings)

    def _tokens(self, query: str) -> list[str]:
        from nebula.text import words

        return words.query_tokens(query, self.settings.recall.tokens)

    def _search(self, query: str, filters: Filters, now: int) -> tuple[Search, Any, list[Notice]]:
        if not has_numpy():
            from nebula.recall.plain import PlainSearch

            reading = self.store.read_all()
            return (
                PlainSearch(reading.memories, self.settings, now, filters, self._ageing(now)),
                None,
                [Notice("dense_off")],
            )
        from nebula.recall.mapped import MappedSearch

        vector, notices = self._query_vector(query)
        index = self._cache().open(self._embedder(CATCH_UP_BYTES) if vector is not None else None)
        notices += _missing(index) if vector is not None else []
        return MappedSearch(index, self.settings, now, filters, self._ageing(now)), vector, notices

    def _query_vector(self, query: str) -> tuple[Any, list[Notice]]:
        """The query's pieces as unit vectors; None and a notice where the encoder can't work.

        Of a very long query its end is taken: in a dialogue that is what is being spoken of.
        """
        cut = [Notice("query_cut", {"characters": QUERY_CHARACTERS})] if len(query) > QUERY_CHARACTERS else []
        try:
            return self.encoder().encode([query[-QUERY_CHARACTERS:]]).vectors, cut
        except NebulaError as error:
            return None, [Notice("dense_broken", {"reason": error.message})]

    def _ageing(self, now: int) -> Ageing:
        """How a memory has aged by `now`: (ledger, imp, at, core) -> (A, layer). Recall is handed it as numbers."""
        settings = self.settings.forgetting

        def ageing(ledger: str, imp: float, at: int, core: bool) -> tuple[float, int]:
            half = forgetting.half_life(settings, ledger, imp)
            a = forgetting.retention(forgetting.age_days(now, at), half)
            return a, forgetting.layer(a, settings, core=core)

        return ageing

    def _touch(self, refs: Sequence[str], now: datetime) -> list[Notice]:
        try:
            self.store.append_lines(CHANGES, [changes.hit_line(clock.write(now), refs)], durable=False)
        except (WriteFailed, LockedTooLong) as error:
            return [Notice("not_touched", {"reason": error.message})]
        return []

    # looking

    def list(self, filters: Filters = Filters(), n: int | None = 20) -> Listing:  # noqa: B008 - frozen
        """Memories that hold (or all, with `filters.old`), newest first. Raises LedgerUnusable."""
        reading = self.store.read_all()
        now = clock.seconds(self.now())
        passed = [m for m in reading.memories if admits(filters, m) and (filters.old or not m.is_old(now))]
        passed.sort(key=lambda memory: (memory.seconds, memory.id), reverse=True)
        return Listing(passed[:n], len(passed), reading.damages)

    def get(self, ref: str) -> Memory:
        """One memory as it stands, by ref or uid. Raises UnknownRef, LedgerUnusable."""
        wanted = ref.strip().lower()
        for memory in self.store.read_all().memories:
            if wanted in (memory.ref, memory.uid):
                return memory
        raise UnknownRef(ref)

    def pin(self, ref: str, pinned: bool = True) -> Memory:
        """Make a memory a fixed star, or let it go again. Raises UnknownRef, WriteFailed."""
        memory = self.get(ref)
        if memory.pinned == pinned:
            return memory
        line = changes.set_line(clock.write(self.now()), memory.ref, {"pinned": pinned}, "pin" if pinned else "unpin")
        self.store.append_lines(CHANGES, [line], durable=True)
        return replace(memory, pinned=pinned)

    # meaning

    def encoder(self) -> Encoder:
        """The encoder, opened once. Raises NumpyMissing, ModelMissing, ModelUnusable."""
        from nebula.encoder import open_encoder

        if self._encoder is None:
            self._encoder = open_encoder(lowercase=self.settings.recall.lowercase)
        return self._encoder

    def build(self, progress: Callable[[int, int], None] | None = None) -> Built:
        """Make every missing vector and tidy the index; what was done before a kill stays done. Raises NotSetUp."""
        encoder = self.encoder()
        index = self._cache().open(self._embedder(None, progress), compact=True)
        return self._built(index, encoder)

    def peek(self) -> Built:
        """The state of the dense index as it lies there: nothing is filled in or written. Raises NotSetUp."""
        encoder = self.encoder()
        return self._built(self._cache().open(None, write=False), encoder)

    def _built(self, index: Index, encoder: Encoder) -> Built:
        folder = self._cache().folder
        size = sum(path.stat().st_size for path in folder.iterdir()) if folder.is_dir() else 0
        present = index.table.n - index.missing
        return Built(index.table.n, present, index.embedded, encoder.model, encoder.dimensions, size)

    def embed(self, text: str) -> Sequence[Sequence[float]]:
        """The unit vectors of a text's pieces. Raises EmptyText, NotSetUp."""
        if not text.strip():
            raise EmptyText
        rows: list[list[float]] = self.encoder().encode([text]).vectors.tolist()
        return rows

    # settings

    def config(self) -> Sequence[Setting]:
        """Every setting with its value and which rule decided it."""
        raw = self.store.config()
        flat = flatten(self.settings)
        return [Setting(key, flat[key], origin(key, raw, self.overrides), RULES[key].expected) for key in RULES]

    def configure(self, key: str, value: object | None) -> Setting:
        """Set a key in the mind's file, or remove it with None. Raises UnknownSetting, BadValue, WriteFailed."""
        if value is None:
            check(key, flatten(self.settings).get(key))
        else:
            check(key, value)
        self.store.change_config({key: value})
        raw = self.store.config()
        self.settings = build(raw, self.overrides)
        return Setting(key, flatten(self.settings)[key], origin(key, raw, self.overrides), RULES[key].expected)

    # the index

    def _cache(self) -> Cache:
        from nebula.index.cache import Cache

        tokens = self.settings.recall.tokens
        case = "lower" if self.settings.recall.lowercase else "cased"
        return Cache(self.store, f"{tokens}-{case}", tokens)

    def _embedder(self, limit: int | None, progress: Callable[[int, int], None] | None = None) -> Embedder:
        import numpy as np

        from nebula.index.catchup import Embedder

        encoder = self.encoder()

        def embed(texts: Sequence[str]) -> Any:
            encoded = encoder.encode(texts)
            starts = np.searchsorted(encoded.owner, np.arange(1, len(texts)))
            return np.split(encoded.vectors, starts)

        return Embedder(encoder.key, embed, limit, progress)


def _missing(index: Index) -> list[Notice]:
    """A notice of memories that meaning can't find yet, if there are any."""
    missing = index.missing
    return [Notice("missing_vectors", {"missing": missing, "total": index.table.n})] if missing else []


def _fields(obj: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in obj.items() if name != "text"}
