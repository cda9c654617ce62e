"""The tables of a mind in PostgreSQL: versioned, made and brought up by their owner, looked at by every connection."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebula.errors import BadValue, StoreNewer, StoreNotMade, WallsDown
from nebula.postgres.connection import Connection, driver
from nebula.quick import dataclass

if TYPE_CHECKING:
    from nebula.address import Address

#: The first half of every advisory lock of ours ("nebu"); the second names what is locked.
LOCKS = 0x6E656275
#: The one way in which a line is changed.
ERASE = "nebula.erase(text[], bigint[], bytea[], bigint[])"
#: Functions that a role may use only where it is let.
FUNCTIONS = (ERASE,)
#: What a program's role may do with each table; the truth can't be changed, only added to.
RIGHTS = {
    "line": "SELECT, INSERT",
    "batch": "SELECT, INSERT",
    "high": "SELECT, INSERT",
    "document": "SELECT, INSERT, UPDATE",
    "version": "SELECT",
    "vector": "SELECT, INSERT",
    "erasure": "SELECT",
    "subject": "SELECT, INSERT, UPDATE",
    "subject_line": "SELECT, INSERT",
    "subject_page": "SELECT, INSERT, UPDATE",
}


def lock_of(name: str) -> list[int]:
    """What an advisory lock calls a name: 31 bits, above what migrations take."""
    return [LOCKS, zlib.crc32(name.encode()) >> 1 | 1]


def migrations() -> list[str]:
    """The statements of each version, the first one's first."""
    return [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("[0-9]*.sql"))]


KNOWN = len(list(Path(__file__).parent.glob("[0-9]*.sql")))


#: The form of what is derived there (index.sql): another one is thrown away and made anew.
INDEX_FORMAT = 1
#: The first version of pgvector that goes on along its index until a filter has let enough through.
VECTOR = (0, 8)


@dataclass(frozen=True)
class Migrated:
    """The version there was (0: none), the one there is now, and the role that may use it ("": nobody was named).

    `lacks`: why nobody can recall on the server: `missing` (no pgvector), `old`, `refused`; "" where one can.
    """

    before: int
    now: int
    role: str
    lacks: str = ""


def migrate(address: Address, patience: float, role: str = "") -> Migrated:
    """Make a mind's tables, or bring them up, and let `role` use them; twice is once.

    Raises StoreNewer, BadValue for a role that is not there, StoreUnreachable, StoreRefused.
    """
    connection = Connection(address, patience, lambda _: None)
    try:
        return connection.run(lambda db: _migrate(db, address, role))
    finally:
        connection.close()


def _migrate(db: Any, address: Address, role: str) -> Migrated:
    db.execute("SELECT pg_advisory_xact_lock(%s, 0)", [LOCKS])
    before = version(db)
    if before > KNOWN:
        raise StoreNewer(address, before, KNOWN)
    if not before:
        db.execute("CREATE SCHEMA IF NOT EXISTS nebula")
        db.execute("CREATE TABLE nebula.version (number int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())")
    for number, statements in enumerate(migrations(), start=1):
        if number > before:
            db.execute(statements)
            db.execute("INSERT INTO nebula.version (number) VALUES (%s)", [number])
    if role and db.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone() is None:
        raise BadValue("--role", role, "CREATE ROLE … LOGIN")
    lacks = _make_index(db)
    for name in {role, *_roles(db)} - {""}:
        _grant(db, name)
        if not lacks:
            _grant_index(db, name)
    return Migrated(before, KNOWN, role, lacks)


def _make_index(db: Any) -> str:
    """Make the tables for recall on the server where pgvector lets; -> what that lacks."""
    if index_format(db) == INDEX_FORMAT:
        return ""
    lacks = lacking(db)
    if lacks:
        return lacks
    pg = driver()
    try:
        with db.transaction():  # a point to come back to
            db.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except pg.errors.InsufficientPrivilege:
        return "refused"
    db.execute("DROP TRIGGER IF EXISTS index_forgets ON nebula.erasure")
    db.execute("DROP SCHEMA IF EXISTS nebula_index CASCADE")
    db.execute((Path(__file__).parent / "index.sql").read_text(encoding="utf-8"))
    db.execute(f"COMMENT ON SCHEMA nebula_index IS '{INDEX_FORMAT}'")
    return ""


def index_format(db: Any) -> int:
    """The form of the tables for recall on the server, 0 where there are none."""
    query = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = 'nebula_index'"
    row = db.execute(query).fetchone()
    return int(row[0]) if row and str(row[0]).isdigit() else 0


def lacking(db: Any) -> str:
    """Why pgvector can't be used: `missing`, `old`; "" where it can or could be made."""
    query = "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions WHERE name = 'vector'"
    row = db.execute(query).fetchone()
    if row is None:
        return "missing"
    found = tuple(int(part) for part in row[0].split(".")[:2] if part.isdigit())
    return "" if found >= VECTOR else "old"


def _grant_index(db: Any, role: str) -> None:
    """What is derived a program's role may fill and throw away."""
    sql = driver().sql
    name = sql.Identifier(role)
    for statement in (
        "GRANT USAGE ON SCHEMA nebula_index TO {}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA nebula_index TO {}",
        "GRANT EXECUTE ON FUNCTION nebula_index.finish(), nebula_index.clear() TO {}",
    ):
        db.execute(sql.SQL(statement).format(name))


def _roles(db: Any) -> list[str]:
    """The roles that may use the tables already, the owner apart: they get their rights in what is new."""
    query = (
        "SELECT rolname FROM pg_class, aclexplode(relacl) AS given JOIN pg_roles ON pg_roles.oid = given.grantee"
        " WHERE pg_class.oid = 'nebula.line'::regclass AND privilege_type = 'INSERT' AND grantee <> relowner"
    )
    return [name for (name,) in db.execute(query).fetchall()]


def _grant(db: Any, role: str) -> None:
    sql = driver().sql
    name = sql.Identifier(role)
    db.execute(sql.SQL("GRANT USAGE ON SCHEMA nebula TO {}").format(name))
    for table, rights in RIGHTS.items():
        where = sql.Identifier("nebula", table)
        db.execute(sql.SQL("REVOKE ALL ON {} FROM {}").format(where, name))
        db.execute(sql.SQL("GRANT {} ON {} TO {}").format(sql.SQL(rights), where, name))
    for function in FUNCTIONS:
        db.execute(sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(sql.SQL(function), name))


def version(db: Any) -> int:
    """The version of the tables, 0 where there are none."""
    if db.execute("SELECT to_regclass('nebula.version')").fetchone()[0] is None:
        return 0
    return int(db.execute("SELECT coalesce(max(number), 0) FROM nebula.version").fetchone()[0])


def check(db: Any, address: Address) -> None:
    """Raises StoreNotMade, StoreNewer where the tables are not those that this program knows."""
    there = version(db)
    if there < KNOWN:
        raise StoreNotMade(address)
    if there > KNOWN:
        raise StoreNewer(address, there, KNOWN)


def check_walls(db: Any, address: Address) -> None:
    """As `check`, for a connection that stands for a subject. Raises WallsDown where no policy binds its role."""
    check(db, address)
    if not db.execute("SELECT row_security_active('nebula.subject_line')").fetchone()[0]:
        raise WallsDown(address)
