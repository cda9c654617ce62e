"""One connection to a mind's database: opened when first needed, opened again when lost, its failures told as ours.

Work is a function of the driver's connection and runs in a transaction. It is run again after a loss, so it must be one
that may: a read, or a write that knows whether its first try was committed (see `store`).
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

from nebula import reasons
from nebula.errors import ExtraMissing, LockedTooLong, StoreRefused, StoreUnreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import psycopg

    from nebula.address import Address

    T = TypeVar("T")

#: Seconds to wait for a server that does not answer, where the address says nothing of it.
CONNECT_TIMEOUT = 10
#: Seconds between tries to come back.
PAUSE = 0.1
#: SQLSTATE classes of a server that goes down or comes up, and of a connection that broke.
_LOST = ("57P01", "57P02", "57P03", "08")


def driver() -> Any:
    """The package psycopg, 3.x. Raises ExtraMissing."""
    try:
        import psycopg
    except ImportError as error:
        raise ExtraMissing("postgres", "psycopg[binary]") from error
    # what it would say of a lost connection is said by our error alone
    logging.getLogger("psycopg").addHandler(logging.NullHandler())
    return psycopg


class Connection:
    """The connection; `patience` in seconds bounds waiting for a lock and for a lost server to come back.

    `begins` are settings that its start gives the server, those apart that the address gives itself.
    """

    def __init__(
        self, address: Address, patience: float, prepare: Callable[[Any], None], begins: Mapping[str, str] | None = None
    ) -> None:
        self.address = address
        self.patience = patience
        self.turn = threading.RLock()  # transactions of one connection can't run side by side
        self._begins = begins or {}
        self._prepare = prepare  # looks at every fresh connection
        self._open: psycopg.Connection[Any] | None = None

    def run(self, work: Callable[[psycopg.Connection[Any]], T], *, single: bool = False) -> T:
        """What `work` gives, in a transaction of its own; once more where the connection is lost on the way.

        `single`: it is one statement, which needs no BEGIN and COMMIT around it, each a way to the server and back.
        Raises ExtraMissing, StoreUnreachable, StoreRefused, LockedTooLong; then the transaction came to nothing, but
        for StoreUnreachable, where a commit may have been on its way.
        """
        with self.turn:
            return self._run(work, single=single)

    def _run(self, work: Callable[[psycopg.Connection[Any]], T], *, single: bool) -> T:
        until = time.monotonic() + self.patience
        had = self._open is not None
        while True:
            try:
                connection = self._connected()
                had = True
                with self._told(), contextlib.nullcontext() if single else connection.transaction():
                    return work(connection)
            except _LostError as lost:
                self.close()
                if not had or time.monotonic() >= until:
                    raise StoreUnreachable(self.address, lost.reason) from None
            time.sleep(PAUSE)

    def alone(self, statement: Any) -> None:
        """One statement that must be in no transaction, tried once. Raises as `run`."""
        try:
            connection = self._connected()
            with self._told():
                connection.execute(statement)
        except _LostError as lost:
            raise StoreUnreachable(self.address, lost.reason) from None

    @contextlib.contextmanager
    def lock(self, key: Sequence[int]) -> Iterator[None]:
        """Hold an advisory lock against all hosts; it goes with the connection. Raises LockedTooLong."""
        with self.turn:  # the server lets one connection take it twice
            self.run(lambda db: db.execute("SELECT pg_advisory_lock(%s, %s)", key), single=True)
            try:
                yield
            finally:
                self.run(lambda db: db.execute("SELECT pg_advisory_unlock(%s, %s)", key), single=True)

    def close(self) -> None:
        """Give the connection back; the next work opens another."""
        if self._open is not None:
            with contextlib.suppress(Exception):
                self._open.close()
        self._open = None

    def __del__(self) -> None:
        self.close()

    def _connected(self) -> psycopg.Connection[Any]:
        if self._open is None or self._open.closed:
            pg = driver()
            with self._told(connecting=True):
                fresh = pg.connect(
                    self.address.uri,
                    autocommit=True,
                    client_encoding="UTF8",
                    fallback_application_name="nebula",
                    **self._extra(_said(pg, self.address.uri)),
                )
                self._open = fresh
                try:
                    fresh.execute(f"SET lock_timeout = {max(1, round(self.patience * 1000))}")
                    self._prepare(fresh)
                except BaseException:
                    self.close()
                    raise
        return self._open

    def _extra(self, said: Mapping[str, str]) -> dict[str, Any]:
        """What a start says beside what was said of it elsewhere: nothing of that is overruled."""
        options = said.get("options", "")
        set_there = options.lower()  # names of settings are the same in either case
        own = [f"-c {name}={value}" for name, value in self._begins.items() if name not in set_there]
        extra: dict[str, Any] = {"options": " ".join([options, *own]).strip()} if own else {}
        return extra if said.get("connect_timeout") else {**extra, "connect_timeout": CONNECT_TIMEOUT}

    @contextlib.contextmanager
    def _told(self, *, connecting: bool = False) -> Iterator[None]:
        """The driver's failures as ours, without its traceback: that may hold what was sent."""
        pg = driver()
        try:
            yield
        except pg.errors.LockNotAvailable:
            raise LockedTooLong(str(self.address), self.patience) from None
        except pg.Error as error:
            state = error.sqlstate or ""
            reason = reasons.of_server(state, self.address.clean(str(error)) or type(error).__name__)
            broken = self._open is not None and self._open.closed
            unread = connecting and isinstance(error, pg.ProgrammingError) and not state
            if unread:  # the driver could not read the address, and its message repeats parts of it
                raise StoreUnreachable(self.address, "postgresql://USER@HOST:PORT/DATABASE?…") from None
            if state.startswith(_LOST) or broken or (connecting and isinstance(error, pg.OperationalError)):
                raise _LostError(reason) from None
            raise StoreRefused(self.address, reason) from None


def _said(pg: Any, uri: str) -> dict[str, str]:
    """What libpq takes for a connection: from the address, the service it names, the environment, PGSERVICE's file."""
    given = pg.conninfo.conninfo_to_dict(uri)
    if "service" in given:  # libpq reads the file where it begins to connect, and nowhere else
        begun = pg.pq.PGconn.connect_start(uri.encode())
        found = begun.info
        begun.finish()
    else:
        found = pg.pq.Conninfo.get_defaults()
    told = {option.keyword.decode(): option.val.decode() for option in found if option.val}
    return told | {name: str(value) for name, value in given.items()}


class _LostError(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
