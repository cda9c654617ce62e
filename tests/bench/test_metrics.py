"""The figures of a ranking: hand-computed values, and agreement with the benchmark's own scorer where it is at hand."""

from __future__ import annotations

import importlib.util
import math
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nebula.bench import metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

SCORER = Path(__file__).parents[2] / ".." / "shared" / "bench" / "score.py"


@pytest.fixture(scope="module")
def scorer() -> Any:
    if not SCORER.exists():
        pytest.skip("../shared/bench is not at hand")
    spec = importlib.util.spec_from_file_location("bench_score", SCORER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made_up(seed: int, count: int = 40) -> list[tuple[list[str], set[str]]]:
    draw = random.Random(seed)
    names = [f"m{i}" for i in range(30)]
    return [
        (draw.sample(names, draw.randint(0, 20)), set(draw.sample(names, draw.randint(1, 6)))) for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("ids", "gold", "k", "expected"),
    [
        ("abc", "a", 5, 1.0),
        ("xa", "a", 5, 1 / math.log2(3)),
        ("xab", "ab", 5, (1 / math.log2(3) + 0.5) / (1 + 1 / math.log2(3))),
        ("ab", "abc", 2, 1.0),  # the ideal has no more than k hits
        ("xxxxxa", "a", 5, 0.0),
        ("", "a", 5, 0.0),
    ],
)
def test_ndcg(ids: str, gold: str, k: int, expected: float) -> None:
    """nDCG@k with binary gain: log2 discount, ideal = min(|gold|, k) hits at the top."""
    assert metrics.ndcg(list(ids), set(gold), k) == pytest.approx(expected)


def test_docstring_figure() -> None:
    """Gold {a, b}, ranking x a b -> 0.693."""
    assert metrics.ndcg(["x", "a", "b"], {"a", "b"}, 10) == pytest.approx(0.693, abs=5e-4)


@pytest.mark.parametrize(
    ("ids", "gold", "k", "expected"), [("abx", "abc", 2, 2 / 3), ("xya", "a", 2, 0.0), ("a", "a", 5, 1.0)]
)
def test_recall(ids: str, gold: str, k: int, expected: float) -> None:
    """recall@k = |top k and gold| / |gold|."""
    assert metrics.recall(list(ids), set(gold), k) == pytest.approx(expected)


@pytest.mark.parametrize(("ids", "gold", "expected"), [("xxa", "a", 1 / 3), ("ba", "ab", 1.0), ("xyz", "a", 0.0)])
def test_reciprocal_rank(ids: str, gold: str, expected: float) -> None:
    """1 / rank of the first gold id; 0 where there is none."""
    assert metrics.reciprocal_rank(list(ids), set(gold)) == pytest.approx(expected)


def test_interval_of_equal_values_has_no_width() -> None:
    """Every resample of equal values has their mean; so has the one resample of one query."""
    for figure in metrics.figures([[0.5] * 9, [0.25] * 9]) + metrics.figures([[0.75]]):
        assert figure.low == pytest.approx(figure.mean) == pytest.approx(figure.high)


def test_interval_of_halves() -> None:
    """100 queries, half 0 and half 1: standard error .05, so the interval is .5 ± .098; the same each time."""
    values: Sequence[float] = [0.0, 1.0] * 50
    (figure,) = metrics.figures([values])
    assert figure.mean == 0.5
    assert figure.low == pytest.approx(0.402, abs=0.011)
    assert figure.high == pytest.approx(0.598, abs=0.011)
    assert metrics.figures([values]) == [figure]


def test_agrees_with_the_benchmarks_scorer(scorer: Any) -> None:
    """Every metric, query by query, equals score.py's to 1e-12."""
    for ids, gold in made_up(1):
        for name, ours in metrics.METRICS.items():
            assert ours(ids, gold) == pytest.approx(float(scorer.METRICS[name](ids, gold)), abs=1e-12)


def test_intervals_agree_with_the_benchmarks_scorer(scorer: Any) -> None:
    """Means and intervals equal score.py's with its default 10,000 resamples and seed 7, to 1e-12."""
    np = pytest.importorskip("numpy")
    rows = made_up(2)
    values = [[ours(ids, gold) for ids, gold in rows] for ours in metrics.METRICS.values()]
    draws = scorer.resamples([{"qid": i} for i in range(len(rows))], 10_000, 7, False)
    for ours, theirs in zip(metrics.figures(values), values, strict=True):
        _, (low, high) = scorer.interval(np.array(theirs), draws)
        assert ours.mean == pytest.approx(float(np.mean(theirs)), abs=1e-12)
        assert (ours.low, ours.high) == pytest.approx((float(low), float(high)), abs=1e-12)
