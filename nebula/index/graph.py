"""The graph as it stands at one moment: all six kinds of edge among the memories that hold, with weights (spec 4).

Stored edges (meaning, shared keywords, content reference) come from the index; the other three follow from the rows'
source, time and category and are drawn when needed. Nodes are rows 0…n-1, then the core, category hubs and date stars.
The recall route walks these edges and the star map draws them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nebula import clock
from nebula.index.kinds import (
    CATEGORY,
    COMMON_FROM,
    CONTENT,
    DATE,
    DATE_STARS,
    HUB_TO_CORE,
    KEYWORDS,
    MEANING,
    NEAR_SECONDS,
    SHARED,
    SOURCE,
    WEIGHTS,
)
from nebula.quick import dataclass
from nebula.text.keywords import AT_MOST as KEYWORDS_AT_MOST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nebula.index.postings import Postings
    from nebula.index.table import Table

    Array = NDArray[Any]


@dataclass(frozen=True)
class Graph:
    """Undirected edges a - b with weight and kind, shape [m] each; `nodes` counts rows, core, hubs and stars."""

    a: Array
    b: Array
    weight: Array
    kind: Array
    rows: int
    nodes: int
    least: float = 0.0

    def of(self, nodes: Array) -> Edges:
        """All edges that touch some nodes, by reading the whole."""
        asked = np.zeros(self.nodes, np.bool_)
        asked[nodes] = True
        out, back = asked[self.a], asked[self.b]
        return Edges(
            np.concatenate([self.a[out], self.b[back]]),
            np.concatenate([self.b[out], self.a[back]]),
            np.concatenate([self.weight[out], self.weight[back]]),
            np.concatenate([self.kind[out], self.kind[back]]),
        )


@dataclass(frozen=True)
class Edges:
    """Edges from nodes asked for: `start` -> `end` with weight and kind, [m] each; twice where both are."""

    start: Array
    end: Array
    weight: Array
    kind: Array


@dataclass(frozen=True)
class Stored:
    """The edges an index keeps, see `mentions` and `nearest`."""

    edge_a: Array
    edge_b: Array
    said_a: Array
    said_b: Array
    said_words: Array  # uint64 [m, 8]
    near: Array  # int32 [n, 3]
    cosine: Array  # float32 [n, 3]


def assemble(table: Table, stored: Stored, keywords: Postings, alive: Array, now: int, min_cosine: float) -> Graph:
    """All six kinds of edge among the rows that are alive (bool [n]) at `now` (seconds)."""
    n = table.n
    common = common_keywords(keywords, n)
    parts = [
        _of_content(stored, common, alive),
        _of_keywords(stored, keywords, common, alive),
        _of_source(table, alive),
        _of_meaning(stored, alive, min_cosine),
    ]
    hubs, next_node = _of_category(table, alive, n)
    stars, nodes = _of_date(table, alive, clock.day(now), next_node)
    columns = zip(*parts, hubs, stars, strict=True)
    a, b, weight, kind = (np.concatenate(column) for column in columns)
    return Graph(a, b, weight, kind, n, nodes)


#: Sources up to which rows are put in order by one pass for each.
MANY_SOURCES = 64

_Edges = tuple["Array", "Array", "Array", "Array"]


def _edges(a: Array, b: Array, kind: int, weight: float | None = None) -> _Edges:
    each = WEIGHTS[kind] if weight is None else weight
    return a.astype(np.int64), b.astype(np.int64), np.full(len(a), each), np.full(len(a), kind, np.uint8)


def _of_content(stored: Stored, common: Sequence[int], alive: Array) -> _Edges:
    """Pairs of which one speaks of the other by two words at least that are not everybody's."""
    told = (stored.said_words != 0) & ~np.isin(stored.said_words, np.array(common, np.uint64))
    keep = alive[stored.said_a] & alive[stored.said_b] & (told.sum(axis=1) >= SHARED)
    return _edges(*_pairs(stored.said_a[keep], stored.said_b[keep]), CONTENT)


def _of_keywords(stored: Stored, keywords: Postings, common: Sequence[int], alive: Array) -> _Edges:
    """Pairs that share two keywords at least that are not everybody's."""
    keep = alive[stored.edge_a] & alive[stored.edge_b]
    a, b = stored.edge_a[keep], stored.edge_b[keep]
    if common:
        keep = shared_besides(a, b, keyword_rows(keywords, len(alive), common)) >= SHARED
        a, b = a[keep], b[keep]
    return _edges(a, b, KEYWORDS)


def _pairs(a: Array, b: Array) -> tuple[Array, Array]:
    """Each pair once, whichever way round and however often it stands."""
    low, high = np.minimum(a, b).astype(np.int64), np.maximum(a, b).astype(np.int64)
    pair = sorted_unique((low << 32) | high)[0]
    return pair >> 32, pair & 0xFFFFFFFF


