"""A memory's way to the disk: appended under its id, what it replaces closed, indexed, tagged, its likes hinted at.

Once the first append has returned the memory is safe; whatever fails after it is a notice, and the night finishes it.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from nebula import clock
from nebula.echo import guard, handed_out
from nebula.errors import AlreadyReplaced, LockedTooLong, WriteFailed
from nebula.mindlib import changes
from nebula.mindlib.record import ECHO, LEDGERS
from nebula.mindlib.store import CHANGES
from nebula.results import Added, Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from nebula.index.view import Index
    from nebula.mind import Mind
    from nebula.mindlib.record import Memory
    from nebula.mindlib.store import Store


def replaceable(mind: Mind, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields with the ref of what is superseded, where any is. Raises UnknownRef, AlreadyReplaced."""
    if not fields.get("supersedes"):
        return fields
    memory = mind.get(str(fields["supersedes"]))
    if memory.is_old(clock.seconds(mind.now())):
        raise AlreadyReplaced(memory.ref)
    return {**fields, "supersedes": memory.ref}


def write(
    mind: Mind,
    drafts: Sequence[Memory],
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    notices: Sequence[Notice] = (),
    echo: str = "",
) -> Added:
    """Write drafts as one command, in the order given; `limit` bounds what is embedded at once (see Embedder).

    Echoes are marked or refused on the way (see `echo.guard`); one that is there already stands for itself.

    Raises WriteFailed, LockedTooLong, Echoed; then nothing, or a whole ledger's share of a batch, was written.
    """
    guarded = guard(mind, drafts, echo)
    if not guarded.drafts:
        return Added(guarded.answer([]), [*notices, *guarded.notices])
    run = clock.stamp("cmd")
    memories = _append(mind, guarded.drafts, run)
    close(mind.store, memories, clock.write(mind.now()))
    index, found = mind.follow(limit, progress)
    handed_out(mind, (memories[place] for place in guarded.known))
    captured, others = _capture(mind, memories, index, run), _duplicates(memories, index, clock.seconds(mind.now()))
    hints = [*captured, *guarded.notices, *others, *_without_topic(memories)]
    return Added(guarded.answer(memories), [*notices, *found, *hints])


def _append(mind: Mind, drafts: Sequence[Memory], run: str) -> list[Memory]:
    marks = mind.marks()
    written: dict[int, Memory] = {}
    for kind in LEDGERS:
        places = [at for at, memory in enumerate(drafts) if memory.ledger == kind.name]
        if places:
            named = [replace(drafts[at], uid=drafts[at].uid or os.urandom(8).hex(), run=run) for at in places]
            written |= dict(zip(places, mind.store.append(kind.name, named, marks), strict=True))
    return [written[at] for at in range(len(drafts))]


def close(store: Store, memories: Sequence[Memory], at: str) -> None:
    """Close what memories supersede, each in the run of the memory that does it."""
    lines = [
        changes.set_line(at, memory.supersedes, {"valid_to": at}, f"替换 {memory.ref}", memory.run)
        for memory in memories
        if memory.supersedes
    ]
    if lines:
        store.append_lines(CHANGES, lines, durable=True)


def _capture(mind: Mind, memories: Sequence[Memory], index: Index | None, run: str) -> list[Notice]:
    from nebula import tagging

    def find(ref: str) -> Memory | None:
        row = index.row(ref) if index else -1
        return index.memory(row) if index and row >= 0 else mind.find(ref)

    try:
        tagging.tag_and_capture(mind.store, memories, find, clock.seconds(mind.now()), mind.settings.capture, run)
    except (WriteFailed, LockedTooLong) as error:
        return [Notice("not_captured", {"reason": error.message})]
    return []


def _duplicates(memories: Sequence[Memory], index: Index | None, now: int) -> list[Notice]:
    """Notices of what is there already; what replaces an older memory or echoes one names it anyway."""
    from nebula import duplicates

    new = [memory for memory in memories if not memory.supersedes and memory.via != ECHO]
    if index is None or not new:
        return []
    return duplicates.notices(new[0], index) if len(memories) == 1 else duplicates.many(new, index, now)


def _without_topic(memories: Sequence[Memory]) -> list[Notice]:
    """What a tact that holds back goes by where it names no topic, so that nobody relies on more."""
    from nebula import discretion

    silent = [m for m in memories if m.ledger == "tacts" and m.say in discretion.HOLDING and not m.topic.strip()]
    if not silent:
        return []
    about = discretion.topic(silent[0])
    facts = {"ref": silent[0].ref, "terms": ", ".join(about.terms[:8]) or "-", "n": about.need}
    return [Notice("tact_without_topic", facts)]
