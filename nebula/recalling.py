"""A recall: from the words of a query to what came to mind, and the use of it counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula import clock
from nebula.echo import handed_out
from nebula.errors import EmptyQuery, NebulaError
from nebula.index import has_numpy
from nebula.life import forgetting
from nebula.mood import lexicon
from nebula.recall import asking
from nebula.recall.hit import Question
from nebula.recall.recollect import recollect
from nebula.results import Notice, Recalled, missing

if TYPE_CHECKING:
    from datetime import datetime

    from nebula.mind import Mind
    from nebula.recall.budget import Budget
    from nebula.recall.hit import Filters, Probe, Recollection
    from nebula.recall.modulation import Ageing
    from nebula.recall.recollect import Search
    from nebula.settings import ForgettingSettings

#: Characters of a query that the encoder reads.
QUERY_CHARACTERS = 8_000


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
    if not query.strip():
        raise EmptyQuery
    search, probe, notices = search_in(mind, query, filters, as_of)
    question = question_of(mind, query, probe, n, as_of)
    found = recollect(search, question, mind.settings, explain=explain)
    evidence = _evidence(mind, query, found, search, as_of)
    abstained = evidence is not None and evidence < 1.0
    came = found.hits if nearest or not abstained else ()
    hits, left_out = budget.split(came) if budget else (came, ())
    if touch and hits and as_of is None and not abstained:
        notices += mind.touch([hit.memory.ref for hit in hits])
    handed_out(mind, (hit.memory for hit in hits))
    return Recalled(query, hits, notices, found.rankings, left_out, abstained, evidence)


def search_in(
    mind: Mind, query: str, filters: Filters, as_of: datetime | None
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

    probe, notices = _probe(mind, query)
    index = mind.open_index(embed=probe is not None)
    notices += missing(index) if probe is not None else []
    replaced = set()
    if as_of:
        from nebula.index import past

        replaced = index.replaced(clock.seconds(mind.now()))
        index = past.as_of(index, clock.write(as_of))
    return MappedSearch(index, mind.settings, now, filters, ageing, replaced), probe, notices


def _evidence(mind: Mind, query: str, found: Recollection, search: Search, as_of: datetime | None) -> float | None:
    """How far the clearest find stands out, in floors (see recall.floor); None: not known, or not asked for.

    A query that is nothing but a date is answered by what was written then.
    """
    if not mind.settings.recall.floor or found.evidence is None:
        return None
    if found.rankings.get("time") and asking.only_dates(query, as_of or mind.now()):
        return None
    from nebula import calibration
    from nebula.recall.mapped import MappedSearch

    assert isinstance(search, MappedSearch)
    folder = None if as_of else mind.cache().folder
    return calibration.judge(query, found.evidence, search.index, mind.encoder(), mind.settings.recall, folder)


def question_of(mind: Mind, query: str, probe: Probe | None, n: int, as_of: datetime | None) -> Question:
    """A query as the routes are asked it."""
    settings, feels = mind.settings.recall, lexicon.feels(query)
    return Question(
        asking.terms(query, settings),
        probe,
        n,
        asking.names(query, settings),
        asking.windows(query, as_of or mind.now(), settings),
        mind.mood(as_of).dominant if feels else "",
        feels,
    )


def _replaced(mind: Mind) -> set[str]:
    """The refs of all memories that no longer hold."""
    now = clock.seconds(mind.now())
    return {memory.ref for memory in mind.store.read_all().memories if memory.is_old(now)}


def _probe(mind: Mind, query: str) -> tuple[Probe | None, list[Notice]]:
    """The query and its sentences as unit vectors; None and a notice where the encoder can't work.

    Of a very long query its end is taken: in a dialogue that is what is being spoken of.
    """
    cut = [Notice("query_cut", {"characters": QUERY_CHARACTERS})] if len(query) > QUERY_CHARACTERS else []
    try:
        return asking.probe(query[-QUERY_CHARACTERS:], mind.encoder(), mind.settings.recall), cut
    except NebulaError as error:
        return None, [Notice("dense_broken", {"reason": error.message})]


def ageing_of(settings: ForgettingSettings, now: int) -> Ageing:
    """How a memory has aged by `now`: (ledger, imp, at, core) -> (A, layer). Recall is handed it as numbers."""

    def ageing(ledger: str, imp: float, at: int, core: bool) -> tuple[float, int]:
        half = forgetting.half_life(settings, ledger, imp)
        a = forgetting.retention(forgetting.age_days(now, at), half)
        return a, forgetting.layer(a, settings, core=core)

    return ageing
