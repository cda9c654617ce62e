"""tune: route weights and floor from the mind's own records, chosen on half of the queries, judged on the other half.

The half that judges is asked through recall itself. What is found is written on request alone (see `kept`).
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from nebula import calibration, clock
from nebula.bench import metrics
from nebula.errors import NumpyMissing
from nebula.index import has_numpy
from nebula.quick import dataclass
from nebula.recall.hit import Filters
from nebula.recalling import probe_of, question_of, search_in
from nebula.text.script import mainly_latin
from nebula.tuning import queries

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nebula.bench.metrics import Figure
    from nebula.mind import Mind
    from nebula.recall.hit import Evidence, Question
    from nebula.results import Notice
    from nebula.tuning.queries import Known

#: Steps in which a lower floor is looked for. It is only ever lowered: these queries are easier than people's.
FLOOR_STEP = 0.1


@dataclass(frozen=True)
class Measure:
    """One figure before and after, over the half that judges, and the paired gain; each with its 95 % interval."""

    before: Figure
    after: Figure
    gain: Figure

    @property
    def is_gain(self) -> bool:
        """Whether the interval of the gain lies above 0."""
        return self.gain.low > 0


@dataclass(frozen=True)
class Tuned:
    """What was learned. `queries` 0…: below `queries.LEAST` nothing was, and the rest is empty.

    `before` and `after`: the settings looked at. `measures`: ndcg and mrr (weights); answered, refused, and
    both of a query, 0…2 (floor).
    `worth`: the settings whose gain is sure, as they would be written.
    """

    queries: int
    kinds: Mapping[str, int] = field(default_factory=dict)
    examples: Sequence[Known] = ()
    before: Mapping[str, float] = field(default_factory=dict)
    after: Mapping[str, float] = field(default_factory=dict)
    measures: Mapping[str, Measure] = field(default_factory=dict)
    worth: Mapping[str, float] = field(default_factory=dict)
    notices: Sequence[Notice] = ()


@dataclass
class Asked:
    """One known item as recall is asked it: its question, its row, and the evidence with and without its memory."""

    question: Question
    row: int
    found: Any
    evidence: float
    without: float

    def told_apart(self, floor: float) -> float:
        """2 where the floor lets the memory through and is silent without it, 1 for one of both."""
        return float(self.evidence >= floor) + float(self.without < floor)


def tune(mind: Mind, progress: Callable[[int, int], None] | None = None) -> Tuned:
    """Learn from the mind's records; writes nothing. Raises NotSetUp without numpy or encoder, LedgerUnusable."""
    if not has_numpy():
        raise NumpyMissing
    mind.encoder()
    now = clock.seconds(mind.now())
    holding = [memory for memory in mind.store.read_all().memories if not memory.is_old(now)]
    known = queries.known_items(holding)
    kinds = {kind: sum(one.kind == kind for one in known) for kind in queries.KINDS}
    if len(known) < queries.LEAST:
        return Tuned(len(known), kinds, known[:3])
    # one view serves all questions: one in Latin script brings a second encoder's vectors along, if there is one
    opening = next((one.query for one in known if mainly_latin(one.query)), known[0].query)
    search, _, notices = search_in(mind, opening, Filters(), None)
    asked = _ask(mind, search, known, progress)
    return _learned(mind, search, known, asked, kinds, notices)


def _ask(mind: Mind, search: Any, known: Sequence[Known], progress: Callable[[int, int], None] | None) -> list[Asked]:
    from nebula.tuning import mixture

    found = []
    for number, one in enumerate(known, start=1):
        probe, _ = probe_of(mind, one.query)
        question = question_of(mind, one.query, probe, mixture.DEPTH, None)
        row = search.row(one.ref)
        features = mixture.features(search, question, mind.settings, row)
        clear, blind = search.evidence(), search.evidence(without=row)
        found.append(
            Asked(question, row, features, _judged(mind, search, one, clear), _judged(mind, search, one, blind))
        )
        if progress:
            progress(number, len(known))
    return found


def _judged(mind: Mind, search: Any, one: Known, evidence: Evidence | None) -> float:
    """Evidence against a floor of 1, whatever the floor is now."""
    from dataclasses import replace

    if evidence is None:
        return float("inf")
    unit = replace(mind.settings.recall, floor=1.0)
    return calibration.judge(one.query, evidence, search.index, mind.encoder(), unit, mind.cache().folder)


def _learned(
    mind: Mind,
    search: Any,
    known: Sequence[Known],
    asked: Sequence[Asked],
    kinds: Mapping[str, int],
    notices: Sequence[Notice],
) -> Tuned:
    import numpy as np

    from nebula.tuning import mixture

    recall = mind.settings.recall
    learning, judging = asked[::2], asked[1::2]
    choices = mixture.grid(recall)
    table = np.array([mixture.gains(one.found, choices, recall) for one in learning])
    weights = mixture.overrides(choices[mixture.choose(table, choices)], choices[0])
    floor = _floor(learning, recall.floor)
    places = [_places(mind, search, judging, {}), _places(mind, search, judging, weights)]
    measures = {
        "ndcg": _measure(*([_ndcg(place) for place in side] for side in places)),
        "mrr": _measure(*([1.0 / place if place else 0.0 for place in side] for side in places)),
        "answered": _measure(*([float(one.evidence >= at) for one in judging] for at in (recall.floor, floor))),
        "refused": _measure(*([float(one.without < at) for one in judging] for at in (recall.floor, floor))),
        "both": _measure(*([one.told_apart(at) for one in judging] for at in (recall.floor, floor))),
    }
    after = {**weights, **({"recall.floor": floor} if floor != recall.floor else {})}
    keys = [*choices[0].settings(), "recall.floor"]
    before = {**choices[0].settings(), "recall.floor": recall.floor}
    worth = dict(weights) if measures["ndcg"].is_gain else {}
    worth |= {"recall.floor": floor} if floor != recall.floor and measures["both"].is_gain else {}
    looked = [key for key in keys if key != "recall.k" or recall.fusion == "ranks"]
    return Tuned(
        len(known),
        kinds,
        known[:3],
        {key: before[key] for key in looked},
        {key: after.get(key, before[key]) for key in looked},
        measures,
        worth,
        notices,
    )


def _places(mind: Mind, search: Any, judging: Sequence[Asked], weights: Mapping[str, float]) -> list[int]:
    """Where recall itself puts each memory, from 1; 0 where it is none of the first."""
    from nebula.recall.recollect import ranked
    from nebula.tuning.mixture import DEPTH

    settings = mind.under({**mind.overrides, **weights}).settings if weights else mind.settings
    found = []
    for one in judging:
        rows = [c.row for c in ranked(search, one.question, settings, walk=False).candidates[:DEPTH]]
        found.append(rows.index(one.row) + 1 if one.row in rows else 0)
    return found


def _ndcg(place: int) -> float:
    return metrics.ndcg(["x"] * (place - 1) + ["gold"], ["gold"], 10) if place else 0.0


def _floor(learning: Sequence[Asked], floor: float) -> float:
    """Of the present floor and those below it the one that tells most apart (Youden's index), the highest of equals."""
    steps = (round(floor - step * FLOOR_STEP, 3) for step in range(1, int(floor / FLOOR_STEP) + 1))
    return max(
        [floor, *(at for at in steps if at > 0)], key=lambda at: (sum(one.told_apart(at) for one in learning), at)
    )


def _measure(before: Sequence[float], after: Sequence[float]) -> Measure:
    gain = [b - a for a, b in zip(before, after, strict=True)]
    return Measure(*metrics.figures([before, after, gain]))
