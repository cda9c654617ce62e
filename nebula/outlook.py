"""Looking ahead and around: what will sink when, promises by their due date, and how the mind has grown."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nebula import clock
from nebula.life import consolidation, forgetting
from nebula.mindlib.record import LEDGERS, is_core

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from nebula.mind import Mind
    from nebula.mindlib.record import Memory
    from nebula.settings import ForgettingSettings

DAYS = 30  # that a forecast looks ahead
MONTHS = 12  # of growth


@dataclass(frozen=True)
class Crossing:
    """When a memory falls below a threshold, its layer from then on, A now; `early`: a promise sinks before its due."""

    memory: Memory
    at: str
    layer: int
    a: float
    early: bool


@dataclass(frozen=True)
class Promise:
    """A promise and how many days it has left: below 0 overdue, None without a due date that can be read."""

    memory: Memory
    days: int | None


@dataclass(frozen=True)
class Stats:
    """How a mind stands: memories that hold by ledger and by layer, old ones, recalls, and what each month brought."""

    ledgers: Mapping[str, int]
    layers: Sequence[int]
    replaced: int
    hits: int
    recalled: int
    most: Sequence[Memory]
    months: Mapping[str, int]


def forecast(mind: Mind, refs: Sequence[str] = (), days: int = DAYS) -> list[Crossing]:
    """When memories cross their next threshold within `days`, the soonest first; of named ones every crossing ahead.

    Fixed stars never sink. A promise that reaches deep water before it is due is `early`. Raises UnknownRef.
    """
    now, settings = mind.now(), mind.settings.forgetting
    if refs:
        memories = [mind.get(ref) for ref in refs]
        return [crossing for memory in memories for crossing in crossings(memory, now, settings)]
    memories = [m for m in mind.store.read_all().memories if not m.is_old(clock.seconds(now))]
    latest = clock.write(clock.from_seconds(min(clock.LATEST, clock.seconds(now) + days * clock.DAY_SECONDS)))
    found = [c for m in memories for c in crossings(m, now, settings)[:1] if c.at <= latest or c.early]
    return sorted(found, key=lambda c: (c.at, c.memory.ref))


def crossings(memory: Memory, now: datetime, settings: ForgettingSettings) -> list[Crossing]:
    """Every threshold that a memory's A has yet to fall below, in order of time."""
    if is_core(memory.ledger, memory.say, pinned=memory.pinned):
        return []
    moment = clock.seconds(now)
    half = forgetting.half_life(settings, memory.ledger, memory.imp)
    a = forgetting.retention(forgetting.age_days(moment, memory.seconds), half)
    due = memory.due_day
    found = []
    for layer, threshold in enumerate((settings.hot, settings.warm, settings.deep), start=2):
        if not 0.0 < threshold <= a:
            continue
        at = memory.seconds + round(forgetting.age_at(threshold, half) * clock.DAY_SECONDS) + 1
        if at > clock.LATEST:
            break
        early = due is not None and layer >= forgetting.DEEP and clock.day(at) < due and not memory.done_at
        found.append(Crossing(memory, clock.write(clock.from_seconds(at)), layer, a, early))
    return found


def promises(mind: Mind, *, done: bool = False) -> list[Promise]:
    """Promises that hold and are not kept yet (or all), by due date, overdue ones first, undated last."""
    now = clock.seconds(mind.now())
    memories = [m for m in mind.store.read_all(kinds=["promises"]).memories if not m.is_old(now)]
    today = clock.day(now)
    found = [Promise(m, None if (due := m.due_day) is None else due - today) for m in memories if done or not m.done_at]
    return sorted(found, key=lambda p: (p.days is None, p.days or 0, p.memory.due, p.memory.id))


def stats(mind: Mind) -> Stats:
    """Growth, layers and recalls. Raises LedgerUnusable."""
    now = clock.seconds(mind.now())
    memories = mind.store.read_all().memories
    holding = [memory for memory in memories if not memory.is_old(now)]
    count = Counter(memory.ledger for memory in holding)
    recalled = sorted((m for m in holding if m.hits), key=lambda m: (-m.hits, m.ref))
    months = sorted(Counter(memory.at[:7] for memory in memories).items())[-MONTHS:]
    return Stats(
        {kind.name: count[kind.name] for kind in LEDGERS if count[kind.name]},
        consolidation.census(memory.depth for memory in holding),
        len(memories) - len(holding),
        sum(memory.hits for memory in holding),
        len(recalled),
        recalled[:5],
        dict(months),
    )
