"""The union of two machines' minds: what `import` takes over, and then both sides' changes by their time.

Records are told by `uid`, lines by what they say, so that merging again adds nothing, and merging back gives the other
machine the same. Where both changed one field of a memory, the later change holds, on both. What was erased here does
not come back; what was erased there and stands here still is named, since only the user's word erases. Of the
handwritten notes the later text holds, on both, and the other stands in the history. Settings stay each machine's own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nebula import clock, longterm, origins, private, screen, seals, transfer
from nebula.mindlib import changes, ledger, quotes
from nebula.mindlib.record import LEDGERS
from nebula.mindlib.store import CHANGES, Store
from nebula.results import Notice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from nebula.mind import Mind
    from nebula.mindlib.quotes import Sought
    from nebula.transfer import Imported

WHY = "merge"


@dataclass(frozen=True)
class Merged:
    """What came, how many fields were settled by time, and what became of the other's long-term notes.

    They went to the history (`notes_kept`), or hold now, and ours stand there (`notes_taken`).
    """

    imported: Imported
    settled: int
    notes_kept: bool
    notes_taken: bool
    notices: list[Notice]


def merge(mind: Mind, folder: Path, *, progress: Callable[[int, int], None] | None = None) -> Merged:
    """Take over all that the mind in `folder` has and this one lacks. Raises as `transfer.import_folder`."""
    done = transfer.import_folder(mind, folder, progress=progress)
    corrections = _later_holds(mind, done.run)
    if corrections:
        mind.store.append_lines(CHANGES, corrections, durable=True)
        mind.follow()
    taken = done.longterm == transfer.KEPT and _take_notes(mind, folder, done.unwanted)
    kept = done.longterm == transfer.KEPT and not taken and _keep_notes(mind, folder, done.unwanted)
    done = replace(done, longterm=transfer.ADDED) if taken else done
    there = {str(obj["uid"]) for kind in LEDGERS for obj in Store(folder).erased(kind.name) if obj.get("uid")}
    still = [memory.ref for memory in mind.store.read_all().memories if memory.uid in there]
    notices = [Notice("erased_there", {"refs": " ".join(still)})] if still else []
    return Merged(done, len(corrections), kept, taken, [*done.notices, *notices])


def _later_holds(mind: Mind, run: str) -> list[dict[str, Any]]:
    """Lines that set what the latest change of each field says, where another line, being last in the file, says else.

    Of changes of one second the greater value holds, as JSON: any rule will do that both machines have.
    """
    lines = mind.store.events(CHANGES)
    gone = changes.undone_runs(lines)
    latest: dict[tuple[str, str], tuple[str, bytes, Any]] = {}
    last: dict[tuple[str, str], bytes] = {}
    for ref, at, name, value in _sets(line for line in lines if line.get("run") not in gone):
        said = ledger.dump([{"value": value}])
        latest[ref, name] = max(latest.get((ref, name), ("", b"", None)), (at, said, value), key=lambda one: one[:2])
        last[ref, name] = said
    return [
        changes.set_line(at, ref, {name: value}, WHY, run)
        for (ref, name), (at, said, value) in latest.items()
        if said != last[ref, name]
    ]


def _sets(lines: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, str, str, Any]]:
    """(ref, at, field, value) of every field that lines set."""
    for line in lines:
        values, ref = line.get("set"), line.get("ref")
        if isinstance(values, dict) and isinstance(ref, str):
            for name, value in values.items():
                if name in changes.CHANGEABLE:
                    yield ref, str(line.get("at", "")), name, value


def _take_notes(mind: Mind, folder: Path, unwanted: Sought) -> bool:
    """Let the other's handwritten notes hold, where they are known to be the later ones; ours go into the history.

    Of texts that the histories give no time, or one and the same, nobody can say: each machine keeps its own.
    """
    there = Store(folder)
    theirs, at = transfer.notes_of(there) or "", longterm.since(there)
    if (
        not private.strip(theirs)[0].strip()
        or at <= longterm.since(mind.store)
        or seals.stones(mind.store).knows(origins.of_text(theirs))
    ):
        return False
    return longterm.write(mind, quotes.cut(unwanted, theirs), longterm.read(mind), at=at)


def _keep_notes(mind: Mind, folder: Path, unwanted: Sought) -> bool:
    """Put the other's handwritten notes into the history, where they differ and are not there yet."""
    text = transfer.notes_of(Store(folder))
    kept = screen.value(quotes.cut(unwanted, text or ""), redact=mind.redacts).value
    known = {longterm.read(mind), "", *(said for _, said in longterm.history(mind))}
    if text is None or kept in known or seals.stones(mind.store).knows(origins.of_text(text)):
        return False
    line = {"at": clock.write(mind.now()), "text": kept, origins.ORIGIN: origins.of_text(text)}
    mind.store.append_lines(longterm.HISTORY, [line], durable=True)
    return True
