"""The nightly consolidation: plan it, show it, write it, finish one that was cut short, take one back (spec 6).

A night's changes share one run and end with a closing line. Without that line the night was cut short, and the next
run finishes it: what it already lifted is held, a summary it wrote is found again by what it covers.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nebula import clock, sleepers, tagging, verify, writing
from nebula.digests import digest
from nebula.errors import NothingToUndo
from nebula.life import consolidation, forgetting, nights, surfacing
from nebula.life.consolidation import NEUTRAL, SUMMARISED, Mood
from nebula.life.digest import NOTES_FROM
from nebula.mindlib import changes
from nebula.mindlib.record import ECHO, Memory
from nebula.mindlib.store import CHANGES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from nebula.life.consolidation import Change, Sleeper
    from nebula.life.nights import Night
    from nebula.mind import Mind
    from nebula.results import Built, Notice

LOCK = ".consolidate.lock"


@dataclass(frozen=True)
class Plan:
    """All that a night would do: changes of layer and weight, notes to digest, whom it nominates; and the layers after.

    `notes` are the refs to be digested, oldest first; `marks` notes that a summary covers but no change says so yet.
    """

    run: str
    at: str
    changes: Sequence[Change]
    layers: Sequence[int]
    notes: Sequence[str] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    nominated: str = ""
    #: Whether a run of this same night has ended before.
    again: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether a run of this night has ended and nothing has come up since."""
        return self.again and not (self.changes or self.notes or self.marks)


@dataclass(frozen=True)
class Slept:
    """A night that was done: the plan, the summary's ref ("" for none), vectors (None without numpy), nodes, edges."""

    plan: Plan
    summary: str
    built: Built | None
    nodes: int
    edges: int
    notices: Sequence[Notice] = ()


@dataclass(frozen=True)
class _Before:
    """What the side ledgers say before the night."""

    lines: Sequence[Mapping[str, Any]]
    undone: Collection[str]


