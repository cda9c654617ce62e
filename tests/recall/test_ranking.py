"""The first of many scores are found without sorting all of them."""

from __future__ import annotations

import numpy as np
import pytest

from nebula.recall.ranking import leading, top


@pytest.mark.parametrize("n", [0, 1, 7, 39, 40, 41, 400, 12_345])
@pytest.mark.parametrize("values", [1, 3, 1000])
@pytest.mark.parametrize("zeros", [0.0, 0.6, 0.999])
def test_the_leading_rows_hold_all_that_belong_to_the_first(n: int, values: int, zeros: float) -> None:
    """The first ten of the leading rows are those of a whole sort: many ties, most scores 0, or none."""
    draw = np.random.default_rng(n + values)
    scores = draw.integers(1, values + 1, n) / values * (draw.random(n) >= zeros)
    rows = leading(scores, 10)
    sorted_whole = sorted(np.flatnonzero(scores).tolist(), key=lambda row: (-scores[row], row))[:10]
    found = top(scores[rows], rows, lambda rows: rows.astype(np.uint64), 10)
    assert found.ids == sorted_whole
    assert found.scores == scores[sorted_whole].tolist()


def test_few_rows_lead() -> None:
    """Of scores that differ a small multiple of what is asked for is looked at."""
    scores = np.random.default_rng(1).random(100_000)
    assert 400 <= len(leading(scores, 400)) < 800
