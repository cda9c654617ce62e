"""A memory's way to the disk: appended under its id, what it replaces closed, indexed, tagged, its likes hinted at.

Once the first append has returned the memory is safe; whatever fails after it is a notice, and the night finishes it.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from nebula import clock
from nebula.errors import AlreadyReplaced, LockedTooLong, WriteFailed
from nebula.mindlib import changes
from nebula.mindlib.record import LEDGERS
from nebula.mindlib.store import CHANGES
from nebula.results import Added, Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from nebula.index.view import Index
    from nebula.mind import Mind
    from nebula.mindlib.record import Memory
    from nebula.mindlib.store import Store

#: Cosine from which a new memory may say the same as an older one of its ledger.
SIMILAR = 0.9


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
) -> Added:
    """Write drafts as one command, in the order given; `limit` bounds what is embedded at once (see Embedder).

    Raises WriteFailed, LockedTooLong; then nothing, or a whole ledger's share of a batch, was written.
    """
    run = clock.stamp("cmd")
    memories = _append(mind, drafts, run)
    close(mind.store, memories, clock.write(mind.now()))
    index, found = mind.follow(limit, progress)
    return Added(memories, [*notices, *found, *_capture(mind, memories, index, run), *_similar(memories, index)])


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


def _similar(memories: Sequence[Memory], index: Index | None) -> list[Notice]:
    """A notice where a single new memory says nearly what an older one of its ledger says; a hint, never an act."""
    if index is None or len(memories) != 1 or memories[0].supersedes:
        return []
    near = index.nearest_of(memories[0].ref, memories[0].ledger)
    if near is None or near[1] < SIMILAR:
        return []
    return [Notice("similar", {"ref": near[0], "cosine": f"{near[1]:.2f}", "new": memories[0].ref})]
