"""What happened to memories later: lines of `changes.jsonl` and `captured.jsonl`, folded per ref (spec 10).

A memory as of a moment is its own line and then its changes up to that moment. `set` is last-wins, `hit` adds up,
`{"ref", "by", "factor"}` captures, and `undo` takes back every change of a run, a night's or a command's. Unknown
kinds are kept in the file and ignored here.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from nebula.mindlib.record import Memory, from_object, to_object
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass
class Delta:
    """All that the changes say of one ref: fields set, times recalled, when last, and whether it was captured."""

    fields: dict[str, Any] = field(default_factory=dict)
    hits: int = 0
    last_hit: str = ""
    captured: bool = False


#: What a change may set; the rest of a record never changes.
CHANGEABLE = frozenset(
    {
        "w",
        "w_why",
        "imp",
        "depth",
        "pinned",
        "sunken_at",
        "valid_to",
        "tag",
        "due",
        "done_at",
        "emo",
        "e",
        "say",
        "topic",
        "summarised",
    }
)


def set_line(at: str, ref: str, values: Mapping[str, Any], why: str, run: str = "") -> dict[str, Any]:
    """The line of a change; `run` names the night or command that it belongs to."""
    line = {"at": at, "ref": ref, "set": dict(values), "why": why}
    return {**line, "run": run} if run else line


def hit_line(at: str, refs: Iterable[str], session: str = "") -> dict[str, Any]:
    """The line of one recall's use."""
    line: dict[str, Any] = {"at": at, "hit": list(refs)}
    return {**line, "session": session} if session else line


def captured_line(at: str, ref: str, by: str, factor: float, run: str = "") -> dict[str, Any]:
    """The line of `captured.jsonl`: `ref` was strengthened because `by` spoke of the same."""
    line: dict[str, Any] = {"at": at, "ref": ref, "by": by, "factor": factor}
    return {**line, "run": run} if run else line


def undo_line(at: str, run: str) -> dict[str, Any]:
    """The line that takes back all changes of a run."""
    return {"at": at, "undo": run}


#: What the fields of a side ledger's line are; one of another type is passed over, the rest of its line counts.
_TYPES: dict[str, type] = {
    **dict.fromkeys(("at", "ref", "run", "undo", "why", "session", "surfaced", "by", "until"), str),
    **dict.fromkeys(("hit", "keys"), list),
    **dict.fromkeys(("set", "night"), dict),
}


def sound(line: Mapping[str, Any]) -> dict[str, Any]:
    """A line of a side ledger without what has the wrong type: another program may have written it."""
    kept: dict[str, Any] = {n: value for n, value in line.items() if isinstance(value, _TYPES.get(n, object))}
    for name in ("hit", "keys"):
        if name in kept:
            kept[name] = [one for one in kept[name] if isinstance(one, str)]
    return kept


def undone_runs(changes: Iterable[Mapping[str, Any]]) -> set[str]:
    """The runs that some line takes back."""
    return {line["undo"] for line in changes if isinstance(line.get("undo"), str)}


def fold(changes: Iterable[Mapping[str, Any]], until: str = "") -> dict[str, Delta]:
    """Lines in file order -> {ref: Delta}; with `until` (a ledger time) only what was written up to then."""
    lines = [line for line in changes if not until or str(line.get("at", "")) <= until]
    undone = undone_runs(lines)
    deltas: dict[str, Delta] = {}
    for line in lines:
        run = line.get("run")
        if isinstance(run, str) and run in undone:
            continue
        ref, values, hits = line.get("ref"), line.get("set"), line.get("hit")
        if isinstance(ref, str) and isinstance(values, dict):
            delta = deltas.setdefault(ref, Delta())
            delta.fields.update({name: value for name, value in values.items() if name in CHANGEABLE})
        if isinstance(ref, str) and "factor" in line and isinstance(line.get("by"), str):
            deltas.setdefault(ref, Delta()).captured = True
        if isinstance(hits, list):
            for hit in hits:
                if isinstance(hit, str):
                    delta = deltas.setdefault(hit, Delta())
                    delta.hits += 1
                    delta.last_hit = max(delta.last_hit, str(line.get("at", "")))
    return deltas


def apply(memory: Memory, delta: Delta | None) -> Memory:
    """The memory with its changes laid over its own line; a value of the wrong type leaves the field as it was."""
    if delta is None:
        return memory
    values = {name: value for name, value in delta.fields.items() if readable(memory.ledger, name, value)}
    folded = from_object(memory.ledger, {**to_object(memory), **values}, repeated=memory.repeated)
    return replace(
        folded,
        hits=memory.hits + delta.hits,
        last_hit=max(memory.last_hit, delta.last_hit),
        captured=memory.captured or delta.captured,
    )


def readable(ledger: str, name: str, value: object) -> bool:
    """Whether a field may hold a value; a change that says otherwise is passed over."""
    return name not in from_object(ledger, {"id": 0, "text": "", name: value}).extra
