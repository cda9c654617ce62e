"""The mixture of routes over cached features: a query is asked once, then every set of weights costs one product.

Pure but for the search that it is handed. A query's candidates are those of recall itself (`recollect.routes`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nebula.recall import fusion, modulation
from nebula.recall.recollect import routes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nebula.recall.hit import Question
    from nebula.recall.recollect import Search
    from nebula.settings import RecallSettings, Settings

    Array = NDArray[Any]

PARTS = (*fusion.ROUTES, fusion.SPEAKER)
#: Shares of words in what words and meaning weigh together; weights of the graph beside that; RRF's constants.
SHARES = tuple(step / 20 for step in range(21))
GRAPH = (0.0, 0.02, 0.05, 0.1, 0.2)
K = (3.0, 6.0, 12.0, 30.0, 60.0)
DEPTH = 10


class Weights(NamedTuple):
    """What is chosen: the weights of three routes, and RRF's constant (which counts where ranks are fused)."""

    lexical: float
    dense: float
    graph: float
    k: float

    def settings(self) -> dict[str, float]:
        """As dotted settings."""
        return {
            "recall.w_lexical": self.lexical,
            "recall.w_dense": self.dense,
            "recall.w_graph": self.graph,
            "recall.k": self.k,
        }


class Features(NamedTuple):
    """One query's candidates [r]: their parts' scores [r, 5], or ranks from 0 (inf: not found), and all else."""

    parts: Array
    found: Array  # bool [r, 5]: whether the route ranks it
    factor: Array
    order: Array
    gold: int  # place among the candidates, -1 where no route found it


def features(search: Search, question: Question, settings: Settings, gold: int) -> Features:
    """What the mixture is made of for one query; `gold` is a row."""
    rankings = routes(search, question, settings, walk=True)
    rows = list(dict.fromkeys(row for ranking in rankings.values() for row in ranking.ids))
    place = {row: at for at, row in enumerate(rows)}
    ranks = np.full((len(rows), len(PARTS)), np.inf)
    scores = np.zeros((len(rows), len(PARTS)))
    for at, part in enumerate(PARTS):
        if part in rankings:
            ranks[[place[row] for row in rankings[part].ids], at] = np.arange(len(rankings[part].ids))
            scores[:, at] = search.scores(part, rows)
            if part == "dense" and question.probe is not None and question.probe.second is not None:
                scores[:, at] += search.scores(fusion.SECOND, rows)
        elif part == fusion.SPEAKER and question.names and rows:
            scores[:, at] = search.spoken(sorted(question.names), rows)
    factor = [modulation.product(modulation.factors(search.facts(row), settings)) for row in rows]
    order = np.array([search.order(row) for row in rows], np.uint64)
    parts = ranks if settings.recall.fusion == "ranks" else scores
    return Features(parts, np.isfinite(ranks), np.array(factor), order, place.get(gold, -1))


def gains(found: Features, choices: Sequence[Weights], recall: RecallSettings) -> Array:
    """nDCG@10 of the one memory that should come, under each choice; float64 [c]."""
    if found.gold < 0:
        return np.zeros(len(choices))
    fixed = (recall.w_time, recall.w_speaker)
    weights = np.array([(c.lexical, c.dense, c.graph, *fixed) for c in choices]).T  # [5, c]
    if recall.fusion == "ranks":
        k = np.array([c.k for c in choices])
        given = np.where(found.found[:, :, None], weights / (k + found.parts[:, :, None] + 1), 0.0)
        total = given[:, :4].sum(axis=1)
    else:
        total = found.parts @ weights
    total = total * found.factor[:, None]
    candidate = (found.found[:, :, None] & (weights > 0)).any(axis=1)
    total = np.where(candidate & (total > 0), total, -np.inf)  # [r, c]
    mine = total[found.gold]
    before = (total > mine) | ((total == mine) & (found.order < found.order[found.gold])[:, None])
    rank = 1 + before.sum(axis=0)
    return np.where(np.isfinite(mine) & (rank <= DEPTH), 1.0 / np.log2(1.0 + rank), 0.0)


def grid(recall: RecallSettings) -> list[Weights]:
    """The choices, the present one first: words and meaning share what they weigh together now."""
    now = Weights(recall.w_lexical, recall.w_dense, recall.w_graph, recall.k)
    total = now.lexical + now.dense or 1.0
    constants = K if recall.fusion == "ranks" else (now.k,)
    made = [
        Weights(round(total * share, 3), round(total * (1.0 - share), 3), round(total * graph, 3), k)
        for k in dict.fromkeys((now.k, *constants))
        for graph in GRAPH
        for share in SHARES
    ]
    return list(dict.fromkeys((now, *made)))


def choose(table: Array, choices: Sequence[Weights]) -> int:
    """The choice nearest to the present one (the first) that is no worse than the best by a standard error.

    `table`: gains [q, c]. Among hundreds of choices the very best is partly luck (Breiman et al. 1984, 1-SE rule).
    """
    best = int(table.mean(axis=0).argmax())
    behind = table[:, [best]] - table
    error = behind.std(axis=0) / np.sqrt(len(table))
    good = np.flatnonzero(behind.mean(axis=0) <= error)
    return min(good.tolist(), key=lambda at: (_distance(choices[at], choices[0]), at))


def _distance(one: Weights, other: Weights) -> float:
    total = other.lexical + other.dense or 1.0
    moved = abs(one.lexical - other.lexical) + abs(one.dense - other.dense) + abs(one.graph - other.graph)
    return moved / total + abs(float(np.log((1 + one.k) / (1 + other.k)))) / 10


def overrides(choice: Weights, now: Weights) -> Mapping[str, float]:
    """The settings in which a choice differs from the present."""
    before = now.settings()
    return {key: value for key, value in choice.settings().items() if value != before[key]}
