"""Memories as the night sees them, from the index's columns, or from the records where numpy is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula import clock
from nebula.index import has_numpy
from nebula.life.consolidation import Sleeper
from nebula.mindlib.record import EMOTIONS, LEDGERS, is_core

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from nebula.index.view import Index
    from nebula.mind import Mind
    from nebula.mindlib.record import Memory

_EMO_NAMES = ("", *EMOTIONS)


def gather(mind: Mind, growing: Collection[str]) -> list[Sleeper]:
    """Every memory of a mind; `growing` are the refs whose `w_why` is asked for."""
    now = clock.seconds(mind.now())
    if has_numpy():
        return _of_columns(mind.index(), growing, now)
    return [_of_record(memory, now) for memory in mind.store.read_all().memories]


def since(mind: Mind, start: int) -> tuple[list[Memory], Callable[[str], Memory | None]]:
    """Memories written from `start` (seconds) on, oldest first, and how to find any other as it stands."""
    if has_numpy():
        index = mind.index()
        rows = [row for row, at in enumerate(index.table.column("at").tolist()) if at >= start]
        found = [memory for row in rows if (memory := index.memory(row)) is not None]

        def look_up(ref: str) -> Memory | None:
            row = index.row(ref)
            return index.memory(row) if row >= 0 else None

        return sorted(found, key=lambda memory: memory.seconds), look_up
    every = {memory.ref: memory for memory in mind.store.read_all().memories}
    return sorted((m for m in every.values() if m.seconds >= start), key=lambda memory: memory.seconds), every.get


def summaries(mind: Mind) -> list[Memory]:
    """The summaries that hold."""
    now = clock.seconds(mind.now())
    return [m for m in mind.store.read_all(kinds=["summaries"]).memories if not m.is_old(now)]


def memories(mind: Mind, refs: Sequence[str]) -> list[Memory]:
    """Notes by their refs, in that order; those whose line is gone are left out."""
    if has_numpy():
        index = mind.index()
        rows = [index.row(ref) for ref in refs]
        return [memory for row in rows if row >= 0 and (memory := index.memory(row)) is not None]
    found = {memory.ref: memory for memory in mind.store.read_all(kinds=["notes"]).memories}
    return [found[ref] for ref in refs if ref in found]


def _of_record(memory: Memory, now: int) -> Sleeper:
    return Sleeper(
        memory.ref,
        memory.ledger,
        memory.seconds,
        memory.imp,
        memory.depth,
        memory.w,
        is_core(memory.ledger, memory.say, pinned=memory.pinned),
        memory.emo,
        memory.w_why,
        not memory.is_old(now),
        bool(memory.summarised),
    )


def _of_columns(index: Index, growing: Collection[str], now: int) -> list[Sleeper]:
    column = index.table.column
    core = column("pinned") | column("never")
    values = (column(name).tolist() for name in ("ledger", "at", "imp", "depth", "w", "emo", "valid_to", "summarised"))
    found = []
    for row, (ledger, at, imp, depth, w, emo, valid_to, summary) in enumerate(zip(*values, strict=True)):
        ref = index.ref(row)
        memory = index.memory(row) if ref in growing else None
        felt = _EMO_NAMES[emo] if emo < len(_EMO_NAMES) else ""
        found.append(
            Sleeper(
                ref,
                LEDGERS[ledger].name,
                at,
                imp,
                depth,
                w,
                bool(core[row]),
                felt,
                memory.w_why if memory else "",
                valid_to > now,
                summary > 0,
            )
        )
    return found
