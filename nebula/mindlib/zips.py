"""Zip files that may be damaged, under a password, or made to fill the memory."""

from __future__ import annotations

import zipfile
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

try:
    from lzma import LZMAError
except ImportError:  # an interpreter without it refuses such a member by name
    LZMAError = zlib.error  # type: ignore[misc, assignment]

#: What reading one raises where it is damaged, under a password or packed in a way unknown here.
UNSOUND = (
    *(zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError, ValueError),
    *(zlib.error, LZMAError),
)
#: A member may unpack to so many times the file's size, and so many bytes more.
RATIO, ALLOWED = 200, 100 * 2**20


def swells(members: Iterable[zipfile.ZipInfo], size: int) -> bool:
    """Whether members of a file of `size` bytes would unpack to more than can be meant."""
    return sum(member.file_size for member in members) > RATIO * size + ALLOWED
