"""Taking over another mind's folder, the original's or one of ours, without touching it and without doubles.

Every record keeps its fields, its time and its uid (one that carries none gets the uid that a reader derives), so
that importing twice, or once more after a kill, adds only what is missing. Ids are kept where the ledger here is
still below them; refs in records and side ledgers follow. Runs are renamed: no undo here reaches what was done there.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nebula import clock, longterm
from nebula.errors import FileUnusable, SettingsUnusable, WrongUsage
from nebula.mind import has_numpy
from nebula.mindlib import files
from nebula.mindlib.record import LEDGERS
from nebula.mindlib.store import CAPTURED, CHANGES, CONFIG, SIDE_LEDGERS, TAGS, Store
from nebula.settings import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from nebula.mind import Mind
    from nebula.mindlib.ledger import Damage
    from nebula.mindlib.record import Memory
    from nebula.results import Notice

#: Fields of a record that name other records.
REF_FIELDS = ("supersedes", "echo_of", "summarised")
#: Marks a line of a side ledger that came from elsewhere, by a hash of what it says.
ORIGIN = "from"
ADDED, KEPT, ABSENT, UNUSABLE = "added", "kept", "absent", "unusable"


@dataclass(frozen=True)
class Imported:
    """What an import did, or would do: records and lines added and already here, damages, and the two whole files."""

    records: Mapping[str, int]
    here: int
    lines: Mapping[str, int]
    damages: Sequence[Damage]
    longterm: str
    settings: str
    vectors: int = 0
    notices: Sequence[Notice] = ()


@dataclass
class _Source:
    """A folder as read: memories by ledger, lines by side ledger, damages."""

    store: Store
    memories: dict[str, list[Memory]] = field(default_factory=dict)
    lines: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    damages: list[Damage] = field(default_factory=list)


def import_folder(
    mind: Mind, folder: Path, *, dry_run: bool = False, progress: Callable[[int, int], None] | None = None
) -> Imported:
    """Take over the mind in `folder`. With `dry_run` nothing is written and the counts are what would be.

    Raises FileUnusable where no mind lies there, WrongUsage for this mind itself, WriteFailed, LockedTooLong.
    """
    source = _read(mind, folder)
    here = {memory.uid: memory.ref for memory in mind.store.read_all().memories}
    fresh = {kind: [m for m in found if m.uid not in here] for kind, found in source.memories.items()}
    records = {kind: len(found) for kind, found in fresh.items() if found}
    known = sum(map(len, source.memories.values())) - sum(records.values())
    uids = {memory.ref: memory.uid for found in source.memories.values() for memory in found}
    if dry_run:
        lines = {name: len(list(_missing(mind, source, name, uids))) for name in source.lines}
        return Imported(records, known, _some(lines), source.damages, *_files(mind, source, write=False))
    vectors = _adopt(mind, source.store) if records else 0
    run = clock.stamp("cmd")
    for kind, found in fresh.items():
        if found:
            here |= {memory.uid: memory.ref for memory in _write(mind, kind, found, uids, here, run)}
    refs = {ref: here[uid] for ref, uid in uids.items()}
    lines = {name: _write_lines(mind, source, name, uids, refs) for name in source.lines}
    settled = _files(mind, source, write=True)
    return Imported(records, known, _some(lines), source.damages, *settled, vectors, mind.follow(progress=progress)[1])


def _read(mind: Mind, folder: Path) -> _Source:
    store = Store(folder)
    if not folder.is_dir():
        raise FileUnusable(folder, "no folder")
    if folder.resolve() == mind.folder.resolve():
        raise WrongUsage(f"import {folder}")
    if not any(store.path(kind.name).is_file() for kind in LEDGERS):
        raise FileUnusable(folder, f"no {LEDGERS[0].file} …")
    source = _Source(store)
    for kind in LEDGERS:
        reading = store.read(kind.name)
        source.memories[kind.name] = reading.memories
        source.damages += reading.damages
    for name in SIDE_LEDGERS:
        found = store.scan(name)
        source.lines[name] = [line.obj for line in found.lines]
        source.damages += found.damages
    return source


def _some(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


# records


def _write(
    mind: Mind, kind: str, found: Sequence[Memory], uids: Mapping[str, str], here: Mapping[str, str], run: str
) -> list[Memory]:
    """Append one ledger's records; refs among them follow once the ids are given."""
    drafts = [replace(m, by=m.by or "import", run=run, id=0 if m.repeated else m.id, repeated=False) for m in found]

    def follow(written: list[Memory]) -> list[Memory]:
        now = {**here, **{memory.uid: memory.ref for memory in written}}
        return [_moved(memory, lambda ref: now.get(uids.get(ref, ""), ref)) for memory in written]

    return mind.store.append(kind, drafts, finish=follow)


