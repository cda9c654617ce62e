"""The derived index of a project's subjects: one SQLite file, every row in the partition of a subject and a source.

A cache: deleted, damaged or of another format it is made again. Text that was embedded once is not embedded again.
Vectors of another model can't be compared, so they are refused by name and never mixed.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from nebula.errors import IndexOfAnotherModel, NebulaError, WriteFailed
from nebula.mindlib import files
from nebula.subject.files import EVENTS, HISTORY, MEMORY
from nebula.subject.project import read_own
from nebula.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from nebula.subject.files import Lived

FORMAT = "1"
SOURCES = ("events", "memory")
LONGEST = 1200  # characters of a part of a view
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
class Chunk:
    """What is searched: an event, or a part of a version of a view. `line`: of events, or the version's number."""

    line: int
    part: int
    since: int  # the line of events from which it is known
    until: int | None  # and from which no more; None: it still is
    text: str

    @property
    def hash(self) -> str:
        """Of the text."""
        return files.fingerprint(self.text.encode("utf-8", "surrogatepass"))


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


def event_chunks(lived: Lived) -> list[Chunk]:
    """One for each event: its story time, then its text."""
    return [
        Chunk(event.line, 0, event.line, None, f"{event.time} {event.text}" if event.time else event.text)
        for event in lived.events
    ]


def memory_chunks(lived: Lived) -> list[Chunk]:
    """For each version of a view its topic with aliases, and the text, in parts of at most 1,200 characters."""
    return [
        Chunk(number, part, version.since, version.until, text)
        for number, version in enumerate(lived.versions)
        for part, text in enumerate(parts(_head(version.view.topic, version.view.aliases), version.view.view))
    ]


def _head(topic: str, aliases: Sequence[str]) -> str:
    return f"{topic}（{'、'.join(aliases)}）: " if aliases else f"{topic}: "


def parts(head: str, text: str) -> list[str]:
    """A text with its head, cut at paragraphs, else at sentences, else anywhere between two characters."""
    head = head[: LONGEST // 2]
    room = LONGEST - len(head)
    found: list[str] = []
    rest = text.strip()
    while len(rest) > room:
        cut = max(rest.rfind(mark, 1, room) + 1 for mark in ("\n\n", "\n"))
        cut = cut if cut > 0 else max(rest.rfind(mark, 1, room) + 1 for mark in "。！？.!?")
        cut = cut if cut > 0 else _between(rest, room)
        found.append(head + rest[:cut].strip())
        rest = rest[cut:].strip()
    return [*found, head + rest] if rest or not found else found


def _between(text: str, room: int) -> int:
    """A place at most `room` that parts no character from what is joined to it (marks, joiners, variation)."""
    import unicodedata

    joined = {"\u200d", "\ufe0f", "\ufe0e"}
    cut = room
    while cut > 1 and (unicodedata.combining(text[cut]) or {text[cut], text[cut - 1]} & joined):
        cut -= 1
    return cut


CHUNKS: dict[str, Callable[[Lived], list[Chunk]]] = {"events": event_chunks, "memory": memory_chunks}


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
            there = " ".join(rows.get(key, "?") for key in wanted)
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
        wanted = CHUNKS[source](lived)
        known = self._known(subject, source)
        fresh = list(dict.fromkeys(chunk.text for chunk in wanted if chunk.hash not in known))
        try:
            vectors = embedder.embed(fresh) if fresh else ()
        except NebulaError as error:
            self._note(subject, source, row[0] if row else "", error.message)
            raise
        made = {
            files.fingerprint(text.encode()): (_cut(text), _packed(vector))
            for text, vector in zip(fresh, vectors, strict=True)
        }
        self._write(subject, source, wanted, {**known, **made})
        self._note(subject, source, there, "")
        return len(fresh)

    def _known(self, subject: str, source: str) -> dict[str, tuple[str, bytes]]:
        rows = self._base.execute(
            "SELECT hash, tokens, vector FROM chunk WHERE subject = ? AND type = ?", (subject, source)
        )
        return {digest: (tokens, vector) for digest, tokens, vector in rows}

    def _write(self, subject: str, source: str, wanted: Sequence[Chunk], made: dict[str, tuple[str, bytes]]) -> None:
        """Make the partition's rows what is wanted, touching only those that differ."""
        rows = self._base.execute(
            "SELECT line, part, since, until, hash FROM chunk WHERE subject = ? AND type = ?", (subject, source)
        )
        there = {(line, part): (since, until, digest) for line, part, since, until, digest in rows}
        want = {(c.line, c.part): (c.since, c.until, c.hash) for c in wanted}
        gone = [(subject, source, *place) for place in there if place not in want]
        new = [c for c in wanted if there.get((c.line, c.part)) != (c.since, c.until, c.hash)]
        with self._base:
            self._base.executemany("DELETE FROM chunk WHERE subject = ? AND type = ? AND line = ? AND part = ?", gone)
            self._base.executemany(
                "INSERT OR REPLACE INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(subject, source, c.line, c.part, c.since, c.until, c.hash, c.text, *made[c.hash]) for c in new],
            )

    def _note(self, subject: str, source: str, digest: str, error: str) -> None:
        with self._base:
            self._base.execute(
                "INSERT OR REPLACE INTO source VALUES (?, ?, ?, ?, ?)",
                (subject, source, digest, int(bool(error)), error),
            )

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
            [Counter(tokens.split(" ")) if tokens else Counter() for _, _, tokens, _ in rows],
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
        raise WriteFailed(path, str(error)) from error
    except sqlite3.DatabaseError:
        drop(path)
    try:
        return _work(path, work)
    except sqlite3.Error as error:
        raise WriteFailed(path, str(error)) from error


def drop(path: Path) -> bool:
    """Delete the index; -> whether there was one. Raises WriteFailed."""
    there = path.is_file()
    try:
        for name in (path.name, f"{path.name}-journal"):
            path.with_name(name).unlink(missing_ok=True)
    except OSError as error:
        raise WriteFailed(path, error.strerror or str(error)) from error
    return there


def _work(path: Path, work: Callable[[SubjectIndex], T]) -> T:
    with closing(sqlite3.connect(path, timeout=LOCK_SECONDS)) as base:
        base.execute("PRAGMA trusted_schema = OFF")
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
