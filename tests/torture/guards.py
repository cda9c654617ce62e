"""What protects a mind, each to be switched off: a test that still passes without its guard proves nothing.

`python -m tests.torture.guards GUARD… -- ARGUMENTS` is the command `nebula` without these guards.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

from nebula.errors import LedgerUnusable, WriteFailed
from nebula.mindlib import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def _no_newline() -> Any:
    """An append trusts that the ledger ends in a newline."""
    true = files._read_at
    return mock.patch.object(files, "_read_at", lambda fd, at, length: b"\n" if length == 1 else true(fd, at, length))


def _no_lock() -> Any:
    """Nobody waits for anybody."""
    return mock.patch.object(files, "_acquire")


def _no_cut_back() -> Any:
    """What a failed write left stays."""
    return mock.patch.object(files.Appender, "_cut_back")


def _no_count() -> Any:
    """Nobody looks at how many bytes a write took."""
    true = os.write

    def write(descriptor: int, data: bytes) -> int:
        true(descriptor, data)
        return len(data)

    return mock.patch.object(os, "write", write)


def _no_sync() -> Any:
    """Nothing is synced: a file lies in the kernel's memory until it pleases."""
    patches = ExitStack()
    for module, name in ((files, "_sync"), (os, "fsync"), (files, "sync_folder")):
        patches.enter_context(mock.patch.object(module, name))
    return patches


def _in_place() -> Any:
    """A file is replaced by being emptied and written anew."""

    def replace_with(path: Path, write: Callable[[int], bool], *, durable: bool = True) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            if not write(descriptor):
                raise OSError(28, "disk full")
        except OSError as error:
            raise WriteFailed(path, str(error)) from error
        finally:
            os.close(descriptor)

    return mock.patch.object(files, "replace_with", replace_with)


def _touch_fails() -> Any:
    """A recall that can't be counted is an error."""
    from nebula.mindlib.store import CHANGES, Store

    true = Store.append_lines

    def append_lines(store: Store, name: str, objects: Any, *, durable: bool) -> None:
        try:
            true(store, name, objects, durable=durable)
        except WriteFailed as error:
            if name == CHANGES:
                raise LedgerUnusable(error.facts["path"], str(error.facts["reason"])) from error  # type: ignore[arg-type]
            raise

    return mock.patch.object(Store, "append_lines", append_lines)


GUARDS = {
    "newline": _no_newline,
    "lock": _no_lock,
    "cut-back": _no_cut_back,
    "count": _no_count,
    "sync": _no_sync,
    "rename": _in_place,
    "touch": _touch_fails,
}


@contextmanager
def off(*names: str) -> Iterator[None]:
    """Without these guards."""
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(GUARDS[name]())
        yield


def main() -> None:
    """The command without the guards named before `--`."""
    cut = sys.argv.index("--")
    names, sys.argv[1:] = sys.argv[1:cut], sys.argv[cut + 1 :]
    from nebula.cli import run

    with off(*names):
        run()


if __name__ == "__main__":
    main()
