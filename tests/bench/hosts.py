"""One mind of a million memories for many clients at once: in PostgreSQL and, in the same rounds, in a folder.

    python -m tests.bench.hosts [--size 1000000] [--clients 1,8,32] [--recalls 8]

The mind is the invented one of `speed.py` (drawn vectors; see parts/minds.py). It is copied into a server that is
started here, its distinct texts' vectors are lent there, and then so many clients at once, each a process with its own
connection, ask the four questions of that bench over and over, on this one machine: folder and database in turn.
The index of a host is not built here (that lasts half an hour for a million): it is the folder's, with places in the
table instead of places in the file. The index on the server is filled as `embed --build` fills it. Prints a table;
nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula import places, stores
from nebula.address import Address
from nebula.index import parts
from nebula.index.manifest import Source
from nebula.mind import Mind
from nebula.mindlib import files
from nebula.mindlib.store import INDEX
from nebula.postgres import schema
from nebula.postgres.store import PostgresStore
from tests.bench.parts import minds
from tests.bench.speed import ROOT, machine
from tests.postgres.conftest import OWNER, PROGRAM, PROGRAMS_WORD, Server, programs

if TYPE_CHECKING:
    from collections.abc import Sequence


#: Memories whose own words are asked for beside the four questions.
ASKED = 46


def client(place: str, recalls: int, where: str) -> None:
    """Open the mind, ask each question once, say so, wait for a line, then ask `recalls` times; prints milliseconds."""
    begun = time.perf_counter()
    mind = Mind(places.named(place, "NEBULA_MIND").mind, now=lambda: minds.NOW, overrides={"postgres.recall": where})
    mind.recall(minds.QUERIES[0], touch=False)
    first = (time.perf_counter() - begun) * 1000
    for query in minds.QUERIES:
        mind.recall(query, touch=False)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    taken = []
    for number in range(recalls):
        begun = time.perf_counter()
        mind.recall(minds.QUERIES[number % len(minds.QUERIES)], touch=False)
        taken.append((time.perf_counter() - begun) * 1000)
    private = sum(
        int(line.split()[1])
        for line in Path("/proc/self/smaps_rollup").read_text().splitlines()
        if line.startswith("Private")
    )
    sys.stdout.write(json.dumps({"ms": taken, "private_mb": private / 1024, "first": first}) + "\n")


def measure(place: str, where: str, clients: int, recalls: int) -> tuple[list[float], float, float]:
    """Every recall's milliseconds with so many clients at once; of a client the most memory in MB, the slowest first.

    The first recall is one of a process that has just started, whose host has what it has.
    """
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "NEBULA_LANG": "zh"}
    words = [sys.executable, "-m", "tests.bench.hosts", "--place", place, "--recalls", str(recalls)]
    words += ["--where", where]
    started = [
        subprocess.Popen(words, cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(clients)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [json.loads(process.communicate()[0]) for process in started]
    most = (max(one[name] for one in said) for name in ("private_mb", "first"))
    return (sorted(ms for one in said for ms in one["ms"]), *most)


def loaded(here: Mind, there: Mind) -> dict[str, str]:
    """Copy the lines, lend the vectors, and give this host its index; -> how long the first two took."""
    store = there.store
    assert isinstance(store, PostgresStore)
    begun = time.perf_counter()
    there.adopt_vectors = lambda _: 0  # type: ignore[method-assign,assignment]  # the next line does that, and is timed apart
    lines = sum(stores.copy(here, there).lines.values())
    copied = time.perf_counter()
    shared = store.share(here.encoder().key, here.store.local / INDEX)
    lent = time.perf_counter()
    _index(here, there)
    begun_filling = time.perf_counter()
    served = there.under({"postgres.recall": "server"})
    served.now = lambda: minds.NOW
    rows = served.build().total
    filled = time.perf_counter() - begun_filling
    return {
        "lines": f"{lines} in {copied - begun:.0f} s, {lines / (copied - begun):.0f} a second",
        "vectors": f"{shared} texts in {lent - copied:.0f} s",
        "the index on the server": f"{rows} memories in {filled:.0f} s",
    }


def _index(here: Mind, there: Mind) -> None:
    """The folder's index as one of the database: a row's place is its line's number."""
    found = parts.load(here.cache().folder)
    starts = np.concatenate([arrays["offset"] for _, arrays in found.rows])
    starts.sort()
    found.rows = [("", {**rows, "offset": starts.searchsorted(rows["offset"])}) for _, rows in found.rows]
    found.vectors = [("", arrays) for _, arrays in found.vectors]
    end, mtime, erasures = there.store.stamp("notes")
    source = Source(end, mtime, erasures, end, there.store.tail("notes", end), "")
    found.manifest = replace(found.manifest, sources={"notes.jsonl": source}, folded={})
    folder = there.cache().folder
    files.make_folder(there.store.local / INDEX)
    files.make_folder(folder)
    parts.save(folder, found)


