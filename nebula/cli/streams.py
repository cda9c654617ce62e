"""The three standard streams as a shell may leave them: closed (`>&-`), or with no room behind them (`>/dev/full`)."""

from __future__ import annotations

import errno
import os
import sys

#: What a write to a descriptor ends with where nothing can be done about it; a file of ours raises WriteFailed.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENXIO, errno.EBADF}


def opened() -> None:
    """Give each stream that was closed the null device, so that no ledger is ever opened in its place."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors="replace", closefd=False))


def unwritten(error: Exception) -> bool:
    """Whether an error says that standard output takes no more."""
    if isinstance(error, BrokenPipeError):
        return True
    return isinstance(error, OSError) and error.filename is None and error.errno in _NO_ROOM
