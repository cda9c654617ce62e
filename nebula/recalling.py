"""A recall: from the words of a query to what came to mind, and the use of it counted."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from nebula import clock
from nebula.echo import handed_out
from nebula.errors import EmptyQuery, NebulaError
from nebula.index import has_numpy
from nebula.life import forgetting
from nebula.mood import lexicon
from nebula.quick import dataclass
from nebula.recall import asking
from nebula.recall.hit import Filters, Question
from nebula.recall.recollect import chosen, ranked, told_once
from nebula.results import Notice, Recalled, missing
from nebula.text import normal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from nebula.mind import Mind
    from nebula.mindlib.record import Memory
    from nebula.recall.budget import Budget
    from nebula.recall.floor import Nulls
    from nebula.recall.hit import Hit, Probe
    from nebula.recall.modulation import Ageing
    from nebula.recall.recollect import Ranked, Search
    from nebula.settings import ForgettingSettings

#: Memories, the first of the lexical route, that are looked into for the words of a query that speaks of nothing.
LOOKED_AT = 20


def recall(
    mind: Mind,
    query: str,
    *,
    n: int,
    filters: Filters,
    touch: bool,
    explain: bool,
    as_of: datetime | None,
    nearest: bool,
    budget: Budget | None,
) -> Recalled:
    """What comes to mind; see Mind.recall. Raises EmptyQuery, LedgerUnusable."""
    found = seek(mind, Ask(query, n, filters, as_of, nearest), explain=explain)
    notices = [*found.notices]
    hits, left_out = budget.split(found.came) if budget else (found.came, ())
    if touch and hits and as_of is None and not found.abstained:
        notices += mind.touch([hit.memory.ref for hit in hits])
    closest = found.closest
    handed_out(mind, (hit.memory for hit in (*hits, *([closest] if closest else []))))
    return Recalled(query, hits, notices, found.refs, left_out, found.abstained, found.evidence, closest)


@dataclass(frozen=True)
class Ask:
    """What is asked of a mind: see Mind.recall. `whole`: as if every vector had been made, in memory alone."""

    query: str
    n: int = 8
    filters: Filters = Filters()
    as_of: datetime | None = None
    nearest: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Sought:
    """A recall before any use is made of it: every candidate, the first n as hits, and how far the best stands out."""

    ask: Ask
    search: Search
    question: Question
    found: Ranked
    hits: Sequence[Hit]
    evidence: float | None
    notices: Sequence[Notice]

    @property
    def abstained(self) -> bool:
        """Whether nothing stands out."""
        return self.evidence is not None and self.evidence < 1.0

    @property
    def came(self) -> Sequence[Hit]:
        """The hits that are shown."""
        return self.hits if self.ask.nearest or not self.abstained else ()

    @property
    def closest(self) -> Hit | None:
        """The best of what is kept silent about: of everyday questions in other words, the answer in half of them."""
        return self.hits[0] if self.hits and not self.came else None

    def shown(self, ref: str) -> int | None:
        """Where a memory stands among what is shown, from 1."""
        return next((at for at, hit in enumerate(self.came, start=1) if hit.memory.ref == ref), None)

    @cached_property
    def told(self) -> Sequence[str]:
        """The refs of all that would be told, in the order in which a larger n takes them; echoes under theirs."""
        every = told_once(self.search, self.found.candidates, len(self.found.candidates))
        return [memory.ref for _, memory in every]

    def least(self, ref: str) -> int | None:
        """The least n that brings it; None where none does: no route found it, or another is told for it."""
        return self.told.index(ref) + 1 if ref in self.told else None

    def standing(self, ref: str) -> int | None:
        """Where it stands among the hits, shown or kept silent about; else the least n that brings it."""
        hits = (at for at, hit in enumerate(self.hits, start=1) if hit.memory.ref == ref)
        return next(hits, None) or self.least(ref)

    @property
    def refs(self) -> dict[str, list[str]]:
        """Each route's own refs, best first."""
        return {route: [self.search.ref(row) for row in one.ids] for route, one in self.found.rankings.items()}


def seek(mind: Mind, ask: Ask, *, explain: bool = False) -> Sought:
    """Ask, and count no use; `explain` also walks a graph without weight. Raises EmptyQuery, LedgerUnusable."""
    if not ask.query.strip():
        raise EmptyQuery
    given, ask = ask, replace(ask, query=asking.heard(ask.query))
    search, probe, notices = search_in(mind, ask.query, ask.filters, ask.as_of, whole=ask.whole)
    question = question_of(mind, ask.query, probe, ask.n, ask.as_of)
    if explain and not search.walks:
        notices = [*notices, Notice("edges_elsewhere")]
    found = ranked(search, question, mind.settings, walk=explain)
    hits = chosen(search, question, mind.settings, found, explain=explain)
    if ask.query != given.query:
        first, last = asking.BEGINNING, asking.HEARD - asking.BEGINNING
        notices = [Notice("query_cut", {"first": first, "last": last}), *notices]
    return Sought(ask, search, question, found, hits, _evidence(mind, ask, search, question, found), notices)


