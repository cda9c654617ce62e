"""How long a night takes on a large mind, the first one and one on which 100 memories came.

    python tests/bench/night.py [MEMORIES]

Invented text, drawn vectors of 512 dimensions (the encoder is measured apart). Prints seconds, their ratio and the
peak memory; nothing is asserted.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from nebula import clock, night
from nebula.mind import Mind
from nebula.mindlib.record import Memory

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.invented import WORDS, Drawn

NOW = datetime(2026, 5, 1, 22, 5)
FRESH = 100


class Wide:
    """Unit vectors of 512 dimensions, drawn one after another."""

    key = model = "drawn-512"
    dimensions = 512

    def __init__(self) -> None:
        self.draw = np.random.default_rng(1)

    def encode(self, texts: list[str]) -> Drawn:
        vectors = self.draw.normal(size=(len(texts), self.dimensions)).astype(np.float32)
        return Drawn(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.arange(len(texts)))


def text(draw: random.Random) -> str:
    """Words whose frequency falls with their rank, and some that are rare."""
    common = [WORDS[min(int(draw.paretovariate(0.8)) - 1, len(WORDS) - 1)] for _ in range(4)]
    return "".join(common) + "".join(chr(draw.randint(0x4E00, 0x8FFF)) for _ in range(6))


def opened(folder: Path, now: datetime) -> Mind:
    mind = Mind(folder, now=lambda: now)
    mind._encoder = Wide()  # type: ignore[assignment]
    return mind


def write(folder: Path, count: int, now: datetime, days: float, draw: random.Random) -> None:
    when = sorted(draw.uniform(0, days) for _ in range(count))
    drafts = [
        Memory(
            "notes",
            0,
            clock.write(now - timedelta(days=days - at)),
            text(draw),
            imp=draw.choice([0.2, 0.5, 0.8]),
            by="import",
            uid=f"{draw.getrandbits(64):016x}",
        )
        for at in when
    ]
    opened(folder, now).store.append("notes", drafts)


def timed(folder: Path, now: datetime) -> float:
    start = time.perf_counter()
    night.consolidate(opened(folder, now))
    return time.perf_counter() - start


def main(count: int) -> None:
    draw = random.Random(7)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "mind"
        write(folder, count, NOW, 700, draw)
        timed(folder, NOW)
        nights = []
        for day in (1, 2, 3):
            now = NOW + timedelta(days=day)
            write(folder, FRESH, now, 0.9, draw)
            nights.append(timed(folder, now))
    sorted(nights)[1]
    resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
