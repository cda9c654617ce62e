"""A whole mind as one file, and back: JSON lines that anybody can read, or a zip of the folder; nothing derived.

The lines begin with a header and end with their count and SHA-256, so that a file that was cut says so. Each line of a
ledger is `{"file", "line": {…}}`, or `raw` (text) or `base64` where its bytes are not what its object would be written
as: what comes back is the same to the byte. Encryption is a pipe's matter: `nebula export - | age -p > mind.age`.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import zipfile
from typing import TYPE_CHECKING, Any

from nebula import clock, private, reasons, transfer
from nebula.errors import FileUnusable
from nebula.longterm import NAME as LONGTERM
from nebula.mindlib import files, ledger, scratch, zips
from nebula.mindlib.chain import CHAIN
from nebula.mindlib.record import LEDGERS
from nebula.mindlib.store import CONFIG, SIDE_LEDGERS
from nebula.reasons import because
from nebula.repair import QUARANTINE
from nebula.transfer import Imported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from nebula.mind import Mind

FORMAT = 1
#: What a mind consists of, in the order in which it is read: a change is written after its memory, and chained last.
LINES = (CHAIN, *SIDE_LEDGERS, *(kind.file for kind in LEDGERS))
NAMES = (*LINES, LONGTERM, CONFIG, *(f"{QUARANTINE}/{name}" for name in (*SIDE_LEDGERS, *(k.file for k in LEDGERS))))


def pack(mind: Mind, *, as_zip: bool = False) -> bytes:
    """The mind as the bytes of one file. Raises LedgerUnusable."""
    found = {name: data for name in NAMES if (data := mind.store.contents(name))}
    return _zip(found) if as_zip else _lines(found, clock.write(mind.now()))


def is_empty(mind: Mind) -> bool:
    """Whether there is no memory to pack; a mind that is looked for in the wrong place has none."""
    return not any(mind.store.stamp(kind.name)[0] for kind in LEDGERS)


def _lines(found: Mapping[str, bytes], at: str) -> bytes:
    from nebula.version import __version__

    sizes = {name: len(data) for name, data in found.items()}
    head = ledger.dump([{"nebula": "export", "format": FORMAT, "at": at, "version": __version__, "files": sizes}])
    body = [_packed(name, raw) for name, data in found.items() for raw in _pieces(name, data)]
    data = head + b"".join(body)
    return data + ledger.dump([{"end": True, "lines": len(body), "sha256": hashlib.sha256(data).hexdigest()}])


def _pieces(name: str, data: bytes) -> list[bytes]:
    return ledger.split(data) if name.endswith(".jsonl") else [data]


def _packed(name: str, raw: bytes) -> bytes:
    import orjson

    obj = ledger.objects(raw)[0][1] if name in LINES else None
    if obj is not None and orjson.dumps(obj) + b"\n" == raw:
        return b'{"file":' + orjson.dumps(name) + b',"line":' + raw[:-1] + b"}\n"
    try:
        held: dict[str, Any] = {"raw": raw.decode()}
    except UnicodeDecodeError:
        held = {"base64": base64.b64encode(raw).decode()}
    return orjson.dumps({"file": name, **held}) + b"\n"


def _zip(found: Mapping[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in found.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return target.getvalue()


# back


@contextlib.contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """A file that `pack` made (`-`: from standard input), as a folder that is gone afterwards. Raises FileUnusable."""
    data = files.read_given(path)
    found = _from_zip(path, data) if data.startswith(b"PK") else _from_lines(path, data)
    if not any(kind.file in found for kind in LEDGERS):
        found |= {LEDGERS[0].file: b""}  # a mind without memories is one all the same
    with scratch.folder(scratch.IMPORT) as (folder, _):
        _lay(folder, found)
        yield folder


def _lay(folder: Path, found: Mapping[str, bytes]) -> None:
    for name, data in found.items():
        files.make_folder((folder / name).parent)
        files.replace(folder / name, data)


def _from_lines(path: Path, data: bytes) -> dict[str, bytes]:
    lines = ledger.objects(data)
    head = lines[0][1] if lines else None
    if head is None or head.get("nebula") != "export":
        raise FileUnusable(path, because("no_export"))
    if head.get("format") != FORMAT:
        raise FileUnusable(path, reasons.odd("format", head.get("format"), FORMAT))
    last = lines[-1][1] or {}
    whole = data[: len(data) - len(lines[-1][0])]
    if last.get("end") is not True or last.get("sha256") != hashlib.sha256(whole).hexdigest():
        raise FileUnusable(path, because("changed"))
    found: dict[str, list[bytes]] = {}
    for raw, obj in lines[1:-1]:
        name = (obj or {}).get("file")
        if obj is not None and name in NAMES:
            found.setdefault(str(name), []).append(_unpacked_line(path, raw, obj))
    return {name: b"".join(parts) for name, parts in found.items()}


def _unpacked_line(path: Path, raw: bytes, obj: Mapping[str, Any]) -> bytes:
    try:
        if "raw" in obj:
            return str(obj["raw"]).encode()
        if "base64" in obj:
            return base64.b64decode(obj["base64"], validate=True)
    except ValueError as error:
        raise FileUnusable(path, because("damaged")) from error
    return raw[raw.index(b',"line":') + len(b',"line":') : -2] + b"\n"


def _from_zip(path: Path, data: bytes) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [member for member in archive.infolist() if member.filename in NAMES]
            if archive.infolist() and not members:
                raise FileUnusable(path, because("lacks", what=LEDGERS[0].file))
            if zips.swells(members, len(data)):
                raise FileUnusable(path, because("too_much", times=zips.RATIO))
            return {member.filename: archive.read(member) for member in members}
    except zips.UNSOUND as error:
        raise FileUnusable(path, reasons.of(error)) from error


def import_file(
    mind: Mind, path: Path, *, dry_run: bool = False, progress: Callable[[int, int], None] | None = None
) -> Imported:
    """Take over an exported mind: as it is where there is none yet, else as `import_folder` does.

    Raises FileUnusable for what is none, and as `import_folder`.
    """
    if mind.store.in_folder and not dry_run:
        scratch.clear_beside(mind.folder)
    with unpacked(path) as folder:
        if dry_run or not mind.store.in_folder or not restore(mind.folder, folder):
            return transfer.import_folder(mind, folder, dry_run=dry_run, progress=progress)
    fresh = mind.under(mind.overrides)
    records = {kind.name: len(fresh.store.read(kind.name).memories) for kind in LEDGERS}
    lines = {name: len(fresh.store.scan(name).lines) for name in SIDE_LEDGERS}
    return Imported(
        {kind: n for kind, n in records.items() if n},
        0,
        {name: n for name, n in lines.items() if n},
        fresh.store.read_all().damages,
        _state(mind.folder / LONGTERM),
        _state(mind.folder / CONFIG),
        notices=fresh.follow(progress=progress)[1],
    )


def _state(path: Path) -> str:
    return transfer.ADDED if path.is_file() else transfer.ABSENT


def restore(folder: Path, source: Path) -> bool:
    """Put an unpacked mind in `folder`'s place as it is, in one step, where nothing is there yet; -> whether it was.

    One with private passages in it is not taken as it is. Raises WriteFailed.
    """
    names = [name for name in NAMES if (source / name).is_file()]
    held = {name: (source / name).read_bytes() for name in names}
    if any(private.marked(data) for data in held.values()) or (folder.exists() and _holds_anything(folder)):
        return False
    files.make_folder(folder.parent)
    with scratch.laid_aside(folder) as beside:
        files.make_folder(beside)
        _lay(beside, held)
    return True


def _holds_anything(folder: Path) -> bool:
    return not folder.is_dir() or folder.is_symlink() or any(folder.iterdir())
