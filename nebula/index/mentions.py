"""Which memories share words or speak of one another: the stored edges of the graph, found as memories arrive (spec 4).

- shared keywords: the keyword sets of two memories share at least 2.
- content reference: at least 2 keywords of B, of 3 characters or more, stand in A's text (Han: anywhere in a run; other
  scripts: as a whole word, since "cat" does not speak of a category).

A keyword joins a memory to the REACH latest that bear it and no further back, so that building stays linear; in a mind
where fewer bear a word that is all of them. What half the mind shares is judged when walking, not here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.index import ascending, incidence, postings
from nebula.index.hashing import h64
from nebula.index.kinds import LONG, REACH, SHARED, is_long, mentioned, stands_in, unspaced_runs
from nebula.quick import dataclass
from nebula.text import words
from nebula.text.keywords import AT_MOST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from nebula.index.postings import Postings

    Array = NDArray[Any]


PAIRS = 1 << 20  # pairs worked out at a time

#: The arrays of edges that a segment holds.
STORED = ("edge_a", "edge_b", "said_a", "said_b", "said_words")


def segment(keyword_lists: Sequence[Sequence[str]]) -> dict[str, Array]:
    """Keywords of each row -> the runs of all (`kw_…`), of the long ones (`long_…`), and the long ones' heads."""
    long = [[k for k in ks if is_long(k)] for ks in keyword_lists]
    heads = {h64(k[:LONG]) for ks in long for k in ks}
    return {
        **postings.build(keyword_lists, "kw"),
        **postings.build(long, "long"),
        "heads": np.array(sorted(heads), np.uint64),
    }


def merge(parts: Sequence[Mapping[str, Array]], sizes: Sequence[int]) -> dict[str, Array]:
    """Segments that follow one another -> the arrays of one."""
    return {
        **postings.merge(parts, sizes, "kw"),
        **postings.merge(parts, sizes, "long"),
        "heads": ascending.distinct(np.concatenate([part["heads"] for part in parts])),
        **with_ends({name: np.concatenate([part[name] for part in parts]) for name in STORED}),
    }


def with_ends(stored: Mapping[str, Array]) -> dict[str, Array]:
    """Edges, and their ends for looking up those of a row (see `incidence`)."""
    edge_ends, edge_other, _ = incidence.build(stored["edge_a"], stored["edge_b"])
    said_ends, said_other, said_at = incidence.build(stored["said_a"], stored["said_b"])
    ends = {"edge_ends": edge_ends, "edge_other": edge_other}
    return {**stored, **ends, "said_ends": said_ends, "said_other": said_other, "said_at": said_at}


@dataclass(frozen=True)
class Arrivals:
    """Rows that come in, `first` being the number of the first: their folded texts' source and keywords."""

    first: int
    texts: Sequence[str]
    keywords: Sequence[Sequence[str]]


def edges(arrivals: Arrivals, index: EdgeSource) -> dict[str, Array]:
    """All edges of both kinds that the arrivals bring.

    Shared keywords: `edge_a` < `edge_b` (rows, int32). Content: `said_a` speaks of `said_b` by `said_words` (hashes,
    uint64 [m, 8], 0 where there are fewer): which of them are everybody's is judged when walking.
    """
    shared = _shared(arrivals, index.keywords)
    said = _content(arrivals, index)
    words_said = np.zeros((len(said), AT_MOST), np.uint64)
    for at, found in enumerate(said.values()):
        words_said[at, : len(found)] = sorted(found)
    stored = {
        "edge_a": shared.min(axis=1).astype(np.int32),
        "edge_b": shared.max(axis=1).astype(np.int32),
        "said_a": np.array([speaker for speaker, _ in said], np.int32),
        "said_b": np.array([spoken for _, spoken in said], np.int32),
        "said_words": words_said,
    }
    return with_ends(stored)


@dataclass(frozen=True)
class EdgeSource:
    """What finding edges looks into: runs over all rows, the arrivals' own included, and the texts of older rows."""

    keywords: Postings
    long: Postings
    lexical: Postings
    heads: Sequence[Array]
    text_of: Callable[[int], str]
    has_grams: bool


