"""Lookups in ascending arrays against plain Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from nebula.index import ascending


@pytest.mark.parametrize("seed", range(5))
def test_lookups(seed: int) -> None:
    """Items may be equal, values repeated and in any order; either may be empty."""
    rng = np.random.default_rng(seed)
    items = np.sort(rng.integers(0, 20, 5 * seed).astype(np.int32))
    values = rng.integers(-2, 22, 8)
    which, at = ascending.lookup(items, values)
    pairs = [(v, i) for v, value in enumerate(values.tolist()) for i, one in enumerate(items.tolist()) if one == value]
    assert list(zip(which.tolist(), at.tolist(), strict=True)) == pairs
    assert ascending.holds(items, values.astype(np.int32)).tolist() == [v in items.tolist() for v in values.tolist()]
    assert len(ascending.holds(items, values[:0].astype(np.int32))) == 0


def test_places_within_runs() -> None:
    assert ascending.nth(np.array([3, 0, 1, 2])).tolist() == [0, 1, 2, 0, 0, 1]
    assert ascending.nth(np.zeros(0, np.int64)).tolist() == []


@pytest.mark.parametrize("most", [1, 3, 4, 100])
def test_stretches_hold_as_many_runs_as_go_in(most: int) -> None:
    """Together all runs, in order; none more than `most` but a run alone, and none that had room for the next."""
    counts = [2, 1, 0, 5, 0, 0, 3, 1]
    spans = list(ascending.stretches(np.array([0, *itertools.accumulate(counts)]), most))
    assert [at for low, high in spans for at in range(low, high)] == list(range(len(counts)))
    for low, high in spans:
        assert sum(counts[low:high]) <= most or high == low + 1
        assert high == len(counts) or sum(counts[low : high + 1]) > most
    assert list(ascending.stretches(np.zeros(1, np.int64), most)) == []
