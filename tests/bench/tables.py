"""The sets and how their tables are written: Markdown, a column a set, paired gains with intervals."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from nebula.bench import metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

BENCH = Path(__file__).parents[3] / "shared" / "bench"
SETS = ("madial_zh", "memorybank_zh", "subject_zh", "cmrc_zh", "madial_en", "memorybank_en", "locomo_en")
#: Sets of one source are one source.
SOURCES = {name: name.rsplit("_", 1)[0] for name in SETS}


def gain(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """`+.012 [+.003,+.021]`: the mean paired difference and its interval."""
    figure = metrics.figures([[a - b for a, b in zip(ours, theirs, strict=True)]])[0]
    return f"{figure.mean:+.3f} [{figure.low:+.3f},{figure.high:+.3f}]"


def say(line: str) -> None:
    """A line of Markdown, seen at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def row(name: str, cells: Sequence[str]) -> None:
    """One row of a table."""
    say(f"| {name} | {' | '.join(cells)} |")


def head(first: str, *, columns: Sequence[str] = (*SETS, "mean")) -> None:
    """A table's head."""
    row(first, columns)
    say("|---" * (len(columns) + 1) + "|")
