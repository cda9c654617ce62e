"""Erasing what a person names, and looking whether anything of it is left (spec, rule 1: only on the explicit word).

With a memory go the earlier texts that it replaced, later ones and others that quote it whole, the summaries that
digest or quote it, and every quote of it in what else the mind's folder holds. Other memories that merely share words
with it stay and are named. Subjects of a story are no part of a mind.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nebula import clock, erasure, places, seals
from nebula.errors import UnknownRef, WrongUsage
from nebula.mindlib import erasing, ledger, quotes, zips
from nebula.mindlib.record import BY_NAME, to_object
from nebula.mindlib.store import INDEX
from nebula.results import Notice
from nebula.text import normal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nebula.mind import Mind
    from nebula.mindlib.quotes import Sought
    from nebula.mindlib.record import Memory

    _Gone = dict[tuple[str, str], tuple[Memory, str]]

NAMED, MATCHES, VERSION, SAME, SUMMARY = "named", "matches", "version", "same", "summary"
#: Reports of failures that no command was made for, which may show what it was about.
REPORTS = "nebula-report-*.txt"


@dataclass(frozen=True)
class Plan:
    """What an erase would take: each memory with why it goes; `near` are others that share words and stay."""

    memories: Sequence[tuple[Memory, str]]
    near: Sequence[str]
    words: Sequence[str]

    @property
    def refs(self) -> list[str]:
        """The refs that go."""
        return [memory.ref for memory, _ in self.memories]

    @property
    def texts(self) -> list[str]:
        """The texts that must be found nowhere afterwards; a digest tells of others too and is not among them."""
        return [memory.text for memory, why in self.memories if why != SUMMARY]


@dataclass(frozen=True)
class Erased:
    """What was erased, and in which files something of it is left: none, or files that are not the program's."""

    plan: Plan
    left: Mapping[str, int]
    notices: Sequence[Notice] = ()


def plan(mind: Mind, refs: Sequence[str] = (), words: Sequence[str] = ()) -> Plan:
    """What goes with these refs and every memory that has a word in it. Raises UnknownRef, WrongUsage."""
    words = [word.strip() for word in words if word.strip()]
    if not refs and not words:
        raise WrongUsage("erase REF… | erase --match TEXT", "nothing_named")
    every = mind.store.read_apart()
    by_name = {name: memory for memory in reversed(every) for name in (memory.ref, memory.uid)}
    gone: _Gone = {}
    folded = [normal.fold(word) for word in words]
    for ref in refs:
        memory = by_name.get(ref.strip().lower())
        if memory is None:
            raise UnknownRef(ref)
        gone.setdefault(_key(memory), (memory, NAMED))
    for memory in every:
        if _says(memory, folded):
            gone.setdefault(_key(memory), (memory, MATCHES))
    _versions(gone, by_name)
    wanted = quotes.sought(memory.text for memory, _ in gone.values())
    for memory in every:
        if _key(memory) not in gone and memory.ledger != "summaries" and _says_the_same(memory, gone, wanted):
            gone[_key(memory)] = (memory, SAME)
    taken = {name for memory, _ in gone.values() for name in (memory.ref, memory.uid)}
    near = []
    for memory in every:
        if _key(memory) in gone:
            continue
        quoted = bool(quotes.find(wanted, memory.text))
        if memory.ledger == "summaries" and (quoted or taken.intersection(memory.covers)):
            gone[_key(memory)] = (memory, SUMMARY)
        elif quoted:
            near.append(memory.ref)
    return Plan(list(gone.values()), near, words)


def _key(memory: Memory) -> tuple[str, str]:
    """What tells a memory from every other (see Store.read_apart)."""
    return memory.ledger, memory.uid


def _says(memory: Memory, folded: Sequence[str]) -> bool:
    """Whether a memory has one of some folded words, folded as recall does: what that finds, erase finds."""
    said = [normal.fold(text) for text in _strings(to_object(memory))] if folded else []
    return any(word in text for text in said for word in folded)


def _versions(gone: _Gone, by_name: Mapping[str, Memory]) -> None:
    """Add the earlier texts that memories replaced, and later ones that have much of the text still."""
    wanted = quotes.sought(memory.text for memory, _ in gone.values())
    after = {_key(earlier): memory for memory in by_name.values() if (earlier := by_name.get(memory.supersedes))}
    queue = [memory for memory, _ in gone.values()]
    while queue:
        memory = queue.pop()
        later = after.get(_key(memory))
        found = [by_name.get(memory.supersedes), later if later and quotes.find(wanted, later.text) else None]
        for other in found:
            if other is not None and _key(other) not in gone:
                gone[_key(other)] = (other, VERSION)
                queue.append(other)


