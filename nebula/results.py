"""What the operations answer with: values that a door shows and a program uses."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nebula.index.view import Index
    from nebula.mindlib.ledger import Damage
    from nebula.mindlib.record import Memory
    from nebula.recall.hit import Hit


@dataclass(frozen=True)
class Notice:
    """Something a person should know though the operation was done: a code, and the facts of its sentence."""

    code: str
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Added:
    """What was written, in the order given."""

    memories: Sequence[Memory]
    notices: Sequence[Notice] = ()


@dataclass(frozen=True)
class Recalled:
    """What came to mind for a query, and each route's own refs before fusion.

    `abstained`: nothing stood out, the `evidence` (see recall.floor) being below the floor; None: not asked for.
    `closest`: what came closest where recall abstained, unless `nearest` put it among the hits.
    """

    query: str
    hits: Sequence[Hit]
    notices: Sequence[Notice] = ()
    rankings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Hits for which the budget had no room; they count as not recalled.
    left_out: Sequence[Hit] = ()
    abstained: bool = False
    evidence: float | None = None
    closest: Hit | None = None


@dataclass(frozen=True)
class Listing:
    """Memories, newest first; `total` counts those that passed the filters."""

    memories: Sequence[Memory]
    total: int
    damages: Sequence[Damage] = ()


@dataclass(frozen=True)
class Built:
    """The state of the dense index: memories, those with a vector, texts embedded now, and what it takes on disk."""

    total: int
    present: int
    embedded: int
    model: str
    dimensions: int
    bytes: int


@dataclass(frozen=True)
class Setting:
    """One setting: its value, which rule decided it, and what it takes."""

    key: str
    value: object
    origin: str
    expected: str


def missing(index: Index) -> list[Notice]:
    """A notice of memories that meaning can't find yet, if there are any."""
    count = index.missing
    return [Notice("missing_vectors", {"missing": count, "total": index.table.n})] if count else []
