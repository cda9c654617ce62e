"""The index as of a moment: only rows written by then, numbered anew, under the changes up to then.

What it answers is what a mind that was built up to that moment alone would answer: document frequencies, mean length,
edges and nearest neighbours are those of the rows that were there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.index import mentions, nearest, postings, segments, state
from nebula.index.table import DTYPES, Table, lookups, moment
from nebula.index.vectors import Vectors
from nebula.index.view import Index
from nebula.mindlib import changes
from nebula.mindlib.store import FOLDED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Columns = Mapping[str, Array]


def as_of(index: Index, until: str) -> Index:
    """The index at a ledger time, `until` included; `index` is left as it is."""
    kept = np.flatnonzero(index.table.column("at") <= moment(until, 0))
    place = np.full(index.table.n, -1, np.int64)
    place[kept] = np.arange(len(kept))
    rows = [_rows(segments.merge(list(index.segments)), place)] if len(kept) else []
    table, strings = Table(rows, {}), state.Strings()
    lines = [line.obj for name in FOLDED for line in index.store.scan(name).lines]
    state.lay_over(table, strings, changes.fold(lines, until))
    return Index(index.store, table, rows, _vectors(index, table, place), strings)


def _rows(whole: Columns, place: Array) -> dict[str, Array]:
    """One segment without the rows whose new place is -1, the others numbered by it."""
    kept = place >= 0
    table = {name: whole[name][kept] for name in DTYPES}
    runs = {**_runs(whole, place, "post"), **_runs(whole, place, "kw"), **_runs(whole, place, "long")}
    return {**table, **lookups(table), **runs, "heads": whole["heads"], **_edges(whole, place)}


def _runs(whole: Columns, place: Array, prefix: str) -> dict[str, Array]:
    term = np.repeat(whole[f"{prefix}_terms"], np.diff(whole[f"{prefix}_starts"]))
    row = place[whole[f"{prefix}_rows"]]
    keep = row >= 0
    return postings.runs(term[keep], row[keep], whole[f"{prefix}_tf"][keep].astype(np.int64), prefix)


def _edges(whole: Columns, place: Array) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for a, b in (("edge_a", "edge_b"), ("said_a", "said_b")):
        left, right = place[whole[a]], place[whole[b]]
        keep = (left >= 0) & (right >= 0)
        found |= {a: left[keep].astype(np.int32), b: right[keep].astype(np.int32)}
    return mentions.with_ends(found | {"said_words": whole["said_words"][keep]})


def _vectors(index: Index, table: Table, place: Array) -> Vectors:
    """The vectors of the kept rows; a nearest list that named a row which is gone is made again."""
    parts = index.vectors.segments
    if not parts or not table.n:
        return Vectors([], table.n)
    names = [name for name in parts[0] if name.startswith("vec")]
    whole = {name: np.concatenate([part[name] for part in parts]) for name in names}
    row = _placed(whole["vec_row"], place)
    segment = {name: values[row >= 0] for name, values in {**whole, "vec_row": row}.items()}
    near, cosine = (lists[place >= 0] for lists in nearest.lists(parts, index.table.n))
    moved = _placed(near, place)
    vectors = Vectors([segment], table.n)
    lost = ((near >= 0) & (moved < 0)).any(axis=1)
    nearest.refresh(vectors, np.flatnonzero(lost), table.order(), moved, cosine)
    return Vectors([{**segment, **nearest.stored(np.arange(table.n), moved, cosine)}], table.n)


def _placed(rows: Array, place: Array) -> Array:
    """Old row numbers as new ones, int32; -1 for none and for those that are gone."""
    return np.where(rows >= 0, place[np.maximum(rows, 0)], -1).astype(np.int32)
