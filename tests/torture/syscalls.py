"""A command whose N-th system call kills it or fails, by strace; and the list of calls that it makes."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from typing import TYPE_CHECKING

from tests.torture.harness import NEBULA, environment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: The calls that change what a disk holds; death at any other leaves it as death at the next of these.
CHANGING = (
    *("write", "pwrite64", "writev", "fsync", "fdatasync", "sync_file_range", "ftruncate", "truncate"),
    *("rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "mkdirat", "link", "fchmod", "chmod"),
)
#: The calls that a full or broken disk refuses.
FAILING = ("write", "pwrite64", "fsync", "fdatasync", "rename", "renameat", "renameat2", "ftruncate", "mkdir")
_CALL = re.compile(r"^\d+\s+(\w+)\((.*)$")


def calls(folder: Path, argv: Sequence[str], wanted: Sequence[str], *, command: Sequence[str] = NEBULA) -> list[str]:
    """What an undisturbed run does: one line a call, in order, with the names of the files behind descriptors."""
    log = folder.parent / "calls"
    traced = ["strace", "-f", "-y", "-s", "0", "-o", str(log), "-e", f"trace={','.join(wanted)}", *command, *argv]
    done = subprocess.run(traced, env=environment(folder), capture_output=True, check=False, timeout=120, input=b"")
    assert done.returncode == 0, done.stderr.decode()
    return [line for line in log.read_text("utf-8", "replace").splitlines() if _CALL.match(line)]


def points(lines: Sequence[str], *, but: str = "") -> list[tuple[str, int]]:
    """Each call as strace counts it, (name, N-th of that name); without those whose line matches `but`."""
    seen: Counter[str] = Counter()
    found = []
    for line in lines:
        match = _CALL.match(line)
        assert match
        seen[match[1]] += 1
        if not (but and re.search(but, line)):
            found.append((match[1], seen[match[1]]))
    return found


def tampered(
    folder: Path, argv: Sequence[str], call: str, number: int, what: str, *, command: Sequence[str] = NEBULA
) -> subprocess.CompletedProcess[bytes]:
    """A run whose `number`-th `call` meets `what`: `signal=KILL` or `error=EIO`."""
    inject = f"inject={call}:{what}:when={number}"
    traced = ["strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject, *command, *argv]
    return subprocess.run(traced, env=environment(folder), capture_output=True, check=False, timeout=120, input=b"")
