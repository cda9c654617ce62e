"""A database for one throw-away mind, made beside another one and dropped again; for measuring."""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode
from uuid import uuid4

from nebula.address import Address
from nebula.places import cache_of
from nebula.postgres import schema
from nebula.postgres.connection import Connection, driver

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def database(address: Address, patience: float) -> Iterator[Address]:
    """A fresh database with a mind's tables on the server of `address`, whose role may make databases.

    Raises StoreRefused where it may not, StoreUnreachable.
    """
    name = f"nebula_bench_{uuid4().hex[:12]}"
    made = beside(address, name)
    _do(address, patience, "CREATE DATABASE {}", name)
    try:
        schema.migrate(made, patience)
        yield made
    finally:
        shutil.rmtree(cache_of(made), ignore_errors=True)
        _do(address, patience, "DROP DATABASE {}", name)


def beside(address: Address, name: str) -> Address:
    """The same server's address of another database."""
    head, _, query = address.uri.partition("?")
    scheme, _, rest = head.partition("://")
    options = [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] != "dbname"]
    return Address(f"{scheme}://{rest.partition('/')[0]}/{name}" + (f"?{urlencode(options)}" if options else ""))


def _do(address: Address, patience: float, statement: str, name: str) -> None:
    connection = Connection(address, patience, lambda _: None)
    try:
        if statement.startswith("DROP"):
            # a mind that is still open there is a throw-away one; the server waits until its connection has gone
            cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            connection.run(lambda db: db.execute(cut, [name]))
        connection.alone(driver().sql.SQL(statement).format(driver().sql.Identifier(name)))
    finally:
        connection.close()
