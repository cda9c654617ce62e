"""A mind: the one place where reading, thinking and writing meet; every door calls these operations.

An operation reads, calls pure functions, and appends. Nothing is created before the first write.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebula import clock, given
from nebula.errors import (
    AllPrivate,
    BadRecord,
    BadValue,
    EmptyText,
    LockedTooLong,
    NebulaError,
    SettingsUnusable,
    UnknownRef,
    WriteFailed,
    WrongUsage,
)
from nebula.index import has_numpy
from nebula.mindlib import changes, files
from nebula.mindlib.store import CHANGES, CONFIG, ERASING, INDEX, MOVING, Store
from nebula.reasons import because
from nebula.recall.hit import Filters
from nebula.results import Added, Built, Notice, Recalled, Setting, missing
from nebula.settings import RULES, build, check, flatten, origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from nebula.address import Address
    from nebula.context import Context
    from nebula.drafts import Heart
    from nebula.encoder import Encoder
    from nebula.encoder.added import Added as EncoderAdded
    from nebula.index.cache import Cache
    from nebula.index.catchup import Embedder
    from nebula.index.view import Index
    from nebula.mindlib.record import Memory
    from nebula.mindlib.store import Marks
    from nebula.mood.expression import Feeling
    from nebula.past import Past
    from nebula.postgres.served import ServedIndex
    from nebula.recall.budget import Budget
    from nebula.results import Listing
    from nebula.subject.subject import Subject
    from nebula.why import Why

#: Bytes of lines that a recall or an add embeds on its way, some seconds' work; more wants `embed --build`.
CATCH_UP_BYTES = 16_000


class Mind:
    """The mind in a folder or a database, under settings.

    `overrides` are dotted settings above the file's; `now` tells the time.

    Opening creates nothing, but finishes an erase or a move that was cut short; where that can't be, `notices` say so,
    and what is to go is not read. Raises SettingsUnusable where `mind-config.json` can't be used.
    """

    def __init__(
        self,
        folder: Path | Address,
        *,
        overrides: Mapping[str, object] | None = None,
        now: Callable[[], datetime] = clock.now,
        lock_timeout: float = files.LOCK_TIMEOUT,
    ) -> None:
        given.either("overrides", overrides, (Mapping,), '{"key": value}')
        given.seconds("lock_timeout", lock_timeout)
        if not callable(now):
            raise BadValue("now", now, "() -> datetime")
        self.place = folder
        self.store = store_at(folder, lock_timeout)
        self.overrides = dict(overrides or {})
        self.now = now
        try:
            self.settings = build(self.store.config(), self.overrides)
        except SettingsUnusable as error:
            raise SettingsUnusable(
                self.store.named(CONFIG), str(error.facts["key"]), str(error.facts["reason"])
            ) from error
        self._encoder: Encoder | None = None
        self.second_opened: tuple[EncoderAdded, Encoder] | None = None  # by nebula.second alone
        #: The index as each thread's last recall found it: another's may be older than what this one was told of.
        self._opened = threading.local()
        self.notices: list[Notice] = []  # what should be known of its opening
        if self.store.in_folder and (self.store.local / MOVING).exists():
            from nebula import moving

            self.notices += moving.finish(self.store)
        if self.store.in_folder and files.has_held(self.store.folder):
            from nebula.mindlib import held

            held.carry(self.store.folder)
        if (self.store.local / ERASING).exists():
            from nebula import erasure

            self.notices += erasure.finish(self.store)

    @classmethod
    def open(cls, folder: Path | str | None = None, *, environ: Mapping[str, str] = os.environ, **options: Any) -> Mind:
        """The mind that the commands use, or the one in `folder`; `options` are the constructor's.

        Without a folder NEBULA_MIND, NEBULA_HOME, the first version's place and the platform's decide, in this order.
        """
        from nebula import places

        given.either("folder", folder, (str, Path), "str | Path")
        given.environment(environ)
        return cls(places.decide(environ, folder or None).mind, **options)

    @property
    def folder(self) -> Path:
        """Where the mind lies. Raises NotOnPostgres for one in a database."""
        return self.store.folder

    @property
    def redacts(self) -> bool:
        """Whether keys and the like are masked as they come in."""
        return self.settings.privacy.secrets == "redact"

    # remembering

    def add(self, text: str, *, ledger: str = "notes", by: str = "cli", echo: str = "", **fields: Any) -> Added:
        """Write one memory; on return it is on the disk. `fields` are the record's (spec 1).

        With `supersedes` the memory of that ref is closed: it stays, but no longer holds. `<private>…</private>` is not
        stored; a key or the like is a notice, and masked where `privacy.secrets` says so. What the mind handed out
        itself is an echo: `echo` is mark, refuse or off, by default the setting `echo.action`. Raises EmptyText,
        BadValue, UnknownRef, AlreadyReplaced, Echoed, WriteFailed, LockedTooLong; then nothing was written. An index
        that fails to follow is a notice.
        """
        from nebula import screen, writing
        from nebula.drafts import draft

        for name, value in (("ledger", ledger), ("by", by), ("echo", echo)):
            given.text(name, value)
        said, kept = screen.record(text, fields, redact=self.redacts)
        values, (heart, notices) = writing.replaceable(self, kept), self._heart()
        drafted = draft(said.value, ledger, values, self.now(), by, heart)
        added = writing.write(self, [drafted], CATCH_UP_BYTES, notices=notices, echo=echo)
        return replace(added, notices=[*said.notices(added.memories[0].ref), *added.notices])

    def _heart(self) -> tuple[Heart, list[Notice]]:
        """What colours new memories, and a notice where the mood's source fails."""
        from nebula.drafts import Heart

        felt = self.mood()
        stale = [Notice("mood_stale", {"source": felt.source, "reason": felt.reason})] if felt.stale else []
        return Heart(felt, self.settings.you.names), stale

    def mood(self, at: datetime | None = None) -> Feeling:
        """The mood now, or as of a moment (see moods). Never raises."""
        from nebula import moods

        if at is not None:
            given.moment("at", at)
        return moods.current(self, at)

    def add_many(
        self,
        objects: Iterable[Mapping[str, Any]],
        *,
        by: str = "import",
        ledger: str = "notes",
        echo: str = "",
        progress: Callable[[int, int], None] | None = None,
    ) -> Added:
        """Write many memories, each an object with `text`, perhaps `ledger`, and the record's fields.

        All are checked before the first is written; one that is private as a whole, or a refused echo, is
        passed over. Raises BadRecord for the first that can't be, else as `add`.
        """
        from nebula import screen, writing
        from nebula.drafts import draft

        for name, value in (("ledger", ledger), ("by", by), ("echo", echo)):
            given.text(name, value)
        given.told(progress)
        rows = given.objects(objects)
        heart, notices = self._heart()
        drafts = []
        seen = screen.Screened(None)
        for number, obj in enumerate(rows, start=1):
            if not isinstance(obj, Mapping):
                raise BadRecord(number, because("no_object"))
            fields = {name: value for name, value in obj.items() if name != "text"}
            try:
                said, kept = screen.record(obj.get("text", ""), fields, redact=self.redacts)
                kind = str(obj.get("ledger", ledger))
                drafts.append(draft(said.value, kind, writing.replaceable(self, kept), self.now(), by, heart))
            except AllPrivate:
                said = screen.Screened(None, private=1)
            except WrongUsage as error:
                raise BadRecord(number, error.message) from error
            seen |= said
        added = writing.write(self, drafts, None, progress, notices, echo)
        return replace(added, notices=[*seen.notices(f"{len(drafts)} ×"), *added.notices])

    def under(self, overrides: Mapping[str, object]) -> Mind:
        """The same mind under other settings; the encoder is loaded once."""
        given.either("overrides", overrides, (Mapping,), '{"key": value}')
        other = Mind(self.place, overrides=overrides, now=self.now, lock_timeout=self.store.lock_timeout)
        if other.settings.recall.lowercase == self.settings.recall.lowercase:
            other._encoder = self._encoder
        if other.settings.recall.second_encoder == self.settings.recall.second_encoder:
            other.second_opened = self.second_opened
        return other

    # recalling

    def recall(
        self,
        query: str,
        *,
        n: int = 8,
        filters: Filters = Filters(),  # noqa: B008 - frozen
        touch: bool = True,
        explain: bool = False,
        as_of: datetime | None = None,
        nearest: bool = False,
        budget: Budget | None = None,
    ) -> Recalled:
        """The n memories that come to mind; `touch` counts their use (spec 5).

        Where nothing stands out from what a query about nothing finds, there are no hits (`abstained`); `nearest` gives
        what came closest all the same, and that counts as no use. With `as_of` what would have come to mind then:
        nothing written or changed later plays a part, nothing is touched, and what has been replaced since is marked
        old. With a `budget` hits that have no room are named as left out. Raises EmptyText, LedgerUnusable.
        """
        from nebula import recalling

        filters = given.question(query, n, filters, as_of)
        given.budget(budget)
        return recalling.recall(
            self, query, n=n, filters=filters, touch=touch, explain=explain, as_of=as_of, nearest=nearest, budget=budget
        )

    def why(
        self,
        ref: str,
        query: str,
        *,
        n: int = 8,
        filters: Filters = Filters(),  # noqa: B008 - frozen
        as_of: datetime | None = None,
        nearest: bool = False,
    ) -> Why:
        """Why a memory comes to mind for a query or does not, every figure that of the recall, and what would bring it.

        Nothing is touched or handed out. Raises UnknownRef, EmptyQuery, LedgerUnusable.
        """
        from nebula import why
        from nebula.recalling import Ask

        given.text("ref", ref)
        filters = given.question(query, n, filters, as_of)
        return why.why(self, ref, Ask(query, n, filters, as_of, nearest))

    def touch(self, refs: Sequence[str], session: str = "") -> list[Notice]:
        """Count a use of memories; a failure is a notice."""
        refs = given.words("refs", refs)
        given.text("session", session)
        try:
            line = changes.hit_line(clock.write(self.now()), refs, session)
            self.store.append_lines(CHANGES, [line], durable=False)
        except (WriteFailed, LockedTooLong) as error:
            return [Notice("not_touched", {"reason": error.message})]
        return []

    def as_of(self, moment: datetime | str) -> Past:
        """The mind as it was at a moment, or at the end of a day (`2026-05-01`). Raises BadValue."""
        from nebula.past import Past

        if isinstance(moment, str):
            moment = clock.end_of(moment, clock.read("as_of", moment))
        given.moment("as_of", moment)
        return Past(self, moment)

    def context(
        self,
        query: str = "",
        *,
        budget: int = 2000,
        session: str = "",
        vias: Sequence[str] = (),
        standing: bool = True,
        touch: bool = True,
    ) -> Context:
        """The passage for a prompt, at most `budget` characters, each memory in it data (see nebula.context).

        `vias`: only from these sources. `standing=False`: only what the query brings and what is due. Raises BadValue,
        LedgerUnusable.
        """
        from nebula.context import context

        given.text("query", query)
        given.count("budget", budget)
        given.text("session", session)
        vias = given.vias("vias", vias)
        return context(self, query, budget=budget, session=session, vias=vias, standing=standing, touch=touch)

    def subject(
        self, subject: str, project: Path | str | None = None, environ: Mapping[str, str] = os.environ
    ) -> Subject:
        """A character of the story in `project`, else in the nearest folder upwards, else in the mind's database.

        Raises UnknownSubject.
        """
        from nebula.subject import project as projects
        from nebula.subject.subject import Subject

        given.text("subject", subject)
        given.either("project", project, (str, Path), "str | Path")
        given.environment(environ)
        found = projects.find(Path.cwd(), project or None, self.place, self.store.lock_timeout)
        found.known(subject)
        return Subject(self, found, subject, environ)

    # looking

    def list(self, filters: Filters = Filters(), n: int | None = 20, as_of: datetime | None = None) -> Listing:  # noqa: B008 - frozen
        """Memories that hold (or all, with `filters.old`), newest first; `as_of`: as they were then.

        Raises LedgerUnusable.
        """
        from nebula import looking

        filters = given.filters(filters)
        if n is not None:
            given.count("n", n, least=0)  # 0: how many there are
        if as_of is not None:
            given.moment("as_of", as_of)
        return looking.listing(self, filters, n, as_of)

    def get(self, ref: str) -> Memory:
        """One memory as it stands, by ref or uid. Raises UnknownRef, LedgerUnusable."""
        found = self.find(ref)
        if found is None:
            raise UnknownRef(ref)
        return found

    def find(self, ref: str) -> Memory | None:
        """One memory as it stands, by ref or uid; None where there is none. Raises LedgerUnusable."""
        from nebula import looking

        given.text("ref", ref)
        return looking.find(self, ref)

    # meaning

    def encoder(self) -> Encoder:
        """The encoder, opened once. Raises NumpyMissing, ModelMissing, ModelUnusable."""
        from nebula.encoder import open_encoder

        if self._encoder is None:
            self._encoder = open_encoder(lowercase=self.settings.recall.lowercase)
        return self._encoder

    def build(self, progress: Callable[[int, int], None] | None = None) -> Built:
        """Make every missing vector and tidy the index; what was done before a kill stays done. Raises NotSetUp."""
        from nebula import calibration

        given.told(progress)
        encoder, cache = self.encoder(), self.cache()
        if not self.store.in_folder:
            from nebula.postgres import serving

            served = serving.build(self, progress)
            if served is not None and serving.on_server(self):
                return self._built(served, encoder)
        index = cache.open(self.embedder(None, progress), compact=True)
        calibration.prepare(index, encoder, self.settings.recall, cache.folder)
        built = self._built(index, encoder)
        if self.settings.recall.second_encoder:
            from nebula import second

            over = second.over(self, index, None, progress)
            for kind in calibration.LATIN if self.settings.recall.floor and index.table.n else ():
                second.nulls(self, over, kind, keep=True)
        return built

    def peek(self) -> Built:
        """The state of the dense index as it lies there: nothing is filled in or written. Raises NotSetUp."""
        encoder = self.encoder()
        served = None if self.keeps_index else self.served()[0]
        return self._built(served or self.cache().open(None, write=False), encoder)

    def _built(self, index: Index, encoder: Encoder) -> Built:
        size = sum(files.size(path) for path in files.inside(self.cache().folder))
        present = index.table.n - index.missing
        return Built(index.table.n, present, index.embedded, encoder.model, encoder.dimensions, size)

    def embed(self, text: str) -> Sequence[Sequence[float]]:
        """The unit vectors of a text's pieces. Raises EmptyText, NotSetUp."""
        given.text("text", text)
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
        given.text("key", key)
        if value is None:
            check(key, flatten(self.settings).get(key))
        else:
            check(key, value)
        self.store.change_config({key: value})
        raw = self.store.config()
        self.settings = build(raw, self.overrides)
        return Setting(key, flatten(self.settings)[key], origin(key, raw, self.overrides), RULES[key].expected)

    # the index

    def follow(
        self, limit: int | None = None, progress: Callable[[int, int], None] | None = None
    ) -> tuple[Index | None, Sequence[Notice]]:
        """Bring the index after what was written, which is safe whatever happens here.

        -> the index, None where another process or a failure left it behind; and what should be known.
        """
        if not has_numpy():
            return None, [Notice("dense_off")]
        if not self.store.in_folder:
            from nebula.postgres import serving

            served, told = serving.follow(self, limit)
            if serving.on_server(self):
                return served, told
        try:
            index = self.cache().follow(self.embedder(limit, progress))
        except NebulaError as error:
            return None, [Notice("index_behind", {"reason": error.message})]
        notices = missing(index) if index else []
        if index and self.settings.recall.second_encoder:
            from nebula import second

            notices += second.over_or_told(self, index, limit, progress)[1]
        return index, notices

    def marks(self) -> Marks | None:
        """What the index has consumed, for a writer that takes the next id; None without numpy."""
        return self.cache().marks() if has_numpy() and self.store.in_folder else None  # a database looks itself

    def adopt_vectors(self, other: Store) -> int:
        """Take over vectors that the same model made for another mind; -> how many. They wait for their texts.

        None where an erase is begun there: some may be of what it takes.
        """
        if other.cover() is not None:
            return 0
        try:
            key = self.encoder().key
        except NebulaError:
            return 0
        self.store.share(key, other.local / INDEX)
        given = self.cache().adopt(other.local / INDEX, key)
        if self.settings.recall.second_encoder:
            from nebula import second

            given += second.adopt(self, other.local / INDEX)
        return given

    def index(self) -> Index:
        """The index, caught up with the ledgers; no text is embedded. Only where numpy is there."""
        return self.cache().open(write=self.keeps_index)

    @property
    def keeps_index(self) -> bool:
        """Whether this host keeps an index of its own; else one that is needed all the same is made in memory."""
        return self.store.in_folder or self.settings.postgres.recall != "server"

    def open_index(self, *, embed: bool, whole: bool = False) -> Index:
        """The index for a recall, caught up; with `embed` a few missing vectors are made on the way.

        `whole`: all of them, in memory alone.
        """
        if whole:
            return self.cache().open(self.embedder(None), write=False)
        embedder = self.embedder(CATCH_UP_BYTES) if embed else None
        opened = self._opened.index = self.cache().open(embedder, write=self.keeps_index)
        return opened

    def served(self) -> tuple[ServedIndex | None, Sequence[Notice]]:
        """What the mind's database serves for a recall, and notices; None where this host's own index is searched."""
        if self.store.in_folder:
            return None, []
        from nebula.postgres import serving

        found, told = serving.opened(self)
        if found:
            self._opened.index = found
        return found, told

    def recalled_from(self) -> Index:
        """The index as the last recall of this object found it, opened where there was none."""
        return getattr(self._opened, "index", None) or self.index()

    def cache(self) -> Cache:
        """The folder of what is derived from the ledgers, under this mind's settings."""
        from nebula.index.cache import Cache

        return Cache(self.store, self.reading, self.settings.recall.tokens)

    @property
    def reading(self) -> str:
        """The way in which texts are read, which an index is named after."""
        return f"{self.settings.recall.tokens}-{'lower' if self.settings.recall.lowercase else 'cased'}"

    def embedder(self, limit: int | None, progress: Callable[[int, int], None] | None = None) -> Embedder:
        """How missing vectors are made here, texts of at most `limit` bytes of lines. Raises NotSetUp."""
        from nebula.index.catchup import Embedder, by_text

        encoder = self.encoder()
        embed = self.store.lent(
            encoder.key, encoder.dimensions, lambda texts: by_text(encoder.encode(texts), len(texts))
        )
        return Embedder(encoder.key, embed, limit, progress)


def store_at(place: Path | Address, lock_timeout: float = files.LOCK_TIMEOUT) -> Store:
    """The store of a mind in a folder or a database; nothing is created or asked."""
    if not isinstance(place, str | Path):
        from nebula.address import Address

        if not isinstance(place, Address):
            raise BadValue("folder", place, "str | Path")
        from nebula.postgres.store import PostgresStore

        return PostgresStore(place, lock_timeout)
    return Store(Path(place), lock_timeout)
