"""The store of a mind in PostgreSQL: a folder's operations over rows (0001_truth.sql); an offset is a line's place.

Ids and places are taken under the ledger's lock, which is held to the end of the transaction: they are unique and have
no gaps, and lines come into sight in their order, so that whoever has read up to a place has missed none before it.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from nebula import private
from nebula.errors import NotOnPostgres, SettingsUnusable, StoresDiffer, WriteFailed
from nebula.mindlib import changes, files, ledger
from nebula.mindlib.ledger import Damage, Line, Scan
from nebula.mindlib.record import BY_NAME, FAR, MAX_ID, Memory, reason_unreadable, to_object
from nebula.mindlib.store import CHUNK, CONFIG, FOLDED, HANDED_OUT, RECENT, Marks, Store, allotted, highest_ref, put
from nebula.places import cache_of
from nebula.postgres import schema
from nebula.postgres.connection import Connection
from nebula.postgres.schema import lock_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from nebula.address import Address
    from nebula.mindlib.store import Embed

#: The place that comes next in a ledger.
NEXT = "SELECT coalesce(max(n) + 1, 0) FROM nebula.line WHERE kind = %s"
#: How often something was erased.
ERASURES = "SELECT coalesce(max(n), 0) FROM nebula.erasure"
#: Of this machine: how often something had been erased when what is derived here was last looked through.
SEEN = "erasures"
#: What a machine keeps that may quote what was erased since; the index sees to itself (see `stamp`).
DERIVED = (HANDED_OUT, "mood-state.json", "星图.html")
#: Lines at the end of a side ledger that are recent.
RECENT_LINES = 2000


class PostgresStore(Store):
    """The mind at an address. Holds a connection and no other state: other hosts write here too."""

    in_folder = False

    def __init__(self, address: Address, lock_timeout: float = files.LOCK_TIMEOUT) -> None:
        super().__init__(cache_of(address), lock_timeout)
        self.address = address
        self.connection = Connection(address, lock_timeout, self._look)
        with contextlib.suppress(WriteFailed):
            self.local.mkdir(parents=True, exist_ok=True, mode=0o700)

    def _look(self, db: Any) -> None:
        schema.check(db, self.address)
        erasures = str(db.execute(ERASURES).fetchone()[0])
        seen = self.local / SEEN
        if erasures != (seen.read_text() if seen.is_file() else "0"):
            self.forget_derived()
            with contextlib.suppress(WriteFailed):
                files.replace(seen, erasures.encode(), durable=False)

    def forget_derived(self) -> None:
        """Remove what this machine keeps that may quote what was erased."""
        for name in DERIVED:
            (self.local / name).unlink(missing_ok=True)

    @property
    def folder(self) -> Path:
        """There is none. Raises NotOnPostgres, whatever wanted to look into it."""
        raise NotOnPostgres(self.address)

    def path(self, name: str) -> Path:
        """A file of this machine's own; the ledgers are none. Raises NotOnPostgres."""
        if name.split("/", 1)[0] == RECENT:
            return self.local / name
        raise NotOnPostgres(self.address)

    def named(self, name: str) -> str:
        """What a person is told of a file of the mind."""
        return f"{self.address} {name}"

    # reading

    def contents(self, name: str, start: int = 0, limit: int | None = None) -> bytes:
        """A ledger or a document as the bytes of its file in a folder; also of this machine's own files."""
        if name.split("/", 1)[0] == RECENT:
            return super().contents(name, start, limit)
        lines = b"".join(line + b"\n" for chunk in self.chunks(name) for line in chunk)
        data = lines or self.document(name) or b""
        return data[start:] if limit is None else data[start : start + limit]

    def scan(self, name: str, start: int = 0, limit: int | None = None) -> Scan:
        """The lines of one ledger from a place on, at most `limit`. Raises StoreUnreachable, StoreRefused."""
        query = "SELECT n, line FROM nebula.line WHERE kind = %s AND n >= %s ORDER BY n LIMIT %s"
        rows = self._rows(query, [_ledger(name), start, limit])
        reason = reason_unreadable if _ledger(name) in BY_NAME else None
        lines: list[Line] = []
        damages: list[Damage] = []
        for place, raw in rows:
            if not raw.strip():
                continue
            obj, why = ledger.parse(raw.removeprefix(ledger.BOM) if place == 0 else raw, reason)
            if why is None:
                lines.append(Line(place, len(raw), obj))
            else:
                damages.append(Damage(Path(_file(name)), place + 1, why, isinstance(obj, dict)))
        return Scan(lines, damages, rows[-1][0] + 1 if rows else start)

    def scan_on(self, name: str, start: int, before: str, limit: int | None = None) -> tuple[Scan, str]:
        """As `scan`; no hash is kept: lines are never replaced, and no copy of the database is taken for it."""
        return self.scan(name, start, limit), ""

    def whole(self, name: str, end: int) -> str:
        """None is kept."""
        return ""

    def stamp(self, name: str) -> tuple[int, int, int]:
        """The place that comes next, and how often something was erased: what was read before is to be read anew."""
        query = f"SELECT ({NEXT}), ({ERASURES})"
        end, erasures = self._rows(query, [_ledger(name)])[0]
        return int(end), 0, int(erasures)

    def tail(self, name: str, end: int) -> str:
        """A hash of the line before a place."""
        return files.fingerprint(self.line(name, end - 1, 0) if end else b"")

    def line(self, name: str, offset: int, length: int) -> bytes:
        """The line at a place."""
        found = self._rows("SELECT line FROM nebula.line WHERE kind = %s AND n = %s", [_ledger(name), offset])
        return found[0][0] if found else b""

    def end_of(self, line: Line) -> int:
        """The place after a line."""
        return line.offset + 1

    def recent(self, name: str) -> list[dict[str, Any]]:
        """The objects of a side ledger's last lines."""
        return [changes.sound(line.obj) for line in self.scan(name, max(0, self._end(name) - RECENT_LINES)).lines]

    def telling(self, name: str, keys: Sequence[bytes], *, first: bool = False) -> list[dict[str, Any]]:
        """As `events`, of the lines that hold one of some byte strings; see Store.telling."""
        query = (
            "SELECT line FROM nebula.line WHERE kind = %s"
            " AND EXISTS (SELECT FROM unnest(%s::bytea[]) AS key WHERE position(key IN line) > 0) ORDER BY n"
        )
        lines = [row[0] for row in self._rows(query, [name, list(keys)])]
        if first and not any(keys[0] in line for line in lines):
            return []
        parsed = [ledger.parse(line) for line in lines]
        return [changes.sound(obj) for obj, why in parsed if why is None]

    def chunks(self, name: str, start: int = 0, size: int = CHUNK) -> Iterator[list[bytes]]:
        """The lines of a ledger from a place on as they lie there, damaged ones too."""
        query = "SELECT line FROM nebula.line WHERE kind = %s AND n >= %s ORDER BY n LIMIT %s"
        while rows := self._rows(query, [_ledger(name), start, size]):
            yield [row[0] for row in rows]
            start += len(rows)

    def _end(self, name: str) -> int:
        return int(self._rows(NEXT, [_ledger(name)])[0][0])

    def _rows(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        return self.connection.run(lambda db: db.execute(query, values, binary=True).fetchall(), single=True)

    # writing

    def append(
        self,
        kind: str,
        drafts: Sequence[Memory],
        marks: Marks | None = None,
        finish: Callable[[list[Memory]], list[Memory]] = list,
    ) -> list[Memory]:
        """Write memories in one transaction; return them as written. See Store.append."""
        batch = uuid4()
        written: list[Memory] = []

        def work(db: Any) -> list[Memory]:
            first = self._begin(db, batch, kind)
            if first is None:
                return written  # the first try was committed, its answer lost
            ids = allotted(_next_id(db, kind), [draft.id for draft in drafts])
            written[:] = finish([replace(d, ledger=kind, id=i) for d, i in zip(drafts, ids, strict=True)])
            _insert(db, kind, first, [ledger.dump([to_object(m)])[:-1] for m in written], [m.id for m in written])
            return written

        return self.connection.run(work)

    def append_lines(self, name: str, objects: Iterable[Mapping[str, Any]], *, durable: bool) -> None:
        """Append objects to a side ledger in one transaction; counters may be lost with the server's machine."""
        given = list(objects)
        lines = [ledger.dump([obj])[:-1] for obj in given]
        self._append(name, lines, [None] * len(lines), given, durable=durable)

    def append_chunks(self, name: str, chunks: Iterable[list[bytes]], start: int) -> int:
        """Append lines as another store holds them, each chunk in a transaction; see Store.append_chunks."""
        done = 0
        for lines in chunks:
            reason = reason_unreadable if name in BY_NAME else None
            parsed = [ledger.parse(line.removeprefix(ledger.BOM), reason) for line in lines]
            ids = [obj["id"] if name in BY_NAME and why is None else None for obj, why in parsed]
            objects = [obj for obj, why in parsed if why is None]
            if not self._append(name, lines, ids, objects, start=start + done):
                raise StoresDiffer(self.named(name), start + done + 1)
            done += len(lines)
        return done

    def _append(
        self,
        name: str,
        lines: Sequence[bytes],
        ids: Sequence[int | None],
        objects: Sequence[Mapping[str, Any]],
        *,
        start: int | None = None,
        durable: bool = True,
    ) -> bool:
        batch = uuid4()

        def work(db: Any) -> bool:
            if not durable:
                db.execute("SET LOCAL synchronous_commit TO off")
            first = self._begin(db, batch, name)
            if first is not None and start not in (None, first):
                return False
            if first is not None:
                _insert(db, name, first, lines, ids)
                _remember_ids(db, name, objects)
            return True

        return self.connection.run(work)

    def _begin(self, db: Any, batch: UUID, name: str) -> int | None:
        """Take the ledger's lock; -> the next place, None where this batch was written before."""
        db.execute("SELECT pg_advisory_xact_lock(%s, %s)", lock_of(name))
        if db.execute("SELECT 1 FROM nebula.batch WHERE id = %s", [batch]).fetchone():
            return None
        db.execute("INSERT INTO nebula.batch (id, kind) VALUES (%s, %s)", [batch, name])
        return int(db.execute(NEXT, [name]).fetchone()[0])

    @contextlib.contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Hold a lock of that name against all hosts; it goes with the connection. Raises LockedTooLong."""
        with self.connection.lock(lock_of(name)):
            yield

    # vectors

    def lent(self, model: str, dimensions: int, embed: Embed) -> Embed:
        """As `embed`, but a text that any host has embedded is not embedded again. It raises StoreUnreachable, too."""
        from nebula.postgres import vectors

        return vectors.lent(self.connection, model, dimensions, embed)

    def share(self, model: str, index: Path) -> int:
        """Lend the vectors of an index folder to all hosts. Raises StoreUnreachable."""
        from nebula.postgres import vectors

        return vectors.share(self.connection, model, index)

    # documents

    def document(self, name: str) -> bytes | None:
        """What is replaced as a whole; None where there is none."""
        found = self._rows("SELECT body FROM nebula.document WHERE name = %s", [name])
        return found[0][0] if found else None

    def put_document(self, name: str, body: bytes) -> None:
        """Replace a document."""
        self.connection.run(lambda db: put_document(db, name, body))

    def config(self) -> dict[str, Any]:
        """The settings' object, {} where none are set. Raises SettingsUnusable."""
        obj, why = ledger.parse(self.document(CONFIG) or b"{}")
        if why is not None:
            raise SettingsUnusable(self.named(CONFIG), "-", why)
        return dict(obj)

    def change_config(self, changes: Mapping[str, object]) -> None:
        """Set dotted keys (None removes one), keeping every other key."""
        import orjson

        def work(db: Any) -> None:
            db.execute("SELECT pg_advisory_xact_lock(%s, %s)", lock_of(CONFIG))
            found = db.execute("SELECT body FROM nebula.document WHERE name = %s", [CONFIG], binary=True).fetchone()
            obj = orjson.loads(found[0]) if found else {}
            for key, value in changes.items():
                put(obj, key, private.strip_all(value))
            put_document(db, CONFIG, orjson.dumps(obj, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))

        self.config()  # what can't be read is refused, not replaced
        self.connection.run(work)

    def check_writable(self) -> None:
        """Raises WriteFailed where the role may not add lines."""
        if not self._rows("SELECT has_table_privilege('nebula.line', 'INSERT')", [])[0][0]:
            raise WriteFailed(str(self.address), "INSERT")


def _ledger(name: str) -> str:
    """A ledger's name by that or by its file's."""
    return name.removesuffix(".jsonl") if name.removesuffix(".jsonl") in BY_NAME else name


def _file(name: str) -> str:
    return BY_NAME[name].file if name in BY_NAME else name


def _insert(db: Any, kind: str, first: int, lines: Sequence[bytes], ids: Sequence[int | None]) -> None:
    db.execute(
        "INSERT INTO nebula.line (kind, n, id, line) SELECT %s, %s + at - 1, id, line"
        " FROM unnest(%s::bigint[], %s::bytea[]) WITH ORDINALITY AS given (id, line, at)",
        [kind, first, list(ids), list(lines)],
    )


def put_lines(db: Any, name: str, objects: Sequence[Mapping[str, Any]]) -> None:
    """Append objects to a side ledger whose lock is held."""
    if objects:
        lines = [ledger.dump([obj])[:-1] for obj in objects]
        _insert(db, name, int(db.execute(NEXT, [name]).fetchone()[0]), lines, [None] * len(lines))


def _next_id(db: Any, kind: str) -> int:
    """Above every id that the ledger holds or a change has named, but for those far off (see record.following)."""
    query = (
        "SELECT greatest((SELECT max(id) FROM nebula.line WHERE kind = %(kind)s AND id < %(far)s),"
        " (SELECT max(id) FROM nebula.high WHERE kind = %(kind)s AND id < %(far)s), 0)"
    )
    near = int(db.execute(query, {"kind": kind, "far": FAR}).fetchone()[0])
    if near + 1 < FAR:
        return near + 1
    highest = int(db.execute(query, {"kind": kind, "far": MAX_ID + 1}).fetchone()[0])
    if highest >= MAX_ID:
        raise WriteFailed(_file(kind), f"id > {MAX_ID}")
    return highest + 1


def _remember_ids(db: Any, name: str, objects: Sequence[Mapping[str, Any]]) -> None:
    """Keep ids that changes name and their ledger does not reach."""
    if name not in FOLDED:
        return
    for kind in BY_NAME:
        highest = highest_ref(kind, objects)
        if highest >= (_next_id(db, kind) if highest else 1):
            db.execute("INSERT INTO nebula.high VALUES (%s, %s) ON CONFLICT DO NOTHING", [kind, highest])


def put_document(db: Any, name: str, body: bytes) -> None:
    """Replace a document within a transaction."""
    query = "INSERT INTO nebula.document VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET body = excluded.body"
    db.execute(query, [name, body])