def _shared(arrivals: Arrivals, keywords: Postings) -> Array:
    """Pairs of rows, [p, 2], that share at least two keywords, the later one an arrival."""
    rows: list[Array] = []
    fresh: list[int] = []  # the place of each run's first arrival within it
    for term in {h64(k) for ks in arrivals.keywords for k in ks}:
        run, _ = keywords.run(term)
        first = int(np.searchsorted(run, arrivals.first))
        rows.append(run[max(0, first - REACH) :])
        fresh.append(min(first, REACH))
    if not rows:
        return np.zeros((0, 2), np.int64)
    row, size, begin = np.concatenate(rows), np.array([len(run) for run in rows]), np.array(fresh)
    # each arrival's place in each of its runs, and how many of those before it are within reach
    place = np.arange(len(row))
    nth = ascending.nth(size)
    arrived = nth >= np.repeat(begin, size)
    place, before = place[arrived], np.minimum(nth[arrived], REACH)
    packed = []
    for low, high in ascending.stretches(np.concatenate([[0], np.cumsum(before)]), PAIRS):
        count = before[low:high]
        later = np.repeat(place[low:high], count)
        packed.append((row[later] << 32) | row[later - ascending.nth(count) - 1])
    pair, count = np.unique(np.concatenate(packed) if packed else np.zeros(0, np.int64), return_counts=True)
    pair = pair[count >= SHARED]
    return np.stack([pair >> 32, pair & 0xFFFFFFFF], axis=1)


def _content(arrivals: Arrivals, index: EdgeSource) -> dict[tuple[int, int], set[int]]:
    """{(row that speaks, row spoken of): keywords}, one of the two an arrival."""
    said: dict[tuple[int, int], set[int]] = {}
    latest = cache(lambda term: index.long.run(term)[0][-REACH:].tolist())
    for at, (terms, keywords) in enumerate(zip(_long_terms(arrivals.texts, index), arrivals.keywords, strict=True)):
        row = arrivals.first + at
        if len(terms) >= SHARED:
            said |= {(row, other): found for other, found in _spoken_of(terms, latest) if other != row}
        long = [keyword for keyword in keywords if is_long(keyword)]
        said |= {(other, row): found for other, found in _speaking_of(long, arrivals.first, index)}
    return said


def _long_terms(texts: Sequence[str], index: EdgeSource) -> list[list[int]]:
    """For each text the long keywords of any row that stand in it, as hashes."""
    heads, hashed = _known_heads(texts, index.heads), cache(h64)
    said = [[hashed(keyword) for keyword in set(mentioned(text, heads))] for text in texts]
    term = np.fromiter(chain.from_iterable(said), np.uint64)
    known = iter(index.long.has(term).tolist())
    return [[t for t in terms if next(known)] for terms in said]


def _known_heads(texts: Sequence[str], segments: Sequence[Array]) -> set[str]:
    """The first LONG characters of any row's long keyword that stand in some texts, looked up all at once."""
    found = sorted(
        {run[at : at + LONG] for text in texts for run in unspaced_runs(text) for at in range(len(run) - LONG + 1)}
    )
    hashes = np.fromiter(map(h64, found), np.uint64, len(found))
    known = np.zeros(len(found), np.bool_)
    for heads in segments:
        known |= ascending.holds(heads, hashes)
    return {head for head, one in zip(found, known.tolist(), strict=True) if one}


def _spoken_of(terms: Sequence[int], latest: Callable[[int], list[int]]) -> Iterator[tuple[int, set[int]]]:
    """Rows of which at least two long keywords are among the terms, with these (`latest`: a term's last rows)."""
    found: dict[int, set[int]] = defaultdict(set)
    for term in terms:
        for row in latest(term):
            found[row].add(term)
    return ((row, keywords) for row, keywords in found.items() if len(keywords) >= SHARED)


def _speaking_of(keywords: Sequence[str], before: int, index: EdgeSource) -> Iterator[tuple[int, set[int]]]:
    """Older rows in whose text at least two of the keywords stand, with these."""
    if len(keywords) < SHARED or before == 0:
        return
    candidates = {keyword: set(_holding(keyword, before, index)) for keyword in keywords}
    count = Counter(row for rows in candidates.values() for row in rows)
    for row in (row for row, shared in count.items() if shared >= SHARED):
        text = index.text_of(row)
        found = {h64(k) for k, rows in candidates.items() if row in rows and stands_in(k, text)}
        if len(found) >= SHARED:
            yield row, found


def _holding(keyword: str, before: int, index: EdgeSource) -> list[int]:
    """The latest older rows that may hold a keyword: all of its bigrams, or itself as a word."""
    terms = [g for g in words.grams(keyword) if len(g) == 2] if index.has_grams else []
    terms = terms or words.tokens(keyword, "full" if index.has_grams else "words")
    runs = [{base: rows for base, rows, _ in index.lexical.spans(h64(term))} for term in set(terms)]
    shared = set.intersection(*map(set, runs)) if runs else set()
    held: list[int] = []
    for base in sorted((base for base in shared if base < before), reverse=True):
        own = sorted((run[base] for run in runs), key=len)
        rows = own[0][: own[0].searchsorted(np.int32(before - base))]
        for run in own[1:]:
            rows = rows[ascending.holds(run, rows)]
        held = [base + row for row in rows[len(held) - REACH :].tolist()] + held
        if len(held) >= REACH:
            break
    return held
