"""What an erase takes, line by line; and a folder's files as they will be when one that is begun is over.

An erase holds from the moment it is written down (`.erase.json`), whether the disk lets it be done at once or not:
until then every reader gets the files through a `Cover`, in which what is to go has gone. Pure but for reading.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from nebula import reasons
from nebula.errors import LedgerUnusable
from nebula.mindlib import changes, files, ledger, quotes
from nebula.mindlib.record import (
    BY_NAME,
    Apart,
    derived_uid,
    is_tombstone,
    reason_unreadable,
    split_ref,
    tombstone,
)
from nebula.mindlib.store import CAPTURED, CHANGES, HANDED_OUT, SIDE_LEDGERS, TAGS, Namer
from nebula.reasons import because

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from nebula.mindlib.quotes import Sought
    from nebula.mindlib.record import Memory

    #: A file's bytes -> its lines, each as it is and as it becomes; b"" where it goes.
    Lines = Callable[[bytes], list[tuple[bytes, bytes]]]
    #: (memory, its line's object) -> the uid that may stay, and seals of its other names.
    Stone = Callable[[Memory, Mapping[str, Any]], tuple[str, Sequence[str]]]
    #: (origins of a file's lines, in order) and (origin, line as it is left, line as it was) -> what is written.
    Origins = Callable[[Iterable[dict[str, Any]]], Iterator[tuple[str, dict[str, Any]]]]
    Sealed = Callable[[str, Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]

#: Whole files with words of people in them that are cut.
WRITTEN = ("longterm.md", "consolidate.log")
QUARANTINE = "quarantine"
WHY = "erase"
PACKED = 3  # JSON in JSON in JSON: a line as text in an export's line, which stands in a report


@dataclass(frozen=True)
class Job:
    """What is to go: memories by uid, the refs they had, the texts whose quotes go with them, words wherever they are.

    `released` are refs that an erased summary covered, to be digested again; `summaries` those summaries' refs, and
    `digests` their texts: they tell of other memories too, so that only they themselves go.
    """

    at: str
    uids: Sequence[str]
    refs: Sequence[str]
    texts: Sequence[str]
    words: Sequence[str] = ()
    released: Sequence[str] = ()
    summaries: Sequence[str] = ()
    digests: Sequence[str] = ()

    @property
    def sought(self) -> Sought:
        """What must be found nowhere afterwards."""
        return quotes.sought(self.texts, self.words)


def pending(path: Path) -> Job | None:
    """The job that is written down, None where there is none. Raises LedgerUnusable."""
    import orjson

    if not os.path.lexists(path):  # asked for by every command
        return None
    try:
        job = Job(**orjson.loads(files.read(path)))
    except TypeError as error:
        raise LedgerUnusable(path, because("damaged")) from error
    except ValueError as error:
        raise LedgerUnusable(path, reasons.of(error)) from error
    if not isinstance(job.at, str) or not all(_are_texts(value) for name, value in vars(job).items() if name != "at"):
        raise LedgerUnusable(path, because("damaged"))
    return job


def _are_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


@dataclass
class Cover:
    """The files of a folder as they will be: each is read whole, and kept as long as it is the same file."""

    job: Job
    _held: dict[Path, tuple[tuple[int, int, int], bytes]] = field(default_factory=dict)

    def read(self, name: str, path: Path) -> bytes:
        """The file `name`, which lies at `path`; empty where it is absent. Raises LedgerUnusable."""
        stamp = files.stamp(path)
        held = self._held.get(path)
        if held is None or held[0] != stamp:
            held = self._held[path] = stamp, self._after(name, files.read(path))
        return held[1]

    def _after(self, name: str, data: bytes) -> bytes:
        kind = next((kind.name for kind in BY_NAME.values() if kind.file == name), "")
        if kind:
            return joined(ledger_lines(kind, self.job, self.job.sought, _bare), data)
        if name in SIDE_LEDGERS:
            left = joined(side_lines(name, self.job, self.job.sought), data)
            return left + _freed(self.job, left) if name == CHANGES else left
        if name in WRITTEN:
            return cut_text(self.job.sought, data)
        if name.startswith(f"{QUARANTINE}/"):
            return without_quotes(self.job.sought, data)
        return b"" if name == HANDED_OUT else data


def freeing(job: Job, lines: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The changes that free notes for the next night, which a summary that goes had digested by `lines` of changes."""
    deltas, gone = changes.fold(lines), set(job.summaries)
    bound = [ref for ref in job.released if ref in deltas and deltas[ref].fields.get("summarised") in gone]
    return [changes.set_line(job.at, ref, {"summarised": ""}, WHY) for ref in bound]


def _freed(job: Job, data: bytes) -> bytes:
    lines = ledger.dump(freeing(job, (obj for _, obj in ledger.objects(data) if obj is not None)))
    return lines if not data or data.endswith(b"\n") else b"\n" + lines


def _bare(memory: Memory, obj: Mapping[str, Any]) -> tuple[str, Sequence[str]]:
    return own_uid(memory, obj), ()


