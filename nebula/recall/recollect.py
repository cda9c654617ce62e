"""One recall from question to hits: the routes, their fusion, then the factors; `ranked`, then `chosen` (spec 5).

`Search` is what it searches: the mapped index, or plain records where numpy is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from nebula.mindlib.record import ECHO
from nebula.quick import dataclass
from nebula.recall import fusion, modulation
from nebula.recall.graph import SEEDS
from nebula.recall.hit import Evidence, Hit, Place, Question
from nebula.recall.ranking import ROUTE_DEPTH, Ranking

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nebula.mindlib.record import Memory
    from nebula.recall.graph import Step
    from nebula.recall.hit import Asked, Probe
    from nebula.recall.lexical import Term
    from nebula.recall.modulation import Facts
    from nebula.settings import RecallSettings, Settings


class Search(Protocol):
    """The rows of one mind at one moment, and the routes over them."""

    #: Whether it has edges to walk over.
    walks: bool

    def lexical(self, asked: Asked, k: int) -> Ranking:
        """The lexical route's first k."""

    def dense(self, probe: Probe, k: int) -> Ranking:
        """The dense route's first k."""

    def graph(self, seeds: Ranking, k: int) -> Ranking:
        """The graph route's first k from the seeds."""

    def time(self, windows: Sequence[tuple[int, int]], k: int) -> Ranking:
        """The first k rows written in one of the windows, score 1."""

    def scores(self, route: str, rows: Sequence[int]) -> Sequence[float]:
        """What a route that was asked before gives to any rows; 0 where it finds nothing."""

    def spoken(self, names: Sequence[str], rows: Sequence[int]) -> Sequence[float]:
        """1 for each row that one of the names speaks, else 0."""

    def evidence(self) -> Evidence | None:
        """The clearest that any row has for what lexical and dense were asked; None without the dense route."""

    def order(self, row: int) -> int:
        """The key that settles ties."""

    def facts(self, row: int) -> Facts:
        """What the factors look at."""

    def ref(self, row: int) -> str:
        """What a person types for it."""

    def row(self, ref: str) -> int:
        """The row that a ref names; -1 where none does."""

    def in_meaning(self, row: int) -> bool:
        """Whether it has a vector."""

    def lent(self, row: int) -> Sequence[tuple[int, float]]:
        """The rows beside a row that the last lexical ranking lent it words of, and how much of its score each is."""

    def words(self, asked: Asked, row: int) -> Mapping[str, Term]:
        """What each of some terms gives to a row's own share, and how many memories hold it."""

    def memory(self, row: int) -> Memory | None:
        """The memory as it stands; None where its line is gone."""

    def is_old(self, row: int) -> bool:
        """Whether it was replaced by now."""

    def strongest_edge(self, row: int) -> str:
        """The edge that brought most to a hit of the last walk, in words."""

    def edges_to(self, row: int, k: int) -> Sequence[Step]:
        """The k edges over which the last walk brought most to a row, that first."""


class Candidate(NamedTuple):
    """A memory that a route found: its score before emotion, `fused`, its row, and the factors between the two."""

    score: float
    fused: float
    row: int
    factors: Mapping[str, float]


@dataclass(frozen=True)
class Ranked:
    """All candidates, best first; what each route found, and what each part adds to a row's `fused`."""

    candidates: Sequence[Candidate]
    rankings: Mapping[str, Ranking]
    parts: Mapping[str, Mapping[int, float]]


def ranked(search: Search, question: Question, settings: Settings, *, walk: bool) -> Ranked:
    """Every candidate in the order in which the n are taken, emotion aside.

    `walk`: also over the graph where it has no weight, for its edges' words.
    """
    return mixed(search, question, settings, routes(search, question, settings, walk=walk))


def mixed(search: Search, question: Question, settings: Settings, rankings: Mapping[str, Ranking]) -> Ranked:
    """The same from what the routes found."""
    fused, parts = fuse(search, question, rankings, settings.recall)
    scored = []
    for row, base in zip(fused.ids, fused.scores, strict=True):
        multipliers = modulation.factors(search.facts(row), settings)
        scored.append(Candidate(base * modulation.product(multipliers), base, row, multipliers))
    scored.sort(key=lambda item: (-item.score, search.order(item.row)))
    return Ranked(scored, rankings, parts)


