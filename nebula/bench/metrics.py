"""How good a ranking is against the ids that should have come, and how sure one can be of a mean. Pure functions.

Gains are binary. A ranking is a sequence of ids, best first; `gold` is the set that should have come, never empty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    Metric = Callable[[Sequence[str], Collection[str]], float]

RESAMPLES = 10_000
SEED = 7


@dataclass(frozen=True)
class Figure:
    """A mean over queries, and the 95 % interval of that mean."""

    mean: float
    low: float
    high: float


def ndcg(ids: Sequence[str], gold: Collection[str], k: int) -> float:
    """Σ over hits among the first k of 1 / log2(rank + 1), as a share of min(|gold|, k) hits at the top.

    0…1 (Järvelin & Kekäläinen 2002). Gold {a, b}, ranking x a b: (1/log2 3 + 1/log2 4) / (1 + 1/log2 3) = 0.693.
    """
    best = sum(_gain(rank) for rank in range(1, min(len(gold), k) + 1))
    return sum(_gain(rank) for rank, found in enumerate(ids[:k], start=1) if found in gold) / best


def _gain(rank: int) -> float:
    return 1.0 / math.log2(rank + 1)


def recall(ids: Sequence[str], gold: Collection[str], k: int) -> float:
    """The share of gold among the first k, 0…1."""
    return len(set(ids[:k]) & set(gold)) / len(gold)


def reciprocal_rank(ids: Sequence[str], gold: Collection[str]) -> float:
    """1 / the rank of the first gold id; 0 where none came. Its mean over queries is the MRR."""
    return next((1.0 / rank for rank, found in enumerate(ids, start=1) if found in gold), 0.0)


#: By the name that heads their column.
METRICS: Mapping[str, Metric] = {
    "nDCG@5": lambda ids, gold: ndcg(ids, gold, 5),
    "nDCG@10": lambda ids, gold: ndcg(ids, gold, 10),
    "R@5": lambda ids, gold: recall(ids, gold, 5),
    "R@10": lambda ids, gold: recall(ids, gold, 10),
    "MRR": reciprocal_rank,
}


def figures(values: Sequence[Sequence[float]]) -> list[Figure]:
    """Of each list of values, one value a query and all lists of one length: the mean and its interval.

    Percentile bootstrap over queries (Efron 1979): the queries are drawn anew with replacement, 10,000 times, the same
    draws each time; the interval is where the middle 95 % of the means lie. One query: an interval of no width.
    """
    import numpy as np

    table = np.asarray(values, np.float64)  # [lists, queries]
    count = table.shape[1]
    draws = np.random.default_rng(SEED).integers(0, count, (RESAMPLES, count))
    blocks = [table[:, block].mean(axis=2) for block in np.array_split(draws, max(1, draws.size // 500_000))]
    means = np.concatenate(blocks, axis=1)  # [lists, resamples]
    low, high = np.percentile(means, [2.5, 97.5], axis=1)
    return [Figure(*map(float, found)) for found in zip(table.mean(axis=1), low, high, strict=True)]
