"""Tag and capture as it happens: what was just written strengthens what it speaks of, and is tagged itself (spec 6).

Written after the memory, in this order: `captured.jsonl`, the new weights, and last the tag, so that a memory without
its tag tells of an add that was cut short, and the night finishes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula import clock
from nebula.life import capture
from nebula.mindlib import changes
from nebula.mindlib.record import ECHO
from nebula.mindlib.store import CAPTURED, CHANGES, TAGS
from nebula.text.keywords import keywords

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nebula.life.capture import Arrival
    from nebula.mindlib.record import Memory
    from nebula.mindlib.store import Store
    from nebula.settings import CaptureSettings

LOCK = ".capture.lock"
#: `by` of memories that were not written as they were lived.
NOT_LIVED = ("import", "night")


def tag_and_capture(
    store: Store,
    written: Sequence[Memory],
    find: Callable[[str], Memory | None],
    now: int,
    settings: CaptureSettings,
    run: str,
) -> list[str]:
    """Tag the memories just written and let them capture; -> the refs captured. `find` gives a memory as it stands.

    Memories of another time, as an import brings them, are nobody's fresh experience and take no part, nor do echoes.
    Raises WriteFailed, LockedTooLong.
    """
    fresh = [m for m in written if m.via != ECHO and 0 <= now - m.seconds <= settings.hours * 3600]
    arrivals = [arrival(memory) for memory in fresh]
    if not arrivals:
        return []
    with store.lock(LOCK):  # or two at once would capture the same tag
        pairs = capture.captures(arrivals, capture.read_tags(store.recent(TAGS)), _spent(store), settings)
        held = [(memory, by) for ref, by in pairs if (memory := find(ref)) is not None and not memory.is_old(now)]
        strengthen(store, held, now, settings, run)
        tags = [capture.tag_line(a.ref, a.at, a.keys, settings) for a in arrivals if capture.is_tagged(a.imp, settings)]
        if tags:
            store.append_lines(TAGS, tags, durable=False)
    return [memory.ref for memory, _ in held]


def arrival(memory: Memory) -> Arrival:
    """A memory as capture looks at it."""
    return capture.Arrival(memory.ref, memory.seconds, memory.imp, keywords(memory.text))


def strengthen(
    store: Store, pairs: Sequence[tuple[Memory, str]], now: int, settings: CaptureSettings, run: str
) -> None:
    """Write that memories were captured, and by whom; their weights grow with it."""
    if not pairs:
        return
    at = clock.write(clock.from_seconds(now))
    lines = [changes.captured_line(at, memory.ref, by, settings.factor, run) for memory, by in pairs]
    store.append_lines(CAPTURED, lines, durable=False)
    grown = [
        changes.set_line(
            at, memory.ref, capture.strengthened(memory.w, memory.w_why, settings.factor), f"捕获 {by}", run
        )
        for memory, by in pairs
    ]
    store.append_lines(CHANGES, grown, durable=False)


def finish(
    store: Store, written: Sequence[Memory], find: Callable[[str], Memory | None], settings: CaptureSettings
) -> list[str]:
    """Finish adds that were cut short among memories written lately, oldest first; -> the refs captured now.

    A memory of little importance that has no tag, and any other that captured nothing, is looked at once more by the
    same rule: what it would have captured, it captures. Imports and summaries take no part.
    """
    tags = store.events(TAGS)
    captured = store.events(CAPTURED)
    tagged, by = {str(line.get("ref")) for line in tags}, {str(line.get("by")) for line in captured}
    spent = {str(line.get("ref")) for line in captured}
    every = capture.read_tags(tags)
    done = []
    for memory in written:
        one = arrival(memory)
        small = capture.is_tagged(one.imp, settings)
        if memory.by in NOT_LIVED or memory.via == ECHO or memory.ref in (tagged if small else by):
            continue
        before = [tag for tag in every if tag.at < one.at]
        refs = capture.captured_by(one.at, one.keys, before, spent, settings) if memory.ref not in by else []
        held = [(found, one.ref) for ref in refs if (found := find(ref)) is not None and not found.is_old(one.at)]
        strengthen(store, held, one.at, settings, memory.run)
        spent.update(found.ref for found, _ in held)
        done += [found.ref for found, _ in held]
        if small:
            line = capture.tag_line(one.ref, one.at, one.keys, settings)
            store.append_lines(TAGS, [line], durable=False)
            every += capture.read_tags([line])
    return done


def _spent(store: Store) -> set[str]:
    return {str(line.get("ref")) for line in store.recent(CAPTURED)}
