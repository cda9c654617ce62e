"""Surfacing as it happens: the night's candidate before the five gates, and what was answered (spec 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nebula import clock
from nebula.errors import NotSurfaced
from nebula.life import consolidation, forgetting, surfacing
from nebula.mindlib import changes
from nebula.mindlib.store import CHANGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nebula.life.surfacing import Gate
    from nebula.mind import Mind
    from nebula.mindlib.record import Memory


@dataclass(frozen=True)
class Surfaced:
    """The candidate (None where the night nominated none), its gates in order, and whether all were open."""

    memory: Memory | None
    gates: Sequence[Gate] = ()

    @property
    def open(self) -> bool:
        """Whether it surfaces."""
        return self.memory is not None and all(gate.open for gate in self.gates)


def surface(mind: Mind, query: str = "", session: str = "") -> Surfaced:
    """The last night's candidate in the context at hand; where it passes all gates that is written down.

    Without a context the first gate stays shut. Raises WriteFailed, LedgerUnusable.
    """
    lines = [line.obj for line in mind.store.scan(CHANGES).lines]
    nights = consolidation.finished(lines, changes.undone_runs(lines))
    memory = mind.find(nights[-1].nominated) if nights and nights[-1].nominated else None
    now = clock.seconds(mind.now())
    if memory is None or memory.is_old(now):
        return Surfaced(None)
    half = forgetting.half_life(mind.settings.forgetting, memory.ledger, memory.imp)
    a = forgetting.retention(forgetting.age_days(now, memory.seconds), half)
    past = surfacing.past(lines)
    facts = surfacing.Facts(memory.ref, memory.imp, a, _cosine(mind, query, memory), session)
    found = Surfaced(memory, surfacing.gates(facts, past, now, mind.settings.surface))
    if found.open:
        line = {"at": clock.write(mind.now()), "ref": memory.ref, "surfaced": session}
        mind.store.append_lines(CHANGES, [line], durable=True)
    return found


def answer(mind: Mind, ref: str, *, taken: bool) -> Memory:
    """Say whether what surfaced was taken up; if not it ranks lower next time. Raises UnknownRef, NotSurfaced."""
    memory = mind.get(ref)
    lines = [line.obj for line in mind.store.scan(CHANGES).lines]
    if memory.ref not in surfacing.past(lines).last:
        raise NotSurfaced(memory.ref)
    mind.store.append_lines(CHANGES, [{"at": clock.write(mind.now()), "ref": memory.ref, "taken": taken}], durable=True)
    return memory


def _cosine(mind: Mind, query: str, memory: Memory) -> float:
    """The best cosine of a piece of the query with a piece of the memory; -1 without a context. Raises NotSetUp."""
    if not query.strip():
        return -1.0
    encoded = mind.encoder().encode([query, memory.text])
    mine, theirs = (encoded.vectors[encoded.owner == at] for at in (0, 1))
    return float((mine @ theirs.T).max())
