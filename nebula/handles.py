"""Handles: `@1` names the first memory of what was last listed in this terminal, `@2` the second.

A list lies in the folder `.recent`, a small file a session, which may be deleted at any time: no ledger knows of it.
The session is a key that the door chooses; "" where there is none. An old list names nothing any more: whoever types
`@1` the next day means another.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from nebula import clock
from nebula.errors import BadHandle, LedgerUnusable, WriteFailed
from nebula.mindlib import files
from nebula.mindlib.store import RECENT
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

HANDLE = re.compile(r"@([1-9][0-9]{0,4})")
#: Handles of one list, sessions whose lists are kept, and hours after which a list is stale.
AT_MOST, SESSIONS, HOURS = 500, 32, 12


@dataclass(frozen=True)
class Listed:
    """What was last listed in a session: the command, when (a ledger time), and the refs in their order."""

    command: str
    at: str
    refs: Sequence[str]


def is_handle(text: str) -> bool:
    """Whether it has the form of a handle."""
    return HANDLE.fullmatch(text.strip()) is not None


def remember(folder: Path, session: str, command: str, now: datetime, refs: Sequence[str]) -> None:
    """Let handles name these refs from now on, in this session of this mind. Never raises, and creates no mind."""
    import orjson

    if not folder.is_dir():
        return
    document = {"command": command, "at": clock.write(now), "refs": list(refs[:AT_MOST])}
    with contextlib.suppress(WriteFailed, OSError):
        files.make_folder(folder / RECENT)
        path = _path(folder, session)
        is_new = not path.exists()
        files.replace(path, orjson.dumps(document), durable=False)
        if is_new:
            _prune(folder)


def _prune(folder: Path) -> None:
    lists = sorted((folder / RECENT).glob("handles-*.json"), key=lambda path: path.stat().st_mtime)
    for path in lists[:-SESSIONS]:
        path.unlink(missing_ok=True)


def _path(folder: Path, session: str) -> Path:
    return folder / RECENT / f"handles-{files.fingerprint(session.encode('utf-8', 'surrogatepass'))[:16]}.json"


def listed(folder: Path, session: str) -> Listed | None:
    """What was last listed in a session; None where nothing was, or it can't be read."""
    import orjson

    try:
        obj = orjson.loads(files.read(_path(folder, session)))
        return Listed(str(obj["command"]), clock.write(clock.read("at", obj["at"])), [str(ref) for ref in obj["refs"]])
    except (ValueError, TypeError, KeyError, LedgerUnusable):
        return None


def resolve(folder: Path, session: str, text: str, now: datetime) -> str:
    """The ref that a handle names; any other text as it is. Raises BadHandle, saying which list it would be of."""
    found = HANDLE.fullmatch(text.strip())
    if found is None:
        return text
    last = listed(folder, session)
    if last is None:
        raise BadHandle("handle_unknown", text)
    if clock.seconds(now) - clock.seconds(clock.read("at", last.at)) > HOURS * 3600:
        raise BadHandle("handle_stale", text, command=last.command, at=last.at.replace("T", " "))
    if int(found[1]) > len(last.refs):
        raise BadHandle("handle_beyond", text, command=last.command, n=len(last.refs))
    return last.refs[int(found[1]) - 1]
