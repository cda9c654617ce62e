"""Reciprocal rank fusion: the three routes' scores share no unit, their ranks do (spec 5; Cormack et al. 2009)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula.recall.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Routes in the order of their labels, and the labels.
ROUTES: Mapping[str, str] = {"lexical": "词", "dense": "义", "graph": "图"}


def fuse(
    rankings: Mapping[str, Ranking], weights: Mapping[str, float], k: float, order: Callable[[int], int]
) -> Ranking:
    """Score = Σ_route w_route / (K + rank_route + 1), rank from 0; a route that did not find it adds nothing.

    Ids of weight 0 altogether are left out; ties go by `order`. K=12, one route of weight 0.4 at rank 0 -> 0.4 / 13.
    """
    scores: dict[int, float] = {}
    for route, ranking in rankings.items():
        for rank, found in enumerate(ranking.ids):
            scores[found] = scores.get(found, 0.0) + weights[route] / (k + rank + 1)
    ids = sorted((i for i, score in scores.items() if score > 0), key=lambda i: (-scores[i], order(i)))
    return Ranking(ids, [scores[i] for i in ids])
