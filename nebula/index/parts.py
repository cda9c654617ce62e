"""The parts of an index on disk: immutable array files named by the manifest; loading, merging and saving them."""

from __future__ import annotations

import contextlib
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from nebula.index import manifest as manifests
from nebula.index import segments, vectors
from nebula.index.manifest import Manifest
from nebula.index.table import Table
from nebula.index.vectors import Vectors
from nebula.mindlib import tensors
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from nebula.index.state import Strings

    Array = NDArray[Any]
    Columns = Mapping[str, Array]
    Named = list[tuple[str, Columns]]

MERGE_ROWS = 16_384  # larger parts are merged only when time is taken for it
LARGEST = 262_144  # and none above this: a merge holds its result in memory
RETRIES = 5  # a writer may replace files between our reading the manifest and mapping them
LOCK = "lock"
FLOOR = "floor.json"  # what `calibration` keeps beside the parts: it outlives them


@dataclass
class Parts:
    """An index under work: arrays beside the file each came from ("" while it is only in memory)."""

    manifest: Manifest
    rows: Named = field(default_factory=list)
    vectors: Named = field(default_factory=list)
    state: Columns = field(default_factory=dict)
    strings: Strings = field(default_factory=dict)
    changed: bool = False
    limit: int = MERGE_ROWS

    @property
    def n(self) -> int:
        """How many rows there are."""
        return sum(len(arrays["id"]) for _, arrays in self.rows)

    def table(self) -> Table:
        """The rows' columns with the folded state over them."""
        return Table([arrays for _, arrays in self.rows], self.state)

    def dense(self) -> Vectors:
        """The vectors of all parts."""
        return Vectors([arrays for _, arrays in self.vectors], self.n)

    def start_over(self) -> None:
        """Number the rows anew; vectors are kept by the hashes of their texts, ids by the highest ever seen."""
        old = self.manifest
        self.manifest = Manifest(model=old.model, next_id=old.next_id, serial=old.serial)
        self.rows, self.state, self.strings = [], {}, {}
        self.vectors = [("", vectors.detached(arrays)) for _, arrays in self.vectors]

    def merge(self) -> None:
        """Merge from the end while parts are alike in size and not above `limit`."""
        self._replace(_merged(self.rows, "id", segments.merge, self.limit), self.vectors)
        self._replace(self.rows, _merged(self.vectors, "vec", vectors.merge, self.limit))

    def compact(self) -> None:
        """Merge to as few parts as LARGEST allows."""
        self._replace(_compacted(self.rows, "id", segments.merge), _compacted(self.vectors, "vec", vectors.merge))

    @property
    def compacts(self) -> bool:
        """Whether `compact` would merge anything."""
        return any(len(_groups(named, key)) < len(named) for named, key in ((self.rows, "id"), (self.vectors, "vec")))

    def _replace(self, rows: Named, vectors: Named) -> None:
        self.rows, self.vectors = rows, vectors
        self.changed |= any(not name for name, _ in [*rows, *vectors])


def load(folder: Path) -> Parts:
    """What lies in an index folder, mapped; of one that can't be understood the vectors, as far as they can be."""
    for _ in range(RETRIES):
        found = manifests.load(folder)
        if found is None:
            break
        try:
            return _map(folder, found)
        except (OSError, ValueError, KeyError):
            continue
    return _salvaged(folder, manifests.salvage(folder))


def _salvaged(folder: Path, old: Manifest) -> Parts:
    parts = Parts(replace(old, vectors={}))
    for name, count in old.vectors.items():
        with contextlib.suppress(OSError, ValueError, KeyError):
            arrays = _checked(tensors.read(folder / name)[0], "vec", count)
            parts.vectors.append(("", vectors.detached(arrays)))
    return parts


def _map(folder: Path, found: Manifest) -> Parts:
    parts = Parts(found)
    parts.rows = [(name, _checked(tensors.read(folder / name)[0], "id", count)) for name, count in found.rows.items()]
    parts.vectors = [(name, _checked(tensors.read(folder / name)[0], "vec", n)) for name, n in found.vectors.items()]
    if found.state:
        parts.state, meta = tensors.read(folder / found.state)
        parts.strings = {int(row): fields for row, fields in _strings(meta).items()}
    return parts


def _checked(arrays: Columns, name: str, count: int) -> Columns:
    if len(arrays[name]) != count:
        raise ValueError(name)
    return arrays


def _strings(meta: Mapping[str, str]) -> dict[str, Any]:
    import orjson

    obj = orjson.loads(meta.get("strings", "{}"))
    return obj if isinstance(obj, dict) else {}


def save(folder: Path, parts: Parts) -> None:
    """Write what is only in memory, then the manifest, then drop files that it no longer names. Raises WriteFailed."""
    import orjson

    serial = parts.manifest.serial + 1
    parts.rows = [_saved(folder, name, f"rows-{serial}-{at}", a) for at, (name, a) in enumerate(parts.rows)]
    parts.vectors = [_saved(folder, name, f"vec-{serial}-{at}", a) for at, (name, a) in enumerate(parts.vectors)]
    state_name = parts.manifest.state
    if parts.state and not state_name:
        state_name = f"state-{serial}"
        strings = orjson.dumps(parts.strings, option=orjson.OPT_NON_STR_KEYS).decode()
        tensors.write(folder / state_name, parts.state, {"strings": strings})
    parts.manifest = replace(
        parts.manifest,
        rows={name: len(arrays["id"]) for name, arrays in parts.rows},
        vectors={name: len(arrays["vec"]) for name, arrays in parts.vectors},
        state=state_name,
        serial=serial,
    )
    manifests.save(folder, parts.manifest)
    parts.changed = False
    _sweep(folder, parts.manifest)


def _saved(folder: Path, name: str, fresh: str, arrays: Columns) -> tuple[str, Columns]:
    if name:
        return name, arrays
    tensors.write(folder / fresh, arrays)
    return fresh, tensors.read(folder / fresh)[0]  # from now on mapped: what was built may leave memory


def _sweep(folder: Path, kept: Manifest) -> None:
    names = {*kept.rows, *kept.vectors, kept.state, manifests.NAME, LOCK, FLOOR}
    for path in folder.iterdir():
        if path.name not in names:
            with contextlib.suppress(OSError):
                path.unlink()


def _merged(parts: Named, counted: str, merge: Callable[[list[Columns]], Columns], limit: int) -> Named:
    parts = list(parts)
    while len(parts) > 1:
        before, last = (len(arrays[counted]) for _, arrays in parts[-2:])
        if before > 2 * last or before + last > limit:
            break
        parts[-2:] = [("", merge([arrays for _, arrays in parts[-2:]]))]
    return parts


def _compacted(parts: Named, counted: str, merge: Callable[[list[Columns]], Columns]) -> Named:
    groups = _groups(parts, counted)
    return [group[0] if len(group) == 1 else ("", merge([arrays for _, arrays in group])) for group in groups]


def _groups(parts: Named, counted: str) -> list[Named]:
    """The parts in order, those together that are not above LARGEST together."""
    groups: list[Named] = []
    room = 0
    for part in parts:
        size = len(part[1][counted])
        if groups and size <= room:
            groups[-1].append(part)
        else:
            groups.append([part])
            room = LARGEST
        room -= size
    return groups
