"""How fast nebula is, side by side with its yardsticks, as one Markdown table.

    pip install -e '.[bench]'
    python tests/bench/speed.py [cold] [where] [warm] [encoder] [write] [build] [--sizes 1000,10000] [--rounds 15]

Without a part's name all are measured.
Minds are invented (`parts/minds.py`) and kept in `--folder`; 1,000,000 is
measured where `--sizes` names it. Whatever is compared runs in turn in the same rounds; each
figure is the median, with the least and the greatest beside it. Nothing is asserted: a busy machine has other figures.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from datetime import datetime
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = ("cold", "where", "warm", "encoder", "write", "build")


def machine() -> str:
    """Processor, cores, Python, date and commit."""
    processor = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        named = [line for line in information.read_text().splitlines() if line.startswith("model name")]
        processor = named[0].partition(":")[2].strip() if named else processor
    head = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    cores, python, load = os.cpu_count(), platform.python_version(), os.getloadavg()[0]
    day = f"{datetime.now():%Y-%m-%d}"
    return f"{processor}, {cores} cores (load {load:.1f}), Python {python}, {day}, commit {head.stdout.strip()}"


def main() -> None:
    """Measure the parts asked for, print the table, and write it where `--out` says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=" ".join(PARTS))
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--folder", type=Path, default=Path.home() / ".cache" / "nebula-bench")
    parser.add_argument("--out", type=Path, help="a Markdown file")
    asked = parser.parse_args()
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    sizes = [int(size) for size in asked.sizes.split(",")]
    os.environ["NEBULA_LANG"] = "zh"
    sys.path.insert(0, str(ROOT))
    lines = [machine(), "", "| what | median (least … greatest) | ratio | to |", "|---|---|---|---|"]
    sys.stdout.write("\n".join(lines) + "\n")
    for name in asked.parts or PARTS:
        part = import_module(f"tests.bench.parts.{name}")
        for row in part.rows(asked.folder, sizes, asked.rounds):
            lines.append(str(row))
            sys.stdout.write(lines[-1] + "\n")
            sys.stdout.flush()
    if asked.out:
        asked.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
