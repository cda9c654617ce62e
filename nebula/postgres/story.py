"""A story in a database: every subject's rows lie behind row-level security, and a command works on a copy of them.

A connection is opened for one subject and sees no other's rows, whatever it asks; the leader's, which lists and checks,
sees all and writes none. The code of folders runs on a copy in a temporary folder of the user's own; what it changed
goes back in one transaction, or not at all. Only the derived index stays on the host.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from nebula.errors import ChangedMeanwhile, NotOnPostgres, StoresDiffer, SubjectTaken, UnknownSubject
from nebula.mindlib import files, scratch
from nebula.postgres import schema
from nebula.postgres.connection import Connection
from nebula.postgres.schema import lock_of
from nebula.quick import dataclass
from nebula.subject.files import EVENTS, HISTORY, MEMORY, MIND, SOUL, STATE, SUBJECT
from nebula.subject.ids import check_id, key
from nebula.subject.project import Project, nearest, read_own

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from uuid import UUID

    from nebula.address import Address

#: Files of lines that are only added to, and files that are replaced.
GROWING = (EVENTS, HISTORY)
REPLACED = (SUBJECT, SOUL, MIND, STATE, MEMORY)
#: The leader of the story; no subject's id.
LEADER = "*"


@dataclass(frozen=True)
class Held:
    """A subject's rows as they were read; `state` is None for one that is not there."""

    state: UUID | None
    lines: dict[str, list[bytes]]
    pages: dict[str, bytes]


ABSENT = Held(None, {}, {})


@dataclass(frozen=True)
class Story(Project):
    """The story in a mind's database; `root` is this host's, for what may be deleted any time."""

    address: Address
    patience: float = files.LOCK_TIMEOUT
    _opened: dict[str, Connection] = field(default_factory=dict, compare=False, repr=False)

    @property
    def where(self) -> str:
        """What a person is told of where all subjects lie."""
        return str(self.address)

    def named(self, subject: str) -> str:
        """What a person is told of where one lies."""
        return f"{self.address} {subject}"

    def folders(self) -> Mapping[str, Path]:
        """There are none. Raises NotOnPostgres, whatever wanted to look into one."""
        raise NotOnPostgres(self.address)

    def ids(self) -> Sequence[str]:
        """Every subject's id, in order. Raises StoreUnreachable, StoreRefused."""
        return sorted(self._roster())

    def known(self, subject: str) -> str:
        """An existing subject's id as it is kept. Raises BadSubjectId, UnknownSubject."""
        wanted = check_id(subject)
        if self._for(wanted).run(lambda db: _state(db, wanted)) is None:
            raise UnknownSubject(wanted, nearest(wanted, self._roster()), str(self.address))
        return wanted

    def free(self, subject: str) -> str:
        """The id of a subject that is there or may be made. Raises BadSubjectId, SubjectTaken."""
        wanted = check_id(subject)
        other = next((one for one in self._roster() if key(one) == key(wanted) and one != wanted), None)
        if other is not None:
            raise SubjectTaken(wanted, other)
        return wanted

    @contextmanager
    def reading(self, *subjects: str) -> Iterator[Project]:
        """A copy of some subjects, each by its own connection, or of all by the leader's. Raises UnknownSubject."""
        with _copy() as place:
            for one in [self.known(subject) for subject in subjects] or [LEADER]:
                for name, held in self._for(one).run(_read).items():
                    _lay_out(place, name, held)
            yield place

    @contextmanager
    def writing(self, subject: str, timeout: float = files.LOCK_TIMEOUT) -> Iterator[Project]:
        """A copy of one subject under its lock against all hosts; what is changed in it goes back when it is left.

        Raises LockedTooLong, and ChangedMeanwhile where the lock was lost and another writer came; nothing is written
        then, nor where the work on the copy fails.
        """
        connection = self._for(subject)
        with connection.lock(lock_of(f"subject {subject}")), _copy() as place:
            before = connection.run(_read).get(subject, ABSENT)
            _lay_out(place, subject, before)
            yield place
            self._take_back(connection, subject, before, place)

    def _take_back(self, connection: Connection, subject: str, before: Held, place: Project) -> None:
        folder = place.folders().get(subject)
        if folder is None:
            if before.state is not None:
                connection.run(lambda db: db.execute("SELECT nebula.remove_subject()"))
            return
        now = _picked_up(folder)
        for name, lines in before.lines.items():
            if now.lines[name][: len(lines)] != lines:
                raise StoresDiffer(f"{self.named(subject)} {name}", 1)
        if (now.lines, now.pages) == (before.lines, before.pages):
            return
        if not connection.run(lambda db: _write(db, subject, before, now)):
            self.free(subject)  # an id that is too much alike is named
            raise ChangedMeanwhile(self.named(subject))

    def _roster(self) -> list[str]:
        rows = self._for(LEADER).run(lambda db: db.execute("SELECT id FROM nebula.subject").fetchall())
        return [subject for (subject,) in rows]

    def _for(self, subject: str) -> Connection:
        """The connection that was opened for one subject."""
        if subject not in self._opened:
            begins = {"nebula.subject": subject}
            check = partial(schema.check_walls, address=self.address)
            self._opened[subject] = Connection(self.address, self.patience, check, begins)
        return self._opened[subject]


