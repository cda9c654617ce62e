"""What a large mind looks up piece by piece is what a small one puts together: edges, walk, nearest vectors."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nebula import clock
from nebula.index import vectors
from nebula.index.cache import Cache
from nebula.index.graph import Graph, assemble
from nebula.index.neighbours import Neighbours
from nebula.index.vectors import Vectors
from nebula.mindlib.changes import set_line
from nebula.mindlib.store import CHANGES, Store
from nebula.recall import graph as route
from nebula.recall.ranking import Ranking, top
from nebula.settings import Settings
from tests.index.test_index import EMBEDDER, START, fill, memories

if TYPE_CHECKING:
    from pathlib import Path

    from nebula.index.view import Index

NOW = clock.seconds(START + timedelta(days=40))
MIN_COSINE = 0.2


def both(index: Index) -> tuple[Graph, Neighbours]:
    """The whole graph, and the same seen from its nodes."""
    alive = index.table.column("valid_to") > NOW
    whole = assemble(index.table, index.stored_edges(), index.keywords, alive, NOW, MIN_COSINE)
    return whole, Neighbours(index, alive, NOW, MIN_COSINE)


def told(edges: Any) -> set[tuple[int, int, float, int]]:
    columns = (edges.start.tolist(), edges.end.tolist(), edges.weight.tolist(), edges.kind.tolist())
    found = list(zip(*columns, strict=True))
    assert len(found) == len(set(found))  # none twice
    return set(found)


@pytest.fixture(params=[(0, 1), (1, 7), (2, 25)], ids=["whole", "seven cuts", "one by one"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Index:
    """A mind that grew in some cuts, a few of its memories replaced since."""
    seed, cuts = request.param
    store = fill(tmp_path / "mind", memories(seed, 75), cuts)
    at = clock.write(START + timedelta(days=30))
    gone = random.Random(seed).sample([memory.ref for memory in store.read_all().memories], 9)
    lines = [set_line(at, ref, {"valid_to": at}, "test") for ref in gone]
    store.append_lines(CHANGES, lines, durable=False)
    return Cache(store, "test", "full").open(EMBEDDER)


def test_each_node_has_the_edges_of_the_whole(index: Index) -> None:
    """Row, core, hub and star alike, one at a time and all together; every kind occurs."""
    whole, seen = both(index)
    assert (whole.rows, whole.nodes) == (seen.rows, seen.nodes)
    alive = np.flatnonzero(index.table.column("valid_to") > NOW)
    nodes = np.concatenate([alive, np.arange(whole.rows, whole.nodes)])
    for node in nodes:
        one = np.array([node])
        assert told(seen.of(one)) == told(whole.of(one))
    every = told(seen.of(nodes))
    assert every == told(whole.of(nodes))
    assert {kind for *_, kind in every} >= {0, 1, 2, 4, 5}  # of source there are none in one of the minds


def test_a_walk_over_either_is_the_same(index: Index) -> None:
    """The same probabilities but for what LEAST leaves out, and the same ranking."""
    whole, seen = both(index)
    alive = index.table.column("valid_to") > NOW
    rows = np.flatnonzero(alive)
    seeds = Ranking([int(rows[3]), int(rows[20])], [0.5, 0.25])
    walks = [route.walk(seeds, graph, Settings().graph) for graph in (whole, seen)]
    dense = []
    for walk in walks:
        p = np.zeros(whole.nodes)
        p[walk.nodes] = walk.p
        dense.append(p)
    assert dense[0] == pytest.approx(by_matrix(whole, seeds), abs=1e-6)
    assert dense[1] == pytest.approx(dense[0], abs=1e-12)
    ranked = [route.rank(walk, whole.rows, alive, index.table.order_of, 20) for walk in walks]
    assert len(ranked[0].ids) > 5
    assert ranked[0].scores == pytest.approx(ranked[1].scores)


def by_matrix(graph: Graph, seeds: Ranking) -> Any:
    """The formula on a dense matrix."""
    weights = np.zeros((graph.nodes, graph.nodes))
    np.add.at(weights, (graph.a, graph.b), graph.weight)
    np.add.at(weights, (graph.b, graph.a), graph.weight)
    reset = np.zeros(graph.nodes)
    reset[list(seeds.ids)] = np.array(seeds.scores) / sum(seeds.scores)
    degree = weights.sum(axis=0)
    moves = weights / np.where(degree > 0, degree, 1)
    p = reset
    settings = Settings().graph
    for _ in range(settings.hops):
        p = (1 - settings.d) * reset + settings.d * moves @ p
    return p


def test_a_word_of_half_the_mind_joins_nobody(tmp_path: Path) -> None:
    """Seen from a node as in the whole."""
    store = Store(tmp_path / "mind")
    made = memories(4, 40)
    for number, memory in enumerate(made):
        shared = "海边的天文馆 " if number % 3 else ""
        store.append("notes", [memory.__class__("notes", 0, memory.at, shared + memory.text, uid=f"{number:016x}")])
    whole, seen = both(Cache(store, "test", "full").open(EMBEDDER))
    rows = np.arange(whole.rows)
    assert told(seen.of(rows)) == told(whole.of(rows))


@pytest.mark.parametrize("pieces", [1, 3])
def test_codes_first_gives_the_very_best(pieces: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes first, then vectors: the k best and their ties as every vector gives them, with holes and old rows."""
    draw = np.random.default_rng(5)
    owner = np.sort(draw.integers(0, 700, 1000)).tolist()
    made = draw.normal(size=(1000, 64)).astype(np.float32)
    made[500:520] = made[500]  # equal vectors, equal cosines
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    halves = [
        vectors.segment(owner[s], owner[s], [v[None] for v in made[s]]) for s in (slice(0, 600), slice(600, 1000))
    ]
    query = made[[500, 7, 90][:pieces]] + draw.normal(size=(pieces, 64)).astype(np.float32) * np.float32(0.02)
    query /= np.linalg.norm(query, axis=1, keepdims=True)
    eligible = draw.random(800) < 0.8
    found = []
    for size in (1, 10_000):
        monkeypatch.setattr(vectors, "CODES_FROM", size)
        rows, cosines = Vectors(halves, 800).best(query, eligible, 40, lambda cosines: cosines.max(axis=1))
        assert eligible[rows].all()
        found.append(top(np.round(cosines, 6), rows, lambda rows: rows.astype(np.uint64), 40))
    assert found[0].ids == found[1].ids
    assert found[0].scores == pytest.approx(found[1].scores, abs=2e-6)
    best = np.full(800, -2.0, np.float32)
    np.maximum.at(best, owner, (made @ query.T).max(axis=1))
    best[~eligible] = -2
    assert found[0].scores == pytest.approx(sorted(best.tolist(), reverse=True)[:40], abs=2e-6)


def test_codes_are_off_by_no_more_than_they_say() -> None:
    """For any unit query, to the last bits of float32; a vector of zeros among them."""
    draw = np.random.default_rng(6)
    made = draw.standard_t(2, size=(300, 64)).astype(np.float32)
    made[1:] /= np.linalg.norm(made[1:], axis=1, keepdims=True)
    made[0] = 0
    codes = vectors.coded(made)
    queries = np.concatenate([made[1:], -made[1:]])
    told_by_codes = (codes["vec_code"].astype(np.float32) @ queries.T) * codes["vec_step"][:, None]
    assert (np.abs(told_by_codes - made @ queries.T) <= codes["vec_off"][:, None]).all()
