"""64-bit hashes that stand for strings in arrays: the same on every machine, run and version."""

from __future__ import annotations

import hashlib


def h64(text: str) -> int:
    """A stable 64-bit hash of a string; lone surrogates allowed. 0 stands for the empty string."""
    if not text:
        return 0
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
