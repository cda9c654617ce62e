"""The graph route 图#: Personalized PageRank from the hits of the other two (spec 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from nebula.quick import dataclass
from nebula.recall.ranking import Ranking, top

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from nebula.index.graph import Edges
    from nebula.settings import GraphSettings

    Array = NDArray[Any]

#: How many of the first of lexical and dense fused are seeds (spec 5).
SEEDS = 20


class Walked(Protocol):
    """A graph that can be asked for the edges of some nodes; rows come first among its nodes."""

    @property
    def least(self) -> float:
        """The probability below which a node passes nothing on; 0 for the exact walk."""

    @property
    def rows(self) -> int:
        """How many rows there are."""

    @property
    def nodes(self) -> int:
        """How many nodes there are."""

    def of(self, nodes: Array) -> Edges:
        """All edges that touch some nodes (ascending)."""


@dataclass(frozen=True)
class Step:
    """An edge that the walk took to a row: the neighbour's ref ("" for a day or a category), why, and what it brought.

    `flow` is the probability that came over it in one round, before d.
    """

    ref: str
    reason: str
    flow: float

    @property
    def words(self) -> str:
        """`n3 共同关键词 灯塔·看守`."""
        return f"{self.ref} {self.reason}".strip()


@dataclass(frozen=True)
class Walk:
    """Where a walk came: nodes (any order) and the probability of each."""

    nodes: Array
    p: Array


def rank(walked: Walk, rows: int, eligible: Array, order: Callable[[Array], Array], k: int) -> Ranking:
    """Rows by the walk's probability; hubs and stars take part in the walk and are never hits."""
    found = (walked.nodes < rows) & (walked.p > 0)
    nodes, p = walked.nodes[found], walked.p[found]
    mask = eligible[nodes]
    return top(p[mask], nodes[mask], order, k)


def walk(seeds: Ranking, graph: Walked, settings: GraphSettings) -> Walk:
    """The probability of every node that is reached, float64, after `hops` rounds.

    p = (1 - d) · reset + d · Σ_j p[j] · w_ji / deg[j]

    `reset` is the seeds' scores, normalised to sum 1, and p begins as reset; deg is the sum of a node's edge weights.
    d is 0.5 and not 0.85: the graph is sparse, and a long walk becomes a random one. A node without edges keeps to
    its share of reset.
    """
    import numpy as np

    nodes = np.array(seeds.ids, np.int64)
    place = np.full(graph.nodes, -1, np.int64)
    place[nodes] = np.arange(len(nodes))
    reset = np.array(seeds.scores, np.float64)
    reset /= reset.sum()
    p: Array = reset
    degree: Array = np.zeros(len(nodes))
    known = np.zeros(len(nodes), np.bool_)
    parts: list[tuple[Array, Array, Array]] = []  # places of both ends, and the weight
    for _ in range(settings.hops):
        fresh = np.flatnonzero((p > 0) & (p >= graph.least) & ~known)
        if len(fresh):
            known[fresh] = True
            edges = graph.of(np.sort(nodes[fresh]))
            nodes = np.concatenate([nodes, _unplaced(edges.end, place, len(nodes))])
            parts.append((place[edges.start], place[edges.end], edges.weight))
            more = np.zeros(len(nodes) - len(p))
            p, reset, known = (np.concatenate([x, more.astype(x.dtype)]) for x in (p, reset, known))
            degree = np.concatenate([degree, more]) + np.bincount(parts[-1][0], edges.weight, len(nodes))
        passed = np.divide(p, degree, out=np.zeros(len(p)), where=(degree > 0) & (p >= graph.least))
        moved = np.zeros(len(nodes))
        for start, end, weight in parts:
            moved += np.bincount(end, passed[start] * weight, len(nodes))
        p = (1.0 - settings.d) * reset + settings.d * moved
    return Walk(nodes, p)


def _unplaced(nodes: Array, place: Array, count: int) -> Array:
    """Those of `nodes` that have no place yet, each once; they are given places from `count` on."""
    import numpy as np

    nodes = nodes[place[nodes] < 0]
    place[nodes] = np.arange(len(nodes))  # of equal ones the last stays
    nodes = nodes[place[nodes] == np.arange(len(nodes))]
    place[nodes] = np.arange(count, count + len(nodes))
    return nodes
