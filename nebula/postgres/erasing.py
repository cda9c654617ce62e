"""An erase in a database: every line that changes, what is lent, and the documents, in one transaction or not at all.

What goes line by line is what goes in a folder (mindlib.erasing); an empty line stays in the place of one that goes,
for every host counts by places. It is done by the function `nebula.erase`, the one way in which a line is changed.
What the server keeps of freed rows until it is vacuumed, its write-ahead log and its backups are beyond a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula import erasure, origins, seals
from nebula.index.hashing import h64
from nebula.longterm import NAME as LONGTERM
from nebula.mindlib import erasing, ledger, quotes
from nebula.mindlib.changes import sound
from nebula.mindlib.erasing import QUARANTINE
from nebula.mindlib.record import BY_NAME
from nebula.mindlib.store import CHANGES, SIDE_LEDGERS
from nebula.postgres.schema import lock_of
from nebula.postgres.store import put_document, put_lines
from nebula.text.simplified import simplified

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nebula.mindlib.erasing import Job, Lines
    from nebula.mindlib.quotes import Sought
    from nebula.mindlib.record import Memory
    from nebula.postgres.store import PostgresStore

#: A change of a line: its kind, its place, its bytes.
_Change = tuple[str, int, bytes]


def erase(store: PostgresStore, job: Job) -> None:
    """Do a job; done twice it changes nothing more. Raises LockedTooLong, StoreRefused: then nothing was done."""
    under, memories = seals.key(create=True), store.read_apart()
    store.connection.run(lambda db: _carry_out(db, job, memories, under))
    erasure.purge_local(store, job)
    store.forget_derived()


def _carry_out(db: Any, job: Job, memories: Sequence[Memory], under: bytes) -> None:
    for name in sorted({*BY_NAME, *SIDE_LEDGERS, *erasure.LOCKS}):  # in one order, whoever erases
        db.execute("SELECT pg_advisory_xact_lock(%s, %s)", lock_of(name))
    wanted = job.sought
    steps = _steps(db, job, wanted, memories, under)
    changes = [change for kind, lines in steps for change in _changed(db, kind, lines)]
    hashes = {h64(form) for text in (*job.texts, *job.digests) for form in (text, simplified(text))}
    kinds, places, lines = ([change[at] for change in changes] for at in range(3))
    signed = [one - (1 << 64) if one >> 63 else one for one in hashes]
    db.execute(
        "SELECT nebula.erase(%s::text[], %s::bigint[], %s::bytea[], %s::bigint[])", [kinds, places, lines, signed]
    )
    put_lines(db, CHANGES, erasing.freeing(job, _events(db, CHANGES)) if job.released else [])
    _cut_notes(db, job, wanted, under)


def _steps(db: Any, job: Job, wanted: Sought, memories: Sequence[Memory], under: bytes) -> list[tuple[str, Lines]]:
    """Every ledger with what becomes of its lines; what was set aside as broken, too."""
    by_file = erasure.steps(job, wanted, memories, under)
    names = {kind.file: kind.name for kind in BY_NAME.values()}
    found = [(names.get(name, name), lines) for name, lines in by_file.items()]
    aside = db.execute("SELECT DISTINCT kind FROM nebula.line WHERE kind LIKE %s", [f"{QUARANTINE}/%"]).fetchall()
    return found + [(kind, _aside(wanted)) for (kind,) in aside]


def _aside(wanted: Sought) -> Lines:
    return lambda data: [(raw, erasing.broken(raw, wanted)) for raw in ledger.split(data)]


def _changed(db: Any, kind: str, lines: Lines) -> list[_Change]:
    query = "SELECT line FROM nebula.line WHERE kind = %s ORDER BY n"
    rows = [line for (line,) in db.execute(query, [kind], binary=True)]
    pairs = lines(b"".join(row + b"\n" for row in rows))
    return [(kind, n, new.removesuffix(b"\n")) for n, (old, new) in enumerate(pairs) if old != new]


def _events(db: Any, name: str) -> list[dict[str, Any]]:
    rows = db.execute("SELECT line FROM nebula.line WHERE kind = %s ORDER BY n", [name], binary=True)
    return [sound(obj) for obj, why in (ledger.parse(line) for (line,) in rows) if why is None]


def _cut_notes(db: Any, job: Job, wanted: Sought, under: bytes) -> None:
    """The long-term notes without what quotes, and the seal of what they were in their history."""
    found = db.execute("SELECT body FROM nebula.document WHERE name = %s", [LONGTERM], binary=True).fetchone()
    text = found[0].decode("utf-8-sig", "replace") if found else ""
    if not found or not quotes.find(wanted, text):
        return
    sealed = seals.seal(under, origins.of_text(text))
    line: Mapping[str, Any] = {"at": job.at, "erased": True, seals.SEALS: [sealed]}
    put_lines(db, SIDE_LEDGERS[-1], [line] if sealed else [])
    put_document(db, LONGTERM, erasing.cut_text(wanted, found[0]))
