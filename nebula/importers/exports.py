"""Reading other programs' files: JSON whole or element by element, times of every spelling, hashes of what has no id.

An export of conversations may be larger than memory and be cut off at its end: it is mapped, and its elements are found
by their brackets, so that one conversation at a time is in memory and a damaged one costs itself alone.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from nebula import clock, reasons
from nebula.errors import FileUnusable
from nebula.importers import Passed
from nebula.mindlib import files, zips
from nebula.reasons import because

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nebula.importers import Item

#: Bytes of one file that is read whole: memories, not conversations.
WHOLE = 256 * 1024 * 1024
#: Bytes that a file in an archive may unpack to.
UNPACKED = 2 * 1024 * 1024 * 1024
_PIECE = 1 << 20
#: An escape in JSON: a whole pair, half of one, or any other.
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.", re.DOTALL
)
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}"]', re.DOTALL)
_OPENING, _CLOSING = b"[{", b"]}"


def whole(path: Path) -> bytes:
    """A file's bytes. Raises FileUnusable where there are more than WHOLE."""
    if path.is_file() and path.stat().st_size > WHOLE:
        raise FileUnusable(path, because("larger", limit=WHOLE))
    return files.read_given(path)


def loaded(data: bytes) -> Any:
    """Parsed JSON; None where it is none.

    Half a character, which orjson refuses, is a question mark: titles are cut without a look.
    """
    plain = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return orjson.loads(plain)
    except orjson.JSONDecodeError:
        mended, halves = _ESCAPE.subn(lambda one: b"?" if one[1] else one[0], plain)
        try:
            return orjson.loads(mended) if halves else None
        except orjson.JSONDecodeError:
            return None


def unreadable(raw: bytes, data: Any = b"", start: int = 0) -> str:
    """Why bytes are no JSON object, and at which line and character, or byte, of the `data` in which they `start`."""
    try:
        raw.decode()
        orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    except UnicodeDecodeError as error:
        return because("utf8", at=start + error.start)
    except orjson.JSONDecodeError as error:
        if error.lineno == 1 and start:
            error.colno += len(data[data.rfind(b"\n", 0, start) + 1 : start].decode("utf-8", "replace"))
        error.lineno += sum(data[at : min(start, at + _PIECE)].count(b"\n") for at in range(0, start, _PIECE))
        return reasons.of(error)
    return because("no_object")


def conversations(
    path: Path, marker: str, shape: type, items: Callable[[Mapping[str, Any], str], Iterator[Item | Passed]]
) -> Iterator[Item | Passed]:
    """Read every conversation, an object with a `shape` under `marker`, of an export: a file, a folder, an archive.

    `items` is given the conversation, and where it stands.
    """
    found = False
    for name, data in _exported(path):
        found, number = True, 0
        for number, (start, raw) in enumerate(elements(data), start=1):
            obj, where = loaded(raw), f"{name} [{number}]"
            if not isinstance(obj, dict):
                yield Passed(where, unreadable(raw, data, start))
            elif not isinstance(obj.get(marker), shape):
                yield Passed(where, because("lacks", what=marker))
            else:
                yield from items(obj, where)
        if not number and loaded(data[:WHOLE]) != []:
            yield Passed(name, because("lacks", what="conversations"))
    if not found:
        raise FileUnusable(path, because("lacks", what="conversations.json"))


def _exported(path: Path) -> Iterator[tuple[str, Any]]:
    """(name, bytes or a map of them) of each conversations*.json."""
    if path.is_dir():
        for inner in sorted(path.glob("conversations*.json")):
            yield from _exported(inner)
        return
    data = files.mapped_given(path)
    if data[:2] != b"PK":
        yield path.name, data
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data) if isinstance(data, bytes) else path) as archive:
            for member in sorted(archive.infolist(), key=lambda one: one.filename):
                if re.fullmatch(r"conversations.*\.json", Path(member.filename).name):
                    if member.file_size > UNPACKED:
                        raise FileUnusable(path, f"{member.filename}: {because('larger', limit=UNPACKED)}")
                    yield member.filename, archive.read(member)
    except zips.UNSOUND as error:
        raise FileUnusable(path, reasons.of(error)) from error


def elements(data: Any) -> Iterator[tuple[int, bytes]]:
    """(start, bytes) of each element of the array in `data` (bytes or a map of a file).

    Plain values (numbers, texts) come as well, so that they are known of. What is cut off at the end comes as far as it
    goes; where no array stands, all of it is one element.
    """
    depth, start, array, closed, end = 0, -1, False, False, 0
    for found in _TOKEN.finditer(data):
        token = found[0]
        if token in _OPENING and len(token) == 1:
            if depth == 0 and token == b"[" and not array:
                array, end = True, found.end()
            elif depth == int(array) and start < 0:
                yield from _plain(data, end, found.start())
                start = found.start()
            depth += 1
        elif token in _CLOSING and len(token) == 1:
            depth -= 1
            if depth == int(array) and start >= 0:
                yield start, bytes(data[start : found.end()])
                start, closed, end = -1, True, found.end()
            elif depth == 0 and array and start < 0:
                yield from _plain(data, end, found.start())
        elif token == b'"':
            break  # a string without an end: nothing after it can be told apart
    if start >= 0 or (not array and not closed):
        yield max(start, 0), bytes(data[max(start, 0) :])


def _plain(data: Any, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """The elements between two that have brackets; what is no JSON as one."""
    said = bytes(data[start:end]).strip(b" \t\r\n,\xef\xbb\xbf")
    values = loaded(b"[" + said + b"]")
    for one in [orjson.dumps(value) for value in values] if isinstance(values, list) else [said]:
        yield start, one


def moment(value: object) -> str:
    """A time as a ledger writes it, local: seconds since 1970, or ISO 8601 with or without a zone; "" for none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return clock.write(datetime.fromtimestamp(value / 1000 if value > 1e11 else value, tz=UTC).astimezone())
        except (OverflowError, ValueError, OSError):
            return ""
    if not isinstance(value, str):
        return ""
    read = clock.parse(value)
    return clock.write(clock.localised(value, read)) if read else ""


def digest(text: str) -> str:
    """What names a sentence that has no other name: 16 hex digits."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def storable(text: object) -> str:
    """A text as it can be kept: without what is no Unicode; "" for what is no text."""
    return text.encode("utf-8", "replace").decode().strip() if isinstance(text, str) else ""