def _moved(memory: Memory, to: Callable[[str], str]) -> Memory:
    refs: dict[str, Any] = {name: to(value) for name in REF_FIELDS if (value := getattr(memory, name))}
    return replace(memory, covers=tuple(to(ref) for ref in memory.covers), **refs)


# side ledgers


def _missing(mind: Mind, source: _Source, name: str, uids: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(origin, line) of each line that is not here yet; told by what it says with uids for refs, and how often."""
    here = {line.obj.get(ORIGIN) for line in mind.store.scan(name).lines}
    seen: Counter[str] = Counter()
    for line in source.lines[name]:
        said = repr(sorted(_with_refs(line, lambda ref: uids.get(ref, ref)).items()))
        origin = hashlib.blake2b(f"{said}\x1f{seen[said]}".encode("utf-8", "replace"), digest_size=8).hexdigest()
        seen[said] += 1
        if origin not in here:
            yield origin, line


def _write_lines(mind: Mind, source: _Source, name: str, uids: Mapping[str, str], refs: Mapping[str, str]) -> int:
    lines = []
    for origin, line in _missing(mind, source, name, uids):
        moved = _with_refs(line, lambda ref: refs.get(ref, ref)) if name in {CHANGES, CAPTURED, TAGS} else dict(line)
        for key in ("run", "undo"):
            if isinstance(moved.get(key), str):
                moved[key] = f"import-{moved[key]}"
        lines.append({**moved, ORIGIN: origin})
    if lines:
        mind.store.append_lines(name, lines, durable=True)
    return len(lines)


def _with_refs(line: Mapping[str, Any], to: Callable[[str], str]) -> dict[str, Any]:
    """A line with every ref in it put through `to`: `ref`, `by`, `hit`, and a set `summarised`."""
    moved = dict(line)
    for key in ("ref", "by"):
        if isinstance(moved.get(key), str):
            moved[key] = to(moved[key])
    if isinstance(moved.get("hit"), list):
        moved["hit"] = [to(ref) if isinstance(ref, str) else ref for ref in moved["hit"]]
    values = moved.get("set")
    if isinstance(values, dict) and isinstance(values.get("summarised"), str):
        moved["set"] = {**values, "summarised": to(values["summarised"])}
    return moved


# whole files and vectors


def _files(mind: Mind, source: _Source, *, write: bool) -> tuple[str, str]:
    """What happens to the long-term notes and to the settings: taken over only where there are none here."""
    return _longterm(mind, source, write=write), _settings(mind, source, write=write)


def _longterm(mind: Mind, source: _Source, *, write: bool) -> str:
    path = source.store.path(longterm.NAME)
    if not path.is_file():
        return ABSENT
    if longterm.read(mind):
        return KEPT
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return UNUSABLE
    if write:
        longterm.write(mind, text, "")
    return ADDED


def _settings(mind: Mind, source: _Source, *, write: bool) -> str:
    path = source.store.path(CONFIG)
    if not path.is_file():
        return ABSENT
    if mind.store.path(CONFIG).exists():
        return KEPT
    try:
        build(source.store.config())
    except SettingsUnusable:
        return UNUSABLE
    if write:
        files.make_folder(mind.folder)
        files.replace(mind.store.path(CONFIG), path.read_bytes())
    return ADDED


def _adopt(mind: Mind, store: Store) -> int:
    """Vectors of an index in the source that the same model made, for texts that are the same; -> how many."""
    return mind.adopt_vectors(store) if has_numpy() else 0
