"""Surfacing: which sunken memory the night nominates, and the five gates before it is spoken of (spec 6)."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from nebula import clock
from nebula.life.forgetting import DEEP
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nebula.life.consolidation import Sleeper
    from nebula.settings import SurfaceSettings

#: The gates in their order.
RELEVANCE, IMPORTANCE, COOLDOWN, FREQUENCY, UTILITY = ("relevance", "importance", "cooldown", "frequency", "utility")
DULLED = 0.5  # what a memory's utility is multiplied by each time it was raised and not taken up
UTILITY_FROM = 0.25  # twice in a row may pass in vain, the third time closes the gate until it is taken up again


@dataclass(frozen=True)
class Past:
    """What was surfaced before: per ref when last (seconds) and how often in vain since it was last taken up."""

    last: Mapping[str, int] = field(default_factory=dict)
    vain: Mapping[str, int] = field(default_factory=dict)
    #: (seconds, session) of every surfacing, in file order.
    all: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True)
class Gate:
    """One gate: its name, whether it is open, the value looked at and the limit it is held against."""

    name: str
    open: bool
    value: float
    limit: float


def past(lines: Iterable[Mapping[str, Any]]) -> Past:
    """The lines of `changes.jsonl` that tell of surfacing -> what they say together."""
    last: dict[str, int] = {}
    vain: dict[str, int] = {}
    every: list[tuple[int, str]] = []
    for line in lines:
        ref, at = line.get("ref"), clock.parse(str(line.get("at", "")))
        if not isinstance(ref, str) or at is None:
            continue
        if "surfaced" in line:
            moment = clock.seconds(at)
            last[ref] = max(moment, last.get(ref, 0))
            vain[ref] = vain.get(ref, 0) + 1
            every.append((moment, str(line["surfaced"])))
        elif line.get("taken") is True:
            vain[ref] = 0
    return Past(last, vain, every)


def utility(ref: str, before: Past) -> float:
    """1, halved for each time it was raised and not taken up since it last was."""
    return float(DULLED ** before.vain.get(ref, 0))


def is_important(imp: float, a: float, settings: SurfaceSettings) -> bool:
    """Importance ≥ 0.7, or A ≥ 0.5 where the layer lags behind A."""
    return imp >= settings.imp or a >= settings.a


def nominate(sleepers: Iterable[tuple[Sleeper, float]], before: Past, now: int, settings: SurfaceSettings) -> str:
    """Of deep and attic memories (with their A) the ref of tonight's candidate, "" where there is none.

    Those that have cooled down come first, of them the important ones, then the heaviest: w × utility; ties by ref.
    """
    best: tuple[bool, bool, float, str] | None = None
    for one, a in sleepers:
        if one.depth < DEEP or one.core:
            continue
        cooling = _days_since(one.ref, before, now) < settings.cooldown_days
        key = (cooling, not is_important(one.imp, a, settings), -one.w * utility(one.ref, before), one.ref)
        best = key if best is None else min(best, key)
    return best[3] if best else ""


@dataclass(frozen=True)
class Facts:
    """The candidate at the moment: importance, retention A, cosine to the context (-1 without one), the session."""

    ref: str
    imp: float
    a: float
    cosine: float
    session: str = ""


def gates(facts: Facts, before: Past, now: int, settings: SurfaceSettings) -> list[Gate]:
    """The five gates for one candidate at `now` (seconds); all have to be open."""
    since, useful = _days_since(facts.ref, before, now), utility(facts.ref, before)
    by_a = facts.imp < settings.imp and facts.a >= settings.a
    important = is_important(facts.imp, facts.a, settings)
    return [
        Gate(RELEVANCE, facts.cosine >= settings.relevance, facts.cosine, settings.relevance),
        Gate(IMPORTANCE, important, facts.a if by_a else facts.imp, settings.a if by_a else settings.imp),
        Gate(COOLDOWN, since >= settings.cooldown_days, since, settings.cooldown_days),
        _frequency(facts.session, before, now, settings),
        Gate(UTILITY, useful >= UTILITY_FROM, useful, UTILITY_FROM),
    ]


def _frequency(session: str, before: Past, now: int, settings: SurfaceSettings) -> Gate:
    """At most 1 a session and 2 a day; calls that name no session count by the day alone."""
    in_session = sum(name == session for _, name in before.all) if session else 0
    today = sum(clock.day(at) == clock.day(now) for at, _ in before.all)
    if in_session >= settings.per_session:
        return Gate(FREQUENCY, False, in_session, settings.per_session)
    return Gate(FREQUENCY, today < settings.per_day, today, settings.per_day)


def _days_since(ref: str, before: Past, now: int) -> float:
    return (now - before.last[ref]) / clock.DAY_SECONDS if ref in before.last else float("inf")
