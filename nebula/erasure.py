"""How something is erased: a job that is written down first, done step by step, and taken away last.

`.erase.json` holds what is to go until all of it has gone; cut short, the next command that opens the mind does every
step once more, and each does nothing where it was done. Lines are replaced in a new file that takes the old one's name
under its lock. What the disk itself keeps of freed blocks is beyond a program's reach.
"""

from __future__ import annotations

import contextlib
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from nebula import origins, seals
from nebula.errors import LedgerUnusable
from nebula.mindlib import chain, changes, files, ledger
from nebula.mindlib.record import BY_NAME, reason_unreadable, tombstone
from nebula.mindlib.store import CAPTURED, CHANGES, ERASING, HANDED_OUT, INDEX, SIDE_LEDGERS, TAGS, Namer
from nebula.text import quotes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from nebula.mindlib.store import Store
    from nebula.text.quotes import Sought

    #: A file's bytes -> its lines, each as it is and as it becomes.
    Lines = Callable[[bytes], list[tuple[bytes, bytes]]]

LOCK = ".erase.lock"
#: Held throughout, in this order: whoever works on the mind as a whole waits, or is waited for.
LOCKS = (LOCK, ".consolidate.lock", ".longterm.lock", ".mood.lock", ".capture.lock")
#: Whole files with words of people in them: those that are cut, and those that are derived and made again.
WRITTEN = ("longterm.md", "consolidate.log")
DERIVED = ("mood-state.json", "星图.html")
QUARANTINE = "quarantine"
WHY = "erase"


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


def begin(store: Store, job: Job) -> None:
    """Write a job down and do it. Raises WriteFailed, LockedTooLong; once written down, `finish` does the rest."""
    import orjson

    files.make_folder(store.folder)
    with _held(store):
        earlier = _pending(store.folder / ERASING)
        if earlier is not None:  # cut short since this mind was opened
            _carry_out(store, earlier)
        files.replace(store.folder / ERASING, orjson.dumps(asdict(job)))
        _carry_out(store, job)


def finish(store: Store) -> bool:
    """Finish a job that was cut short; -> whether there was one. Raises WriteFailed, LockedTooLong, LedgerUnusable."""
    if not (store.folder / ERASING).exists():
        return False
    with _held(store):
        job = _pending(store.folder / ERASING)
        if job is not None:  # another may have finished it while we waited
            _carry_out(store, job)
    return True


