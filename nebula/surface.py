"""Surfacing as it happens: the night's candidate before the five gates, and what was answered (spec 6)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nebula import clock
from nebula.errors import NotSurfaced
from nebula.life import forgetting, nights, surfacing
from nebula.mindlib import changes
from nebula.mindlib.store import CHANGES
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nebula.life.surfacing import Gate
    from nebula.mind import Mind
    from nebula.mindlib.record import Memory

    Find = Callable[[str], Memory | None]

LOCK = ".surface.lock"
_KEYS = (b'"night"', b'"undo"', b'"surfaced"', b'"taken"')


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

    Without a context the first gate stays shut. Raises WriteFailed, LockedTooLong, LedgerUnusable.
    """
    found = look(mind, query, session)
    if found.memory and found.open and not claim(mind, found.memory, session):
        return look(mind, query, session)
    return found


def look(mind: Mind, query: str = "", session: str = "", find: Find | None = None) -> Surfaced:
    """As `surface`, nothing written down.

    `find` is a quicker way from a ref to its memory; who has one waits for the answer, and then the texts are compared
    only where every other gate is open.
    """
    lines = _told(mind, nominated=True)
    earlier = nights.finished(lines, changes.undone_runs(lines))
    memory = (find or mind.find)(earlier[-1].nominated) if earlier and earlier[-1].nominated else None
    now = clock.seconds(mind.now())
    if memory is None or memory.is_old(now):
        return Surfaced(None)
    half = forgetting.half_life(mind.settings.forgetting, memory.ledger, memory.imp)
    a = forgetting.retention(forgetting.age_days(now, memory.seconds), half)
    past = surfacing.past(lines)
    facts = surfacing.Facts(memory.ref, memory.imp, a, -1.0, session)
    gates = surfacing.gates(facts, past, now, mind.settings.surface)
    if find is None or all(gate.open for gate in gates[1:]):
        facts = replace(facts, cosine=_cosine(mind, query, memory))
        gates = surfacing.gates(facts, past, now, mind.settings.surface)
    return Surfaced(memory, gates)


def _told(mind: Mind, *, nominated: bool = False) -> list[dict[str, Any]]:
    """The lines of the changes that tell of nights and of surfacing; the many others are not even parsed.

    With `nominated` none where no night has nominated anything.
    """
    return mind.store.telling(CHANGES, _KEYS, first=nominated)


def claim(mind: Mind, memory: Memory, session: str) -> bool:
    """Write down that a memory surfaces; -> whether it is this caller who tells it: of several at once one does.

    Raises WriteFailed, LockedTooLong.
    """
    with mind.store.lock(LOCK):
        again = look(mind, "", session, mind.find)
        # the first gate is the context, which is the caller's
        if again.memory is None or again.memory.ref != memory.ref or not all(gate.open for gate in again.gates[1:]):
            return False
        line = {"at": clock.write(mind.now()), "ref": memory.ref, "surfaced": session}
        mind.store.append_lines(CHANGES, [line], durable=True)
    return True


def answer(mind: Mind, ref: str, *, taken: bool) -> Memory:
    """Say whether what surfaced was taken up; if not it ranks lower next time. Raises UnknownRef, NotSurfaced."""
    memory = mind.get(ref)
    if memory.ref not in surfacing.past(_told(mind)).last:
        raise NotSurfaced(memory.ref)
    mind.store.append_lines(CHANGES, [{"at": clock.write(mind.now()), "ref": memory.ref, "taken": taken}], durable=True)
    return memory


def _cosine(mind: Mind, query: str, memory: Memory) -> float:
    """The best cosine of a piece of the query with a piece of the memory; -1 without a context. Raises NotSetUp."""
    from nebula.recall.asking import heard

    if not query.strip():
        return -1.0
    encoded = mind.encoder().encode([heard(query), heard(memory.text)])
    mine, theirs = (encoded.vectors[encoded.owner == at] for at in (0, 1))
    return float((mine @ theirs.T).max())
