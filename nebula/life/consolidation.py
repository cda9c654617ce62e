"""The night: memories are layered anew, lifted, grown and jolted, and one is nominated to surface (spec 6).

Pure: memories and their recalls go in, a plan of changes comes out, so that it can be shown, written, or taken back.
Nothing is removed; only `depth`, `w`, `w_why` and `sunken_at` change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from nebula import clock
from nebula.life import forgetting
from nebula.life.forgetting import DEEP, HOT, WARM
from nebula.life.nights import closed, is_night

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from nebula.settings import ForgettingSettings

LIFT_FROM = 2  # recalls since the last night
GROWTH = 0.02  # of w, for each of those recalls
GROWTH_A_NIGHT = 1.5
GROWTH_IN_ALL = 2.0
JOLT_FROM = 0.5  # strength of the mood's dominant dimension
LAYER_NAMES = ("核心", "热", "温", "深水", "阁楼")
#: `why` of a change, in the order of the steps.
AGED, RECALLED, JOLTED, SUMMARISED = "沉降", "想起", "触动", "小结"

_GROWN = re.compile(r"(?:^| )想起×([0-9.]+)")


@dataclass(frozen=True, slots=True)
class Sleeper:
    """What the night looks at in one memory.

    `at` in seconds; `core`: pinned or a tact that says never; `holds`: not replaced; `w_why` only where w may grow.
    """

    ref: str
    ledger: str
    at: int
    imp: float
    depth: int
    w: float
    core: bool = False
    emo: str = ""
    w_why: str = ""
    holds: bool = True
    summarised: bool = False


@dataclass(frozen=True)
class Mood:
    """The mood as the night takes it: the dominant dimension and its strength 0…1; neutral where there is none."""

    dominant: str = ""
    strength: float = 0.0


NEUTRAL = Mood()


@dataclass(frozen=True)
class Recent:
    """What happened since the last night: recalls of each ref, and refs already lifted or jolted in this one."""

    hits: Mapping[str, int] = field(default_factory=dict)
    held: Collection[str] = frozenset()


@dataclass(frozen=True)
class Change:
    """What the night does to one memory: its layer before and after, retention A, why, and the fields to set."""

    ref: str
    before: int
    after: int
    a: float
    why: str
    values: Mapping[str, Any]


def boundary(now: datetime, night_at: str) -> datetime:
    """The moment at which the present night began: the last `night_at` ("22:05") that is not after `now`."""
    hour, minute = (int(part) for part in night_at.split(":"))
    today = datetime.combine(now.date(), time(hour, minute))
    if today <= now:
        return today
    return today - timedelta(days=1) if today.date() > clock.EPOCH.date() else clock.EPOCH


def plan(
    sleepers: Iterable[Sleeper], recent: Recent, mood: Mood, now: int, settings: ForgettingSettings
) -> Iterator[Change]:
    """Steps 1–3 for every memory that they change, in the order given; `now` in seconds."""
    for one in sleepers:
        change = night_of(one, recent, mood, now, settings)
        if change is not None:
            yield change


def night_of(one: Sleeper, recent: Recent, mood: Mood, now: int, settings: ForgettingSettings) -> Change | None:
    """One memory's night: the layer of its A; lifted one if recalled twice, never above hot; jolted up to warm.

    What was lifted or jolted in this same night keeps that until the next, so that running twice is running once.
    """
    half = forgetting.half_life(settings, one.ledger, one.imp)
    a = forgetting.retention(forgetting.age_days(now, one.at), half)
    depth, why, values = forgetting.layer(a, settings, core=one.core), AGED, dict[str, Any]()
    if one.ref in recent.held:
        depth = min(depth, one.depth or depth)
    elif (hits := recent.hits.get(one.ref, 0)) >= LIFT_FROM:
        depth, why, values = max(HOT, depth - 1) if depth else depth, RECALLED, grown(one.w, one.w_why, hits)
    if depth >= DEEP and mood.dominant and mood.strength >= JOLT_FROM and one.emo == mood.dominant:
        depth, why = WARM, JOLTED if why == AGED else why
    if depth != one.depth:
        values["depth"] = depth
    if depth > one.depth:
        values["sunken_at"] = clock.write(clock.from_seconds(now))
    return Change(one.ref, one.depth, depth, a, why, values) if values else None


def grown(w: float, why: str, hits: int) -> dict[str, Any]:
    """The weight after a night with that many recalls: × min(1.5, 1 + 0.02·hits), in all nights at most × 2.

    How far it has grown already stands in `w_why` as `想起×…`. 4.0 with 5 recalls -> 4.4, "想起×1.1"; {} at the limit.
    """
    found = _GROWN.search(why)
    before = float(found[1]) if found else 1.0
    after = min(GROWTH_IN_ALL, before * min(GROWTH_A_NIGHT, 1.0 + GROWTH * hits))
    if after <= before:
        return {}
    said = f"想起×{round(after, 6):g}"
    told = _GROWN.sub("", why).strip()
    return {"w": round(w * after / before, 6), "w_why": f"{told} {said}".strip()}


def census(depths: Iterable[int]) -> list[int]:
    """How many memories lie in each of the five layers."""
    counts = [0] * len(LAYER_NAMES)
    for depth in depths:
        counts[depth] += 1
    return counts


# what the ledger of changes says of earlier nights


def recent(lines: Iterable[Mapping[str, Any]], undone: Collection[str], began: datetime) -> Recent:
    """What `lines` (in file order) tell of the time since the last run, and of the present night, begun at `began`.

    Held is what a run of this night lifted or jolted, and what a run that was cut short did.
    """
    hits: dict[str, int] = {}
    held: dict[str, str] = {}  # ref -> when
    loose: set[str] = set()
    start = clock.write(began)
    for line in lines:
        if closed(line, undone):
            hits, loose = {}, set()
        for ref in line["hit"] if isinstance(line.get("hit"), list) else ():
            hits[ref] = hits.get(ref, 0) + 1
        if is_night(line.get("run")) and line["run"] not in undone and line.get("why") in {RECALLED, JOLTED}:
            held[str(line.get("ref"))] = str(line.get("at", ""))
            loose.add(str(line.get("ref")))
    return Recent(hits, {ref for ref, at in held.items() if at >= start} | loose)