def _pending(path: Path) -> Job | None:
    import orjson

    if not path.exists():
        return None
    try:
        return Job(**orjson.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise LedgerUnusable(path, str(error)) from error


@contextlib.contextmanager
def _held(store: Store) -> Any:
    with ExitStack() as stack:
        for name in LOCKS:
            stack.enter_context(files.job_lock(store.folder / name, store.lock_timeout))
        yield


def _carry_out(store: Store, job: Job) -> None:
    wanted, timeout, under = job.sought, store.lock_timeout, seals.key(create=True)
    names = origins.uids(store.read_all().memories)
    steps: dict[str, Lines] = {k.file: partial(_ledger_lines, k.name, job, wanted, under) for k in BY_NAME.values()}
    steps |= {name: partial(_side_lines, name, job, wanted, _Sealing(under, names)) for name in SIDE_LEDGERS}
    chain.amend(store.folder, lambda name, then: _rechained(store, steps, name, then), job.at, WHY, timeout)
    for name, lines in steps.items():
        files.rewrite(store.path(name), partial(_joined, lines), timeout)
    _release(store, job)
    _seal_notes(store, job, wanted, under)
    _whole_files(store.folder, wanted, timeout)
    _purge_index(store, job)
    store.path(HANDED_OUT).unlink(missing_ok=True)
    (store.folder / ERASING).unlink(missing_ok=True)
    files.sync_folder(store.folder)


def _rechained(store: Store, steps: Mapping[str, Lines], name: str, then: Sequence[str]) -> list[str]:
    """A file's chained digests, those of lines that change or go replaced or left out."""
    if name not in steps:
        return list(then)
    moved = {
        chain.digest(old): chain.digest(new) if new else ""
        for old, new in steps[name](files.read(store.path(name)))
        if old != new
    }
    return [now for one in then if (now := moved.get(one, one))]


def _joined(lines: Lines, data: bytes) -> bytes:
    return b"".join(new for _, new in lines(data))


# lines: (as it is, as it becomes; b"" where it goes)


def _ledger_lines(kind: str, job: Job, wanted: Sought, under: bytes, data: bytes) -> list[tuple[bytes, bytes]]:
    """A ledger's lines: memories that go become tombstones, other memories stay, broken lines that quote go."""
    namer, uids = Namer(kind), set(job.uids)
    lines = []
    for raw, obj in ledger.objects(data):
        if obj is None or reason_unreadable(obj) is not None:
            lines.append((raw, _broken(raw, wanted)))
            continue
        memory = namer.memory(obj)
        if memory is None or memory.uid not in uids:
            lines.append((raw, raw))
            continue
        lines.append((raw, ledger.dump([tombstone(memory.id, job.at, *seals.of_memory(under, memory, obj))])))
    return lines


@dataclass(frozen=True)
class _Sealing:
    """What seals a line that is cut, so that what it was is known when it comes again: the key, uids by name."""

    under: bytes
    names: Mapping[str, str]

    def sealed(self, origin: str, line: Mapping[str, Any], was: Mapping[str, Any]) -> dict[str, Any]:
        """A line as it is left, with the seals of what it was."""
        told: dict[str, Any] = {origins.ORIGIN: seals.seal(self.under, origin)}
        if isinstance(text := was.get("text"), str):  # a text that may come as the long-term notes
            told[seals.SEALS] = [seals.seal(self.under, origins.of_text(text))]
        return {**line, **told} if self.under else dict(line)


def _side_lines(name: str, job: Job, wanted: Sought, sealing: _Sealing, data: bytes) -> list[tuple[bytes, bytes]]:
    """A side ledger's lines: what speaks of a ref that goes, goes; quotes are cut out of all others."""
    gone = {*job.refs, *job.uids}
    lines = []
    read = ledger.objects(data)
    origin = origins.of_lines((obj for _, obj in read if obj is not None), sealing.names)
    for raw, obj in read:
        if obj is None:
            lines.append((raw, _broken(raw, wanted)))
            continue
        was = next(origin)[0]
        kept = _left(obj, gone) if name in (CHANGES, TAGS, CAPTURED) else obj
        cut = _cut(kept, wanted) if kept is not None else None
        if cut is not None and cut != kept:
            cut = sealing.sealed(was, cut, obj)
        lines.append((raw, raw if cut == obj else ledger.dump([cut]) if cut else b""))
    return lines


def _left(obj: dict[str, Any], gone: set[str]) -> dict[str, Any] | None:
    """A line without the refs that go; None where it spoke of nothing else."""
    if obj.get("ref") in gone:
        return None
    hits = obj.get("hit")
    if not isinstance(hits, list):
        return obj
    kept = [ref for ref in hits if ref not in gone]
    return {**obj, "hit": kept} if kept else None


def _cut(value: Any, wanted: Sought) -> Any:
    """A value with quotes cut out of every text in it."""
    if isinstance(value, str):
        return quotes.cut(wanted, value)
    if isinstance(value, list):
        return [_cut(item, wanted) for item in value]
    if isinstance(value, dict):
        return {quotes.cut(wanted, key): _cut(item, wanted) for key, item in value.items()}
    return value


def _broken(raw: bytes, wanted: Sought) -> bytes:
    """A line that can't be read stays where it is, unless what must go can be read in it."""
    return b"" if any(quotes.find(wanted, text) for text in readings(raw)) else raw


def readings(raw: bytes) -> list[str]:
    """What bytes may say: as UTF-8, and with JSON's escapes resolved."""
    import re

    text = raw.decode("utf-8", "replace")
    if "\\" not in text:
        return [text]
    simple = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

    def resolved(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) if found[1] else simple.get(found[2], found[2])

    joined = re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.))", resolved, text, flags=re.DOTALL)
    return [text, joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")]


# what is not lines


def _release(store: Store, job: Job) -> None:
    """Notes that an erased summary covered are free for the next night to digest."""
    gone = set(job.summaries)
    bound = [m.ref for m in store.read_all(kinds=["notes"]).memories if m.ref in job.released and m.summarised in gone]
    if bound:
        lines = [changes.set_line(job.at, ref, {"summarised": ""}, WHY) for ref in bound]
        store.append_lines(CHANGES, lines, durable=True)


def _seal_notes(store: Store, job: Job, wanted: Sought, under: bytes) -> None:
    """Where the long-term notes will be cut, leave the seal of what they are in their history."""
    text = files.read(store.folder / WRITTEN[0]).decode("utf-8-sig", "replace")
    sealed = seals.seal(under, origins.of_text(text))
    if sealed and quotes.find(wanted, text) and sealed not in seals.stones(store).seals:
        line = {"at": job.at, "erased": True, seals.SEALS: [sealed]}
        store.append_lines(SIDE_LEDGERS[-1], [line], durable=True)


def _whole_files(folder: Path, wanted: Sought, timeout: float) -> None:
    for name in WRITTEN:
        files.rewrite(folder / name, partial(_cut_text, wanted), timeout)
    for path in sorted((folder / QUARANTINE).glob("*")) if (folder / QUARANTINE).is_dir() else []:
        files.rewrite(path, lambda data: b"".join(_broken(raw, wanted) for raw in ledger.split(data)), timeout)
    for path in [*(folder / name for name in DERIVED), *folder.glob(".*.tmp")]:
        if path.is_file() and any(quotes.find(wanted, text) for text in readings(path.read_bytes())):
            path.unlink(missing_ok=True)


def _cut_text(wanted: Sought, data: bytes) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    return quotes.cut(wanted, text).encode("utf-8", "surrogateescape")


def _purge_index(store: Store, job: Job) -> None:
    """Take the texts' vectors out of every index and leave its rows to be read anew; without numpy take it away."""
    from nebula.index import has_numpy

    index = store.folder / INDEX
    if not index.is_dir():
        return
    if not has_numpy():
        import shutil

        shutil.rmtree(index, ignore_errors=True)
        return
    from nebula.index import cache

    for folder in sorted(path for path in index.iterdir() if path.is_dir()):
        cache.purge(folder, [*job.texts, *job.digests], store.lock_timeout)
