"""From ledger lines to the arrays of one row segment, and segments merged into one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.index import mentions, postings
from nebula.index.hashing import h64
from nebula.index.mentions import Arrivals, EdgeSource
from nebula.index.postings import Postings
from nebula.index.table import DTYPES, columns, lookups
from nebula.mindlib.store import Namer
from nebula.quick import dataclass
from nebula.text import words
from nebula.text.keywords import keywords
from nebula.text.simplified import simplified

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from nebula.index.table import Table
    from nebula.mindlib.ledger import Line
    from nebula.mindlib.record import Memory
    from nebula.text.words import Mode

    Array = NDArray[Any]
    Columns = Mapping[str, Array]


@dataclass(frozen=True)
class Arrival:
    """A memory that comes into the index, and where its line lies."""

    memory: Memory
    offset: int
    length: int


def name_lines(kind: str, lines: Sequence[Line], table: Table, erased: Collection[int] = ()) -> list[Arrival]:
    """Lines of one ledger, in file order, behind those already in the table -> memories with uid and `repeated`.

    `erased` are ids of the lines before that are in no table and yet taken.
    """
    numbers = [line.obj["id"] for line in lines]
    known = {
        number for number, row in zip(numbers, table.rows_of([(kind, n) for n in numbers]), strict=True) if row >= 0
    }
    known |= set(erased)
    namer = Namer(kind, known.__contains__, lambda uid: table.row_of_uid(uid) >= 0)
    named = [(namer.memory(line.obj), line) for line in lines]
    return [Arrival(memory, line.offset, line.length) for memory, line in named if memory is not None]


def as_searched(memory: Memory, mode: Mode) -> str:
    """The text that words and meaning are taken of, in simplified characters but in the first version's way."""
    text = memory.searchable(mode)
    return simplified(text) if mode == "full" else text


def build(
    arrivals: Sequence[Arrival], mode: Mode, older: Sequence[Columns], text_of: Callable[[int], str]
) -> dict[str, Array]:
    """Memories in row order -> the arrays of one segment that follows the `older` ones.

    `text_of(row)` gives the text of an older row; it is asked for few (see mentions).
    """
    texts = [arrival.memory.text for arrival in arrivals]
    # one text after another: what was cut for the one is at hand for the other
    searched = [as_searched(arrival.memory, mode) for arrival in arrivals]
    both = [(words.tokens(whole, mode), keywords(text)) for whole, text in zip(searched, texts, strict=True)]
    token_lists, keyword_lists = [tokens for tokens, _ in both], [found for _, found in both]
    segment = _table(arrivals, token_lists, searched)
    segment |= lookups(segment) | postings.build(token_lists) | mentions.segment(keyword_lists)
    every = [*older, segment]
    first = sum(len(part["id"]) for part in older)
    source = EdgeSource(
        runs_of(every, "kw"),
        runs_of(every, "long"),
        runs_of(every, "post"),
        [s["heads"] for s in every],
        text_of,
        mode == "full",
    )
    return segment | mentions.edges(Arrivals(first, texts, keyword_lists), source)


def words_alone(arrivals: Sequence[Arrival], mode: Mode) -> dict[str, Array]:
    """Memories in row order -> their columns and the runs of their tokens; no keywords, no edges."""
    searched = [as_searched(arrival.memory, mode) for arrival in arrivals]
    token_lists = [words.tokens(text, mode) for text in searched]
    return _table(arrivals, token_lists, searched) | postings.build(token_lists)


def _table(
    arrivals: Sequence[Arrival], token_lists: Sequence[Sequence[str]], searched: Sequence[str]
) -> dict[str, Array]:
    return columns(
        [arrival.memory for arrival in arrivals],
        [(arrival.offset, arrival.length) for arrival in arrivals],
        [len(tokens) for tokens in token_lists],
        [h64(text) for text in searched],
    )


def runs_of(segments: Sequence[Columns], prefix: str) -> Postings:
    """The runs of one kind (`post`, `kw`, `long`) over all segments."""
    sizes = [len(segment["id"]) for segment in segments]
    return Postings(segments, [int(base) for base in np.cumsum([0, *sizes])[:-1]], prefix)


def merge(parts: Sequence[Columns]) -> dict[str, Array]:
    """Segments that follow one another -> one."""
    sizes = [len(part["id"]) for part in parts]
    table = {name: np.concatenate([part[name] for part in parts]) for name in DTYPES}
    return table | lookups(table) | postings.merge(parts, sizes) | mentions.merge(parts, sizes)