def consolidate(
    mind: Mind,
    mood: Mood | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Slept:
    """Do tonight's work and build what is missing. Run twice, or two at once, it is as once.

    The mood is this mind's own where none is given.

    Raises LockedTooLong where another run does not end in time, WriteFailed, LedgerUnusable.
    """
    with mind.store.lock(LOCK):
        _finish_adds(mind)
        tonight = plan(mind, mood)
        summary, notices = ("", []) if tonight.is_empty else _write(mind, tonight)
        built, nodes, edges = _build(mind, progress)
        _, unchained = verify.extend(mind)
    return Slept(tonight, summary, built, nodes, edges, [*notices, *unchained])


def _finish_adds(mind: Mind) -> None:
    """Finish what an add that was killed left open: what it replaces, its captures, its tag."""
    lately, find = sleepers.since(mind, _days_ago(mind, 2))
    now = clock.seconds(mind.now())
    writing.close(
        mind.store,
        [
            m
            for m in lately
            if m.supersedes and not m.is_old(now) and (old := find(m.supersedes)) and not old.is_old(now)
        ],
        clock.write(mind.now()),
    )
    tagging.finish(mind.store, lately, find, mind.settings.capture)


def plan(mind: Mind, mood: Mood | None = None) -> Plan:
    """What tonight would do; changes nothing. Raises LedgerUnusable."""
    felt = mind.mood() if mood is None else None
    mood = Mood(felt.dominant, felt.strength) if felt else mood or NEUTRAL
    now, settings = mind.now(), mind.settings
    moment = clock.seconds(now)
    before = _before(mind)
    began = consolidation.boundary(now, settings.night.at)
    recent = consolidation.recent(before.lines, before.undone, began)
    every = sleepers.gather(mind, recent.hits.keys())
    changed = list(consolidation.plan(every, recent, mood, moment, settings.forgetting))
    after = {change.ref: change.after for change in changed}
    holding = [replace(one, depth=after.get(one.ref, one.depth)) for one in every if one.holds]
    ages = [(one, _retention(one, moment, mind)) for one in holding if one.depth >= forgetting.DEEP]
    earlier = nights.finished(before.lines, before.undone)
    notes, marks = _notes(mind, every, earlier)
    return Plan(
        nights.unfinished(before.lines, before.undone) or _new_run(now, before),
        clock.write(now),
        changed,
        consolidation.census(s.depth for s in holding),
        notes,
        marks,
        surfacing.nominate(ages, surfacing.past(before.lines), moment, settings.surface),
        any((clock.parse(night.at) or began) >= began for night in earlier),
    )


def undo(mind: Mind) -> str:
    """Take back the last night by one more line, closing its summary; -> its run. Raises NothingToUndo, WriteFailed."""
    from nebula.echo import take_back

    with mind.store.lock(LOCK):
        before = _before(mind)
        earlier = nights.finished(before.lines, before.undone)
        if not earlier:
            raise NothingToUndo
        last, now = earlier[-1], clock.write(mind.now())
        lines = [changes.undo_line(now, last.run)]
        if last.summary:
            lines.append(changes.set_line(now, last.summary, {"valid_to": now}, "undo"))
        mind.store.append_lines(CHANGES, lines, durable=True)
    take_back(mind, [last.summary] if last.summary else [])
    return last.run


def last_night(mind: Mind) -> str:
    """When the last night was finished, as the ledgers write it; "" where there was none."""
    before = _before(mind)
    return max((night.at for night in nights.finished(before.lines, before.undone)), default="")


def is_missed(mind: Mind) -> bool:
    """Whether the present night has begun and no run of it has ended."""
    return last_night(mind) < clock.write(consolidation.boundary(mind.now(), mind.settings.night.at))


# what the plan looks at


def _before(mind: Mind) -> _Before:
    lines = mind.store.events(CHANGES)
    return _Before(lines, changes.undone_runs(lines))


def _new_run(now: datetime, before: _Before) -> str:
    run = f"{nights.NIGHT_RUN}{clock.write(now)}"
    taken = {line.get("run") for line in before.lines}
    return next(name for n in range(len(taken) + 1) if (name := f"{run}.{n}" if n else run) not in taken)


def _retention(one: Sleeper, now: int, mind: Mind) -> float:
    half = forgetting.half_life(mind.settings.forgetting, one.ledger, one.imp)
    return forgetting.retention(forgetting.age_days(now, one.at), half)


def _days_ago(mind: Mind, days: int) -> int:
    return max(0, clock.seconds(mind.now()) - days * clock.DAY_SECONDS)


def _notes(mind: Mind, every: Sequence[Sleeper], earlier: Sequence[Night]) -> tuple[list[str], dict[str, str]]:
    """Notes that no summary covers yet, oldest first, and covered ones that no change marks, with their summary.

    The first night digests its own day; what was there before nights began is left as it is.
    """
    now = clock.seconds(mind.now())
    first = min((clock.seconds(at) for night in earlier if (at := clock.parse(night.at))), default=now)
    covered = {ref: summary.ref for summary in sleepers.summaries(mind) for ref in summary.covers}
    mine = [s for s in every if s.ledger == "notes" and s.holds and not s.summarised]
    marks = {s.ref: covered[s.ref] for s in mine if s.ref in covered}
    day = [s for s in mine if s.ref not in covered and first - clock.DAY_SECONDS < s.at <= now]
    day.sort(key=lambda s: s.at)
    return [s.ref for s in day] if len(day) >= NOTES_FROM else [], marks


# what the plan becomes


def _write(mind: Mind, tonight: Plan) -> tuple[str, list[Notice]]:
    """Write the summary, then every change and the closing line in one append. -> (the summary's ref, notices)."""
    summary, notices = _summarise(mind, tonight)
    covered = dict.fromkeys(tonight.notes, summary) if summary else {}
    marks = {**tonight.marks, **covered}
    at, run = tonight.at, tonight.run
    lines = [changes.set_line(at, c.ref, c.values, c.why, run) for c in tonight.changes]
    lines += [changes.set_line(at, ref, {"summarised": by}, SUMMARISED, run) for ref, by in marks.items()]
    written = summary or next(iter(tonight.marks.values()), "")
    lines.append(nights.closing_line(at, run, tonight.nominated, written))
    mind.store.append_lines(CHANGES, lines, durable=True)
    return summary, notices


def _summarise(mind: Mind, tonight: Plan) -> tuple[str, list[Notice]]:
    if not tonight.notes:
        return "", []
    made = digest(mind, [note for note in sleepers.memories(mind, tonight.notes) if note.via != ECHO])
    if not made.text:
        return "", list(made.notices)
    draft = Memory(
        "summaries",
        0,
        tonight.at,
        made.text,
        via="我自己想的",
        uid=secrets.token_hex(8),
        tz=clock.offset(),
        by="night",
        covers=tuple(tonight.notes),
        run=tonight.run,
    )
    return mind.store.append("summaries", [draft])[0].ref, list(made.notices)


def _build(mind: Mind, progress: Callable[[int, int], None] | None) -> tuple[Built | None, int, int]:
    """Make missing vectors; -> (the dense index, nodes and edges of the star map), (None, 0, 0) without numpy."""
    from nebula.index import has_numpy

    if not has_numpy():
        return None, 0, 0
    import numpy as np

    from nebula.index import graph

    built = mind.build(progress)
    index, now = mind.index(), clock.seconds(mind.now())
    alive = index.table.column("valid_to") > now
    drawn = graph.assemble(
        index.table, index.stored_edges(), index.keywords, alive, now, mind.settings.graph.min_cosine
    )
    ends = np.concatenate([drawn.a, drawn.b])
    return built, int(alive.sum()) + len(np.unique(ends[ends >= drawn.rows])), len(drawn.a)