def sorted_unique(values: Array) -> tuple[Array, Array]:
    """The values, each once and ascending, and where each of the given ones stands among them.

    As `np.unique(…, return_inverse=True)`, which loads numpy.ma: 15 ms of a cold recall.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    fresh = np.ones(len(values), np.bool_)
    fresh[1:] = ordered[1:] != ordered[:-1]
    back = np.empty(len(values), np.int64)
    back[order] = np.cumsum(fresh) - 1
    return ordered[fresh], back


def common_keywords(keywords: Postings, n: int) -> list[int]:
    """Keywords that more than half of n memories share, as hashes; they join nothing. At most 16 words can be so."""
    if n < COMMON_FROM:
        return []
    suspects = set()
    for segment in keywords.segments:
        often = np.diff(segment["kw_starts"]) * 2 > len(segment["id"])
        suspects.update(segment["kw_terms"][often].tolist())
    return [term for term in suspects if len(keywords.run(term)[0]) * 2 > n]


def shared_besides(a: Array, b: Array, keywords_of: Array) -> Array:
    """How many keywords two rows share, by every row's keywords (uint64 [n, 8]); [m]."""
    mine, theirs = keywords_of[a], keywords_of[b]
    equal = (mine[:, :, None] == theirs[:, None, :]) & (mine[:, :, None] != 0)
    counts: Array = equal.sum(axis=(1, 2))
    return counts


def keyword_rows(keywords: Postings, n: int, without: Sequence[int]) -> Array:
    """Every row's keywords, uint64 [n, 8], 0 where there is none; those of `without` are left out."""
    rows, terms = [], []
    for segment, base in zip(keywords.segments, keywords.bases, strict=True):
        rows.append(segment["kw_rows"].astype(np.int64) + base)
        terms.append(np.repeat(segment["kw_terms"], np.diff(segment["kw_starts"])))
    row = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    term = np.concatenate(terms) if terms else np.zeros(0, np.uint64)
    keep = ~np.isin(term, np.array(without, np.uint64))
    row, term = row[keep], term[keep]
    order = np.argsort(row, kind="stable")
    row, term = row[order], term[order]
    width = np.arange(len(row)) - np.searchsorted(row, row)
    table = np.zeros((n, max(KEYWORDS_AT_MOST, int(width.max(initial=0)) + 1)), np.uint64)
    table[row, width] = term
    return table


def _of_source(table: Table, alive: Array) -> _Edges:
    """Neighbours in time of one `via`, at most 20 minutes apart."""
    return _edges(*source_pairs(table, alive), SOURCE)


def source_pairs(table: Table, alive: Array) -> tuple[Array, Array]:
    """Living rows that follow one another in time among those of one `via`, at most 20 minutes apart."""
    rows = np.flatnonzero(alive)
    via, at = table.column("via")[rows], table.column("at")[rows]
    order = _by_source(table, rows, via, at)
    rows, via, at = rows[order], via[order], at[order]
    near = (via[1:] == via[:-1]) & (at[1:] - at[:-1] <= NEAR_SECONDS)
    return rows[:-1][near], rows[1:][near]


def _by_source(table: Table, rows: Array, via: Array, at: Array) -> Array:
    """The order by (via, time, ref); rows mostly come in by time, and then only their few sources are to be sorted."""
    tied = np.flatnonzero(at[1:] == at[:-1])
    order = table.order_of(rows[tied]) < table.order_of(rows[tied + 1])
    code = np.zeros(len(rows), np.uint8)
    if order.all() and (at[1:] >= at[:-1]).all() and _coded(via, code):
        return np.argsort(code, kind="stable")  # of bytes: a radix sort
    return np.lexsort((table.order_of(rows), at, via))


def _coded(via: Array, code: Array) -> bool:
    """Number the sources in place, in their own order; False where they are too many for a byte."""
    found: list[Any] = []
    left = np.ones(len(via), np.bool_)
    while len(found) < MANY_SOURCES and left.any():
        found.append(via[int(left.argmax())])
        left &= via != found[-1]
    for number, source in enumerate(sorted(found)):
        code[via == source] = number
    return not left.any()


def _of_meaning(stored: Stored, alive: Array, min_cosine: float) -> _Edges:
    """Pairs of which one has the other among its three nearest, cosine at least `min_cosine`."""
    near, cosine = stored.near, stored.cosine
    row, place = np.nonzero((near >= 0) & (cosine >= min_cosine - 1e-6))
    other = near[row, place].astype(np.int64)
    keep = alive[row] & alive[other]
    return _edges(*_pairs(row[keep], other[keep]), MEANING)


def _of_category(table: Table, alive: Array, core: int) -> tuple[_Edges, int]:
    """Hub - memory and hub - core; hubs are numbered from core + 1 on. -> (edges, next free node)."""
    rows = np.flatnonzero(alive & (table.column("tag") != 0))
    tags, hub = sorted_unique(table.column("tag")[rows])
    hubs = core + 1 + np.arange(len(tags))
    to_memory = _edges(core + 1 + hub, rows, CATEGORY)
    to_core = _edges(hubs, np.full(len(hubs), core), CATEGORY, HUB_TO_CORE)
    joined = tuple(np.concatenate(pair) for pair in zip(to_memory, to_core, strict=True))
    return (joined[0], joined[1], joined[2], joined[3]), core + 1 + len(tags)


def _of_date(table: Table, alive: Array, today: int, first: int) -> tuple[_Edges, int]:
    """A star for each of the last 45 days, joined to that day's memories. -> (edges, number of nodes)."""
    days = table.column("at") // clock.DAY_SECONDS
    rows = np.flatnonzero(alive & (days > today - DATE_STARS) & (days <= today))
    star = first + (today - days[rows])
    return _edges(star, rows, DATE), first + DATE_STARS
