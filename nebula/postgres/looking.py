"""What a connection to a mind's database is like: for doctor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula.postgres import filling, schema
from nebula.quick import dataclass

if TYPE_CHECKING:
    from nebula.postgres.store import PostgresStore


@dataclass(frozen=True)
class Seen:
    """The server and its tables' versions, and what the role may do.

    `walls`: row-level security binds it; `served`: why it can't recall (`missing`, `old`, `unmade`), "" where it can,
    and then `rows`, how many memories it was filled with; `local`: over a socket or loopback, where nothing needs to be
    encrypted.
    """

    server: str
    version: int
    role: str
    adds: bool
    erases: bool
    walls: bool
    encrypted: bool
    local: bool
    served: str
    rows: int


def look(store: PostgresStore) -> Seen:
    """Ask the server. Raises StoreUnreachable, StoreRefused, StoreNotMade, StoreNewer, ExtraMissing."""
    query = (
        "SELECT current_setting('server_version'), current_user, has_table_privilege('nebula.line', 'INSERT'),"
        " has_function_privilege(%s, 'EXECUTE'), row_security_active('nebula.subject_line'),"
        " coalesce(inet_client_addr() << '127.0.0.0/8' OR inet_client_addr() = '::1', true)"
    )

    def work(db: Any) -> Seen:
        server, role, adds, erases, walls, local = db.execute(query, [schema.ERASE]).fetchone()
        made = schema.index_format(db) == schema.INDEX_FORMAT
        served = "" if made else schema.lacking(db) or "unmade"
        filled = filling.read(db)[0] if made else None
        rows = filled.rows if filled else 0
        encrypted = bool(db.pgconn.ssl_in_use)
        return Seen(server, schema.version(db), role, adds, erases, walls, encrypted, local, served, rows)

    return store.connection.run(work)