def chosen(search: Search, question: Question, settings: Settings, found: Ranked, *, explain: bool) -> list[Hit]:
    """The first n candidates whose lines are there, as hits, emotion counted; an echo under what it echoes."""
    places = _places(found.rankings)
    hits: list[Hit] = []
    for (score, fused, row, multipliers), memory in told_once(search, found.candidates, question.n):
        facts = search.facts(row)
        felt = modulation.emotion(facts, settings.recall, dominant=question.dominant, query_feels=question.feels)
        edge = search.strongest_edge(row) if explain and "graph" in places.get(row, {}) else ""
        hits.append(
            Hit(
                memory,
                score * felt,
                fused,
                facts.a,
                places.get(row, {}),
                {**multipliers, "emotion": felt},
                {part: values[row] for part, values in found.parts.items() if values.get(row)},
                search.is_old(row),
                edge,
                _encoders(question.probe, row, found.parts),
            )
        )
    hits.sort(key=lambda hit: -hit.score)
    return hits


def told_once(search: Search, candidates: Sequence[Candidate], n: int) -> Iterator[tuple[Candidate, Memory]]:
    """The first n with their memories; for an echo what it echoes, where that was found too, else one echo of it."""
    told: set[str] = set()
    for one in candidates:
        if len(told) == n:
            return
        memory = search.memory(one.row)
        if memory is None:
            continue
        origin = memory.echo_of if memory.via == ECHO else ""
        row = search.row(origin) if origin and origin not in told else -1
        source = next((other for other in candidates if other.row == row), None) if row >= 0 else None
        own = search.memory(row) if source else None
        if (origin or memory.ref) not in told:
            told.add(origin or memory.ref)
            yield (source, own) if source and own else (one, memory)


def routes(search: Search, question: Question, settings: Settings, *, walk: bool) -> dict[str, Ranking]:
    """Each route's first, in the order of their labels; those that the question gives nothing to are left out."""
    recall = settings.recall
    rankings = {"lexical": search.lexical(question.asked, ROUTE_DEPTH)}
    if question.probe is not None:
        rankings["dense"] = search.dense(question.probe, ROUTE_DEPTH)
    if recall.w_graph or walk:
        seeds, _ = fuse(search, question, rankings, recall)
        rankings["graph"] = search.graph(Ranking(seeds.ids[:SEEDS], seeds.scores[:SEEDS]), ROUTE_DEPTH)
    if question.windows and recall.w_time:
        rankings["time"] = search.time(question.windows, ROUTE_DEPTH)
    return rankings


def fuse(
    search: Search, question: Question, rankings: Mapping[str, Ranking], recall: RecallSettings
) -> tuple[Ranking, Mapping[str, Mapping[int, float]]]:
    """The candidates in one order, and what each part adds to a row."""
    weights = {part: weight_of(recall, question, part) for part in (*fusion.ROUTES, fusion.SPEAKER)}
    if recall.fusion == "ranks":
        parts = {route: fusion.reciprocal(found, weights[route], recall.k) for route, found in rankings.items()}
        return fusion.fuse(rankings, weights, recall.k, search.order), parts
    rows = list(dict.fromkeys(row for route, ranking in rankings.items() if weights[route] for row in ranking.ids))
    scores = {route: search.scores(route, rows) for route in rankings}
    if question.names and weights[fusion.SPEAKER]:
        scores[fusion.SPEAKER] = search.spoken(sorted(question.names), rows)
    if question.probe is not None and question.probe.second is not None:
        scores[fusion.SECOND], weights[fusion.SECOND] = search.scores(fusion.SECOND, rows), recall.w_dense
    added = {
        part: {row: weights[part] * value for row, value in zip(rows, values, strict=True)}
        for part, values in scores.items()
    }
    return fusion.mix(rows, scores, weights, search.order), added


def weight_of(recall: RecallSettings, question: Question, part: str) -> float:
    """How much a part counts. Of a query that is nothing but dates the time is all, so it counts as words do, too."""
    own: float = getattr(recall, f"w_{part}")
    return own + recall.w_lexical if part == "time" and own and question.only_dates else own


def _encoders(probe: Probe | None, row: int, parts: Mapping[str, Mapping[int, float]]) -> dict[str, str]:
    """Which encoder stands behind which part of a row, where two of them gave to it."""
    if probe is None or probe.second is None or not parts.get(fusion.SECOND, {}).get(row):
        return {}
    return {"dense": probe.model, fusion.SECOND: probe.second.model}


def _places(rankings: Mapping[str, Ranking]) -> dict[int, dict[str, Place]]:
    places: dict[int, dict[str, Place]] = {}
    for route in fusion.ROUTES:
        ranking = rankings.get(route, Ranking())
        for rank, (row, score) in enumerate(zip(ranking.ids, ranking.scores, strict=True), start=1):
            places.setdefault(row, {})[route] = Place(rank, score)
    return places
