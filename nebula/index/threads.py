"""Work on many rows by all processors: numpy lets go of the interpreter's lock while it reckons."""

from __future__ import annotations

import os
import threading
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 8  # threads; more wait for the memory


def side_by_side(work: Callable[[int, int], None], n: int, least: int) -> None:
    """Call `work(first, last)` for spans that cover n items, at least `least` to a thread, and wait for all.

    Raises what the first that failed raised.
    """
    count = max(1, min(processors(), MOST, n // least))
    failures: list[BaseException] = []

    def caught(first: int, last: int) -> None:
        try:
            work(first, last)
        except BaseException as error:  # it belongs to whoever waits
            failures.append(error)

    mine, *others = pairwise(n * at // count for at in range(count + 1))
    threads = [threading.Thread(target=caught, args=span) for span in others]
    for thread in threads:
        thread.start()
    caught(*mine)
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
