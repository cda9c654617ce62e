"""What would bring a memory that did not come: the smallest change of each kind, each tried by a recall of its own.

A change is one or more steps from what was asked. Filters that keep the memory out must go whatever else is done; then
one thing more is looked for: a larger n, what is nearest, a word of the memory, a tag or its day, a vector, a setting.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from nebula import clock
from nebula.errors import NebulaError
from nebula.mindlib.record import ECHO
from nebula.quick import dataclass
from nebula.recall.fusion import ROUTES, SPEAKER
from nebula.recall.hit import Asked
from nebula.recall.recollect import mixed, ranked, told_once
from nebula.recalling import seek
from nebula.text import words
from nebula.text.keywords import informative

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nebula.mind import Mind
    from nebula.mindlib.record import Memory
    from nebula.recalling import Ask, Sought
    from nebula.text.words import Mode
    from nebula.why import Miss

#: Of two changes with as many steps the one of the earlier kind is the smaller.
KINDS = ("drop", "old", "limit", "nearest", "word", "narrow", "embed", "setting")
#: Words of the memory that are tried one by one; how many together where none is enough.
SINGLE, TOGETHER = 8, (2, 3, 5, 12)
#: The most that `-n` takes, and missing vectors up to which they are made to try what that would bring.
MOST, VECTORS = 10_000, 200
#: By what a weight is multiplied, the smallest change first.
TIMES = (0.8, 1.25, 0.65, 1.5, 0.5, 2.0, 0.33, 3.0, 0.2, 5.0, 0.0)
#: Factors that a setting takes away.
FACTORS = ("recall.freshness", "recall.weight")


@dataclass(frozen=True)
class Step:
    """One thing to do otherwise: its kind (see KINDS), and what its sentence says."""

    kind: str
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """Steps that bring the memory to `place`: what is asked then, under which settings. None: it was not tried."""

    steps: Sequence[Step]
    ask: Ask
    overrides: Mapping[str, object] = field(default_factory=dict)
    place: int | None = None


def changes(mind: Mind, memory: Memory, ask: Ask, misses: Sequence[Miss]) -> list[Change]:
    """The smallest change of each kind that brings it, fewest steps first. Raises what a recall raises."""
    start = required(ask, misses)
    base = seek(mind, start.ask)
    at_once = base.shown(memory.ref) if start.steps else None
    if at_once is not None:
        return [replace(start, place=at_once)]
    tried = (_brought(mind, memory.ref, change) for change in _candidates(mind, memory, base, start))
    found = [change for change in tried if change is not None]
    best: dict[str, Change] = {}
    for change in sorted(found, key=lambda change: len(change.steps)):
        best.setdefault(_kind(change, start), change)
    least = 1 + len(start.steps)
    if any(len(change.steps) <= least for change in best.values()):  # what needs two things more is no help then
        best = {kind: change for kind, change in best.items() if len(change.steps) <= least}
    return sorted(best.values(), key=lambda change: (len(change.steps), KINDS.index(_kind(change, start))))


def _kind(change: Change, start: Change) -> str:
    """Of what a change adds to the required steps, that which counts as the larger."""
    return max((step.kind for step in change.steps[len(start.steps) :]), key=KINDS.index)


def required(ask: Ask, misses: Sequence[Miss]) -> Change:
    """What has to go whatever else is done: filters that keep the memory out, and a moment before it was written."""
    lost, filters = {miss.step for miss in misses}, ask.filters
    freed = replace(
        filters,
        ledgers=() if "ledger" in lost else filters.ledgers,
        tags=() if "tag" in lost else filters.tags,
        vias=() if "via" in lost else filters.vias,
        since=None if "since" in lost else filters.since,
        until=None if "until" in lost else filters.until,
        old=filters.old or "replaced" in lost,
    )
    steps = [Step("drop", {"option": _OPTION[miss.step]}) for miss in misses if miss.step in _OPTION]
    steps += [Step("old")] if "replaced" in lost else []
    return Change(steps, replace(ask, filters=freed, as_of=None if "unwritten" in lost else ask.as_of))


_OPTION = {"unwritten": "--as-of", **{name: f"--{name}" for name in ("ledger", "tag", "via", "since", "until")}}


def _brought(mind: Mind, ref: str, change: Change) -> Change | None:
    """The change with the place it really leads to; with `--nearest` and a larger n where it needs these too."""
    if change.ask.whole and _missing(mind) > VECTORS:
        return change
    under = mind.under({**mind.overrides, **change.overrides}) if change.overrides else mind
    found = seek(under, change.ask)
    if found.shown(ref) is None:
        change = _helped(found, ref, change)
        found = seek(under, change.ask)
    place = found.shown(ref)
    return None if place is None else replace(change, place=place)


def _helped(found: Sought, ref: str, change: Change) -> Change:
    """The change with what it lacks: the nearest where recall is silent, an n as large as the place."""
    steps, ask = list(change.steps), change.ask
    if found.abstained and not ask.nearest:
        ask = replace(ask, nearest=True)
        steps.append(Step("nearest"))
    place = found.least(ref)
    if place is not None and ask.n < place <= MOST:
        ask = replace(ask, n=place)
        steps.append(Step("limit", {"n": place}))
    return replace(change, steps=steps, ask=ask)


def _candidates(mind: Mind, memory: Memory, base: Sought, start: Change) -> Iterator[Change]:
    """What is worth a try, beside the required."""
    yield start
    yield from _words(mind, memory, base, start)
    row = base.search.row(memory.ref)
    if row >= 0 and base.question.probe is not None and not base.search.in_meaning(row):
        step = Step("embed", {"missing": _missing(mind)})
        yield replace(start, steps=[*start.steps, step], ask=replace(start.ask, whole=True))
    yield from _settings(mind, memory, base, start)
    if memory.via == ECHO and not start.ask.filters.vias:  # alone among echoes it is not told by what it echoes
        step = Step("narrow", {"option": "--via", "value": ECHO})
        yield replace(start, steps=[*start.steps, step], ask=_filtered(start, vias=[ECHO]))
    yield _narrowed(memory, start)


def _words(mind: Mind, memory: Memory, base: Sought, start: Change) -> Iterator[Change]:
    """The query with a word of the memory that says most there, or with a few of them; the first that brings it."""
    telling = telling_words(memory, base, mind.settings.recall.tokens)
    groups = [(word,) for word in telling[:SINGLE]] + [tuple(telling[:n]) for n in TOGETHER if len(telling) > n // 2]
    for group in groups:
        query = f"{start.ask.query.rstrip()} {' '.join(group)}"
        step = Step("word", {"words": " ".join(group)})
        change = replace(start, steps=[*start.steps, step], ask=replace(start.ask, query=query))
        if seek(mind, change.ask).shown(memory.ref) is not None:
            yield change
            return


def telling_words(memory: Memory, base: Sought, mode: Mode) -> list[str]:
    """Words of a memory that are not in the query, those first that carry most of its information in this mind."""
    row = base.search.row(memory.ref)
    said = set(words.words(base.ask.query))
    fresh = [word for word in dict.fromkeys(words.words(memory.text)) if informative(word) and word not in said]
    if row < 0 or not fresh:
        return []
    terms = {word: words.query_tokens(word, mode) for word in fresh}
    given = base.search.words(Asked(dict.fromkeys((term for each in terms.values() for term in each), 1.0)), row)
    return sorted(fresh, key=lambda word: -max((given[term].share for term in terms[word]), default=0.0))


def _settings(mind: Mind, memory: Memory, base: Sought, start: Change) -> Iterator[Change]:
    """The least change of one setting that brings it into the first n, or past the floor."""
    if base.abstained and base.evidence is not None:
        floor = mind.settings.recall.floor * base.evidence
        value = max(0.0, int(floor * 1000) / 1000)
        yield _with(start, "recall.floor", mind.settings.recall.floor, value)
        return
    for times in TIMES:
        for part in (*ROUTES, SPEAKER):
            key = f"recall.w_{part}"
            weight = getattr(mind.settings.recall, f"w_{part}")
            if weight and _within(mind, memory, base, {key: round(weight * times, 4)}):
                yield _with(start, key, weight, round(weight * times, 4))
                return
    for key in FACTORS:
        value = getattr(mind.settings.recall, key.partition(".")[2])
        if value and _within(mind, memory, base, {key: 0.0}):
            yield _with(start, key, value, 0.0)
            return


def _within(mind: Mind, memory: Memory, base: Sought, overrides: Mapping[str, object]) -> bool:
    """Whether it is among the first n under other weights: the same search, mixed otherwise."""
    settings = mind.under({**mind.overrides, **overrides}).settings
    if settings.recall.w_graph:  # its seeds are what the weights make them
        found = ranked(base.search, base.question, settings, walk=False)
    else:
        rest = {"graph"} if settings.recall.w_time else {"graph", "time"}
        rankings = {route: one for route, one in base.found.rankings.items() if route not in rest}
        found = mixed(base.search, base.question, settings, rankings)
    candidates = found.candidates
    return memory.ref in [told.ref for _, told in told_once(base.search, candidates, base.question.n)]


def _with(start: Change, key: str, was: object, value: object) -> Change:
    step = Step("setting", {"key": key, "was": was, "value": value})
    return replace(start, steps=[*start.steps, step], overrides={key: value})


def _narrowed(memory: Memory, start: Change) -> Change:
    """Only among those of its tag, else of its day."""
    if memory.tag and not start.ask.filters.tags:
        step, ask = Step("narrow", {"option": "--tag", "value": memory.tag}), _filtered(start, tags=[memory.tag])
    else:
        first = memory.seconds // clock.DAY_SECONDS * clock.DAY_SECONDS
        day = clock.write(clock.from_seconds(first))[:10]
        ask = _filtered(start, since=first, until=first + clock.DAY_SECONDS - 1)
        step = Step("narrow", {"option": "--since --until", "value": day})
    return replace(start, steps=[*start.steps, step], ask=ask)


def _filtered(start: Change, **filters: Any) -> Ask:
    """What is asked, under further filters."""
    return replace(start.ask, filters=replace(start.ask.filters, **filters))


def _missing(mind: Mind) -> int:
    try:
        return mind.recalled_from().missing
    except NebulaError:
        return 0
