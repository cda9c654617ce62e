"""What a cold command costs on a mind of ten thousand memories; by hand: `python tests/bench/cold.py PYTHON MIND [N]`.

PYTHON is the interpreter of an environment in which nebula-mind is installed; MIND an empty folder, or one that an
earlier run has filled. The yardstick is an interpreter that imports numpy and typer. Runs are interleaved.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

BENCH = Path(__file__).parents[2] / ".." / "shared" / "bench"
COUNT = 10_000
ROUNDS = 9
#: Runs a command and prints its peak memory in KB (on Linux) as the last line of stderr.
_PEAK = (
    "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL);"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); sys.exit(done.returncode)"
)


def made_up(count: int, seed: int = 7) -> list[dict[str, str]]:
    """Notes of one to three clauses of the sets' Chinese texts, so that words fall as they do there."""
    clauses: list[str] = []
    for name in ("memorybank_zh", "subject_zh", "madial_zh", "cmrc_zh"):
        for line in (BENCH / name / "memories.jsonl").read_text(encoding="utf-8").splitlines():
            text = json.loads(line)["text"].replace("\n", "，").replace("。", "，")
            clauses += [part for part in text.split("，") if 4 <= len(part) <= 40]
    draw = random.Random(seed)
    return [
        {
            "text": "，".join(draw.sample(clauses, draw.randint(1, 3))) + "。",
            "at": f"{draw.randint(2022, 2025)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}T12:00:00",
        }
        for _ in range(count)
    ]


def fill(python: str, mind: Path, count: int) -> None:
    """Write the notes and their vectors, unless they are there."""
    if (mind / "notes.jsonl").exists():
        return
    with tempfile.TemporaryDirectory() as place:
        batch = Path(place) / "notes.jsonl"
        batch.write_text(
            "".join(json.dumps(note, ensure_ascii=False) + "\n" for note in made_up(count)), encoding="utf-8"
        )
        begun = time.perf_counter()
        command = [python, "-m", "nebula", "add", "--mind", str(mind), "--batch", str(batch), "-q"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        sys.stdout.write(f"filled with {count} in {time.perf_counter() - begun:.0f} s\n")


def measure(commands: dict[str, list[str]]) -> None:
    """Wall time and peak memory of each command, interleaved; the first one is the yardstick."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    peak = dict.fromkeys(commands, 0)
    for turn in range(ROUNDS + 1):
        for name, command in commands.items():
            begun = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if turn:  # the first round warms the disk's cache
                seconds[name].append(time.perf_counter() - begun)
    for name, command in commands.items():
        done = subprocess.run([sys.executable, "-c", _PEAK, *command], capture_output=True, text=True, check=True)
        peak[name] = int(done.stderr.split()[-1]) // 1024
    unit = median(next(iter(seconds.values())))
    for name, times in seconds.items():
        middle = median(times)
        spread = f"{1000 * min(times):4.0f}…{1000 * max(times):4.0f}"
        sys.stdout.write(
            f"{name:<10}{1000 * middle:6.0f} ms ({spread})  × {middle / unit:4.2f}  peak {peak[name]} MB\n"
        )


def main() -> None:
    """Fill, then measure add and recall against the yardstick."""
    python, mind = sys.argv[1], Path(sys.argv[2])
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    fill(python, mind, int(sys.argv[3]) if len(sys.argv) > 3 else COUNT)
    nebula = [str(Path(python).parent / "nebula")]
    measure(
        {
            "floor": [python, "-c", "import numpy, typer"],
            "add": [*nebula, "add", "--mind", str(mind), "今天把灯塔的旧零件又清点了一遍，少了一个齿轮"],
            "recall": [*nebula, "recall", "--set", "recall.floor=0", "--mind", str(mind), "谁在图书馆一起看书"],
            "list": [*nebula, "list", "--mind", str(mind)],
        }
    )


if __name__ == "__main__":
    main()
