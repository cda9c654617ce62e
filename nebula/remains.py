"""What of a text is left in a mind: every file of it, its database, what killed commands left, reports of failures.

The index holds numbers and is searched for the text's bytes; everything else is read for what it says, JSON with its
escapes resolved, however deep they are packed. Removes nothing.
"""

from __future__ import annotations

import base64
import contextlib
import os
import stat
import tempfile
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from nebula import erasure
from nebula.mindlib import erasing, ledger, quotes, scratch, zips
from nebula.mindlib.record import BY_NAME, to_object
from nebula.mindlib.store import INDEX, RECENT
from nebula.text import normal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nebula.mind import Mind
    from nebula.mindlib.record import Memory

    #: One text as it may be read: as it stands, and with escapes in it resolved.
    Readings = Sequence[str]

#: Reports of failures that no command was made for, which may show what it was about.
REPORTS = "nebula-report-*.txt"


def left(mind: Mind, texts: Sequence[str], words: Sequence[str] = ()) -> dict[str, int]:
    """Where something of texts stands: file -> places.

    What other memories say themselves does not count, but for `words`: those count wherever they are, in whatever
    form recall takes for the same (see text.normal).
    """
    every = mind.store.read_all().memories
    told, folded = (memory.text for memory in every), _folded(words)
    wanted = quotes.without(quotes.sought(texts), told) | quotes.sought((), words)
    probes = [probe.encode() for probe in {*quotes.probes(texts), *words} & {*wanted.windows, *wanted.whole, *words}]

    def places(text: str) -> int:
        plain = len(quotes.find(wanted, text))
        if not folded:
            return plain
        said = normal.fold(text)
        return max(plain, sum(said.count(word) for word in folded))

    found: dict[str, int] = {}
    for name, data in _everything(mind):
        if name.startswith(f"{INDEX}/"):
            _add(found, name, sum(probe in data for probe in probes))
        else:
            _add(found, name, _places(name, data, places))
    for memory in every:
        if says(memory, folded):
            found.setdefault(BY_NAME[memory.ledger].file, 1)
    return found


def mentioned(mind: Mind, texts: Sequence[str]) -> dict[str, int]:
    """Where texts that are too short to be cut out of others stand within what says more: file -> places.

    Other memories' own texts do not count; an erase names those itself.
    """
    wanted = quotes.sought(texts)
    found: dict[str, int] = {}
    if not wanted.alone:
        return found
    told = {memory.text for memory in mind.store.read_all().memories}
    for name, data in _everything(mind):
        if not name.startswith((f"{INDEX}/", f"{RECENT}/")) and name not in erasure.DERIVED:
            _add(found, name, _places(name, data, lambda text: 0 if text in told else quotes.inside(wanted, text)))
    return found


def as_they_stand(mind: Mind, words: Sequence[str]) -> list[str]:
    """The words, and every form of them that stands in a file and that recall takes for the same.

    A form that can't be told from what stands around it is left out, and found again by `left`.
    """
    folded, forms = _folded(words), dict.fromkeys(words)

    def note(text: str) -> int:
        forms.update(dict.fromkeys(_forms(text, folded)))
        return 0

    for name, data in _everything(mind) if folded else ():
        if not name.startswith(f"{INDEX}/"):
            _places(name, data, note)
    return list(forms)


def says(memory: Memory, folded: Sequence[str]) -> bool:
    """Whether a memory has one of some folded words, folded as recall does: what that finds, erase finds."""
    said = [normal.fold(text) for text in _strings(to_object(memory))] if folded else []
    return any(word in text for text in said for word in folded)


def _folded(words: Sequence[str]) -> list[str]:
    return [folded for word in words if (folded := normal.fold(word))]


def _forms(text: str, folded: Sequence[str]) -> Iterator[str]:
    """The stretches of a text that fold to one of some words: `Ｈｕｎｔｅｒ２` for `hunter2`."""
    said = normal.fold(text)
    wanted = [word for word in folded if word in said]
    if not wanted:
        return
    starts = [at for at, character in enumerate(text) if not at or not unicodedata.combining(character)]
    parts = [normal.fold(text[a:b]) for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    origin = [at for at, part in enumerate(parts) for _ in part]
    whole = "".join(parts)
    for word in wanted:
        at = whole.find(word)
        while at >= 0:
            first, last = origin[at], origin[at + len(word) - 1]
            yield text[starts[first] : starts[last + 1] if last + 1 < len(starts) else len(text)]
            at = whole.find(word, at + len(word))


def _add(found: dict[str, int], name: str, places: int) -> None:
    if places:
        found[name] = found.get(name, 0) + places


def _places(name: str, data: bytes, count: Callable[[str], int]) -> int:
    """In how many places of a file `count` finds what it counts; of a text's readings that which has most counts."""
    held = _unpacked(name, data)
    return sum(max(map(count, said)) for part, inside in held for said in _sayings(part, inside))


def _everything(mind: Mind) -> Iterator[tuple[str, bytes]]:
    """The bytes of whatever the mind keeps, on this machine and in its database, and of the reports."""
    for name, path in _every_file(mind):
        with contextlib.suppress(OSError):
            yield name, path.read_bytes()
    if not mind.store.in_folder:
        from nebula.stores import DOCUMENTS, LEDGERS

        for ledger_name in LEDGERS:
            name = BY_NAME[ledger_name].file if ledger_name in BY_NAME else ledger_name
            for lines in mind.store.chunks(ledger_name):
                yield name, b"".join(line + b"\n" for line in lines)
        for name in DOCUMENTS:
            yield name, mind.store.document(name) or b""


def _every_file(mind: Mind) -> Iterator[tuple[str, Path]]:
    for path in sorted(mind.store.local.rglob("*")):
        if path.is_file():
            yield path.relative_to(mind.store.local).as_posix(), path
    for place in [*scratch.leavings(), *scratch.beside(mind.store.local)]:
        for path in sorted(place.rglob("*")):
            if path.is_file() and not path.is_symlink():
                yield str(path), path
    for path in sorted(Path(tempfile.gettempdir()).glob(REPORTS)):
        if _own(path):  # the folder may be everybody's: no pipe of a stranger's may hold us up, no link lead us astray
            yield str(path), path


def _own(path: Path) -> bool:
    """Whether a path is a file of the user's own, and no link."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and (not hasattr(os, "getuid") or status.st_uid == os.getuid())


def _unpacked(name: str, data: bytes) -> list[tuple[str, bytes]]:
    """A file as its name and bytes; a zip, such as an export left in the folder, as those of what it holds."""
    if not name.endswith(".zip"):
        return [(name, data)]
    import io
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if not zips.swells(packed.infolist(), len(data)):
                return [(part.filename, packed.read(part)) for part in packed.infolist()]
    except zips.UNSOUND:
        pass
    return [(name, data)]


def _sayings(name: str, data: bytes) -> Iterator[Readings]:
    """Every text in a file: the strings of its objects, and of what holds none all that its bytes may say."""
    if not name.endswith(".jsonl"):
        yield erasing.readings(data)
        return
    for raw, obj in ledger.objects(data):
        if obj is None:
            yield erasing.readings(raw)
            continue
        for text in _strings(obj):
            yield [text] if "\\" not in text else erasing.readings(text.encode("utf-8", "surrogatepass"))
        if isinstance(packed := obj.get("base64"), str):  # a line of an export that is no UTF-8
            with contextlib.suppress(ValueError):
                yield erasing.readings(base64.b64decode(packed))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for key, item in value.items() for text in (key, *_strings(item)))
    elif isinstance(value, list | tuple):
        yield from (text for item in value for text in _strings(item))
