"""What a line of a side ledger is, wherever it lies: told by what it says, uids for refs, and how often it stood.

So that what was taken over once is known when it comes again. Pure.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any

from nebula.mindlib.record import split_ref
from nebula.mindlib.store import CAPTURED, CHANGES, TAGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from nebula.mindlib.record import Memory

#: Fields of a record that name other records.
REF_FIELDS = ("supersedes", "echo_of", "summarised")
#: Side ledgers that name records.
REFERRING = (CHANGES, TAGS, CAPTURED)
#: Marks a line of a side ledger that came from elsewhere by its origin there.
ORIGIN = "from"


def uids(every: Sequence[Memory]) -> dict[str, str]:
    """Whatever names a memory, its ref or its uid -> its uid; a name that two bear is the first one's."""
    return {m.uid: m.uid for m in every} | {m.ref: m.uid for m in reversed(every)}


def of_lines(lines: Iterable[dict[str, Any]], names: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(origin, line): of what it says, refs by `names` (see `uids`); one that came from elsewhere bears it."""
    seen: Counter[str] = Counter()
    for line in lines:
        if isinstance(line.get(ORIGIN), str):
            yield line[ORIGIN], line
            continue
        said = repr(sorted(with_refs(line, lambda ref: names.get(ref, ref)).items()))
        yield of_text(f"{said}\x1f{seen[said]}"), line
        seen[said] += 1


def of_text(text: str) -> str:
    """The origin of a whole text, such as the long-term notes."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def with_refs(line: Mapping[str, Any], to: Callable[[str], str]) -> dict[str, Any]:
    """A line with every ref in it put through `to`, which gives "" for one that names nothing.

    These are `ref` and what is in `hit`, which then go, `by` where it is a ref, and what a `set` sets.
    """
    moved = dict(line)
    if "ref" in line:
        moved["ref"] = to(line["ref"]) if isinstance(line["ref"], str) else ""
        if not moved["ref"]:
            del moved["ref"]
    if isinstance(by := line.get("by"), str):
        moved["by"] = to(by) or ("" if split_ref(by) else by)
    if "hit" in line:
        hits = line["hit"] if isinstance(line["hit"], list) else []
        moved["hit"] = [named for ref in hits if isinstance(ref, str) and (named := to(ref))]
    if isinstance(values := line.get("set"), dict):
        moved["set"] = {k: to(v) if k in REF_FIELDS and isinstance(v, str) else v for k, v in values.items()}
    return moved
