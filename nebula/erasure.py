"""How something is erased: a job that is written down first, done step by step, and taken away last.

`.erase.json` holds what is to go until all of it has gone; cut short, the next command that opens the mind does every
step once more, and each does nothing where it was done. Where the disk refuses, reading goes on without what is to go
(see mindlib.erasing). Lines are replaced in a new file that takes the old one's name under its lock. What the disk
itself keeps of freed blocks is beyond a program's reach.
"""

from __future__ import annotations

import contextlib
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from nebula import origins, reasons, seals
from nebula.errors import EraseUnfinished, LedgerUnusable, LockedTooLong, WriteFailed
from nebula.mindlib import chain, erasing, files, held, quotes, scratch
from nebula.mindlib.erasing import QUARANTINE, WHY, WRITTEN, joined
from nebula.mindlib.record import BY_NAME
from nebula.mindlib.store import CHANGES, ERASING, HANDED_OUT, INDEX, SIDE_LEDGERS, Store
from nebula.results import Notice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nebula.mindlib.erasing import Job, Lines
    from nebula.mindlib.quotes import Sought
    from nebula.mindlib.record import Memory

LOCK = ".erase.lock"
#: Held throughout, in this order: whoever works on the mind as a whole waits, or is waited for.
LOCKS = (LOCK, ".consolidate.lock", ".longterm.lock", ".mood.lock", ".capture.lock")
#: Whole files with words of people in them that are derived and made again.
DERIVED = ("mood-state.json", "星图.html")


def begin(store: Store, job: Job) -> None:
    """Write a job down and do it. Raises WriteFailed, LockedTooLong: then nothing was done; EraseUnfinished.

    Once it is written down it holds for every reader, and `finish` does what is left.
    """
    import orjson

    if not store.in_folder:
        from nebula.postgres import erasing as of_rows
        from nebula.postgres.store import PostgresStore

        assert isinstance(store, PostgresStore)
        of_rows.erase(store, job)
        return
    files.make_folder(store.folder)
    with _held(store):
        earlier = erasing.pending(store.folder / ERASING)
        if earlier is not None:  # cut short since this mind was opened
            _carry_out(store, earlier)
        files.replace(store.folder / ERASING, orjson.dumps(asdict(job)))
        try:
            _carry_out(store, job)
        except WriteFailed as error:
            raise EraseUnfinished(str(error.facts["path"]), str(error.facts["reason"])) from error


def finish(store: Store) -> list[Notice]:
    """Finish a job that was cut short; -> a notice where the disk or another process does not let us.

    Raises LedgerUnusable where what is written down can't be read.
    """
    if erasing.pending(store.folder / ERASING) is None:
        return []
    try:
        with _held(store):
            job = erasing.pending(store.folder / ERASING)
            if job is not None:  # another may have finished it while we waited
                _carry_out(store, job)
    except (WriteFailed, LockedTooLong, LedgerUnusable) as error:
        return [Notice("erase_pending", {"reason": error.message})]
    return []


@contextlib.contextmanager
def _held(store: Store) -> Any:
    with ExitStack() as stack:
        for name in LOCKS:
            stack.enter_context(files.job_lock(store.folder / name, store.lock_timeout))
        yield


def _carry_out(store: Store, job: Job) -> None:
    store = Store(store.folder, store.lock_timeout, bare=True)
    wanted, timeout, under = job.sought, store.lock_timeout, seals.key(create=True)
    memories = store.read_apart()
    lines_of = steps(job, wanted, memories, under)
    chain.amend(store.folder, lambda name, then: _rechained(store, lines_of, name, then), job.at, WHY, timeout)
    for name, lines in lines_of.items():
        held.rewrite(store.path(name), partial(joined, lines), timeout)
    _release(store, job)
    _seal_notes(store, job, wanted, under)
    _whole_files(store.folder, wanted, timeout)
    _leavings(store.folder, wanted)
    purge_local(store, job)
    (store.folder / ERASING).unlink(missing_ok=True)
    files.sync_folder(store.folder)


