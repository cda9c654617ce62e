"""The one deletion, in a database: what a folder's erase leaves, line for line, and nothing of it on other hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nebula import erase, moods, remains
from nebula.address import Address
from nebula.errors import LockedTooLong, StoreRefused
from nebula.mind import Mind
from nebula.mindlib.changes import set_line
from nebula.mindlib.store import CHANGES
from nebula.places import cache_of
from nebula.postgres.schema import ERASE
from nebula.postgres.store import PostgresStore
from nebula.stores import DOCUMENTS, LEDGERS, copy
from tests.cli.conftest import nebula  # noqa: F401 - the fixture
from tests.invented import DrawnEncoder
from tests.test_erase import HARMLESS, NOW, SECRET, eight_grams, files_with, lived_in

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Nebula
    from tests.postgres.conftest import Server


@pytest.fixture
def there(uri: str, tmp_path: Path) -> Mind:
    """The lived-in mind of the tests of folders, copied into a database; in its quarantine, too, stands the secret."""
    here = lived_in(tmp_path / "mind")
    (tmp_path / "mind" / "quarantine").mkdir()
    (tmp_path / "mind" / "quarantine" / "notes.jsonl").write_bytes(f'{{"text":"{SECRET}\n{{torn\n'.encode())
    mind = opened(uri)
    copy(here, mind)
    mind.build()
    return mind


def opened(uri: str, **options: Any) -> Mind:
    mind = Mind(Address(uri), now=lambda: NOW, **options)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def ledgers(mind: Mind) -> dict[str, list[bytes]]:
    """The lines of every ledger, without the empty ones that stay in a database where a line went."""
    return {name: [line for chunk in mind.store.chunks(name) for line in chunk if line] for name in LEDGERS}


def dumped(server: Server, uri: str) -> str:
    """Everything in the database, its bytes read as text."""
    database = uri.rpartition("/")[2]
    ours = "schemaname IN ('nebula', 'nebula_index')"
    tables = server.do(f"SELECT schemaname || '.' || relname FROM pg_stat_user_tables WHERE {ours}", database)
    return "".join(
        (column.decode("utf-8", "replace") if isinstance(column, bytes) else str(column))
        for (table,) in tables
        for row in server.do(f"SELECT * FROM {table}", database)
        for column in row
    )


def test_what_is_left_is_what_a_folders_erase_leaves(server: Server, uri: str, there: Mind, tmp_path: Path) -> None:
    """Tombstones, cut changes, seals, freed notes, the long-term notes: the same lines; the secret is nowhere."""
    assert SECRET in dumped(server, uri)
    here = Mind(tmp_path / "mind", now=lambda: NOW)
    here._encoder = DrawnEncoder()  # type: ignore[assignment]
    before = len([line for chunk in there.store.chunks("notes") for line in chunk])
    done = [erase.erase(mind, erase.plan(mind, ["n1"])) for mind in (here, there)]
    assert done[0].plan.refs == done[1].plan.refs
    assert [one.left for one in done] == [{}, {}]
    assert ledgers(there) == ledgers(here)
    assert [there.store.document(name) for name in DOCUMENTS] == [here.store.document(name) for name in DOCUMENTS]
    said = dumped(server, uri)
    assert [gram for gram in eight_grams(SECRET) if gram in said] == []
    assert files_with(cache_of(Address(uri)), SECRET) == {}
    assert len([line for chunk in there.store.chunks("notes") for line in chunk]) == before
    assert [m.text for m in there.list(n=None).memories if m.ledger == "notes"] == HARMLESS[::-1]
    assert there.add("新的一条").memories[0].ref == "n6"


def test_another_host_forgets_it_too(uri: str, there: Mind, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its rows, its vectors, its list of what was handed out, the mood's reason that it kept."""
    mine = cache_of(Address(uri))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert cache_of(Address(uri)) != mine
    other = opened(uri)
    other.add("另一条，和它无关")
    moods.remember(other, other.mood())
    assert [hit.memory.ref for hit in other.recall(SECRET, n=1).hits] == ["n1"]
    other.context(SECRET)
    assert files_with(cache_of(Address(uri)), SECRET)
    vectors = other.index().table.n

    erase.erase(there, erase.plan(there, ["n1"]))
    assert "n1" not in {hit.memory.ref for hit in other.recall(SECRET, nearest=True).hits}
    late = opened(uri)
    late.build()
    assert late.index().table.n < vectors
    assert files_with(cache_of(Address(uri)), SECRET) == {}
    assert remains.left(late, [SECRET]) == {}