def search_in(
    mind: Mind, query: str, filters: Filters, as_of: datetime | None, *, whole: bool = False
) -> tuple[Search, Probe | None, list[Notice]]:
    """What is searched, now or as it was: the mapped index, or the ledgers themselves where numpy is missing."""
    now = clock.seconds(as_of or mind.now())
    ageing = ageing_of(mind.settings.forgetting, now)
    if not has_numpy():
        from nebula.recall.plain import PlainSearch

        memories = mind.store.read_all(clock.write(as_of) if as_of else "").memories
        replaced = _replaced(mind) if as_of else set()
        return PlainSearch(memories, mind.settings, now, filters, ageing, replaced), None, [Notice("dense_off")]
    from nebula.recall.mapped import MappedSearch

    probe, notices = probe_of(mind, query)
    if not as_of and not whole and not mind.store.in_folder and probe is not None:
        served, told = mind.served()
        notices += told
        if served is not None:
            from nebula.postgres.searching import ServedSearch

            return ServedSearch(served, mind.settings, now, filters, ageing), probe, [*notices, *missing(served)]
    index = mind.open_index(embed=probe is not None, whole=whole)
    notices += missing(index) if probe is not None else []
    replaced = set()
    if as_of:
        from nebula.index import past

        replaced = index.replaced(clock.seconds(mind.now()))
        index = past.as_of(index, clock.write(as_of))
    if probe is not None and probe.second is not None:
        from nebula import second
        from nebula.mind import CATCH_UP_BYTES

        index, told = second.over_or_told(mind, index, None if whole else CATCH_UP_BYTES, write=not whole)
        notices += told
    return MappedSearch(index, mind.settings, now, filters, ageing, replaced), probe, notices


def _holds(memory: Memory | None, said: Sequence[str]) -> bool:
    """Whether a memory has all of some folded words in it."""
    text = normal.fold(memory.text) if memory else ""
    return all(word in text for word in said)


def _evidence(mind: Mind, ask: Ask, search: Search, question: Question, found: Ranked) -> float | None:
    """How far the clearest find stands out, in floors (see recall.floor); None: not known, or not asked for.

    A query that is nothing but a date is answered by what was written then, or names that date; one that speaks of
    nothing (好的, continue, ???) by its very words alone.
    """
    if not mind.settings.recall.floor:
        return None
    if question.only_dates:
        there = any(found.rankings[route].ids for route in ("time", "lexical") if route in found.rankings)
        return None if there else 0.0
    idle = asking.speaks_of_nothing(ask.query)
    if (
        idle
        and found.candidates
        and not any(_holds(search.memory(row), idle) for row in found.rankings["lexical"].ids[:LOOKED_AT])
    ):
        return 0.0
    clearest = search.evidence()
    if clearest is None:
        return None
    from nebula import calibration
    from nebula.recall.mapped import MappedSearch

    assert isinstance(search, MappedSearch)
    if not mind.store.in_folder:
        from nebula.postgres import serving
        from nebula.postgres.served import ServedIndex

        if isinstance(search.index, ServedIndex):
            known = serving.nulls(mind, search.index, calibration.kind_of(ask.query))
            return calibration.judged(ask.query, clearest, known, mind.settings.recall)
    folder = None if ask.as_of or ask.whole else mind.cache().folder
    index = search.index

    def second(kind: str) -> Nulls | None:
        from nebula import second

        return second.nulls(mind, index, kind, keep=folder is not None)

    return calibration.judge(ask.query, clearest, index, mind.encoder(), mind.settings.recall, folder, second)


def question_of(mind: Mind, query: str, probe: Probe | None, n: int, as_of: datetime | None) -> Question:
    """A query as the routes are asked it."""
    settings, feels, now = mind.settings.recall, lexicon.feels(query), as_of or mind.now()
    return Question(
        asking.asked(query, settings, now),
        probe,
        n,
        asking.names(query, settings),
        asking.windows(query, now, settings),
        bool(settings.w_time) and asking.only_dates(query, now),
        mind.mood(as_of).dominant if feels else "",
        feels,
    )


def _replaced(mind: Mind) -> set[str]:
    """The refs of all memories that no longer hold."""
    now = clock.seconds(mind.now())
    return {memory.ref for memory in mind.store.read_all().memories if memory.is_old(now)}


def probe_of(mind: Mind, query: str) -> tuple[Probe | None, list[Notice]]:
    """The query and its sentences as unit vectors; None and a notice where the encoder can't work."""
    try:
        asked = asking.probe(query, mind.encoder(), mind.settings.recall)
    except NebulaError as error:
        return None, [Notice("dense_broken", {"reason": error.message})]
    if not mind.settings.recall.second_encoder:
        return asked, []
    from nebula import second

    return second.probe(mind, query, asked)


def ageing_of(settings: ForgettingSettings, now: int) -> Ageing:
    """How a memory has aged by `now`: (ledger, imp, at, core) -> (A, layer). Recall is handed it as numbers."""

    def ageing(ledger: str, imp: float, at: int, core: bool) -> tuple[float, int]:
        half = forgetting.half_life(settings, ledger, imp)
        a = forgetting.retention(forgetting.age_days(now, at), half)
        return a, forgetting.layer(a, settings, core=core)

    return ageing