def own_uid(memory: Memory, obj: Mapping[str, Any]) -> str:
    """A memory's uid where it was drawn at random or given by another program's id, and so tells nothing of the text.

    "" where it is a hash, which would confirm a guess. `obj` is its line's object.
    """
    hashes = {derived_uid(memory.ledger, str(obj.get("at", "")), memory.text, n) for n in range(8)}
    own = obj.get("uid") == memory.uid and memory.uid not in hashes and split_ref(memory.uid) is None
    return memory.uid if own else ""


def _pairs(job: Job) -> set[tuple[str, str]]:
    """(ref, uid) of what goes: a line that carries the uid of one that goes, copied by hand, is another memory."""
    return set(zip(job.refs, job.uids, strict=False))


def joined(lines: Lines, data: bytes) -> bytes:
    """A file's bytes as they become."""
    return b"".join(new for _, new in lines(data))


def ledger_lines(kind: str, job: Job, wanted: Sought, stone: Stone) -> Lines:
    """A ledger's lines: memories that go become tombstones, other memories stay, broken lines that quote go."""
    return partial(_ledger_lines, kind, job, wanted, stone)


def _ledger_lines(kind: str, job: Job, wanted: Sought, stone: Stone, data: bytes) -> list[tuple[bytes, bytes]]:
    read = ledger.objects(data)
    gone = (obj for _, obj in read if obj is not None and reason_unreadable(obj) is None and is_tombstone(obj))
    namer, apart, named = Namer(kind), Apart(str(obj["uid"]) for obj in gone if obj.get("uid")), _pairs(job)
    lines = []
    for raw, obj in read:
        if obj is None or reason_unreadable(obj) is not None:
            lines.append((raw, broken(raw, wanted)))
            continue
        memory = namer.memory(obj)
        memory = memory and apart.named(memory)
        if memory is None or (memory.ref, memory.uid) not in named:
            lines.append((raw, raw))
            continue
        lines.append((raw, ledger.dump([tombstone(memory.id, job.at, *stone(memory, obj))])))
    return lines


def side_lines(
    name: str, job: Job, wanted: Sought, origins: Origins | None = None, sealed: Sealed | None = None
) -> Lines:
    """A side ledger's lines: what speaks of a ref that goes, goes; quotes are cut out of all others, and sealed."""
    return partial(_side_lines, name, job, wanted, origins, sealed)


def _side_lines(
    name: str, job: Job, wanted: Sought, origins: Origins | None, sealed: Sealed | None, data: bytes
) -> list[tuple[bytes, bytes]]:
    gone = {*job.refs, *job.uids}
    lines = []
    read = ledger.objects(data)
    origin = origins(obj for _, obj in read if obj is not None) if origins else None
    for raw, obj in read:
        if obj is None:
            lines.append((raw, broken(raw, wanted)))
            continue
        was = next(origin)[0] if origin else ""
        kept = _left(obj, gone) if name in (CHANGES, TAGS, CAPTURED) else obj
        left = cut(kept, wanted) if kept is not None else None
        if sealed and left is not None and left != kept:
            left = sealed(was, left, obj)
        lines.append((raw, raw if left == obj else ledger.dump([left]) if left else b""))
    return lines


def _left(obj: dict[str, Any], gone: set[str]) -> dict[str, Any] | None:
    """A line without the refs that go; None where it spoke of nothing else."""
    if isinstance(ref := obj.get("ref"), str) and ref in gone:
        return None
    hits = obj.get("hit")
    if not isinstance(hits, list):
        return obj
    kept = [ref for ref in hits if not isinstance(ref, str) or ref not in gone]
    return {**obj, "hit": kept} if kept else None


def cut(value: Any, wanted: Sought) -> Any:
    """A value with quotes cut out of every text in it."""
    if isinstance(value, str):
        return quotes.cut(wanted, value)
    if isinstance(value, list):
        return [cut(item, wanted) for item in value]
    if isinstance(value, dict):
        return {quotes.cut(wanted, key): cut(item, wanted) for key, item in value.items()}
    return value


def without_quotes(wanted: Sought, data: bytes) -> bytes:
    """The lines of a file of broken ones but for those that quote."""
    return b"".join(broken(raw, wanted) for raw in ledger.split(data))


def broken(raw: bytes, wanted: Sought) -> bytes:
    """A line that can't be read stays where it is, unless what must go can be read in it."""
    return b"" if any(quotes.find(wanted, text) for text in readings(raw)) else raw


def cut_text(wanted: Sought, data: bytes) -> bytes:
    """A whole text with every quote cut out of it."""
    text = data.decode("utf-8", "surrogateescape")
    return quotes.cut(wanted, text).encode("utf-8", "surrogateescape")


def readings(raw: bytes) -> list[str]:
    """What bytes may say: as UTF-8, and with JSON's escapes resolved, once or as often as JSON lies in JSON."""
    text = raw.decode("utf-8", "replace")
    found = [text]
    while "\\" in text and len(found) <= PACKED and (text := _resolved(text)) != found[-1]:
        found.append(text)
    return found


def _resolved(text: str) -> str:
    import re

    simple = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

    def resolved(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) if found[1] else simple.get(found[2], found[2])

    joined = re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.))", resolved, text, flags=re.DOTALL)
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