def sizes(server: Server, database: str) -> dict[str, str]:
    """The database's bytes and those of its two large tables with their indexes."""
    named = ("nebula.line", "nebula.vector", *(f"nebula_index.{name}" for name in ("memory", "posting", "piece")))
    asked = ", ".join(f"pg_size_pretty(pg_total_relation_size('{name}'))" for name in named)
    (row,) = server.do(f"SELECT pg_size_pretty(pg_database_size('{database}')), {asked}", database)
    return dict(zip(("database", *named), row, strict=True))


def main() -> None:
    """Load, measure, print; or be one of the clients."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--clients", default="1,8,32")
    parser.add_argument("--recalls", type=int, default=8)
    parser.add_argument("--folder", type=Path, default=Path.home() / ".cache" / "nebula-bench")
    parser.add_argument("--place", help=argparse.SUPPRESS)
    parser.add_argument("--where", help=argparse.SUPPRESS, default="host")
    asked = parser.parse_args()
    if asked.place:
        client(asked.place, asked.recalls, asked.where)
        return
    found = programs()
    assert found is not None, "PostgreSQL's server is not installed"
    _tell(machine())
    folder = minds.mind(asked.folder, asked.size)
    with tempfile.TemporaryDirectory(prefix="nebula-bench-") as given:
        Path(given).chmod(0o755)  # the server is another user's
        os.environ["XDG_CACHE_HOME"] = str(Path(given) / "cache")
        (Path(given) / "server").mkdir()
        server = Server(Path(given) / "server", found, fsync=True)
        server.make()
        server.start()
        try:
            _run(server, folder, [int(count) for count in asked.clients.split(",")], asked.recalls)
        finally:
            server.stop()


def _run(server: Server, folder: Path, clients: Sequence[int], recalls: int) -> None:
    database = server.database()
    server.do(f"CREATE ROLE {PROGRAM} LOGIN PASSWORD '{PROGRAMS_WORD.replace('%40', '@')}'")
    schema.migrate(Address(server.uri(database, OWNER)), 60.0, PROGRAM)
    uri = server.uri(database, PROGRAM, PROGRAMS_WORD)
    here = Mind(folder, now=lambda: minds.NOW)
    there = Mind(Address(uri), now=lambda: minds.NOW, overrides={"postgres.recall": "host"})
    for name, said in {**loaded(here, there), **sizes(server, database)}.items():
        _tell(f"{name}: {said}")
    served = there.under({"postgres.recall": "server"})
    asked = [*minds.QUERIES, *_texts(here)]
    for name, mind in (("host's index", there), ("on the server", served)):
        tops = [(_top(here, query), _top(mind, query)) for query in asked]
        same = sum([ref for ref, _ in mine] == [ref for ref, _ in theirs] for mine, theirs in tops)
        alike = sum(_alike(mine, theirs) for mine, theirs in tops)
        _tell(f"{name}: the same first ten {same}, and scores to 1e-5 {alike}, of {len(asked)} questions")
    _tell(
        "\n| clients | place | recalls | p50 ms | p95 ms | recalls a second | first recall ms | a client's own memory |"
    )
    _tell("|---|---|---|---|---|---|---|---|")
    for count in clients:
        for name, place, where in (
            ("folder", str(folder), "host"),
            ("PostgreSQL, host's index", uri, "host"),
            ("PostgreSQL, on the server", uri, "server"),
        ):
            taken, private, first = measure(place, where, count, recalls)
            cuts = quantiles(taken, n=20)
            rate = f"{count * 1000 * len(taken) / sum(taken):.1f}"
            row = (
                count,
                name,
                len(taken),
                f"{cuts[9]:.0f}",
                f"{cuts[18]:.0f}",
                rate,
                f"{first:.0f}",
                f"{private:.0f} MB",
            )
            _tell(f"| {' | '.join(map(str, row))} |")


def _texts(mind: Mind) -> list[str]:
    """Some memories' own words as questions, evenly spread over the mind."""
    index = mind.index()
    rows = np.linspace(0, index.table.n - 1, ASKED).astype(np.int64).tolist()
    return [memory.text for row in rows if (memory := index.memory(row)) is not None]


def _alike(mine: Sequence[tuple[str, float]], theirs: Sequence[tuple[str, float]]) -> bool:
    same = [ref for ref, _ in mine] == [ref for ref, _ in theirs]
    return same and all(abs(a - b) <= 1e-5 for (_, a), (_, b) in zip(mine, theirs, strict=True))


def _top(mind: Mind, query: str) -> list[tuple[Any, ...]]:
    return [(hit.memory.ref, hit.score) for hit in mind.recall(query, n=10, touch=False, nearest=True).hits]


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