def _says_the_same(memory: Memory, gone: _Gone, wanted: Sought) -> bool:
    """Whether a memory has the whole text of one that goes in it."""
    if not quotes.find(wanted, memory.text):
        return False
    return any(other.text.strip() in memory.text for other, _ in gone.values())


def erase(mind: Mind, what: Plan) -> Erased:
    """Erase; on return it is gone, and every file was looked through. Raises WriteFailed, LockedTooLong."""
    summaries = [memory for memory, _ in what.memories if memory.ledger == "summaries"]
    job = erasing.Job(
        clock.write(mind.now()),
        [memory.uid for memory, _ in what.memories],
        what.refs,
        what.texts,
        what.words,
        sorted({ref for memory in summaries for ref in memory.covers} - set(what.refs)),
        [memory.ref for memory in summaries],
        [memory.text for memory, why in what.memories if why == SUMMARY],
    )
    erasure.begin(mind.store, job)
    _, notices = mind.follow(0)
    unsealed = [] if seals.key() else [Notice("unsealed", {"path": places.erase_key()})]
    return Erased(what, left(mind, what.texts, what.words), [*unsealed, *notices])


def left(mind: Mind, texts: Sequence[str], words: Sequence[str] = ()) -> dict[str, int]:
    """Where something of texts stands: file -> places, over every file of the mind and the reports of failures.

    What other memories say themselves does not count, but for `words`: those count wherever they are. The index holds
    numbers; it is searched for the texts' bytes.
    """
    every = mind.store.read_all().memories
    told = (memory.text for memory in every)
    wanted = quotes.without(quotes.sought(texts), told) | quotes.sought((), words)
    probes = [probe.encode() for probe in {*quotes.probes(texts), *words} & {*wanted.windows, *wanted.whole, *words}]
    found: dict[str, int] = {}
    for name, data in _everything(mind):
        if name.startswith(f"{INDEX}/"):
            places = sum(probe in data for probe in probes)
        else:
            held = _unpacked(name, data)
            places = sum(len(quotes.find(wanted, said)) for part, inside in held for said in _sayings(part, inside))
        if places:
            found[name] = found.get(name, 0) + places
    folded = [normal.fold(word) for word in words]
    for memory in every:
        if _says(memory, folded):
            found.setdefault(BY_NAME[memory.ledger].file, 1)
    return found


def _everything(mind: Mind) -> Iterator[tuple[str, bytes]]:
    """The bytes of whatever the mind keeps, on this machine and in its database, and of the reports."""
    for name, path in _every_file(mind):
        with contextlib.suppress(OSError):
            yield name, path.read_bytes()
    if not mind.store.in_folder:
        from nebula.stores import DOCUMENTS, LEDGERS

        for ledger_name in LEDGERS:
            name = BY_NAME[ledger_name].file if ledger_name in BY_NAME else ledger_name
            for lines in mind.store.chunks(ledger_name):
                yield name, b"".join(line + b"\n" for line in lines)
        for name in DOCUMENTS:
            yield name, mind.store.document(name) or b""


def _every_file(mind: Mind) -> Iterator[tuple[str, Path]]:
    for path in sorted(mind.store.local.rglob("*")):
        if path.is_file():
            yield path.relative_to(mind.store.local).as_posix(), path
    for path in sorted(Path(tempfile.gettempdir()).glob(REPORTS)):
        if _own(path):  # the folder may be everybody's: no pipe of a stranger's may hold us up, no link lead us astray
            yield str(path), path


def _own(path: Path) -> bool:
    """Whether a path is a file of the user's own, and no link."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and (not hasattr(os, "getuid") or status.st_uid == os.getuid())


def _unpacked(name: str, data: bytes) -> list[tuple[str, bytes]]:
    """A file as its name and bytes; a zip, such as an export left in the folder, as those of what it holds."""
    if not name.endswith(".zip"):
        return [(name, data)]
    import io
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if not zips.swells(packed.infolist(), len(data)):
                return [(part.filename, packed.read(part)) for part in packed.infolist()]
    except zips.UNSOUND:
        pass
    return [(name, data)]


def _sayings(name: str, data: bytes) -> Iterator[str]:
    """Every text in a file: the strings of its objects, and of what holds none all that its bytes may say."""
    if not name.endswith(".jsonl"):
        yield erasing.readings(data)[-1]
        return
    for raw, obj in ledger.objects(data):
        yield from erasing.readings(raw)[-1:] if obj is None else _strings(obj)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for key, item in value.items() for text in (key, *_strings(item)))
    elif isinstance(value, list | tuple):
        yield from (text for item in value for text in _strings(item))
