"""Why a memory came to mind for a query, or why not: every figure of its score, where it was lost, what would help.

The figures are those of the recall itself (`recalling.seek`); nothing is worked out a second time. Reads only.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from nebula import clock
from nebula.index import has_numpy
from nebula.mindlib.record import ECHO
from nebula.quick import dataclass
from nebula.recall.filtering import barring
from nebula.recall.fusion import ROUTES, SECOND, SPEAKER
from nebula.recall.ranking import ROUTE_DEPTH
from nebula.recall.recollect import chosen, weight_of
from nebula.recalling import Ask, seek

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nebula.mind import Mind
    from nebula.mindlib.record import Memory
    from nebula.recall.graph import Step
    from nebula.recall.hit import Filters, Hit
    from nebula.recall.lexical import Term
    from nebula.recalling import Sought
    from nebula.remedy import Change
    from nebula.results import Notice

#: Edges that are told of a memory.
EDGES = 3


@dataclass(frozen=True)
class Part:
    """One part of the mixture: where it has the memory, its score in the part's own unit, and `added` = what counts.

    `state`: found; beyond (not among its first 200); barred (by a filter, or replaced); nothing (score 0);
    no_vector; off; unasked. `rank` from 1.
    """

    name: str
    state: str
    score: float
    weight: float
    added: float
    rank: int | None = None
    #: How many memories the route found, at most 200.
    found: int = 0


@dataclass(frozen=True)
class Miss:
    """A step at which the memory was lost.

    `step`: unwritten, ledger, tag, via, since, until, replaced, unindexed, unfound, negative, silent, folded, cut.
    """

    step: str
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Why:
    """What happened to one memory in one recall.

    `place`: from 1, among the `candidates` that would be told; of one that did not come, the least n that brings it;
    None where none does. `hit`: its score with parts and factors, as recall gives it, also where it did not come.
    `changes`: each brings it, tried; the smallest first.
    """

    memory: Memory
    ask: Ask
    came: bool
    place: int | None
    candidates: int
    hit: Hit | None
    parts: Sequence[Part]
    #: The query's terms: what each gives to the memory's own share of words.
    terms: Mapping[str, Term] = field(default_factory=dict)
    #: The turns beside it that lend it words: ref, and what each gives to its score in the words' route.
    lent: Sequence[tuple[str, float]] = ()
    #: Cosine with the whole query and with its best sentence, where both are known.
    meaning: tuple[float, float] | None = None
    #: The edges over which the graph came to it, and the times that the query names, in seconds.
    edges: Sequence[Step] = ()
    windows: Sequence[tuple[int, int]] = ()
    evidence: float | None = None
    misses: Sequence[Miss] = ()
    changes: Sequence[Change] = ()
    echo_of: str = ""
    #: The echo before it that is told by it: the memory takes that one's place.
    through: str = ""
    #: RRF's constant where ranks are fused; None where scores are.
    k: float | None = None
    notices: Sequence[Notice] = ()


def why(mind: Mind, ref: str, ask: Ask) -> Why:
    """Explain one memory's part in a recall; see Mind.why. Raises UnknownRef, EmptyQuery, LedgerUnusable."""
    from nebula import remedy

    memory = mind.get(ref)
    found = seek(mind, ask, explain=True)
    row = found.search.row(memory.ref)
    then = found.search.memory(row) if row >= 0 else None
    place = found.standing(memory.ref)
    came = found.shown(memory.ref) is not None
    misses = [] if came else lost(mind, found, then or memory, place)
    return Why(
        then or memory,
        ask,
        came,
        place,
        len(found.told),
        _hit(mind, found, memory.ref, place),
        [_part(mind, found, row, name) for name in _parts(found)],
        found.search.words(found.question.asked, row) if row >= 0 else {},
        [(found.search.ref(other), given) for other, given in found.search.lent(row)] if row >= 0 else [],
        _meaning(found, row),
        found.search.edges_to(row, EDGES) if row >= 0 else (),
        found.question.windows,
        found.evidence,
        misses,
        [] if came else remedy.changes(mind, then or memory, ask, misses),
        memory.echo_of if memory.via == ECHO else "",
        _through(found, memory.ref) if place else "",
        mind.settings.recall.k if mind.settings.recall.fusion == "ranks" else None,
        found.notices,
    )


def _hit(mind: Mind, found: Sought, ref: str, place: int | None) -> Hit | None:
    """The candidate as recall would give it, with so many asked for that it comes."""
    if place is None:
        return None
    question = replace(found.question, n=max(place, found.ask.n))
    hits = chosen(found.search, question, mind.settings, found.found, explain=True)
    return next((hit for hit in hits if hit.memory.ref == ref), None)


def _through(found: Sought, ref: str) -> str:
    """The first echo of a memory that stands before it, and so brings it; "" where none does."""
    for candidate in found.found.candidates:
        one = found.search.memory(candidate.row)
        if one is not None and one.ref == ref:
            return ""
        if one is not None and one.via == ECHO and one.echo_of == ref:
            return one.ref
    return ""


