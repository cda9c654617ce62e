"""One recall from question to hits: three routes, fusion by rank, then the factors (spec 5).

`Search` is what it searches: the mapped index, or plain records where numpy is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from nebula.recall import fusion, modulation
from nebula.recall.graph import SEEDS
from nebula.recall.hit import Filters, Hit, Place, Question, Recollection
from nebula.recall.ranking import ROUTE_DEPTH, Ranking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from nebula.mindlib.record import Memory
    from nebula.recall.modulation import Facts
    from nebula.settings import Settings


class Search(Protocol):
    """The rows of one mind at one moment, and the three routes over them."""

    def lexical(self, tokens: Sequence[str], k: int) -> Ranking:
        """The lexical route's first k."""

    def dense(self, vector: Any, k: int) -> Ranking:
        """The dense route's first k."""

    def graph(self, seeds: Ranking, k: int) -> Ranking:
        """The graph route's first k from the seeds."""

    def order(self, row: int) -> int:
        """The key that settles ties."""

    def facts(self, row: int) -> Facts:
        """What the factors look at."""

    def ref(self, row: int) -> str:
        """What a person types for it."""

    def memory(self, row: int) -> Memory | None:
        """The memory as it stands; None where its line is gone."""

    def is_old(self, row: int) -> bool:
        """Whether it was replaced by now."""

    def strongest_edge(self, row: int) -> str:
        """The edge that brought most to a hit of the last walk, in words."""


def recollect(search: Search, question: Question, settings: Settings, *, explain: bool = False) -> Recollection:
    """The n memories that come to mind. `explain` also puts the walk's edges into words."""
    weights = {"lexical": settings.recall.w_lexical, "dense": settings.recall.w_dense, "graph": settings.recall.w_graph}
    rankings = {"lexical": search.lexical(question.tokens, ROUTE_DEPTH)}
    if question.vector is not None:
        rankings["dense"] = search.dense(question.vector, ROUTE_DEPTH)
    seeds = fusion.fuse(rankings, weights, settings.recall.k, search.order)
    rankings["graph"] = search.graph(Ranking(seeds.ids[:SEEDS], seeds.scores[:SEEDS]), ROUTE_DEPTH)
    fused = fusion.fuse(rankings, weights, settings.recall.k, search.order)

    scored = []
    for row, base in zip(fused.ids, fused.scores, strict=True):
        multipliers = modulation.factors(search.facts(row), settings)
        scored.append((base * modulation.product(multipliers), base, row, multipliers))
    scored.sort(key=lambda item: (-item[0], search.order(item[2])))
    places = _places(rankings)
    hits: list[Hit] = []
    for score, base, row, multipliers in scored:
        memory = search.memory(row) if len(hits) < question.n else None
        if memory is None:
            continue
        facts = search.facts(row)
        felt = modulation.emotion(facts, settings.recall, dominant=question.dominant, query_feels=question.feels)
        edge = search.strongest_edge(row) if explain and "graph" in places[row] else ""
        every = {**multipliers, "emotion": felt}
        hits.append(Hit(memory, score * felt, base, facts.a, places[row], every, search.is_old(row), edge))
    hits.sort(key=lambda hit: -hit.score)
    refs = {route: [search.ref(row) for row in ranking.ids] for route, ranking in rankings.items()}
    return Recollection(hits, refs)


def _places(rankings: Mapping[str, Ranking]) -> dict[int, dict[str, Place]]:
    places: dict[int, dict[str, Place]] = {}
    for route, ranking in rankings.items():
        for rank, (row, score) in enumerate(zip(ranking.ids, ranking.scores, strict=True), start=1):
            places.setdefault(row, {})[route] = Place(rank, score)
    return places


def admits(filters: Filters, memory: Memory) -> bool:
    """Whether a memory passes the filters that look at the record itself (not its being replaced)."""
    seconds = memory.seconds
    return (
        (not filters.ledgers or memory.ledger in filters.ledgers)
        and (not filters.tags or memory.tag in filters.tags)
        and (not filters.vias or memory.via in filters.vias)
        and (filters.since is None or seconds >= filters.since)
        and (filters.until is None or seconds <= filters.until)
    )
