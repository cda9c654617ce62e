"""What folding a hundred thousand events costs against reading their file, and a day's worth from the cache.

PYTHONPATH=. python tests/bench/mood.py [EVENTS]
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median

from nebula import clock, moods
from nebula.mind import Mind
from nebula.mindlib.record import EMOTIONS
from nebula.mood import engine

START = datetime(2020, 1, 1)
ROUNDS = 5


def main(count: int) -> None:
    """Write the events, then time each way, interleaved; medians."""
    draw = random.Random(3)
    minutes = 6 * 365 * 1440 // count
    with tempfile.TemporaryDirectory() as name:
        end = START + timedelta(minutes=minutes * count)
        mind = Mind(Path(name), now=lambda: end)
        lines = [
            {
                "at": clock.write(START + timedelta(minutes=minutes * number)),
                "v": 1,
                "dim": draw.choice(list(EMOTIONS)),
                "strength": round(draw.random(), 2),
                "why": "今天收到了一封长信",
            }
            for number in range(count)
        ]
        mind.store.append_lines("mood.jsonl", lines, durable=False)
        read, fold, cached = [], [], []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            found = mind.store.scan("mood.jsonl").lines
            read.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            engine.fold([event for line in found if (event := engine.read_event(line.obj)) is not None])
            fold.append(time.perf_counter() - begun)
        moods.remember(mind, moods.current(mind))
        mind.store.append_lines("mood.jsonl", [{**line, "at": clock.write(end)} for line in lines[:40]], durable=False)
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            mind.mood()
            cached.append(time.perf_counter() - begun)
    a, b, c = median(read), median(fold), median(cached)
    sys.stdout.write(
        f"{count} events: read {a:.3f} s, fold {b:.3f} s (× {b / a:.1f}); 40 more from the cache {1000 * c:.1f} ms\n"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
