"""Runs in turn, and the rows of the table they make."""

from __future__ import annotations

import compileall
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


@dataclass(frozen=True)
class Row:
    """One line of the table: figures in `unit`, and their ratio to those of a yardstick."""

    what: str
    values: Sequence[float]
    unit: str = "ms"
    to: str = ""
    yardstick: float = 0.0

    def __str__(self) -> str:
        low, middle, high = (shown(v) for v in (min(self.values), median(self.values), max(self.values)))
        spread = f" ({low} … {high})" if len(self.values) > 1 else ""
        ratio = f"{median(self.values) / self.yardstick:.2f}" if self.yardstick else ""
        return f"| {self.what} | {middle}{spread} {self.unit} | {ratio} | {self.to} |"


def shown(value: float) -> str:
    """Three digits, no exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def compiled() -> None:
    """Byte-code as an installed package has it; each cold process would else compile what it imports."""
    import nebula

    compileall.compile_dir(str(Path(nebula.__file__).parent), quiet=1)


def in_turn(runs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each run, all of them once a round; a round before the first warms up."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            begun = time.perf_counter()
            run()
            if turn:
                taken[name].append(1000 * (time.perf_counter() - begun))
    return taken


def against(taken: Mapping[str, Sequence[float]], yardstick: str, unit: str = "ms") -> Iterator[Row]:
    """A row for each, with its ratio to one of them."""
    least = median(taken[yardstick])
    for name, values in taken.items():
        yield Row(name, values, unit, "" if name == yardstick else yardstick, 0.0 if name == yardstick else least)
