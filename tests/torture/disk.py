"""What a disk may hold after the power fails: a log of real writes, and the states that they allow (R6).

The log is taken from the calls that the program makes. A file's bytes are certain once it was synced, a name once its
folder was; of everything later the disk may hold all, nothing, a part that ends at a sector, or zeros of that length.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

SECTOR = 512
FATES = ("kept", "dropped", "torn", "zeros", "zeros at the end")


@dataclass
class Recorder:
    """Every change below a folder, in order, as tuples; `said` adds what the program has promised by then."""

    folder: Path
    log: list[tuple[Any, ...]] = field(default_factory=list)

    def said(self, *promise: object) -> None:
        """From here on this must hold."""
        self.log.append(("said", *promise))

    def _name(self, path: object) -> str:
        full = Path(os.fsdecode(path))  # type: ignore[arg-type]
        return str(full.relative_to(self.folder)) if full.is_relative_to(self.folder) else ""

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Log what the program does meanwhile."""
        true = {name: getattr(os, name) for name in PATCHED}
        files: dict[int, int] = {}  # descriptor -> inode
        folders: dict[int, str] = {}

        def open_(path: Any, flags: int, mode: int = 0o777, **more: Any) -> int:
            name = self._name(path) if isinstance(path, str | Path) else ""
            existed = os.path.exists(path) if name else True  # noqa: PTH110 - any kind of path
            descriptor: int = true["open"](path, flags, mode, **more)
            if name and os.path.isdir(path):  # noqa: PTH112
                folders[descriptor] = name
            elif name:
                files[descriptor] = os.fstat(descriptor).st_ino
                if not existed:
                    self.log.append(("create", name, files[descriptor]))
                if flags & os.O_TRUNC and existed:
                    self.log.append(("truncate", files[descriptor], 0))
            return descriptor

        def write(descriptor: int, data: Any) -> int:
            count: int = true["write"](descriptor, data)
            if descriptor in files:
                self.log.append(("write", files[descriptor], bytes(data[:count])))
            return count

        def ftruncate(descriptor: int, size: int) -> None:
            true["ftruncate"](descriptor, size)
            if descriptor in files:
                self.log.append(("truncate", files[descriptor], size))

        def sync(kind: str) -> Any:
            def call(descriptor: int) -> None:
                true[kind](descriptor)
                if descriptor in files:
                    self.log.append(("sync", files[descriptor]))
                elif descriptor in folders:
                    self.log.append(("sync folder", folders[descriptor]))

            return call

        def close(descriptor: int) -> None:
            files.pop(descriptor, None)
            folders.pop(descriptor, None)
            true["close"](descriptor)

        def replace(source: Any, target: Any, **more: Any) -> None:
            true["replace"](source, target, **more)
            if self._name(target):
                self.log.append(("rename", self._name(source), self._name(target)))

        def unlink(path: Any, **more: Any) -> None:
            true["unlink"](path, **more)
            if self._name(path):
                self.log.append(("unlink", self._name(path)))

        made = {"open": open_, "write": write, "ftruncate": ftruncate, "fsync": sync("fsync"),
                "fdatasync": sync("fdatasync"), "close": close, "replace": replace, "unlink": unlink}  # fmt: skip
        with mock.patch.multiple(os, **made):
            yield


PATCHED = ("open", "write", "ftruncate", "fsync", "fdatasync", "close", "replace", "unlink")


@dataclass
class _File:
    certain: bytes = b""
    now: bytes = b""


class Disk:
    """What is certain and what is pending, after some of a log; nothing was there before."""

    def __init__(self) -> None:
        self.files: dict[int, _File] = {}
        self.names: dict[str, int] = {}  # certain
        self.pending: list[tuple[Any, ...]] = []  # changes of names, in order
        self.promises: list[tuple[Any, ...]] = []

    def does(self, entry: tuple[Any, ...]) -> None:
        """One entry of the log."""
        kind, *what = entry
        if kind == "said":
            self.promises.append(tuple(what))
        elif kind == "create":
            self.files[what[1]] = _File()
            self.pending.append(entry)
        elif kind in {"rename", "unlink"}:
            self.pending.append(entry)
        elif kind == "write":
            self.files[what[0]].now += what[1]
        elif kind == "truncate":
            self.files[what[0]].now = self.files[what[0]].now[: what[1]]
        elif kind == "sync":
            self.files[what[0]].certain = self.files[what[0]].now
        elif kind == "sync folder":
            ours = [
                change
                for change in self.pending
                if str(Path(change[-1 if change[0] != "create" else 1]).parent) == what[0]
            ]
            for change in ours:
                _rename(self.names, change)
            self.pending = [change for change in self.pending if change not in ours]

    def state(self, fate: str, draw: random.Random) -> dict[str, bytes]:
        """One of the states that the disk may be found in: a name's changes up to some point, each file by `fate`."""
        names = dict(self.names)
        upto = {"kept": len(self.pending), "dropped": 0}.get(fate, draw.randint(0, len(self.pending)))
        for change in self.pending[:upto]:
            _rename(names, change)
        return {name: _found(self.files[inode], fate, draw) for name, inode in names.items() if inode in self.files}


def _rename(names: dict[str, int], change: tuple[Any, ...]) -> None:
    if change[0] == "create":
        names[change[1]] = change[2]
    elif change[0] == "unlink":
        names.pop(change[1], None)
    elif change[1] in names:
        names[change[2]] = names.pop(change[1])


def _found(file: _File, fate: str, draw: random.Random) -> bytes:
    certain, now = file.certain, file.now
    if not now.startswith(certain):  # cut since: either length
        return now if fate == "kept" or draw.random() < 0.5 else certain
    later = len(now) - len(certain)
    if fate == "kept" or later == 0:
        return now
    if fate == "dropped":
        return certain
    if fate == "zeros":
        return certain + b"\0" * later
    first = (len(certain) // SECTOR + 1) * SECTOR
    cut = draw.choice([*range(first, len(now), SECTOR)] or [len(certain)])
    return now[:cut] if fate == "torn" else now[:cut] + b"\0" * (len(now) - cut)
