"""Writers that are killed while they write, and what is left of it (R2). Prints one JSON object.

`python -m tests.torture.deaths FOLDER SIZE KILLS SEED random|torn [GUARD…]`: `random` is SIGKILL after 2 to 20 ms,
`torn` a death after some of a record's bytes, the rest of the ledger's life being ordinary appends.
"""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any

from nebula.mindlib import files, ledger
from tests.torture import guards

KILLS_A_FILE = 25  # then the ledger is looked at and a new one begun: a whole run writes gigabytes


def text(name: str, size: int) -> str:
    """A record's text, told by its name alone."""
    return (name + "·") * (size // len((name + "·").encode()) + 1)


def line(name: str, size: int) -> bytes:
    return ledger.dump([{"id": 1, "name": name, "text": text(name, size)}])


def write(path: Path, kill: int, size: int, told: int, *, durable: bool, torn: float | None) -> None:
    """Append for ever, acknowledging each on `told`; with `torn` the first is cut there and the process dies."""
    if torn is not None:
        true = os.write

        def half(descriptor: int, data: Any) -> int:
            true(descriptor, data[: max(1, int(len(data) * torn))])
            os.kill(os.getpid(), signal.SIGKILL)
            return 0

        os.write = half
    number = 0
    while True:
        with files.appending(path) as file:
            file.append(line(f"{kill}-{number}", size), durable=durable)
        os.write(told, struct.pack("<q", number))
        number += 1


def killed(path: Path, kill: int, size: int, *, after: float, torn: float | None) -> int:
    """Start a writer and kill it; -> how many it acknowledged."""
    ears, mouth = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ears)
        write(path, kill, size, mouth, durable=kill % 2 == 0, torn=torn)
    os.close(mouth)
    if torn is None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(ears, "rb") as file:
        said = file.read()
    return len(said) // 8


def lost(path: Path, acknowledged: list[tuple[str, int]], size: int) -> tuple[int, int]:
    """-> (acknowledged records that are not there exactly once and whole, lines that can't be read)."""
    found = ledger.scan(path, files.read(path))
    seen: dict[str, int] = {}
    for entry in found.lines:
        name = entry.obj["name"]
        seen[name] = seen.get(name, 0) + (1 if entry.obj["text"] == text(name, size) else 1000)
    gone = sum(seen.get(f"{who}-{number}", 0) != 1 for who, count in acknowledged for number in range(count))
    return gone, len(found.damages)


def main(folder: str, size: int, kills: int, seed: int, mode: str) -> dict[str, int]:
    """Kill that many writers of records of that size."""
    draw = random.Random(seed)
    told = {"kills": kills, "acknowledged": 0, "lost": 0, "fragments": 0, "fragments beyond one a kill": 0}
    for first in range(0, kills, KILLS_A_FILE):
        path = Path(folder) / f"ledger-{first}.jsonl"
        acknowledged = []
        here = range(first, min(first + KILLS_A_FILE, kills))
        for kill in here:
            torn = draw.choice([0.0, 0.3, 0.999, 1.0]) if mode == "torn" else None
            acknowledged.append((str(kill), killed(path, kill, size, after=draw.uniform(0.002, 0.02), torn=torn)))
            with files.appending(path) as file:  # life goes on
                file.append(line(f"after {kill}-0", size), durable=False)
            acknowledged.append((f"after {kill}", 1))
        gone, damaged = lost(path, acknowledged, size)
        told["acknowledged"] += sum(count for _, count in acknowledged)
        told["lost"] += gone
        told["fragments"] += damaged
        told["fragments beyond one a kill"] += max(0, damaged - len(here))
        path.unlink()
    return told


if __name__ == "__main__":
    with guards.off(*sys.argv[6:]):
        found = main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
        json.dump(found, sys.stdout, ensure_ascii=False)
