"""One mind's folder: the six ledgers, the side ledgers and the settings file, as records and objects.

Reads give `(records, damages)` and never raise for a bad line. Appends take the id under the ledger's lock, so that two
writers never share one. Knows nothing of indexes: a caller that has one may pass `Marks`, and only new bytes are read.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebula import clock, private, reasons
from nebula.errors import LedgerUnusable, SettingsUnusable, StoresDiffer, WriteFailed
from nebula.mindlib import changes as changes_module
from nebula.mindlib import files, ledger, prefix
from nebula.mindlib.record import (
    BY_NAME,
    FAR,
    MAX_ID,
    Apart,
    Memory,
    derived_uid,
    following,
    from_object,
    is_tombstone,
    reason_unreadable,
    split_ref,
    to_object,
)
from nebula.quick import dataclass
from nebula.reasons import because

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    #: Texts -> one array of vectors each.
    Embed = Callable[[Sequence[str]], list[Any]]

    from nebula.mindlib.erasing import Cover
    from nebula.mindlib.ledger import Damage, Line, Scan

CHANGES = "changes.jsonl"
CAPTURED = "captured.jsonl"
TAGS = "tags.jsonl"
CONFIG = "mind-config.json"
INDEX = ".index"
#: What was shown lately, by whom it may be named or known again; deleting it forgets no memory.
RECENT = ".recent"
HANDED_OUT = f"{RECENT}/handed-out.jsonl"
#: What is being erased; it lies there only while that is under way.
ERASING = ".erase.json"
#: What is being moved; it lies there only while that is under way.
MOVING = ".moving.json"
#: Every append-only file of a mind; doctor looks at them all.
SIDE_LEDGERS = (CHANGES, "mood.jsonl", TAGS, CAPTURED, "longterm.history.jsonl")
#: What is laid over the memories' own lines.
FOLDED = (CHANGES, CAPTURED)
#: Bytes at the end of a side ledger that are recent: of tags far more than two hours hold.
RECENT_BYTES = 256 * 1024
#: Lines that are copied at a time.
CHUNK = 5_000


@dataclass(frozen=True)
class Marks:
    """What an index has consumed: per file its length and tail hash, per ledger the id that comes next."""

    consumed: Mapping[str, int] = field(default_factory=dict)
    tails: Mapping[str, str] = field(default_factory=dict)
    next_id: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """Every memory of a mind as it stands, in file order, ledger after ledger, with the damages met."""

    memories: list[Memory]
    damages: list[Damage]


class Namer:
    """Gives every line of one ledger, in file order, its uid and tells repeated ids (spec 1).

    A reader that begins after the ledger's start says which ids and derived uids the lines before have taken.
    """

    def __init__(
        self,
        kind: str,
        id_taken: Callable[[int], bool] = lambda _: False,
        uid_taken: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self.kind = kind
        self.id_taken = id_taken
        self.uid_taken = uid_taken
        self.ids: set[int] = set()
        self.seen: Counter[tuple[str, str]] = Counter()

    def memory(self, obj: Mapping[str, Any]) -> Memory | None:
        """The memory of the next line, by its own line alone; None for one that was erased, whose id stays taken."""
        number = obj["id"]
        repeated = number in self.ids or self.id_taken(number)
        self.ids.add(number)
        if is_tombstone(obj):
            return None
        return from_object(self.kind, obj, repeated=repeated, uid="" if obj.get("uid") else self._derived(obj))

    def _derived(self, obj: Mapping[str, Any]) -> str:
        """Occurrences count among the lines that carry no uid themselves."""
        key = (str(obj.get("at", "")), obj["text"])
        while True:
            uid = derived_uid(self.kind, *key, self.seen[key])
            self.seen[key] += 1
            if not self.uid_taken(uid):
                return uid


class Store:
    """The folder of one mind. Holds no state but the path: other processes write here too.

    An erase that is begun holds for every read (see erasing), wherever the disk stands with it; writes go to the files.
    """

    #: Whether the ledgers are files of a folder.
    in_folder = True

    def __init__(self, folder: Path, lock_timeout: float = files.LOCK_TIMEOUT, *, bare: bool = False) -> None:
        """`bare` reads what lies there, what an erase that is begun will take too; else reads are without that."""
        self._folder = Path(folder)
        self.lock_timeout = lock_timeout
        self._bare = bare
        self._cover: tuple[tuple[int, int, int], Cover] | None = None

    @property
    def folder(self) -> Path:
        """Where the ledgers lie."""
        return self._folder

    @property
    def local(self) -> Path:
        """A folder of this machine for what is derived or only helps, and may be deleted at any time."""
        return self._folder

    def named(self, name: str) -> str:
        """What a person is told of a file of the mind: its path."""
        return str(self.path(name))

    def path(self, name: str) -> Path:
        """The file of a ledger (`notes`) or of any name in the folder (`changes.jsonl`)."""
        return self.folder / _file(name)

    def cover(self) -> Cover | None:
        """What lies over the files while an erase is begun and not over. Raises LedgerUnusable."""
        if self._bare or not (self._folder / ERASING).exists():
            return None
        from nebula.mindlib import erasing

        stamp = files.stamp(self._folder / ERASING)
        if self._cover is None or self._cover[0] != stamp:
            job = erasing.pending(self._folder / ERASING)
            if job is None:  # over meanwhile
                return None
            self._cover = stamp, erasing.Cover(job)
        return self._cover[1]

    def contents(self, name: str, start: int = 0, limit: int | None = None) -> bytes:
        """A file's bytes from `start`, at most `limit`; empty where it is absent. Raises LedgerUnusable."""
        over, path = self.cover(), self.path(name)
        if over is None:
            return files.read(path, start, limit)
        data = over.read(_file(name), path)[start:]
        return data if limit is None else data[:limit]

    def scan(self, name: str, start: int = 0, limit: int | None = None) -> Scan:
        """The lines of one ledger from a byte offset, some `limit` bytes of them (one line at least).

        Raises LedgerUnusable where the name is no readable file.
        """
        return self._scanned(name, self._stretch(name, start, limit), start)

    def scan_on(self, name: str, start: int, before: str, limit: int | None = None) -> tuple[Scan, str]:
        """As `scan`, with the hash of all up to where it consumed; `before`: that of what lies before `start`.

        No hash ("") while an erase lies over the file.
        """
        data = self._stretch(name, start, limit)
        found = self._scanned(name, data, start)
        if self.cover() is not None:
            return found, ""
        return found, prefix.longer(self.path(name), before, start, data[: max(0, found.consumed - start)])

    def _stretch(self, name: str, start: int, limit: int | None) -> bytes:
        data = self.contents(name, start, limit)
        if limit is not None and len(data) == limit:
            data = data[: data.rfind(b"\n") + 1] or self.contents(name, start)
        return data

    def _scanned(self, name: str, data: bytes, start: int) -> Scan:
        reason = reason_unreadable if name in BY_NAME else None
        return ledger.scan(self.path(name), data, base=start, reason_unreadable=reason)

    def events(self, name: str) -> list[dict[str, Any]]:
        """The lines of a side ledger, each without fields of the wrong type. Raises LedgerUnusable."""
        return [changes_module.sound(line.obj) for line in self.scan(name).lines]

    def read(self, kind: str) -> Reading:
        """One ledger's memories, each by its own line alone."""
        found = self.scan(kind)
        namer = Namer(kind)
        named = (namer.memory(line.obj) for line in found.lines)
        return Reading([memory for memory in named if memory is not None], found.damages)

    def read_apart(self) -> list[Memory]:
        """Every memory as it stands, each under a uid that no other line of its ledger has (see record.Apart)."""
        apart = {kind: Apart(str(obj["uid"]) for obj in self.erased(kind) if obj.get("uid")) for kind in BY_NAME}
        return [apart[memory.ledger].named(memory) for memory in self.read_all().memories]

    def erased(self, kind: str) -> list[dict[str, Any]]:
        """The tombstones of a ledger."""
        return [line.obj for line in self.scan(kind).lines if is_tombstone(line.obj)]

    def read_all(self, until: str = "", kinds: Sequence[str] = tuple(BY_NAME)) -> Reading:
        """All six ledgers (or some) with the changes folded in; `until` (a ledger time) gives the mind as of then."""
        readings = [self.read(kind) for kind in kinds]
        changed = [self.scan(name) for name in FOLDED]
        latest = clock.seconds(clock.read("until", until)) if until else None
        deltas = changes_module.fold((line.obj for found in changed for line in found.lines), until)
        memories = [
            changes_module.apply(memory, deltas.get(memory.ref))
            for reading in readings
            for memory in reading.memories
            if latest is None or memory.seconds <= latest
        ]
        damages = [damage for reading in readings for damage in reading.damages]
        return Reading(memories, damages + [damage for found in changed for damage in found.damages])

    def append(
        self,
        kind: str,
        drafts: Sequence[Memory],
        marks: Marks | None = None,
        finish: Callable[[list[Memory]], list[Memory]] = list,
    ) -> list[Memory]:
        """Write memories durably, in one call; return them as written.

        Ids are given here; a draft that has one keeps it where it is above all that the ledger knows. `finish` sees
        them with their ids before they are written. Where a program without our lock wrote one of the ids in between,
        ours is the repeated one. Raises WriteFailed, LockedTooLong, BadValue; then nothing was written.
        """
        files.make_folder(self.folder)
        with files.appending(self.path(kind), self.lock_timeout) as file:
            first = self._next_id(kind, file, marks or Marks())
            ids = allotted(first, [draft.id for draft in drafts])
            if max(ids, default=0) > MAX_ID:  # a reader would pass over them
                raise WriteFailed(file.path, f"id > {MAX_ID}")
            written = finish([replace(d, ledger=kind, id=i) for d, i in zip(drafts, ids, strict=True)])
            known = file.size
            end = file.append(ledger.dump(to_object(memory) for memory in written))
            passed = _ids(file, known, end) if end > known + 1 else set()
        return [replace(memory, repeated=True) if memory.id in passed else memory for memory in written]

    def append_lines(self, name: str, objects: Iterable[Mapping[str, Any]], *, durable: bool) -> None:
        """Append objects to a side ledger; counters may go unsynced (reliability 3.1)."""
        files.make_folder(self.folder)
        with files.appending(self.path(name), self.lock_timeout) as file:
            file.append(ledger.dump(objects), durable=durable)

    def stamp(self, name: str) -> tuple[int, int, int]:
        """Where a ledger ends, and two numbers more that tell another file of the same size; zeros where it is absent.

        In a file that is a byte offset, its time in ns and its inode.
        """
        size, time, inode = files.stamp(self.path(name))
        return (size if self.cover() is None else len(self.contents(name))), time, inode

    def tail(self, name: str, end: int) -> str:
        """A hash of what stands just before `end` in a ledger: another one where that was edited."""
        if self.cover() is None:
            return files.tail_fingerprint(self.path(name), end)
        start = max(0, end - files.TAIL)
        return files.fingerprint(self.contents(name, start, end - start))

    def whole(self, name: str, end: int) -> str:
        """A hash of all that stands before `end` in a ledger, as `scan_on` gives it; "" where none is kept."""
        return prefix.whole(self.path(name), end) if self.cover() is None else ""

    def line(self, name: str, offset: int, length: int) -> bytes:
        """The line of a ledger that a scan found at an offset; less or other bytes where it is no longer there."""
        if self.cover() is None:
            return files.read_span(self.path(name), offset, length)
        return self.contents(name, offset, length)

    def end_of(self, line: Line) -> int:
        """Where a scanned line ends: what was read up to there is consumed."""
        return line.offset + line.length

    def recent(self, name: str) -> list[dict[str, Any]]:
        """The objects of a side ledger's last lines, some two thousand, each without fields of the wrong type."""
        path = self.path(name)
        start = max(0, self.stamp(name)[0] - RECENT_BYTES)
        return [
            changes_module.sound(line.obj) for line in ledger.scan(path, self.contents(name, start), base=start).lines
        ]

    def chunks(self, name: str, start: int = 0, size: int = CHUNK) -> Iterator[list[bytes]]:
        """The lines of a ledger from the start-th on as they lie there, damaged ones too, without their newlines."""
        lines = [line.removesuffix(b"\n") for line in ledger.split(self.contents(name))]
        for at in range(start, len(lines), size):
            yield lines[at : at + size]

    def append_chunks(self, name: str, chunks: Iterable[list[bytes]], start: int) -> int:
        """Append lines as another store holds them, the first as the start-th; -> how many.

        Raises StoresDiffer where the ledger ends elsewhere, and what append raises.
        """
        path = self.path(name)
        files.make_folder(path.parent)
        done = 0
        with files.appending(path, self.lock_timeout) as file:
            if len(ledger.split(file.read())) != start:
                raise StoresDiffer(self.named(name), start + 1)
            for lines in chunks:
                file.append(b"".join(line + b"\n" for line in lines))
                done += len(lines)
        return done

    def document(self, name: str) -> bytes | None:
        """What is replaced as a whole, such as the settings; None where there is none. Raises LedgerUnusable."""
        path = self.path(name)
        return self.contents(name) if path.exists() else None

    def put_document(self, name: str, body: bytes) -> None:
        """Replace a document. Raises WriteFailed."""
        files.make_folder(self.folder)
        files.replace(self.path(name), body)

    def lent(self, model: str, dimensions: int, embed: Embed) -> Embed:
        """How texts get their vectors where other hosts lend those that they made with the encoder `model`."""
        return embed

    def share(self, model: str, index: Path) -> int:
        """Lend the vectors of an index folder to other hosts; -> of how many texts."""
        return 0

    def telling(self, name: str, keys: Sequence[bytes], *, first: bool = False) -> list[dict[str, Any]]:
        """As `events`, of the lines that hold one of some byte strings; the many others are not even parsed.

        With `first` none at all where no line holds the first of them.
        """
        path = self.path(name)
        data = self.contents(name)
        spans = set()
        for key in keys:
            at = data.find(key)
            while at >= 0:
                end = data.find(b"\n", at) % (len(data) + 1)
                spans.add((data.rfind(b"\n", 0, at) + 1, end))
                at = data.find(key, end)
            if first and not spans:
                return []
        found = ledger.scan(path, b"\n".join(data[a:b] for a, b in sorted(spans)))
        return [changes_module.sound(line.obj) for line in found.lines]

    def lock(self, name: str) -> AbstractContextManager[None]:
        """Hold a lock of that name over several operations. Raises LockedTooLong, WriteFailed."""
        files.make_folder(self.folder)
        return files.job_lock(self.folder / name, self.lock_timeout)

    def _next_id(self, kind: str, file: files.Appender, marks: Marks) -> int:
        if marks.next_id.get(kind, 1) >= FAR:  # not the highest of the nearer ids
            marks = Marks()
        start = self._still_there(BY_NAME[kind].file, file.size, marks)
        remembered = marks.next_id.get(kind, 1) - 1
        return following([remembered, self._highest_changed(kind, marks), *_ids(file, start, file.size)])

    def _highest_changed(self, kind: str, marks: Marks) -> int:
        return max(self._highest_in(name, kind, marks) for name in FOLDED)

    def _highest_in(self, name: str, kind: str, marks: Marks) -> int:
        path = self.path(name)
        size = path.stat().st_size if path.is_file() else 0
        start = self._still_there(name, size, marks)
        found = ledger.scan(path, files.read(path, start), base=start) if size > start else None
        return highest_ref(kind, (line.obj for line in found.lines)) if found else 0

    def _still_there(self, file: str, size: int, marks: Marks) -> int:
        """From where a file has to be read: after what the marks consumed, or all of it where it was edited."""
        consumed = marks.consumed.get(file, 0)
        if not consumed or size < consumed:
            return 0
        return consumed if files.tail_fingerprint(self.folder / file, consumed) == marks.tails.get(file) else 0

    def config(self) -> dict[str, Any]:
        """The settings file's object, {} where there is none. Raises SettingsUnusable where it is no JSON object."""
        import orjson

        path = self.path(CONFIG)
        try:
            if not path.exists():
                return {}
            obj = orjson.loads(files.read(path).removeprefix(ledger.BOM))
        except (LedgerUnusable, OSError) as error:
            raise SettingsUnusable(path, "-", reasons.of(error)) from error
        except orjson.JSONDecodeError as error:
            raise SettingsUnusable(path, "-", reasons.of(error)) from error
        if not isinstance(obj, dict):
            raise SettingsUnusable(path, "-", because("no_object"))
        return obj

    def change_config(self, changes: Mapping[str, object]) -> None:
        """Set dotted keys in the settings file (None removes one), under a lock, keeping every other key."""
        import orjson

        files.make_folder(self.folder)
        with files.job_lock(self.folder / f".{CONFIG}.lock", self.lock_timeout):
            obj = self.config()
            for key, value in changes.items():
                put(obj, key, private.strip_all(value))
            files.replace(self.path(CONFIG), orjson.dumps(obj, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))

    def check_writable(self) -> None:
        """Write and remove a small file. Raises WriteFailed."""
        probe = self.folder / ".write-test"
        files.replace(probe, b"", durable=False)
        try:
            probe.unlink()
        except OSError as error:
            raise WriteFailed(probe, reasons.of(error)) from error


