"""Ask every query of a set of a throw-away mind, through the same code as `add` and `recall`, and score what came.

A set is a folder with `memories.jsonl` (id, text, perhaps subject, at, emo, tag, time, session, turn) and
`queries.jsonl` (qid, query, gold, perhaps subject and at). Each subject has a mind of its own. Writes nothing but the
throw-away minds, in the system's temporary folder or where the caller has places for them, and removes them.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from nebula import clock
from nebula.bench import metrics
from nebula.errors import FileUnusable, NumpyMissing
from nebula.index import has_numpy
from nebula.mind import Mind
from nebula.mindlib import files, ledger
from nebula.mindlib.record import EMO_WORDS
from nebula.recall.fusion import ROUTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from nebula.address import Address
    from nebula.bench.metrics import Figure
    from nebula.settings import RecallSettings

    Places = Callable[[], AbstractContextManager[Path | Address]]

#: Ids that a ranking gives.
DEPTH = 20
FUSED = "fused"
_FIELDS = ("at", "emo", "tag", "time", "session", "turn", "speaker", "imp", "e", "via")


@dataclass(frozen=True)
class Query:
    """One question of a set; `at` is its own now, None where it has none."""

    qid: str
    text: str
    gold: frozenset[str]
    subject: str
    at: datetime | None


@dataclass(frozen=True)
class BenchSet:
    """A set as read: memories by subject, in the order of the file, ids as text; and the queries that have gold."""

    memories: Mapping[str, Sequence[Mapping[str, Any]]]
    queries: Sequence[Query]
    #: Ids back in the type that the file gives them.
    ids: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """What came for one query: ids by route, best first, the fused ones' scores, the seconds that the recall took."""

    query: Query
    rankings: Mapping[str, Sequence[str]]
    scores: Sequence[float]
    seconds: float


@dataclass(frozen=True)
class Table:
    """The figures of a run: route -> metric -> figure; `milliseconds` a query, median and 95th percentile."""

    queries: int
    memories: int
    subjects: int
    rows: Mapping[str, Mapping[str, Figure]]
    milliseconds: tuple[float, float]
    #: `{"qid", "ids"}` of the fused ranking, 20 ids.
    rankings: Sequence[Mapping[str, object]] = ()
    #: The scores of those ids.
    scores: Sequence[Sequence[float]] = ()
    #: Values of `emo` that are none of ours and were left out, with how many memories had them.
    unknown_emo: Mapping[str, int] = field(default_factory=dict)


@contextmanager
def temporary() -> Iterator[Path]:
    """A place for one throw-away mind: a folder in the system's temporary one."""
    with tempfile.TemporaryDirectory(prefix="nebula-bench-", ignore_cleanup_errors=True) as place:
        yield Path(place) / "mind"


def run(
    folder: Path,
    overrides: Mapping[str, object] | None = None,
    progress: Callable[[int, int], None] | None = None,
    *,
    places: Places = temporary,
    now: Callable[[], datetime] = clock.now,
    timer: Callable[[], float] = time.perf_counter,
) -> Table:
    """Score a set under settings `overrides`; a query without `at` is asked at `now`; `progress` takes (done, of).

    `places` gives each subject's mind its place and takes that away again.

    Raises FileUnusable where the set can't be used, BadValue for an override, NotSetUp without numpy or encoder.
    """
    if not has_numpy():
        raise NumpyMissing
    found = read_set(folder)
    asked: list[Asked] = []
    for subject in dict.fromkeys(query.subject for query in found.queries):
        queries = [query for query in found.queries if query.subject == subject]
        with places() as place:
            throwaway = _Throwaway(place, overrides or {}, now)
            throwaway.fill(found.memories.get(subject, ()))
            for query in queries:
                asked.append(throwaway.ask(query, timer))
                if progress:
                    progress(len(asked), len(found.queries))
    return _table(found, asked)


def routes(recall: RecallSettings) -> list[str]:
    """The routes that a set is scored by one by one: those that search all of it for every query."""
    return [route for route in ROUTES if route != "time" and (route != "graph" or recall.w_graph)]


