"""The graph route 图#: Personalized PageRank from the hits of the other two (spec 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula.recall.ranking import Ranking, top

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nebula.index.graph import Graph
    from nebula.settings import GraphSettings

    Array = NDArray[Any]

#: How many of the first of lexical and dense fused are seeds (spec 5).
SEEDS = 20


def rank(p: Array, graph: Graph, eligible: Array, order: Array, k: int) -> Ranking:
    """Rows by the walk's probability `p`; hubs and stars take part in the walk and are never hits."""
    found = p[: graph.rows]
    return top(found, eligible & (found > 0), order, k)


def walk(seeds: Ranking, graph: Graph, settings: GraphSettings) -> Array:
    """The probability p of every node, float64 [nodes], after `hops` rounds.

    p = (1 - d) · reset + d · Σ_j p[j] · w_ji / deg[j]

    `reset` is the seeds' scores, normalised to sum 1, and p begins as reset; deg is the sum of a node's edge weights.
    d is 0.5 and not 0.85: the graph is sparse, and a long walk becomes a random one. A node without edges keeps to
    its share of reset.
    """
    import numpy as np

    reset = np.zeros(graph.nodes)
    reset[list(seeds.ids)] = seeds.scores
    reset /= reset.sum()
    degree = graph.degree()
    share = np.divide(1.0, degree, out=np.zeros(graph.nodes), where=degree > 0)
    p = reset.copy()
    for _ in range(settings.hops):
        flow = p * share
        moved = np.bincount(graph.b, flow[graph.a] * graph.weight, graph.nodes)
        moved += np.bincount(graph.a, flow[graph.b] * graph.weight, graph.nodes)
        p = (1.0 - settings.d) * reset + settings.d * moved
    return p
