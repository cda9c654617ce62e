"""First build, catch-up after 100 new memories, and a night: seconds, peak memory, bytes on disk.

Each in a process of its own, on a copy of the mind; vectors are drawn, the encoder being measured apart, but for the
100 of the catch-up, which is set beside the encoder's time for the same 100 texts. A build is measured once.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench.parts import minds
from tests.bench.parts.timing import Row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FRESH = 100
_CHILD = "import sys; from tests.bench.parts import build; build.child(*sys.argv[1:])"


def rows(folder: Path, sizes: Sequence[int], rounds: int) -> Iterator[Row]:
    """Each size by itself."""
    work = folder / "work"
    for size in sizes:
        first = _in_process("first", work, size)
        disk = sum(path.stat().st_size for path in work.rglob("*") if path.is_file() and ".index" in path.parts)
        ledger = (work / "notes.jsonl").stat().st_size
        yield Row(f"first build, {size:,}, drawn vectors, peak {first['peak']:,} MB", [first["seconds"]], "s")
        yield Row(f"index on disk, {size:,}, beside {ledger / 1e6:.1f} MB of ledger", [disk / 1e6], "MB")
        done = [_in_process("catch_up", work, size) for _ in range(max(1, min(rounds, 15)))]
        alone = sorted(one["alone"] for one in done)[len(done) // 2]
        peak = max(one["peak"] for one in done)
        yield Row(
            f"catch-up after {FRESH} new in {size:,}, peak {peak:,} MB",
            [one["seconds"] for one in done],
            "s",
            f"{FRESH} embeddings",
            alone,
        )
        night = _in_process("night", work, size)
        yield Row(f"night, {size:,}, peak {night['peak']:,} MB", [night["seconds"]], "s")
        shutil.rmtree(work, ignore_errors=True)


def _in_process(act: str, work: Path, size: int) -> dict[str, Any]:
    command = [sys.executable, "-c", _CHILD, act, str(work), str(size)]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environ)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def child(act: str, work: str, size: str) -> None:
    """Do one of them in this process; print its seconds and peak memory (MB) as JSON."""
    import resource

    found = {"first": _first, "catch_up": _catch_up, "night": _night}[act](Path(work), int(size))
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    sys.stdout.write(json.dumps(found) + "\n")


def _first(work: Path, size: int) -> dict[str, float]:
    shutil.rmtree(work, ignore_errors=True)
    minds.ledger(work, size)
    mind = minds.drawing(work)
    begun = time.perf_counter()
    mind.build()
    return {"seconds": time.perf_counter() - begun}


def _catch_up(work: Path, size: int) -> dict[str, float]:
    """Lines come into the ledger as another program would write them; then the index follows with their vectors."""
    from nebula.encoder import open_encoder
    from nebula.mind import Mind

    encoder = open_encoder()
    mind = Mind(work, now=lambda: minds.NOW)
    mind._encoder = encoder
    ledger = work / "notes.jsonl"
    number = 1 + int(json.loads(ledger.read_bytes().rstrip().rpartition(b"\n")[2])["id"])
    texts = list(minds.texts(FRESH, seed=number))
    with ledger.open("a", encoding="utf-8") as file:
        for at, text in enumerate(texts, start=number):
            line = {"id": at, "text": text, "at": minds.NOW.isoformat(), "uid": f"{at:016x}", "via": "self"}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    encoder.encode(texts[:10])  # widens the weights
    begun = time.perf_counter()
    encoder.encode(texts)
    between = time.perf_counter()
    mind.follow()
    return {"alone": between - begun, "seconds": time.perf_counter() - between}


def _night(work: Path, size: int) -> dict[str, float]:
    from nebula import night
    from nebula.mind import Mind

    mind = Mind(work, now=lambda: minds.NOW + timedelta(days=1))
    mind._encoder = minds.drawing(work).encoder()
    begun = time.perf_counter()
    night.consolidate(mind)
    return {"seconds": time.perf_counter() - begun}
