"""A hash of all that a file holds up to a place, for telling the same content in another file.

It is chained over blocks, so that a longer stretch is hashed from the block before on; "" is the hash of what nobody
knows, and equals none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula.mindlib.files import fingerprint, read_span

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = 1 << 16  # bytes
READ = 256 * BLOCK  # bytes at a time


def whole(path: Path, end: int) -> str:
    """The hash of a file's first `end` bytes, or of all where it is shorter. Raises LedgerUnusable."""
    found = extended("", 0, b"", b"")
    for start in range(0, end, READ):
        found = extended(found, start, b"", read_span(path, start, min(READ, end - start)))
    return found


def longer(path: Path, before: str, start: int, more: bytes) -> str:
    """The hash of the first `start` bytes and of what was read behind them, `before` being that of these `start`.

    "" where the last of them are no longer what was hashed. Raises LedgerUnusable.
    """
    held = start % BLOCK
    return extended(before, start, read_span(path, start - held, held), more) if before or not start else ""


def extended(before: str, start: int, held: bytes, more: bytes) -> str:
    """As `longer`; `held` are the bytes since the last whole block."""
    chain, _, rest = before.partition("-")
    if start and fingerprint(held) != rest:
        return ""
    data = held + more
    end = len(data) - len(data) % BLOCK
    for at in range(0, end, BLOCK):
        chain = fingerprint(chain.encode() + data[at : at + BLOCK])
    return f"{chain}-{fingerprint(data[end:])}"
