"""A hash chain over the append-only files, kept in `chain.jsonl`: it names lines that are not as they were chained.

Each line of the chain covers the lines that came to one file since: {"at", "file", "first", "lines": 16 hex digits for
each, "hash"}, the hash taken over all this and the hash of the line before. It is extended at night and by
`doctor --verify`, never by an add; what came since is not covered yet. Erasing and repairing change it on record
("why"). It shows accidents, sync programs and edits by hand; who may write all files can also write a new chain, which
is why the head is printed: noted elsewhere, it tells that too.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nebula.mindlib import files, ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

CHAIN = "chain.jsonl"
_DIGITS = 16
NEAR = 300  # lines of two stretches that are compared exactly; 300 equal ones on both sides take 30 ms


@dataclass(frozen=True)
class Chain:
    """The digests of each file's chained lines, in order; the head; and lines of the chain itself that do not hold."""

    digests: Mapping[str, Sequence[str]] = field(default_factory=dict)
    head: str = ""
    broken: Sequence[int] = ()
    #: What was changed on record: {"at", "why", "lines"}.
    acts: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Fault:
    """A line that is not as it was chained: the file, `what` (changed, removed, inserted), its line now or then."""

    file: str
    line: int
    what: str


def digest(line: bytes) -> str:
    """A line's digest, 16 hex digits; its newline and what carriage returns stand before it do not count."""
    return hashlib.blake2b(line.rstrip(b"\r\n"), digest_size=_DIGITS // 2).hexdigest()


def digests(data: bytes) -> list[str]:
    """The digest of each whole line; a last one without a newline may still be growing and has none."""
    return [digest(line) for line in ledger.split(data) if line.endswith(b"\n")]


def read(folder: Path) -> Chain:
    """The chain as it lies there. Raises LedgerUnusable."""
    found: dict[str, list[str]] = {}
    head, broken, acts = "", [], []
    for number, (_, obj) in enumerate(ledger.objects(files.read(folder / CHAIN)), start=1):
        if obj is None or obj.get("hash") != _hash(head, obj):
            broken.append(number)
        if obj is None:
            continue
        head = str(obj.get("hash", ""))
        name, lines = obj.get("file"), obj.get("lines")
        if isinstance(name, str) and isinstance(lines, str):
            found.setdefault(name, []).extend(lines[at : at + _DIGITS] for at in range(0, len(lines), _DIGITS))
        if (act := _act(obj)) is not None:
            acts.append(act)
    return Chain(found, head, broken, acts)


def _act(obj: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a line of the chain has on record, None where it has nothing, or what no program of ours writes."""
    at, why, changed = obj.get("at"), obj.get("why"), obj.get("changed")
    counted = isinstance(changed, dict) and all(type(n) is int for n in changed.values())
    known = isinstance(at, str) and isinstance(why, str) and counted
    return {"at": at, "why": why, "changed": changed} if known else None


def faults(chain: Chain, name: str, data: bytes) -> list[Fault]:
    """Every line of a file that is not as it was chained; a last one that lost only its newline is."""
    then, now = list(chain.digests.get(name, ())), [digest(line) for line in ledger.split(data)]
    if now[: len(then)] == then:
        return []
    first = next((at for at, (a, b) in enumerate(zip(then, now, strict=False)) if a != b), min(len(then), len(now)))
    found: list[Fault] = []
    for was, was_end, new, new_end in _differences(then[first:], now[first:]):
        if was == was_end and first + was >= len(then):
            continue  # what follows the last chained line was added since
        changed = min(was_end - was, new_end - new)
        found += [Fault(name, first + new + n + 1, "changed") for n in range(changed)]
        found += [Fault(name, first + n + 1, "removed") for n in range(was + changed, was_end)]
        if first + was_end < len(then):
            found += [Fault(name, first + n + 1, "inserted") for n in range(new + changed, new_end)]
    return found


def _differences(then: Sequence[str], now: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """(from, to, from, to) of each stretch of `then` in whose place another one of `now` stands, in order.

    Between digests that stand once in both, in one order, lie stretches that are compared each by itself: exactly up
    to NEAR lines, longer ones line by line. So the time stays in proportion, a thousand equal lines included.
    """
    import difflib

    was = new = 0
    for a, b in [*_anchors(then, now), (len(then), len(now))]:
        if a - was <= NEAR and b - new <= NEAR:
            matcher = difflib.SequenceMatcher(None, then[was:a], now[new:b], autojunk=False)
            found = [(i, j, k, m) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]
        else:
            both = min(a - was, b - new)
            found = [(n, n + 1, n, n + 1) for n in range(both) if then[was + n] != now[new + n]]
            found += [(both, a - was, both, b - new)] if a - was != b - new else []
        yield from ((was + i, was + j, new + k, new + m) for i, j, k, m in found)
        was, new = a + 1, b + 1


def _anchors(then: Sequence[str], now: Sequence[str]) -> list[tuple[int, int]]:
    """Places of digests that stand once in both: the longest run in one order (as patience diff has)."""
    from bisect import bisect_left

    once, counts = {one: at for at, one in enumerate(now)}, Counter(now)
    told = Counter(then)
    pairs = [(at, once[one]) for at, one in enumerate(then) if told[one] == 1 == counts[one]]
    ends: list[int] = []  # the least last place of a rising run of each length, and by what pair it ends
    last: list[int] = []
    before: list[int] = []
    for n, (_, place) in enumerate(pairs):
        at = bisect_left(ends, place)
        ends[at : at + 1], last[at : at + 1] = [place], [n]
        before.append(last[at - 1] if at else -1)
    run, n = [], last[-1] if last else -1
    while n >= 0:
        run.append(pairs[n])
        n = before[n]
    return run[::-1]


def extend(folder: Path, names: Sequence[str], at: str, timeout: float = files.LOCK_TIMEOUT) -> dict[str, int]:
    """Chain the lines that came since, in files whose chained lines are as they were; -> lines by file.

    Raises WriteFailed, LockedTooLong, LedgerUnusable.
    """
    grown: dict[str, int] = {}
    with files.appending(folder / CHAIN, timeout) as file:
        chain = read(folder)
        entries, head = [], chain.head
        for name in names:
            then, now = chain.digests.get(name, ()), digests(files.read(folder / name))
            if len(now) > len(then) and now[: len(then)] == list(then):
                fresh = now[len(then) :]
                entries.append(_entry(head, {"at": at, "file": name, "first": len(then) + 1, "lines": "".join(fresh)}))
                head, grown[name] = entries[-1]["hash"], len(fresh)
        if entries:
            file.append(ledger.dump(entries))
    return grown


def amend(
    folder: Path,
    change: Callable[[str, Sequence[str]], Sequence[str]],
    at: str,
    why: str,
    timeout: float = files.LOCK_TIMEOUT,
) -> None:
    """Write the chain anew with each file's digests put through `change(name, digests)`; the reason stands in it.

    A file that did not hold before does not hold after: nothing is looked at but the digests. Only lines of the chain
    itself that did not hold are whole again, and that too is on record.
    A mind without a chain gets none. Raises WriteFailed, LockedTooLong.
    """

    def rewritten(before: bytes) -> bytes:
        chain = read(folder)
        fresh = {name: list(change(name, then)) for name, then in chain.digests.items()}
        changed = {name: n for name, then in chain.digests.items() if (n := _differing(then, fresh[name]))}
        if not changed and not chain.broken:
            return before
        entries: list[dict[str, Any]] = []
        if chain.broken:
            changed[CHAIN] = len(chain.broken)
        acts = [*chain.acts, {"at": at, "why": why, "changed": changed}]
        for obj in [*acts, *({"at": at, "file": n, "first": 1, "lines": "".join(d)} for n, d in fresh.items())]:
            entries.append(_entry(entries[-1]["hash"] if entries else "", obj))
        return ledger.dump(entries)

    files.rewrite(folder / CHAIN, rewritten, timeout)


def _differing(then: Sequence[str], now: Sequence[str]) -> int:
    """How many digests went or became others, or else came in between."""
    left = set(now)
    gone = sum(one not in left for one in then)
    return gone if gone or list(now[: len(then)]) == list(then) else max(1, len(now) - len(then))


def _entry(head: str, obj: Mapping[str, Any]) -> dict[str, Any]:
    return {**obj, "hash": _hash(head, obj)}


def _hash(head: str, obj: Mapping[str, Any]) -> str:
    said = ledger.dump([{key: value for key, value in obj.items() if key != "hash"}])
    return hashlib.blake2b(head.encode() + said, digest_size=16).hexdigest()