class _Throwaway:
    """One subject's mind, with its refs' ids in the set."""

    def __init__(self, place: Path | Address, overrides: Mapping[str, object], now: Callable[[], datetime]) -> None:
        self._default_now = now
        self._at: datetime | None = None
        self._ids: dict[str, str] = {}
        self._mind = Mind(place, overrides=overrides, now=self._now)
        self._routes = routes(self._mind.settings.recall)

    def _now(self) -> datetime:
        return self._at or self._default_now()

    def fill(self, memories: Sequence[Mapping[str, Any]]) -> None:
        self._mind.encoder()  # a set scored without its dense route would be scored wrong, in silence
        if memories:
            added = self._mind.add_many([_as_added(memory) for memory in memories], by="bench")
            self._ids = {m.ref: str(memory["id"]) for m, memory in zip(added.memories, memories, strict=True)}

    def ask(self, query: Query, timer: Callable[[], float]) -> Asked:
        self._at = query.at
        begun = timer()
        found = self._mind.recall(query.text, n=DEPTH, touch=False, nearest=True)
        seconds = timer() - begun
        refs = {route: found.rankings.get(route, ())[:DEPTH] for route in self._routes}
        refs[FUSED] = [hit.memory.ref for hit in found.hits]
        rankings = {route: [self._ids[ref] for ref in ids] for route, ids in refs.items()}
        return Asked(query, rankings, [hit.score for hit in found.hits], seconds)


def _as_added(memory: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that `add` takes; an emotion in the set's own words that ours do not know is left out."""
    fields = {name: memory[name] for name in _FIELDS if memory.get(name) is not None}
    if _unknown_emo(memory):
        del fields["emo"]
    return {"text": memory["text"], **fields}


def _unknown_emo(memory: Mapping[str, Any]) -> str:
    emo = memory.get("emo")
    return emo if isinstance(emo, str) and emo and emo.lower() not in EMO_WORDS else ""


def _table(found: BenchSet, asked: Sequence[Asked]) -> Table:
    shown = tuple(asked[0].rankings)
    cells = [(route, name) for route in shown for name in metrics.METRICS]
    values = [[metrics.METRICS[name](a.rankings[route], a.query.gold) for a in asked] for route, name in cells]
    rows: dict[str, dict[str, Figure]] = {route: {} for route in shown}
    for (route, name), figure in zip(cells, metrics.figures(values), strict=True):
        rows[route][name] = figure
    times = sorted(1000 * a.seconds for a in asked)
    memories = [memory for several in found.memories.values() for memory in several]
    emotions = [emo for memory in memories if (emo := _unknown_emo(memory))]
    return Table(
        queries=len(asked),
        memories=len(memories),
        subjects=len(found.memories),
        rows=rows,
        milliseconds=(median(times), times[int(0.95 * (len(times) - 1))]),
        rankings=[{"qid": a.query.qid, "ids": [found.ids[one] for one in a.rankings[FUSED]]} for a in asked],
        scores=[a.scores for a in asked],
        unknown_emo={emo: emotions.count(emo) for emo in dict.fromkeys(emotions)},
    )


def read_set(folder: Path) -> BenchSet:
    """Read a set. Raises FileUnusable naming file, line and what is wrong."""
    memories: dict[str, list[Mapping[str, Any]]] = {}
    ids: dict[str, object] = {}
    path = folder / "memories.jsonl"
    for number, obj in _objects(path):
        wrong = [name for name in ("id", "text") if not isinstance(obj.get(name), str | int) or obj[name] == ""]
        if wrong or str(obj["id"]) in ids:
            raise _unusable(path, number, wrong[0] if wrong else f"id {obj['id']} ×2")
        ids[str(obj["id"])] = obj["id"]
        memories.setdefault(_subject(obj), []).append(obj)
    path = folder / "queries.jsonl"
    queries = [_query(path, number, obj) for number, obj in _objects(path)]
    for query in queries:
        missing = sorted(query.gold - ids.keys())
        if missing:
            raise FileUnusable(path, f"{query.qid}: gold {missing[0]}?")
    answerable = [query for query in queries if query.gold]
    if not answerable:
        raise FileUnusable(path, "0 gold")
    return BenchSet(memories, answerable, ids)


def _query(path: Path, number: int, obj: Mapping[str, Any]) -> Query:
    gold = obj.get("gold", [])
    if (
        not isinstance(gold, list)
        or not isinstance(obj.get("query"), str)
        or not obj["query"].strip()
        or "qid" not in obj
    ):
        raise _unusable(path, number, "qid, query, gold")
    at = obj.get("at")
    moment = clock.parse(at) if isinstance(at, str) else None
    if at is not None and moment is None:
        raise _unusable(path, number, f"at {at}")
    return Query(str(obj["qid"]), obj["query"], frozenset(map(str, gold)), _subject(obj), moment)


def _subject(obj: Mapping[str, Any]) -> str:
    return str(obj.get("subject") or "")


def _unusable(path: Path, number: int, what: str) -> FileUnusable:
    return FileUnusable(path, f":{number}: {what}")


def _objects(path: Path) -> list[tuple[int, Mapping[str, Any]]]:
    """The objects of a JSONL file, each with its line counted from 1."""
    data = files.read_given(path)
    found = ledger.scan(path, data)
    if found.damages:
        raise _unusable(path, found.damages[0].line, found.damages[0].reason)
    return [(data.count(b"\n", 0, line.offset) + 1, line.obj) for line in found.lines]