def test_the_lent_vector_goes(server: Server, uri: str, there: Mind) -> None:
    count = "SELECT count(*) FROM nebula.vector"
    database = uri.rpartition("/")[2]
    ((before,),) = server.do(count, database)
    plan = erase.plan(there, ["n1"])
    erase.erase(there, plan)
    there.build()
    assert server.do(count, database) == [(before - len({memory.text for memory, _ in plan.memories}),)]
    assert server.do("SELECT n, role FROM nebula.erasure", database) == [(1, "agent")]


def test_twice_is_once_and_a_lost_answer_is_no_half(uri: str, there: Mind, answer_lost: list[int]) -> None:
    plan = erase.plan(there, ["n1"])
    answer_lost.clear()
    assert erase.erase(there, plan).left == {}
    assert answer_lost
    held = ledgers(there)
    assert erase.erase(there, plan).left == {}
    assert ledgers(there) == held
    assert len(there.store.erased("notes")) == 1


def test_it_waits_for_a_writer_and_gives_up(uri: str, there: Mind) -> None:
    """Nothing is done then; and a night that runs holds it up as it does in a folder."""
    late, plan = opened(uri, lock_timeout=0.2), erase.plan(there, ["n1"])
    for name in ("notes", ".consolidate.lock"):
        with there.store.lock(name), pytest.raises(LockedTooLong):
            erase.erase(late, plan)
    assert there.get("n1").text == SECRET


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": 2, "at": "2026-05-01", "text": "another"}',
        b'{"id": 3, "at": "2026-05-01", "text": "", "erased": true}',
        b'{"id": 2, "at": "2026-05-01", "text": ""}',
        b"[]",
        b"null",
    ],
)
def test_the_function_rewrites_no_memory(uri: str, there: Mind, line: bytes) -> None:
    import psycopg

    with psycopg.connect(uri) as db, pytest.raises(psycopg.errors.InsufficientPrivilege, match="only be erased"):
        db.execute("SELECT nebula.erase('{notes}', '{1}', %s, '{}')", [[line]])
    with psycopg.connect(uri, autocommit=True) as db:
        db.execute("SET nebula.erasing = on")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute("UPDATE nebula.line SET line = 'x'")


def test_nor_does_a_character_of_a_story(uri: str, there: Mind) -> None:
    import psycopg

    bound = psycopg.connect(uri, options="-c nebula.subject=elena")
    with bound as db, pytest.raises(psycopg.errors.InsufficientPrivilege, match="erases nothing"):
        db.execute("SELECT nebula.erase('{notes}', '{0}', '{\"\"}', '{}')")


def test_the_right_to_erase_can_be_kept_from_a_role(server: Server, uri: str, there: Mind) -> None:
    server.do(f"REVOKE EXECUTE ON FUNCTION {ERASE} FROM agent", uri.rpartition("/")[2])
    with pytest.raises(StoreRefused, match="permission denied"):
        erase.erase(there, erase.plan(there, ["n1"]))
    assert there.get("n1").text == SECRET


def test_the_command_erases_and_looks_again(nebula: Nebula, uri: str) -> None:  # noqa: F811
    nebula("add", SECRET)
    nebula("add", HARMLESS[0])
    assert nebula("erase", "n1", "--dry-run").code == 0
    said = nebula("erase", "n1", "--yes", "--json")
    assert (said.code, said.data["left"]) == (0, {})
    assert nebula("erase", "--verify", "--match", SECRET).code == 0
    assert nebula("list").out.count("\n") == 1
    assert nebula("show", "n1").code == 2


def test_what_was_written_by_hand_stays_where_it_was(uri: str, there: Mind) -> None:
    """Places of the lines that stay do not move: another host counts on them."""
    assert isinstance(there.store, PostgresStore)
    there.store.append_lines(CHANGES, [set_line("2026-05-01T21:00:00", "n2", {"tag": "船"}, "手")], durable=True)
    end = there.store.stamp(CHANGES)[0]
    line = there.store.line(CHANGES, end - 1, 0)
    erase.erase(there, erase.plan(there, ["n1"]))
    assert there.store.line(CHANGES, end - 1, 0) == line
    assert there.get("n2").tag == "船"