def steps(job: Job, wanted: Sought, memories: Sequence[Memory], under: bytes) -> dict[str, Lines]:
    """Every ledger's file -> what becomes of its lines, sealed `under` the machine's key."""
    names = origins.uids(memories)
    found: dict[str, Lines] = {
        kind.file: erasing.ledger_lines(kind.name, job, wanted, partial(seals.of_memory, under))
        for kind in BY_NAME.values()
    }
    named, sealed = partial(origins.of_lines, names=names), partial(_sealed, under)
    return found | {name: erasing.side_lines(name, job, wanted, named, sealed) for name in SIDE_LEDGERS}


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


def _sealed(under: bytes, origin: str, line: Mapping[str, Any], was: Mapping[str, Any]) -> dict[str, Any]:
    """A line as it is left, with the seals of what it was, so that it is known when it comes again."""
    told: dict[str, Any] = {origins.ORIGIN: seals.seal(under, origin)}
    if isinstance(text := was.get("text"), str):  # a text that may come as the long-term notes
        told[seals.SEALS] = [seals.seal(under, origins.of_text(text))]
    return {**line, **told} if under else dict(line)


# what is not lines


def _release(store: Store, job: Job) -> None:
    """Notes that an erased summary covered are free for the next night to digest."""
    lines = erasing.freeing(job, store.events(CHANGES)) if job.released else []
    if lines:
        store.append_lines(CHANGES, lines, durable=True)


def _seal_notes(store: Store, job: Job, wanted: Sought, under: bytes) -> None:
    """Where the long-term notes will be cut, leave the seal of what they are in their history."""
    path = store.folder / WRITTEN[0]
    text = files.read(path).decode("utf-8-sig", "replace") if path.is_file() else ""
    sealed = seals.seal(under, origins.of_text(text))
    if sealed and quotes.find(wanted, text) and sealed not in seals.stones(store).seals:
        line = {"at": job.at, "erased": True, seals.SEALS: [sealed]}
        store.append_lines(SIDE_LEDGERS[-1], [line], durable=True)


def _whole_files(folder: Path, wanted: Sought, timeout: float) -> None:
    """Cut what is written as a whole; what is no file, such as a pipe in its place, has no text to be cut."""
    aside = sorted((folder / QUARANTINE).glob("*")) if (folder / QUARANTINE).is_dir() else []
    cuts = [(folder / name, erasing.cut_text) for name in WRITTEN] + [(path, erasing.without_quotes) for path in aside]
    for path, cut in cuts:
        if path.is_file():
            files.rewrite(path, partial(cut, wanted), timeout)
    for path in [*(folder / name for name in DERIVED), *folder.glob(".*.tmp")]:
        if path.is_file() and any(_tells(wanted, text) for text in erasing.readings(path.read_bytes())):
            path.unlink(missing_ok=True)


def _leavings(folder: Path, wanted: Sought) -> None:
    """Take away what killed commands left of this mind, where it tells of what goes; one in use stays, and is named."""
    for path in [*scratch.leavings(), *scratch.beside(folder)]:
        inside = (inner.read_bytes() for inner in path.rglob("*") if inner.is_file() and not inner.is_symlink())
        with contextlib.suppress(OSError):
            if any(_tells(wanted, text) for data in inside for text in erasing.readings(data)):
                scratch.remove(path)


def _tells(wanted: Sought, text: str) -> bool:
    """Whether what is made again from all texts has one that goes, however short it is."""
    return bool(quotes.find(wanted, text) or quotes.inside(wanted, text))


def purge_local(store: Store, job: Job) -> None:
    """Take out of what is derived on this machine what tells of a job's texts."""
    _purge_index(store.local / INDEX, job, store.lock_timeout)
    (store.local / HANDED_OUT).unlink(missing_ok=True)


def _purge_index(index: Path, job: Job, timeout: float) -> None:
    """Take the texts' vectors out of every index and leave its rows to be read anew; without numpy take it away."""
    from nebula.index import has_numpy

    if not index.is_dir():
        return
    if not has_numpy():
        import shutil

        shutil.rmtree(index, ignore_errors=True)
        return
    from nebula.index import cache

    try:
        folders = sorted(path for path in index.iterdir() if path.is_dir())
    except OSError as error:
        raise WriteFailed(index, reasons.of(error)) from error
    for folder in folders:
        cache.purge(folder, [*job.texts, *job.digests], timeout)
