"""The flat array container: named numpy arrays and a few strings in one file, read by memory map.

It is the safetensors layout (8 bytes of header length, a JSON header, then the arrays' bytes end to end,
little endian), so the encoder's weights and our own index files share one reader. This module knows bytes and
shapes; what the arrays mean is their owner's business.
"""

from __future__ import annotations

import math
import mmap
import os
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from nebula import reasons
from nebula.quick import dataclass
from nebula.reasons import because

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

#: The layout's names of the number formats, and numpy's, all little endian.
DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1",
    "BOOL": "|b1",
}  # fmt: skip
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}

#: The layout's own limit: a longer header is a lie, and would be read into memory whole.
HEADER_LIMIT = 100_000_000
#: Header and arrays start on multiples of this, so that no mapped array is unaligned.
ALIGNMENT = 8


class DamagedTensors(ValueError):
    """The file is not what its header says; the message tells what is wrong."""


@dataclass(frozen=True)
class Entry:
    """One array as its header line places it: bytes `start` to `end` after the header."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    end: int


def read(path: Path) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, str]]:
    """Map the file and give its arrays (read-only views into the map) and its strings.

    Nothing but the header is read. Everything the header says is checked against the file before it is
    mapped. The map lives as long as one of the arrays. Raises DamagedTensors, and OSError as `open` does.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        header, begin = _header(file.read(8), size, file.read)
        entries, meta = _entries(header, size - begin)
        if size == begin:
            return {entry.name: np.zeros(entry.shape, entry.dtype) for entry in entries}, meta
        mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    # the file may have been cut between the two looks at its size: mmap itself refuses a map longer than the
    # file
    return {entry.name: _view(mapped, entry, begin) for entry in entries}, meta


def release(array: np.ndarray[Any, Any]) -> None:
    """Let what was read of a mapped array's file leave this process; what is read again comes from the system's cache.

    Linux 6 maps 2 MB around every vector that is looked at: without this 900 of them were 1.1 GB of a recall's memory.
    """
    owner: Any = array
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    if isinstance(owner, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        owner.madvise(mmap.MADV_DONTNEED)


def dump(
    arrays: Mapping[str, np.ndarray[Any, Any]], meta: Mapping[str, str] | None = None
) -> Iterator[bytes | memoryview]:
    """The file's bytes, in chunks: header first, then each array.

    Arrays stand by falling item size, then by name, so each is aligned to its items and equal input gives
    equal bytes. Raises ValueError for a number format that the layout has no name for.
    """
    ordered = sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    header: dict[str, Any] = {"__metadata__": dict(meta or {})}
    offset = 0
    for name, array in ordered:
        code = NAMES.get(array.dtype.newbyteorder("<"))
        if code is None or name == "__metadata__":
            raise ValueError(f"can't store {name}: {array.dtype}")
        header[name] = {
            "dtype": code,
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    text = orjson.dumps(header)
    text += b" " * (-len(text) % ALIGNMENT)
    yield len(text).to_bytes(8, "little") + text
    for _, array in ordered:
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        yield np.ascontiguousarray(little).reshape(-1).view(np.uint8).data


def write(
    path: Path,
    arrays: Mapping[str, np.ndarray[Any, Any]],
    meta: Mapping[str, str] | None = None,
    *,
    sync: bool = False,
) -> None:
    """Replace the file in one step by `files.replace_with`: 0600, and whoever mapped the old file keeps it.

    With `sync` the bytes are on the disk before the new name is. Raises WriteFailed, the old file then
    unchanged, and ValueError as `dump` does.
    """
    from nebula.mindlib import files  # who only reads need not load what writing takes

    chunks = dump(arrays, meta)
    header = next(chunks)  # what can't be stored is refused here, before there is a file
    files.replace_with(path, lambda file: _write_all(file, chain([header], chunks)), durable=sync)


def _write_all(descriptor: int, chunks: Iterator[bytes | memoryview]) -> bool:
    """Write every byte; one call may take only part of a large chunk."""
    for chunk in chunks:
        left = memoryview(chunk)
        while left:
            left = left[os.write(descriptor, left[: 1 << 30]) :]
    return True


def _header(prefix: bytes, size: int, more: Callable[[int], bytes]) -> tuple[dict[str, Any], int]:
    """The parsed header and where the arrays' bytes begin."""
    if len(prefix) < 8:
        raise DamagedTensors(f"{size} < 8")
    length = int.from_bytes(prefix, "little")
    if length > HEADER_LIMIT:
        raise DamagedTensors(f"header: {length} > {HEADER_LIMIT}")
    if 8 + length > size:
        raise DamagedTensors(f"header: {size} < {8 + length}")
    try:
        header = orjson.loads(more(length))
    except orjson.JSONDecodeError as error:
        raise DamagedTensors(f"header: {reasons.of(error)}") from error
    if not isinstance(header, dict):
        raise DamagedTensors(f"header: {because('no_object')}")
    return header, 8 + length


def _entries(header: dict[str, Any], room: int) -> tuple[list[Entry], dict[str, str]]:
    """Checked entries in file order, and the strings; they fill `room` bytes, no hole, no overlap."""
    meta = header.pop("__metadata__", {})
    if not isinstance(meta, dict) or not all(isinstance(value, str) for value in meta.values()):
        raise DamagedTensors("__metadata__")
    entries = sorted((_entry(name, fields) for name, fields in header.items()), key=lambda e: (e.start, e.end))
    at = 0
    for entry in entries:
        if entry.start != at:
            raise DamagedTensors(f"{entry.name}: {entry.start} ≠ {at}")
        at = entry.end
    if at != room:
        raise DamagedTensors(f"header: {room} ≠ {at}")
    return entries, meta


def _entry(name: str, fields: object) -> Entry:
    """One header line, checked in itself."""
    if not isinstance(fields, dict):
        raise DamagedTensors(f"{name}: {because('no_object')}")
    code = fields.get("dtype")
    if not isinstance(code, str) or code not in DTYPES:
        raise DamagedTensors(f"{name}: dtype {str(code)[:20]}")
    shape, offsets = _sizes(name, fields, "shape"), _sizes(name, fields, "data_offsets")
    if len(offsets) != 2:
        raise DamagedTensors(f"{name}: data_offsets")
    dtype = np.dtype(DTYPES[code])
    start, end = offsets
    if end - start != math.prod(shape) * dtype.itemsize:
        raise DamagedTensors(f"{name}: {shape} {code} ≠ {end - start}")
    return Entry(name, dtype, tuple(shape), start, end)


def _sizes(name: str, fields: dict[str, Any], key: str) -> list[int]:
    """A list of at most 32 plain non-negative integers (as many axes as numpy 1.x has)."""
    value = fields.get(key)
    if isinstance(value, list) and len(value) <= 32 and all(type(n) is int and 0 <= n < 2**63 for n in value):
        return value
    raise DamagedTensors(f"{name}: {key}")


def _view(mapped: mmap.mmap, entry: Entry, begin: int) -> np.ndarray[Any, Any]:
    """The array as a read-only view into the map."""
    if entry.start == entry.end:
        return np.zeros(entry.shape, entry.dtype)
    flat = np.frombuffer(mapped, entry.dtype, math.prod(entry.shape), begin + entry.start)
    return flat.reshape(entry.shape)
