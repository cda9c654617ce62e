"""The truth in a database: ids, order, rights, lost connections, and every line there and back."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import nebula
from nebula import night
from nebula.address import Address
from nebula.errors import (
    BadValue,
    LockedTooLong,
    NotOnPostgres,
    StoreNewer,
    StoreRefused,
    StoresDiffer,
    StoreUnreachable,
)
from nebula.mind import Mind
from nebula.mindlib.changes import hit_line, set_line
from nebula.mindlib.record import Memory
from nebula.mindlib.store import CHANGES, CONFIG, SIDE_LEDGERS, Store
from nebula.postgres import schema
from nebula.postgres.store import PostgresStore
from nebula.stores import LEDGERS, compare, copy

if TYPE_CHECKING:
    from tests.postgres.conftest import Server

AT = "2026-05-01T09:00:00"


def draft(text: str, number: int = 0) -> Memory:
    return Memory("notes", number, AT, text)


@pytest.fixture
def store(uri: str) -> PostgresStore:
    return PostgresStore(Address(uri))


def test_what_is_written_is_read_as_from_a_folder(store: PostgresStore, tmp_path: Path) -> None:
    """The same operations in the same order give the same memories, changes folded in, as of any moment."""
    folder = Store(tmp_path / "mind")
    for one in (store, folder):
        one.append("notes", [draft("渡轮早上六点开"), draft("艾琳娜怕水\nU+2028 \u2028 \\u0000: \0")])
        one.append("tacts", [Memory("tacts", 0, AT, "不提前男友", say="never")])
        one.append_lines(
            CHANGES, [set_line(AT, "n1", {"tag": "船"}, "手", "cmd-1"), hit_line(AT, ["n2", "n2"])], durable=False
        )
        one.append_lines(CHANGES, [{"at": AT, "undo": "cmd-1"}], durable=True)
        one.append("notes", [draft("六月停航", 7), draft("七月复航")])
    plain = [Memory(**{**vars(m), "uid": ""}) for m in folder.read_all().memories]
    assert [Memory(**{**vars(m), "uid": ""}) for m in store.read_all().memories] == plain
    assert [m.ref for m in plain] == ["n1", "n2", "n7", "n8", "t1"]
    assert store.read_all(until="2026-04-30T00:00:00").memories == []
    assert store.events(CHANGES) == folder.events(CHANGES)


def test_ids_go_on_after_what_changes_mention(store: PostgresStore) -> None:
    """An id that a change names is not given again though no line bears it; a draft keeps its own where it can."""
    store.append("notes", [draft("一")])
    store.append_lines(CHANGES, [set_line(AT, "n9", {"w": 2.0}, "手"), hit_line(AT, ["n4", "p3"])], durable=False)
    assert [m.id for m in store.append("notes", [draft("二"), draft("三", 4), draft("四", 20)])] == [21, 22, 20]
    assert [m.id for m in store.append("profile", [Memory("profile", 0, AT, "喜静")])] == [4]


WRITER = """
import sys
from nebula.address import Address
from nebula.mindlib.record import Memory
from nebula.postgres.store import PostgresStore
store = PostgresStore(Address(sys.argv[1]), 60)
for number in range(25):
    uid = f"{int(sys.argv[2]):08x}{number:08x}"
    store.append("notes", [Memory("notes", 0, "2026-05-01T09:00:00", f"{sys.argv[2]}-{number}", uid=uid)])
    print(number, flush=True)
"""


def writers(uri: str, count: int) -> list[subprocess.Popen[bytes]]:
    root = Path(nebula.__file__).parent.parent
    return [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, uri, str(number)], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for number in range(count)
    ]


@pytest.mark.process
def test_four_hosts_share_no_id(uri: str, store: PostgresStore) -> None:
    """4 processes x 25 appends: ids 1…100 without gap or repetition, each writer's in its order."""
    for process in writers(uri, 4):
        said, failed = process.communicate(timeout=60)
        assert (process.returncode, failed, len(said.splitlines())) == (0, b"", 25)
    memories = store.read("notes").memories
    assert [memory.id for memory in memories] == list(range(1, 101))
    for writer in range(4):
        own = [m.text for m in memories if m.text.startswith(f"{writer}-")]
        assert own == [f"{writer}-{number}" for number in range(25)]


