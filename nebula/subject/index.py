"""The derived index of a project's subjects: one SQLite file, every row in the partition of a subject and a source.

A cache: deleted, damaged or of another format it is made again. Text that was embedded once is not embedded again.
Vectors of another model can't be compared, so they are refused by name and never mixed.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from nebula import reasons
from nebula.errors import IndexOfAnotherModel, NebulaError, WriteFailed
from nebula.mindlib import files
from nebula.quick import dataclass
from nebula.subject.chunks import CHUNKS
from nebula.subject.files import EVENTS, HISTORY, MEMORY
from nebula.subject.project import read_own
from nebula.text import words
from nebula.text.simplified import simplified

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from nebula.subject.chunks import Chunk
    from nebula.subject.files import Lived

FORMAT = "1"
SOURCES = ("events", "memory")
#: Characters of a text that its vector is made of: a megabyte would take minutes. By word all of it is found.
EMBEDDED = 8000
LOCK_SECONDS = 10.0
TABLES = {"meta", "source", "chunk"}
T = TypeVar("T")
_SCHEMA = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE source (subject TEXT, type TEXT, hash TEXT NOT NULL, dirty INTEGER NOT NULL, error TEXT NOT NULL,
    PRIMARY KEY (subject, type)) WITHOUT ROWID""",
    """CREATE TABLE chunk (subject TEXT, type TEXT, line INTEGER, part INTEGER, since INTEGER NOT NULL, until INTEGER,
    hash TEXT NOT NULL, text TEXT NOT NULL, tokens TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (subject, type, line, part))""",
)


class Embedder(Protocol):
    """What turns text into vectors: ours, or an endpoint's."""

    @property
    def name(self) -> tuple[str, str, int]:
        """(provider, model, dimensions)."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """[n, dimensions], norm 1, in the texts' order."""


@dataclass(frozen=True)
class State:
    """A source's state: synced, dirty, absent (not indexed) or error, with the reason; how many chunks."""

    subject: str
    source: str
    state: str
    chunks: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Partition:
    """The rows of one source that hold as of a moment: `keys` (line, part), tokens of each, vectors f32 [n, d]."""

    source: str
    keys: Sequence[tuple[int, int]]
    tokens: Sequence[Counter[str]]
    vectors: NDArray[np.float32]


