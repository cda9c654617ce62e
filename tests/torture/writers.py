"""Many processes that write one ledger at once (R1). Prints one JSON object.

`python -m tests.torture.writers FOLDER WRITERS RECORDS SIZE ids|synced|unsynced|foreign [GUARD…]`: `ids` are memories
whose id is taken under the lock, the others lines of a side ledger; with `foreign` every other writer is a program
that knows neither our lock nor our code and appends valid lines by plain writes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from nebula.mindlib import files
from nebula.mindlib.record import Memory
from nebula.mindlib.store import Marks, Store
from tests.torture import guards

AT = "2026-05-01T09:00:00"
PATIENCE = 300.0  # seconds that a writer waits for the others


def text(writer: int, number: int, size: int) -> str:
    """A record's text of about that many bytes."""
    return f"{writer}-{number} " + "浮标" * (size // 6)


def with_ids(store: Store, writer: int, records: int, size: int) -> None:
    """Memories as `nebula add` appends them; each writer remembers what it has read, as a caller with an index does."""
    marks = Marks()

    def finish(memories: list[Memory]) -> list[Memory]:  # called under the lock
        nonlocal marks
        end = store.path("notes").stat().st_size
        tail = files.tail_fingerprint(store.path("notes"), end)
        marks = Marks({"notes.jsonl": end}, {"notes.jsonl": tail}, {"notes": memories[0].id})
        return memories

    for number in range(records):
        store.append("notes", [Memory("notes", 0, AT, text(writer, number, size))], marks, finish)


def foreign(path: Path, writer: int, records: int, size: int) -> None:
    """Another program: one write a line, no lock; ids of its own choosing."""
    for number in range(records):
        row = {"id": 1_000_000 + writer * 10_000 + number, "at": AT, "text": text(writer, number, size)}
        with path.open("ab", buffering=0) as file:
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")


def write(folder: Path, writer: int, records: int, size: int, mode: str) -> None:
    store = Store(folder, PATIENCE)
    if mode == "ids" or (mode == "foreign" and writer % 2 == 0):
        with_ids(store, writer, records, size)
    elif mode == "foreign":
        foreign(store.path("notes"), writer, records, size)
    else:
        for number in range(records):
            row = {"at": AT, "text": text(writer, number, size)}
            store.append_lines("notes.jsonl", [row], durable=mode == "synced")


def main(folder: Path, writers: int, records: int, size: int, mode: str) -> dict[str, object]:
    """Start them all, let them go at once, and look at what is there."""
    folder.mkdir(parents=True, exist_ok=True)
    gate_out, gate_in = os.pipe()
    children = []
    for writer in range(writers):
        child = os.fork()
        if child == 0:
            os.close(gate_in)
            os.read(gate_out, 1)
            try:
                write(folder, writer, records, size, mode)
            except BaseException as error:
                sys.stderr.write(f"{writer}: {error!r}\n")
                os._exit(1)
            os._exit(0)
        children.append(child)
    begun = time.monotonic()
    os.close(gate_in)
    failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
    took = time.monotonic() - begun
    found = Store(folder).scan("notes.jsonl")
    rows = [line.obj for line in found.lines if "text" in line.obj]
    ids = sorted(row["id"] for row in rows if "id" in row and row["id"] < 1_000_000)
    wanted = {text(writer, number, size) for writer in range(writers) for number in range(records)}
    there = [row["text"] for row in rows]
    return {
        "writers": writers,
        "records": writers * records,
        "writers that failed": failed,
        "bad lines": len(found.damages),
        "lost": len(wanted - set(there)),
        "twice": len(there) - len(set(there)),
        "ids that repeat": len(ids) - len(set(ids)),
        "gaps in ids": (ids[-1] - len(set(ids))) if ids else 0,
        "a second": round(writers * records / took),
    }


if __name__ == "__main__":
    with guards.off(*sys.argv[6:]):
        found = main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
        json.dump(found, sys.stdout, ensure_ascii=False)