@contextmanager
def _copy() -> Iterator[Project]:
    """An empty folder of the user's own; nothing is left of it."""
    with scratch.folder(scratch.STORY) as (folder, _):
        yield Project(folder)


def _lay_out(place: Project, subject: str, held: Held) -> None:
    if held.state is None:
        return
    folder = place.subjects / subject
    files.make_folder(folder)
    for name, lines in held.lines.items():
        if lines or name == EVENTS:
            files.replace(folder / name, b"".join(line + b"\n" for line in lines), durable=False)
    for name, body in held.pages.items():
        files.replace(folder / name, body, durable=False)


def _picked_up(folder: Path) -> Held:
    """What a copy holds now, for a write of its own."""
    lines = {name: read_own(folder / name).split(b"\n") for name in GROWING}
    whole = {name: found[:-1] if not found[-1] else found for name, found in lines.items()}
    pages = {name: read_own(folder / name) for name in REPLACED if (folder / name).exists()}
    return Held(uuid4(), whole, pages)


def _read(db: Any) -> dict[str, Held]:
    """What the connection may see, by subject."""
    db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")  # the leader holds no lock
    states = db.execute("SELECT id, state FROM nebula.subject", binary=True).fetchall()
    found = {subject: Held(state, {name: [] for name in GROWING}, {}) for subject, state in states}
    lines = db.execute("SELECT subject, name, line FROM nebula.subject_line ORDER BY subject, name, n", binary=True)
    for subject, name, line in lines:
        found[subject].lines[name].append(line)
    for subject, name, body in db.execute("SELECT subject, name, body FROM nebula.subject_page", binary=True):
        found[subject].pages[name] = body
    return found


def _state(db: Any, subject: str) -> UUID | None:
    row = db.execute("SELECT state FROM nebula.subject WHERE id = %s", [subject]).fetchone()
    return row[0] if row else None


def _write(db: Any, subject: str, before: Held, now: Held) -> bool:
    """Write what is new; -> False where the subject is not as it was read, or its id too much like another's."""
    if before.state is None:
        make = "INSERT INTO nebula.subject (id, key, state) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
        mine = db.execute(make, [subject, key(subject), now.state]).rowcount
    else:
        move = "UPDATE nebula.subject SET state = %s WHERE id = %s AND state = %s"
        mine = db.execute(move, [now.state, subject, before.state]).rowcount
    if not mine:
        return _state(db, subject) == now.state  # the first try was committed, its answer lost
    for name, lines in now.lines.items():
        first = len(before.lines.get(name, ()))
        db.execute(
            "INSERT INTO nebula.subject_line (subject, name, n, line) SELECT %s, %s, %s + at - 1, line"
            " FROM unnest(%s::bytea[]) WITH ORDINALITY AS given (line, at)",
            [subject, name, first, lines[first:]],
        )
    for name, body in now.pages.items():
        if body != before.pages.get(name):
            db.execute(
                "INSERT INTO nebula.subject_page VALUES (%s, %s, %s)"
                " ON CONFLICT (subject, name) DO UPDATE SET body = excluded.body",
                [subject, name, body],
            )
    return True
