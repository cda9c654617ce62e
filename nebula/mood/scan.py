"""A search for the mood files of other programs, with a guess at where in them the mood lies."""

from __future__ import annotations

import os
import re
import time
from collections import deque
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from nebula import clock, places
from nebula.mood.documents import (
    MoodSourceFailed,
    Reading,
    file_badge,
    file_bytes,
    parsed,
    read_dims,
    read_number,
    reading,
)
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Folders below a place, entries looked at in one place, files opened in all.
DEPTH, ENTRIES, FILES = 3, 5000, 32
NEIGHBOUR_DEPTH = 1  # below the folder that the mind lies in
#: Of a guess: nesting and nodes of a document.
NESTING, NODES = 6, 5000
VALUE_KEYS = ("mood", "value", "心情")
OWN_STATE = "mood-state.json"  # the built-in engine's, when it lies in a mind

_FILE_NAME = re.compile(r"(mood|心情|情绪).*\.json$", re.IGNORECASE)
_PLAIN_KEY = re.compile(r"(?!(?:where|wherenot)$)[A-Za-z_][A-Za-z0-9_]*", re.ASCII)

Steps = tuple[str | int, ...]


@dataclass(frozen=True)
class Found:
    """A file that holds a mood, and the map that reads it."""

    path: Path
    map: Mapping[str, str]
    reading: Reading


def scan(home: Path, environ: Mapping[str, str]) -> list[Found]:
    """The mood files of other programs, with a guessed map each; creates nothing, follows no link.

    Beside the mind, in ~/.dsh, and in the user's folders of settings and data; bounded in depth, count and size.
    """
    found = []
    for path in islice(_mood_files(home, environ), FILES):
        try:
            document = parsed(file_bytes(path, follow=False))
            paths = guess(document)
            if paths:
                written = time.strftime(clock.FORMAT, time.localtime(path.stat().st_mtime))
                found.append(Found(path, paths, reading(document, paths, file_badge(path), written)))
        except (MoodSourceFailed, OSError, ValueError, OverflowError):
            continue
    return found


def guess_file(path: Path) -> dict[str, str]:
    """A map for a file that a person named; {} where nothing fits or it can't be read."""
    try:
        return guess(parsed(file_bytes(path)))
    except MoodSourceFailed:
        return {}


def _mood_files(home: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    mind = places.decide(environ).folder.absolute()
    settings, data = environ.get("XDG_CONFIG_HOME"), environ.get("XDG_DATA_HOME")
    kept = [
        home / ".dsh",
        Path(settings) if settings else home / ".config",
        Path(data) if data else home / ".local" / "share",
        home / "Library" / "Application Support",
        home / "AppData" / "Roaming",
        home / "AppData" / "Local",
    ]
    seen: set[Path] = set()
    for folder, depth in ((mind.parent, NEIGHBOUR_DEPTH), *((place.absolute(), DEPTH) for place in kept)):
        for path in _walk(folder, depth):
            own = path.name == OWN_STATE and (path.parent == mind or places.is_mind(path.parent))
            if not own and path not in seen:
                seen.add(path)
                yield path


def _walk(root: Path, depth: int) -> Iterator[Path]:
    """Regular files named like a mood, the shallow ones first; a place that is itself a link is left alone."""
    waiting = deque([] if root.is_symlink() else [(root, 0)])
    left = ENTRIES
    while waiting and left > 0:
        folder, deep = waiting.popleft()
        try:
            with os.scandir(folder) as entries:
                listed = sorted(islice(entries, left), key=lambda entry: entry.name)
        except OSError:
            continue
        left -= len(listed)
        for entry in listed:
            if entry.is_file(follow_symlinks=False) and _FILE_NAME.search(entry.name):
                yield Path(entry.path)
            elif deep < depth and _is_own_folder(entry):
                waiting.append((Path(entry.path), deep + 1))


def _is_own_folder(entry: os.DirEntry[str]) -> bool:
    junction = getattr(entry, "is_junction", None)  # Windows' other kind of link, told from 3.12 on
    return entry.is_dir(follow_symlinks=False) and not (junction is not None and junction())


def guess(document: object) -> dict[str, str]:
    """A map for a document: an object with two of the seven dimensions, a number `mood` or `value`, words beside.

    A `value` has to lie beside the dimensions or above them; a `mood` may stand alone. {} where nothing fits.
    """
    nodes = dict(islice(_nodes(document), NODES))
    dims = next((steps for steps, node in nodes.items() if len(read_dims(node)) >= 2), None)
    values = [steps for steps, node in nodes.items() if _is_gauge(steps, node, dims)]
    value = max(values, key=lambda steps: (_shared(steps, dims or ()), -len(steps)), default=None)
    chosen = {name: steps for name, steps in (("value", value), ("dims", dims)) if steps is not None}
    for name in ("label", "reason"):
        beside = [(*steps[:-1], name) for steps in chosen.values()] + [(*(dims or ()), name)]
        words = next((steps for steps in beside if chosen and isinstance(nodes.get(steps), str)), None)
        chosen |= {name: words} if words else {}
    return {name: _json_path(steps) for name, steps in chosen.items()}


def _nodes(document: object) -> Iterator[tuple[Steps, object]]:
    """Every node with the steps that lead to it, the shallow ones first."""
    waiting: deque[tuple[Steps, object]] = deque([((), document)])
    while waiting:
        steps, node = waiting.popleft()
        yield steps, node
        if len(steps) < NESTING:
            inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
            # a quoted * is still "any" to the library
            waiting.extend(((*steps, step), part) for step, part in inner if step != "*")


def _is_gauge(steps: Steps, node: object, dims: Steps | None) -> bool:
    key, number = str(steps[-1]).lower() if steps else "", read_number(node)
    if key not in VALUE_KEYS or number is None or not 0.0 <= number <= 100.0:
        return False
    return key != "value" or (dims is not None and dims[: len(steps) - 1] == steps[:-1])


def _shared(one: Steps, other: Steps) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _json_path(steps: Steps) -> str:
    """`$.moods.default`, `$['two words'][0]`."""
    parts = []
    for step in steps:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN_KEY.fullmatch(step):
            parts.append(f".{step}")
        else:
            quoted = step.replace("\\", "\\\\").replace("'", "\\'")
            parts.append(f"['{quoted}']")
    return "$" + "".join(parts)
