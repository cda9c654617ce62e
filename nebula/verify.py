"""Whether every line is as it was written: the hash chain read, compared with the files, and extended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nebula import clock
from nebula.errors import LockedTooLong, WriteFailed
from nebula.mindlib import chain, files
from nebula.repair import ledgers
from nebula.results import Notice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nebula.mind import Mind
    from nebula.mindlib.chain import Fault

ACCEPTED = "accept"


@dataclass(frozen=True)
class Verified:
    """Lines that hold by file, lines chained now, lines that do not hold, lines of the chain itself that do not.

    `acts` are the changes on record: erasures, repairs, and edits that were accepted. `head` stands for all of it.
    """

    held: Mapping[str, int]
    fresh: Mapping[str, int]
    faults: Sequence[Fault]
    broken: Sequence[int]
    acts: Sequence[Mapping[str, Any]]
    head: str
    notices: Sequence[Notice] = ()

    @property
    def ok(self) -> bool:
        """Whether every chained line is as it was."""
        return not self.faults and not self.broken


def verify(mind: Mind, *, accept: bool = False) -> Verified:
    """Compare every ledger with the chain, then chain what came since.

    With `accept` what differs is taken as it now is, on record. A file that differs is not chained further. Raises
    LedgerUnusable; a folder that can't be written is a notice.
    """
    folder = mind.folder
    if accept:
        now = {name: chain.digests(files.read(folder / name)) for name in ledgers()}
        at = clock.write(mind.now())
        chain.amend(folder, now.get, at, ACCEPTED, mind.store.lock_timeout)
    fresh, notices = extend(mind)
    found = chain.read(folder)
    faults = [fault for name in found.digests for fault in chain.faults(found, name, files.read(folder / name))]
    bad = {fault.file for fault in faults}
    held = {name: len(lines) for name, lines in found.digests.items() if name not in bad}
    return Verified(held, fresh, faults, found.broken, found.acts, found.head, notices)


def extend(mind: Mind) -> tuple[dict[str, int], list[Notice]]:
    """Chain the lines that came since; -> lines by file. A folder that can't be written is a notice.

    In a database rights keep the lines as they are, and there is no chain.
    """
    if not mind.store.in_folder or not mind.folder.is_dir():
        return {}, []
    try:
        return chain.extend(mind.folder, ledgers(), clock.write(mind.now()), mind.store.lock_timeout), []
    except (WriteFailed, LockedTooLong) as error:
        return {}, [Notice("not_chained", {"reason": error.message})]