@pytest.mark.process
def test_the_server_is_killed_and_clients_too(server: Server, uri: str, store: PostgresStore) -> None:
    """What a client told as written is there once, though the server went twice (once killed) and two clients were."""
    started = writers(uri, 5)
    told: list[list[bytes]] = [[] for _ in started]
    failed = [""] * len(started)

    def listen(at: int) -> None:
        with started[at] as process:
            assert process.stdout is not None
            assert process.stderr is not None
            told[at].extend(process.stdout)
            failed[at] = process.stderr.read().decode()

    threads = [threading.Thread(target=listen, args=[at]) for at in range(len(started))]
    for thread in threads:
        thread.start()
    for lines in told:
        _wait_for(lines, 2)
    server.stop(kill=True)
    server.start()
    _wait_for(told[1], 6)
    started[0].kill()
    started[1].kill()
    server.stop()
    server.start()
    for thread in threads:
        thread.join(90)
    assert [process.returncode for process in started][2:] == [0, 0, 0], failed
    found = [memory.text for memory in store.read("notes").memories]
    assert len(set(found)) == len(found)
    for at, lines in enumerate(told):
        assert {f"{at}-{int(line)}" for line in lines} <= set(found)
        assert len(lines) == 25 or at < 2
    assert [memory.id for memory in store.read("notes").memories] == list(range(1, len(found) + 1))


def _wait_for(lines: list[bytes], count: int) -> None:
    for _ in range(1200):
        if len(lines) >= count:
            return
        threading.Event().wait(0.05)
    pytest.fail("a writer writes nothing")


def test_a_commit_whose_answer_is_lost_is_not_written_twice(store: PostgresStore, answer_lost: list[int]) -> None:
    """The connection dies after the server has committed and before the client knows: the retry finds its batch."""
    store.append("notes", [draft("一")])
    answer_lost.clear()
    written = store.append("notes", [draft("二")])
    assert answer_lost
    answer_lost.clear()
    store.append_lines(CHANGES, [hit_line(AT, ["n1"])], durable=False)
    assert answer_lost
    assert [m.id for m in written] == [2]
    assert [m.text for m in store.read("notes").memories] == ["一", "二"]
    assert len(store.events(CHANGES)) == 1


def test_a_server_that_stays_away_is_one_line(server: Server, uri: str) -> None:
    store = PostgresStore(Address(uri), 0.3)
    store.append("notes", [draft("一")])
    server.stop()
    try:
        with pytest.raises(StoreUnreachable, match="agent:\\*\\*\\*@127"):
            store.append("notes", [draft("二")])
    finally:
        server.start()
    assert [m.text for m in store.read("notes").memories] == ["一"]


def test_a_lock_that_another_holds(uri: str, store: PostgresStore) -> None:
    """One runner across hosts: the second waits no longer than it may, and has it once the first is done."""
    other = PostgresStore(Address(uri), 0.2)
    with store.lock("night"):
        with pytest.raises(LockedTooLong), other.lock("night"):
            pass
        with other.lock("another"):
            pass
    with other.lock("night"):
        pass


@pytest.mark.parametrize(
    "query",
    [
        "UPDATE nebula.line SET line = 'x'",
        "DELETE FROM nebula.line",
        "TRUNCATE nebula.line",
        "DROP TABLE nebula.line",
        "UPDATE nebula.batch SET kind = 'x'",
        "DELETE FROM nebula.high",
        "DELETE FROM nebula.document",
        "INSERT INTO nebula.version VALUES (99)",
        "ALTER TABLE nebula.line DISABLE TRIGGER ALL",
        "CREATE TABLE nebula.mine (a int)",
    ],
)
def test_the_programs_role_can_only_add(server: Server, uri: str, query: str) -> None:
    import psycopg

    database = uri.rpartition("/")[2]
    with pytest.raises(psycopg.errors.InsufficientPrivilege), psycopg.connect(uri) as db:
        db.execute(query)
    if query.startswith(("UPDATE nebula.line", "DELETE FROM nebula.line", "TRUNCATE")):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="never changed"):
            server.do(query, database)  # nor its owner, by mistake


