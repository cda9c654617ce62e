"""What tune wrote, and what stood before it: the file `.tune.json` of the mind's folder, there until `--reset`.

`before`, `after`: values by key. `text`: the whole settings file as it was (null: there was none), `left`: its SHA-256
as tune left it; where nobody has touched it since, reset gives back its very bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula import clock
from nebula.errors import FileUnusable
from nebula.mindlib import files
from nebula.mindlib.store import CONFIG
from nebula.reasons import because

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nebula.mind import Mind

FILE = ".tune.json"


def apply(mind: Mind, values: Mapping[str, float]) -> None:
    """Set what was learned, what stood in the file before being kept first: of several times the first.

    Raises WriteFailed, LockedTooLong, FileUnusable.
    """
    path = mind.store.path(FILE)
    kept = _read(path) or {"before": {}, "after": {}, "text": _text(mind), "left": _sha256(mind)}
    untouched = kept["left"] == _sha256(mind)
    raw = mind.store.config()
    for key, value in values.items():
        if key not in kept["after"] or _stands(raw, key) != [kept["after"][key]]:
            kept["before"][key] = _stands(raw, key)
        kept["after"][key] = value
    files.make_folder(mind.folder)
    _write(mind, {**kept, "left": None})  # first: an apply that is cut short can be taken back by its keys
    for key, value in values.items():
        mind.configure(key, value)
    if untouched:
        _write(mind, {**kept, "left": _sha256(mind)})


def reset(mind: Mind) -> tuple[list[str], list[str]]:
    """Put back what stood before tune. -> keys put back; keys that somebody has set since, left as they are.

    Both empty where tune has written nothing. Raises WriteFailed, LockedTooLong, FileUnusable.
    """
    path = mind.store.path(FILE)
    kept = _read(path)
    if kept is None:
        return [], []
    raw = mind.store.config()
    untouched = kept["left"] is not None and kept["left"] == _sha256(mind)
    mine = [key for key, value in kept["after"].items() if _stands(raw, key) == [value]]
    for key in mine:
        before = kept["before"][key]
        mind.configure(key, before[0] if before else None)
    if untouched and mind.store.in_folder:
        config = mind.store.path(CONFIG)
        if kept["text"] is None:
            config.unlink(missing_ok=True)
        else:
            files.replace(config, kept["text"].encode())
    path.unlink(missing_ok=True)
    return mine, [key for key in kept["after"] if key not in mine and _stands(raw, key) != kept["before"][key]]


def _stands(raw: Mapping[str, Any], key: str) -> list[Any]:
    """What stands under a dotted key of the settings file itself; [] where nothing does."""
    section, _, name = key.partition(".")
    inner = raw.get(section)
    return [inner[name]] if isinstance(inner, dict) and name in inner else []


def _text(mind: Mind) -> str | None:
    path = mind.store.path(CONFIG)
    return files.read(path).decode() if path.exists() else None


def _sha256(mind: Mind) -> str:
    """Of the settings file; "" where there is none."""
    return files.sha256(mind.store.path(CONFIG))


def _write(mind: Mind, kept: Mapping[str, Any]) -> None:
    import orjson

    document = {"schema": 1, "at": clock.write(mind.now()), **kept}
    files.replace(mind.store.path(FILE), orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _read(path: Path) -> dict[str, Any] | None:
    import orjson

    data = path.read_bytes() if path.is_file() else None
    if data is None:
        return None
    try:
        found = orjson.loads(data)
        before, after = dict(found["before"]), dict(found["after"])
        if before.keys() != after.keys() or not all(isinstance(value, list) for value in before.values()):
            raise ValueError
    except (ValueError, KeyError, TypeError) as error:
        raise FileUnusable(path, because("lacks", what="before, after")) from error
    text, left = found.get("text"), found.get("left")
    return {"before": before, "after": after, "text": text if isinstance(text, str) else None, "left": left}