def _ids(file: files.Appender, start: int, end: int) -> set[int]:
    """The ids of a held ledger's lines from byte `start` to `end`."""
    data = file.read(start)[: end - start]
    found = ledger.scan(file.path, data, base=start, reason_unreadable=reason_unreadable)
    return {line.obj["id"] for line in found.lines}


def _file(name: str) -> str:
    return BY_NAME[name].file if name in BY_NAME else name


def allotted(first: int, wished: Sequence[int]) -> list[int]:
    """An id for each: the wished one where it is not below `first` and not taken, else the next that is free."""
    kept = {number for number in wished if number >= first}
    free = max(kept, default=first - 1) + 1
    ids = []
    for number in wished:
        if number in kept:
            kept.discard(number)
            ids.append(number)
        else:
            ids.append(free)
            free += 1
    return ids


def put(obj: dict[str, Any], key: str, value: object) -> None:
    """Set a dotted key of the settings file's object, in place; None removes it."""
    section, _, name = key.partition(".")
    target = obj
    if name:
        if not isinstance(obj.get(section), dict):
            obj[section] = {}
        target = obj[section]
    if value is None:
        target.pop(name or section, None)
        if name and not target:
            del obj[section]
    else:
        target[name or section] = value


def highest_ref(kind: str, changes: Iterable[Mapping[str, Any]]) -> int:
    """The highest id of a ledger that any change mentions, but for those far off; 0 where none does."""
    highest = 0
    for line in changes:
        hits = line.get("hit")
        for ref in [line.get("ref"), *(hits if isinstance(hits, list) else [])]:
            split = split_ref(ref) if isinstance(ref, str) else None
            if split and split[0] == kind and split[1] < FAR:
                highest = max(highest, split[1])
    return highest
