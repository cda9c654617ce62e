"""What tune wrote, and what stood before it: the file `.tune.json` of the mind's folder, there until `--reset`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula import clock
from nebula.errors import FileUnusable
from nebula.mindlib import files
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
    import orjson

    path = mind.store.path(FILE)
    kept = _read(path) or {"before": {}, "after": {}}
    raw = mind.store.config()
    for key, value in values.items():
        if key not in kept["after"] or _stands(raw, key) != [kept["after"][key]]:
            kept["before"][key] = _stands(raw, key)
        kept["after"][key] = value
    document = {"schema": 1, "at": clock.write(mind.now()), **{name: kept[name] for name in ("before", "after")}}
    files.make_folder(mind.folder)
    files.replace(path, orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    for key, value in values.items():
        mind.configure(key, value)


def reset(mind: Mind) -> tuple[list[str], list[str]]:
    """Put back what stood before tune. -> keys put back; keys that somebody has set since, left as they are.

    Both empty where tune has written nothing. Raises WriteFailed, LockedTooLong, FileUnusable.
    """
    path = mind.store.path(FILE)
    kept = _read(path)
    if kept is None:
        return [], []
    raw = mind.store.config()
    mine = [key for key, value in kept["after"].items() if _stands(raw, key) == [value]]
    for key in mine:
        before = kept["before"][key]
        mind.configure(key, before[0] if before else None)
    path.unlink(missing_ok=True)
    return mine, [key for key in kept["after"] if key not in mine and _stands(raw, key) != kept["before"][key]]


def _stands(raw: Mapping[str, Any], key: str) -> list[Any]:
    """What stands under a dotted key of the settings file itself; [] where nothing does."""
    section, _, name = key.partition(".")
    inner = raw.get(section)
    return [inner[name]] if isinstance(inner, dict) and name in inner else []


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
    return {"before": before, "after": after}