def _parts(found: Sought) -> list[str]:
    """The names of the mixture's parts; a second encoder's only where it was asked."""
    probe = found.question.probe
    return [*ROUTES, *([SECOND] if probe is not None and probe.second is not None else []), SPEAKER]


def _part(mind: Mind, found: Sought, row: int, name: str) -> Part:
    """One part as the mixture sees it, also of a memory that is no candidate."""
    recall, rankings = mind.settings.recall, found.found.rankings
    if name == SECOND:
        weight = recall.w_dense if recall.fusion == "scores" else 0.0
        score = found.search.scores(name, [row])[0] if weight and row >= 0 else 0.0
        return Part(name, "found" if score else "nothing", score, weight, weight * score)
    weight = weight_of(recall, found.question, name)
    if name == SPEAKER:
        asked = bool(found.question.names) and bool(weight) and recall.fusion == "scores"
        score = found.search.spoken(sorted(found.question.names), [row])[0] if asked and row >= 0 else 0.0
        state = "unasked" if not asked else "found" if score else "nothing"
        return Part(name, state, score, weight, weight * score)
    if name not in rankings:
        off = name == "dense" and found.question.probe is None
        return Part(name, "off" if off else "unasked", 0.0, weight, 0.0)
    ranking = rankings[name]
    added = found.found.parts.get(name, {}).get(row, 0.0)
    score = found.search.scores(name, [row])[0] if row >= 0 else 0.0
    if added and recall.fusion == "scores":
        score = added / weight  # what was mixed: worked out for one row alone its last bits may differ
    rank = ranking.ids.index(row) + 1 if row in ranking.ids else None
    if rank is not None:
        state = "found"
    elif name == "dense" and row >= 0 and not found.search.in_meaning(row):
        state = "no_vector"
    else:
        state = "nothing" if not score else "beyond" if len(ranking.ids) >= ROUTE_DEPTH else "barred"
    return Part(name, state, score, weight, added, rank, len(ranking.ids))


def _meaning(found: Sought, row: int) -> tuple[float, float] | None:
    """The cosines that the dense score is mixed of; None where there is one alone, or none."""
    probe = found.question.probe
    if probe is None or not has_numpy() or not len(probe.clauses) or row < 0 or not found.search.in_meaning(row):
        return None
    import numpy as np

    from nebula.recall import dense
    from nebula.recall.mapped import MappedSearch

    assert isinstance(found.search, MappedSearch)
    at = np.array([row], np.int64)
    whole, best = (float(dense.scores(probe, found.search.index, at, share)[0]) for share in (0.0, 1.0))
    return whole, best


def lost(mind: Mind, found: Sought, memory: Memory, place: int | None) -> list[Miss]:
    """The steps at which a memory that did not come was lost, in the order in which recall takes them."""
    ask = found.ask
    misses = [Miss(option, facts) for option, facts in barred(ask.filters, memory).items()]
    now = clock.seconds(ask.as_of or mind.now())
    if ask.as_of and memory.seconds > now:
        return [Miss("unwritten", {"at": memory.at, "as_of": clock.write(ask.as_of)}), *misses]
    if memory.is_old(now) and not ask.filters.old:
        misses.append(Miss("replaced", {"at": memory.valid_to, "by": successor(mind, memory)}))
    if misses:
        return misses
    row = found.search.row(memory.ref)
    if row < 0:
        return [Miss("unindexed")]
    silent = [Miss("silent", {"evidence": found.evidence})] if found.abstained and not ask.nearest else []
    if place is None and any(one.row == row for one in found.found.candidates):
        return [*silent, Miss("folded", {"of": memory.echo_of})]
    if place is None:
        ranks = (other for ranking in found.found.rankings.values() for other in ranking.ids)
        return [Miss("negative" if row in ranks else "unfound")]
    if any(hit.memory.ref == memory.ref for hit in found.hits):
        return silent
    return [*silent, Miss("cut", {"place": place, "n": ask.n})]


def barred(filters: Filters, memory: Memory) -> dict[str, dict[str, object]]:
    """The filters that keep a memory out: by option, what was asked for and what the memory has."""
    said = {
        "ledger": (filters.ledgers, memory.ledger),
        "tag": (filters.tags, memory.tag),
        "via": (filters.vias, memory.via),
        "since": (filters.since, memory.at),
        "until": (filters.until, memory.at),
    }
    return {option: {"wanted": _told(said[option][0]), "value": said[option][1]} for option in barring(filters, memory)}


def _told(wanted: Sequence[str] | int | None) -> str:
    """What a filter asks for: a moment in seconds, or words."""
    return clock.write(clock.from_seconds(wanted)) if isinstance(wanted, int) else " ".join(wanted or ())


def successor(mind: Mind, memory: Memory) -> str:
    """The ref of what replaced a memory, "" where that is not known."""
    return next((one.ref for one in mind.store.read_all().memories if one.supersedes == memory.ref), "")