class SubjectIndex:
    """The open index of a project. Use `using`."""

    def __init__(self, path: Path, base: sqlite3.Connection) -> None:
        self.path = path
        self._base = base

    def check_model(self, embedder: Embedder) -> None:
        """Raises IndexOfAnotherModel where the index holds another one's vectors; an empty one takes this one."""
        rows = dict(self._base.execute("SELECT key, value FROM meta").fetchall())
        provider, model, dimensions = embedder.name
        wanted = {"provider": provider, "model": model, "dimensions": str(dimensions)}
        if all(rows.get(key) == value for key, value in wanted.items()):
            return
        if self._base.execute("SELECT 1 FROM chunk LIMIT 1").fetchone():
            if not wanted.keys() <= rows.keys():
                raise sqlite3.DatabaseError("no model")  # never written so: it is damaged
            there = " ".join(rows[key] for key in wanted)
            raise IndexOfAnotherModel(self.path, there, " ".join(wanted.values()))
        with self._base:
            self._base.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", wanted.items())

    def sync(self, subject: str, folder: Path, lived: Lived, embedder: Embedder, *, force: bool = False) -> int:
        """Bring both sources of a subject up to date; -> texts embedded. Raises what the embedder raises.

        A failure is noted with its reason, and nothing else has changed.
        """
        self.check_model(embedder)
        return sum(self._sync(subject, source, folder, lived, embedder, force=force) for source in SOURCES)

    def _sync(self, subject: str, source: str, folder: Path, lived: Lived, embedder: Embedder, *, force: bool) -> int:
        there = source_hash(folder, source)
        row = self._base.execute(
            "SELECT hash, dirty, error FROM source WHERE subject = ? AND type = ?", (subject, source)
        ).fetchone()
        if row == (there, 0, "") and not force:
            return 0
        places = self._places(subject, source)
        known = {text for *_, text in places.values()}
        wanted = {(chunk.line, chunk.part): chunk for chunk in CHUNKS[source](lived)}
        changed = [c for place, c in wanted.items() if places.get(place) != (c.since, c.until, c.text)]
        fresh = list(dict.fromkeys(chunk.text for chunk in changed if chunk.text not in known))
        try:
            vectors = embedder.embed([text[:EMBEDDED] for text in fresh]) if fresh else ()
        except NebulaError as error:
            self._note(subject, source, row[0] if row else "", error.message)
            raise
        made = {text: (_cut(text), _packed(vector)) for text, vector in zip(fresh, vectors, strict=True)}
        made |= self._made(subject, source, {chunk.text for chunk in changed if chunk.text in known})
        gone = [place for place in places if place not in wanted]
        with self._base:  # one commit: each is synced
            self._write(subject, source, gone, [(chunk, *made[chunk.text]) for chunk in changed])
            self._put(subject, source, there, "")
        return len(fresh)

    def _places(self, subject: str, source: str) -> dict[tuple[int, int], tuple[int, int | None, str]]:
        """(line, part) -> (since, until, text) of the rows that are there."""
        rows = self._base.execute(
            "SELECT line, part, since, until, text FROM chunk WHERE subject = ? AND type = ?", (subject, source)
        )
        return {(line, part): (since, until, text) for line, part, since, until, text in rows}

    def _made(self, subject: str, source: str, wanted: set[str]) -> dict[str, tuple[str, bytes]]:
        """Text -> tokens and vector of those that only moved."""
        if not wanted:
            return {}
        rows = self._base.execute(
            "SELECT text, tokens, vector FROM chunk WHERE subject = ? AND type = ?", (subject, source)
        )
        return {text: (tokens, vector) for text, tokens, vector in rows if text in wanted}

    def _write(
        self,
        subject: str,
        source: str,
        gone: Sequence[tuple[int, int]],
        new: Sequence[tuple[Chunk, str, bytes]],
    ) -> None:
        self._base.executemany(
            "DELETE FROM chunk WHERE subject = ? AND type = ? AND line = ? AND part = ?",
            [(subject, source, *place) for place in gone],
        )
        self._base.executemany(
            "INSERT OR REPLACE INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (subject, source, c.line, c.part, c.since, c.until, c.hash, c.text, tokens, vector)
                for c, tokens, vector in new
            ],
        )

    def _note(self, subject: str, source: str, digest: str, error: str) -> None:
        with self._base:
            self._put(subject, source, digest, error)

    def _put(self, subject: str, source: str, digest: str, error: str) -> None:
        row = (subject, source, digest, int(bool(error)), error)
        self._base.execute("INSERT OR REPLACE INTO source VALUES (?, ?, ?, ?, ?)", row)

    def partition(self, subject: str, source: str, line: int | None = None) -> Partition:
        """The rows of one subject and source that hold as of a line of events, None for now."""
        import numpy as np

        holds = "until IS NULL" if line is None else "since <= ? AND (until IS NULL OR until > ?)"
        rows = self._base.execute(
            f"SELECT line, part, tokens, vector FROM chunk WHERE subject = ? AND type = ? AND {holds}",  # noqa: S608 - no text of others
            (subject, source, *(() if line is None else (line, line))),
        ).fetchall()
        data = b"".join(vector for *_, vector in rows)
        vectors = (
            np.frombuffer(data, np.float16).reshape(len(rows), -1).astype(np.float32)
            if rows
            else np.zeros((0, 1), np.float32)
        )
        return Partition(
            source,
            [(line, part) for line, part, *_ in rows],
            [Counter(simplified(tokens).split(" ")) if tokens else Counter() for _, _, tokens, _ in rows],
            vectors,
        )

    def state(self, subject: str, source: str, folder: Path) -> State:
        """How a source stands; nothing is synced."""
        row = self._base.execute(
            "SELECT hash, dirty, error FROM source WHERE subject = ? AND type = ?", (subject, source)
        ).fetchone()
        (chunks,) = self._base.execute(
            "SELECT count(*) FROM chunk WHERE subject = ? AND type = ?", (subject, source)
        ).fetchone()
        if row is None:
            return State(subject, source, "absent")
        if row[2]:
            return State(subject, source, "error", chunks, row[2])
        fresh = not row[1] and row[0] == source_hash(folder, source)
        return State(subject, source, "synced" if fresh else "dirty", chunks)

    def mark(self, subject: str) -> None:
        """Note that a subject's sources changed."""
        with self._base:
            self._base.execute("UPDATE source SET dirty = 1 WHERE subject = ?", (subject,))

    def forget(self, subject: str) -> None:
        """Drop all of a subject."""
        with self._base:
            for table in ("chunk", "source"):
                self._base.execute(f"DELETE FROM {table} WHERE subject = ?", (subject,))  # noqa: S608 - our own names


