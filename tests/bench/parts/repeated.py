"""A mind many times as large as another: its notes again and again under new ids, each vector drawn anew.

Building a million memories lasts half an hour; this takes minutes, and what a recall reads is the same: as long runs,
as many vectors, as many edges a row, texts of the ledger. Only the vocabulary does not grow.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from nebula.encoder import open_encoder
from nebula.index import nearest, segments, vectors
from nebula.index import parts as indexes
from nebula.index.manifest import Manifest, Source
from nebula.index.table import lookups
from nebula.mindlib import files
from nebula.mindlib.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.bench.parts.minds import Drawn

    Array = np.ndarray[Any, Any]
    Columns = Mapping[str, Array]

#: Arrays of a segment whose values are row numbers.
NUMBERED = ("edge_a", "edge_b", "said_a", "said_b", "edge_ends", "edge_other", "said_ends", "said_other")


def make(base: Path, at: Path, times: int, drawn: type[Drawn]) -> None:
    """Write the ledger and the index of the larger mind; `base` holds notes alone, all with vectors."""
    (folder,) = (base / ".index").iterdir()
    old = indexes.load(folder)
    rows = segments.merge([arrays for _, arrays in old.rows])
    near = nearest.lists([arrays for _, arrays in old.vectors], old.n)
    notes = {obj["id"]: obj for obj in map(orjson.loads, (base / "notes.jsonl").read_bytes().splitlines())}
    encoder = drawn(open_encoder().key)
    into = at / ".index" / folder.name
    into.mkdir(parents=True)
    ledger = at / "notes.jsonl"
    found = indexes.Parts(Manifest(model=encoder.key), limit=indexes.LARGEST)
    for turn in range(times):
        mine = _written(ledger, rows, notes, turn * old.n)
        found.rows.append(("", mine))
        found.vectors.append(
            ("", _drawn(encoder, [notes[number]["text"] for number in rows["id"].tolist()], mine, near))
        )
        size, mtime, inode = Store(at).stamp("notes")
        source = Source(size, mtime, inode, size, files.tail_fingerprint(ledger, size))
        found.manifest = replace(
            found.manifest, sources={ledger.name: source}, next_id={"notes": int(mine["id"].max()) + 1}
        )
        found.merge()
        indexes.save(into, found)


def _written(ledger: Path, rows: Columns, notes: Mapping[int, Mapping[str, Any]], base: int) -> dict[str, Array]:
    """Append the notes with `base` added to their ids; -> their rows."""
    ids = rows["id"] + base
    lines = [orjson.dumps({**notes[number - base], "id": number, "uid": f"{number:016x}"}) for number in ids.tolist()]
    start = ledger.stat().st_size if ledger.exists() else 0
    with ledger.open("ab") as file:
        file.writelines(line + b"\n" for line in lines)
    length = np.array([len(line) for line in lines], np.int64)
    own = {"id": ids, "uid": ids.astype(np.uint64), "length": length}
    own["offset"] = start + np.cumsum(length + 1) - length - 1
    own |= {name: (rows[name] + base).astype(rows[name].dtype) for name in NUMBERED}
    return {**rows, **own, **lookups({**rows, **own})}


def _drawn(encoder: Drawn, texts: Sequence[str], rows: Columns, near: tuple[Array, Array]) -> dict[str, Array]:
    base = int(rows["id"].min()) - 1
    made = vectors.segment(
        [base + row for row in range(len(texts))], rows["text"].tolist(), list(encoder.encode(texts).vectors[:, None])
    )
    others = np.where(near[0] >= 0, near[0] + base, -1).astype(np.int32)
    return made | nearest.stored(made["vec_row"], others, near[1])
