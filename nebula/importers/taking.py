"""What a reader found, taken into a mind: nothing twice, newer text in the place of older, dates and sources kept.

A memory that came from elsewhere bears `source`. What comes again with the text that it last had here is here already,
also where it was edited here since. With another text it is a newer version, and supersedes the one before if that
still holds. Where the other program names a sentence by nothing but what it says, a changed sentence is found as a diff
finds it: in the place of one that is gone. What is gone there and was replaced by nothing stays, and is named.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from nebula import importers, screen, seals, writing
from nebula.drafts import draft, ledger_name
from nebula.errors import BadValue, FileUnusable
from nebula.importers import Item, Passed
from nebula.mindlib import changes
from nebula.mindlib.store import CHANGES
from nebula.seals import SOURCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from nebula.mind import Mind
    from nebula.mindlib.record import Memory
    from nebula.results import Notice

_DIGEST = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True)
class Taken:
    """What was taken over, or would be: counts, what was passed over or damaged, and refs of what is gone there."""

    added: int
    newer: int
    here: int
    erased: int
    private: int
    passed: Mapping[str, int]
    damages: Sequence[Passed]
    gone: Sequence[str]
    notices: Sequence[Notice] = ()


@dataclass
class _Plan:
    """What is known (see `take`), the drafts to write, how many are newer ones, and counts of the rest."""

    ledger: str
    last: Mapping[str, Memory]
    replaced: Mapping[str, str]
    stones: seals.Stones
    uids: set[str]
    drafts: list[Memory] = field(default_factory=list)
    newer: int = 0
    here: int = 0
    erased: int = 0
    private: int = 0


def take(
    mind: Mind,
    path: Path,
    kind: str,
    *,
    ledger: str = "notes",
    replies: bool = False,
    dry_run: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Taken:
    """Take over what lies at `path` in the format `kind` (see FORMATS) into one ledger.

    Raises FileUnusable where nothing there can be read as that, BadValue for the ledger, WriteFailed, LockedTooLong.
    """
    items: dict[str, Item] = {}
    passed: dict[str, int] = {}
    damages: list[Passed] = []
    ledger_name(ledger)
    for found in importers.reader(kind)(path, replies):
        if isinstance(found, Item):
            items[found.source] = found
        elif found.damaged:
            damages.append(found)
        else:
            passed[found.why] = passed.get(found.why, 0) + 1
    if damages and not items and not passed:
        raise FileUnusable(path, f"{damages[0].where}: {damages[0].why}")
    every = mind.store.read_all().memories
    last, uids = _last(mind, every, f"{kind}:"), {memory.uid for memory in every}
    replaced, gone = _changed(list(items.values()), last)
    seen = screen.Screened(None)
    stones = seals.stones(mind.store)
    plan = _Plan(ledger, last, replaced, stones, uids)
    for item in sorted(items.values(), key=lambda one: one.at or "9"):
        try:
            seen |= _add(mind, item, plan)
        except BadValue as error:  # of one that can't be kept the rest need not know
            damages.append(Passed(item.source, error.message))
    notices = [*seen.notices(f"{len(plan.drafts)} ×"), *stones.notices]
    if plan.drafts and not dry_run:
        notices += writing.write(mind, plan.drafts, None, progress).notices
    added = len(plan.drafts) - plan.newer
    return Taken(added, plan.newer, plan.here, plan.erased, plan.private, passed, damages, gone, notices)


def _last(mind: Mind, every: Iterable[Memory], prefix: str) -> dict[str, Memory]:
    """What each source last was here; an import that was taken back does not count."""
    undone = changes.undone_runs(line.obj for line in mind.store.scan(CHANGES).lines)
    return {
        str(memory.extra[SOURCE]): memory
        for memory in every
        if str(memory.extra.get(SOURCE, "")).startswith(prefix) and memory.run not in undone
    }


def _changed(items: Iterable[Item], last: Mapping[str, Memory]) -> tuple[dict[str, str], list[str]]:
    """({source: the source it stands in the place of}, refs that nothing stands for any more), of each group that came.

    An export may be a part; of a group that did not come nothing is said.
    """
    coming: dict[str, list[str]] = {}
    for item in items:
        if item.group:
            coming.setdefault(item.group, []).append(item.source)
    held: dict[str, list[str]] = {group: [] for group in coming}
    for source, memory in last.items():
        group, _, name = source.rpartition("#")
        if _DIGEST.fullmatch(name) and group in held and memory.valid_to is None:
            held[group].append(source)
    replaced: dict[str, str] = {}
    gone: list[str] = []
    for group, new in coming.items():
        old = held[group]
        for what, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            left = [source for source in old[i1:i2] if source not in new]
            came = [source for source in new[j1:j2] if source not in last]
            if what == "replace" and len(left) == len(came):
                replaced |= dict(zip(came, left, strict=True))
            else:
                gone += [last[source].ref for source in left]
    return replaced, gone


def _add(mind: Mind, item: Item, plan: _Plan) -> screen.Screened:
    """Add what an item comes to to the plan; -> what was screened from it."""
    said = screen.value(item.text, redact=mind.redacts)
    if said.private and not said.value.strip():
        plan.private += 1
        return said
    before = plan.last.get(item.source)
    if before is not None and before.text == said.value:
        plan.here += 1
        return screen.Screened(None)
    before = before or plan.last.get(plan.replaced.get(item.source, ""))
    uid = "" if item.group else _uid(item.source, before)
    if uid in plan.stones.uids or plan.stones.knows(item.source):
        plan.erased += 1
        return screen.Screened(None)
    fields = screen.value(dict(item.fields), redact=mind.redacts)
    at = (item.changed if before else "") or item.at
    closes = before.ref if before is not None and before.valid_to is None else ""
    values = {**fields.value, "via": item.via, "tag": item.tag, SOURCE: item.source}
    values |= ({"at": at} if at else {}) | ({"supersedes": closes} if closes else {})
    drafted = draft(said.value, before.ledger if before else plan.ledger, values, mind.now(), "import")
    plan.drafts.append(replace(drafted, uid="" if uid in plan.uids else uid))
    plan.newer += before is not None
    return said | fields


def _uid(source: str, before: Memory | None) -> str:
    """The uid of what has a name there: from the name, and from the version before, if any.

    So two machines' imports of one export are one when merged. What is named by its text alone gets a random one, since
    the uid outlives what is erased.
    """
    parts = f"import\x1f{source}\x1f{before.uid if before else ''}"
    return hashlib.blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