def test_migrations_are_versioned(server: Server, store: PostgresStore) -> None:
    """Twice is once, at the same time too; a newer schema is refused, by the program and by an old migrate."""
    database = server.database()
    address = Address(server.uri(database))
    done: list[schema.Migrated] = []
    threads = [threading.Thread(target=lambda: done.append(schema.migrate(address, 10.0))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(one.before for one in done) == [0, schema.KNOWN, schema.KNOWN]
    with pytest.raises(BadValue, match="nobody-there"):
        schema.migrate(address, 10.0, "nobody-there")
    with pytest.raises(StoreRefused, match="permission denied"):
        PostgresStore(Address(server.uri(database, "agent", "agents-l%40ng-word"))).read("notes")
    server.do(f"INSERT INTO nebula.version VALUES ({schema.KNOWN + 1})", database)
    for refused in (lambda: schema.migrate(address, 10.0), lambda: PostgresStore(address).config()):
        with pytest.raises(StoreNewer, match=str(schema.KNOWN + 1)):
            refused()


def test_whatever_wants_a_folder_is_refused(uri: str) -> None:
    """Through the Python interface, too: nothing is put where nobody would look for it."""
    mind = Mind(Address(uri))
    mind.add("渡轮早上六点开")
    with pytest.raises(NotOnPostgres):
        _ = mind.folder
    with pytest.raises(NotOnPostgres):
        mind.store.path("notes")


def test_one_night_at_a_time_across_hosts(uri: str) -> None:
    """Who comes meanwhile waits and gives up; when the first is gone, even without a word, the next may."""
    first, second = Mind(Address(uri)), Mind(Address(uri), lock_timeout=0.2)
    second.add("渡轮早上六点开")
    with first.store.lock(night.LOCK):
        with pytest.raises(LockedTooLong):
            night.consolidate(second)
        assert isinstance(first.store, PostgresStore)
        first.store.connection.close()
        night.consolidate(second)


def test_settings_are_kept_by_all(uri: str, store: PostgresStore) -> None:
    Mind(Address(uri)).configure("recall.k", 7)
    store.change_config({"mine.own": 1, "recall.k": 9})
    assert store.config() == {"recall": {"k": 9}, "mine": {"own": 1}}
    assert Mind(Address(uri)).settings.recall.k == 9


def damaged(folder: Path) -> Store:
    """A mind with all that a folder may hold: damaged, empty and foreign lines, a byte order mark, no last newline."""
    folder.mkdir()
    notes = b'\xef\xbb\xbf{"id":1,"at":"2026-05-01","text":"\xe4\xb8\x80"}\n\n{"id":2,"te\n'
    notes += b'{"id":5,"text":"\\u0000","odd":[1]}\r\n{"id":5,"text":"5b"}'
    (folder / "notes.jsonl").write_bytes(notes)
    (folder / CHANGES).write_bytes(b'{"at":"2026-05-02","ref":"n40","set":{"w":3}}\n\xff\xfe\n')
    (folder / "mood.jsonl").write_bytes(b'{"at":"2026-05-02T10:00:00","v":1,"dim":"happy","strength":0.5,"why":""}\n')
    (folder / "longterm.md").write_bytes("直接说".encode())
    (folder / CONFIG).write_bytes(b'{ "recall" : {"k": 5}, "unknown": [] }')
    (folder / "quarantine").mkdir()
    (folder / "quarantine" / "notes.jsonl").write_bytes(b"{torn\n")
    return Store(folder)


def test_there_and_back_every_byte_is_the_same(uri: str, tmp_path: Path) -> None:
    """Damaged lines, empty ones and foreign fields too; only a missing last newline is added. Twice is once."""
    source = damaged(tmp_path / "source")
    there, back = Mind(Address(uri)), Mind(tmp_path / "back")
    mind = Mind(source.folder)
    first = copy(mind, there)
    assert first.lines == {"notes": 5, CHANGES: 2, "mood.jsonl": 1, "quarantine/notes.jsonl": 1}
    assert list(first.documents) == [CONFIG, "longterm.md"]
    again = copy(mind, there)
    assert (again.lines, again.documents, again.here) == ({}, [], 9)
    copy(there, back)
    for path in source.folder.rglob("*.*"):
        held = path.read_bytes()
        whole = held + b"\n" if path.suffix == ".jsonl" and not held.endswith(b"\n") else held
        assert (tmp_path / "back" / path.relative_to(source.folder)).read_bytes() == whole, path.name
    assert [d.line for d in there.store.read("notes").damages] == [d.line for d in source.read("notes").damages] == [3]
    assert [m.ref for m in there.list().memories] == [m.ref for m in mind.list().memories]
    assert [m.id for m in there.store.append("notes", [draft("新")])] == [41]


def test_a_copy_goes_on_where_it_stopped(uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut short in the middle of a ledger, it needs only the rest; what is no copy is refused, and nothing written."""
    source = Mind(tmp_path / "source")
    source.store.append("notes", [draft(f"第 {n} 条") for n in range(30)])
    there = Mind(Address(uri))
    assert isinstance(there.store, PostgresStore)
    real, calls = PostgresStore._append, []

    def cut(*args: Any, **options: Any) -> bool:
        calls.append(1)
        if len(calls) == 3:
            raise StoreUnreachable("-", "cut")
        return real(*args, **options)

    whole = source.store.chunks
    monkeypatch.setattr(source.store, "chunks", lambda name, start=0: whole(name, start, 10))
    monkeypatch.setattr(PostgresStore, "_append", cut)
    with pytest.raises(StoreUnreachable):
        copy(source, there)
    assert len(there.store.read("notes").memories) == 20
    assert dict(copy(source, there).lines) == {"notes": 10}
    assert compare(source, there, 0).equal
    there.store.append("notes", [draft("别处写的")])
    source.store.append("notes", [draft("这里写的")])
    with pytest.raises(StoresDiffer, match="31"):
        copy(source, there)
    assert [m.text for m in there.store.read("notes").memories][30:] == ["别处写的"]
    found = compare(source, there, 5)
    assert (found.equal, found.differing) == (False, ["notes"])


def test_every_ledger_is_copied() -> None:
    assert set(SIDE_LEDGERS) < set(LEDGERS)
    assert len(LEDGERS) == 2 * (6 + len(SIDE_LEDGERS))


def test_a_password_is_never_shown() -> None:
    """In whatever form libpq takes one."""
    for uri in (
        "postgresql://me:gehe%40im@db:5432/team",
        "postgres://me:gehe@im@db/team?sslmode=require",
        "postgresql://db/team?user=me&pass%77ord=geheim&sslpassword=geheim",
        "POSTGRESQL://me:geheim@[::1],other:5433/team",
    ):
        address = Address(uri)
        for shown in (str(address), repr(address), f"{address}", address.clean(f'bad "{uri}"')):
            assert "geh" not in shown, shown
    assert Address("postgresql://me:gehe%40im@db/x").clean("said\ngehe@im twice") == "said *** twice"
    assert str(Address("postgresql:///mind?host=/run/pg")) == "postgresql:///mind?host=/run/pg"


def test_without_the_extra_the_line_to_install_it(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from nebula.errors import ExtraMissing

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ExtraMissing, match=r"nebula-mind\[postgres\]"):
        PostgresStore(Address(os.environ["NEBULA_MIND"])).config()
