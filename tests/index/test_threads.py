"""Work spread over processors is done once and whole, and what fails in a thread fails where it is waited for."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from nebula.index import threads


@pytest.mark.parametrize(("n", "least", "processors", "spans"), [
    (0, 10, 4, [(0, 0)]),
    (9, 10, 4, [(0, 9)]),
    (40, 10, 4, [(0, 10), (10, 20), (20, 30), (30, 40)]),
    (41, 10, 3, [(0, 13), (13, 27), (27, 41)]),
    (100, 1, 99, [(n * 100 // 8, (n + 1) * 100 // 8) for n in range(8)]),
])  # fmt: skip
def test_every_item_once(
    monkeypatch: pytest.MonkeyPatch, n: int, least: int, processors: int, spans: list[tuple[int, int]]
) -> None:
    monkeypatch.setattr(threads, "processors", lambda: processors)
    done, by = np.zeros(n, np.int64), []

    def work(first: int, last: int) -> None:
        done[first:last] += 1
        by.append((first, last))

    threads.side_by_side(work, n, least)
    assert sorted(by) == spans
    assert (done == 1).all()


def test_a_failure_is_raised_and_nobody_is_left_running(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "processors", lambda: 4)
    before = threading.active_count()

    def work(first: int, last: int) -> None:
        if first:
            raise MemoryError(f"{first} {last}")

    with pytest.raises(MemoryError):
        threads.side_by_side(work, 8, 2)
    assert threading.active_count() == before


def test_processors_are_those_that_this_process_may_use() -> None:
    assert 1 <= threads.processors() <= 4096