def _cut(text: str) -> str:
    return " ".join(words.tokens(text, "full"))


def _packed(vector: NDArray[Any]) -> bytes:
    import numpy as np

    return vector.astype(np.float16).tobytes()


def source_hash(folder: Path, source: str) -> str:
    """Of the files that a source is made from; a view's first known line depends on the history too."""
    names = (EVENTS,) if source == "events" else (MEMORY, HISTORY)
    return files.fingerprint(b"\x00".join(read_own(folder / name) for name in names))


def mark_dirty(path: Path, subject: str) -> None:
    """Note that a subject's sources changed, where there is an index; the next search brings it up to date."""
    if path.is_file():
        with contextlib.suppress(WriteFailed):  # the sources' hashes tell it as well
            using(path, lambda index: index.mark(subject))


def using(path: Path, work: Callable[[SubjectIndex], T]) -> T:
    """Work on the index, made where it is absent; a damaged one is made again and worked on once more.

    Raises WriteFailed where it can't be opened or written, and what the work raises.
    """
    files.make_folder(path.parent)
    try:
        return _work(path, work)
    except sqlite3.OperationalError as error:
        raise WriteFailed(path, reasons.of(error)) from error
    except sqlite3.DatabaseError:
        drop(path)
    try:
        return _work(path, work)
    except sqlite3.Error as error:
        raise WriteFailed(path, reasons.of(error)) from error


def drop(path: Path) -> bool:
    """Delete the index; -> whether there was one. Raises WriteFailed."""
    there = path.is_file()
    try:
        for name in (path.name, f"{path.name}-journal"):
            path.with_name(name).unlink(missing_ok=True)
    except OSError as error:
        raise WriteFailed(path, reasons.of(error)) from error
    return there


def _work(path: Path, work: Callable[[SubjectIndex], T]) -> T:
    with closing(sqlite3.connect(path, timeout=LOCK_SECONDS)) as base:
        base.execute("PRAGMA trusted_schema = OFF")
        base.execute("PRAGMA synchronous = NORMAL")  # a cache: what a power cut damages is made again
        base.execute("PRAGMA secure_delete = ON")  # what was dropped must not stay readable in free pages
        base.execute("BEGIN IMMEDIATE") if _is_empty(path) else None
        tables = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            for statement in _SCHEMA:
                base.execute(statement)
            base.execute("INSERT INTO meta VALUES ('format', ?)", (FORMAT,))
            path.chmod(0o600)
        base.commit()
        if tables and (tables != TABLES or _format(base) != FORMAT):
            raise sqlite3.DatabaseError("another format")
        return work(SubjectIndex(path, base))


def _is_empty(path: Path) -> bool:
    """Two processes may both find it new: the tables are looked for again once one of them holds it."""
    return not path.stat().st_size


def _format(base: sqlite3.Connection) -> str:
    row = base.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    return str(row[0]) if row else ""
