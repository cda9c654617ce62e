"""A question, and what came to mind for it: hits that can say how they were found."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from nebula.quick import dataclass
from nebula.recall.fusion import ROUTES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from nebula.mindlib.record import Memory


@dataclass(frozen=True)
class Filters:
    """What may be a hit: empty means everything. Times in seconds, both ends included."""

    ledgers: Sequence[str] = ()
    tags: Sequence[str] = ()
    vias: Sequence[str] = ()
    since: int | None = None
    until: int | None = None
    old: bool = False  # also what was replaced


@dataclass(frozen=True)
class Probe:
    """A query as the dense route takes it: unit vectors of its pieces [q, d] and of its sentences [s, d].

    `back`: how many lines before the last one each sentence stands.
    """

    whole: Any
    clauses: Any = ()
    back: Sequence[int] = ()
    model: str = ""  # the encoder's name
    #: The same query under a second encoder, where there is one for it.
    second: Probe | None = None


@dataclass(frozen=True)
class Asked:
    """What the lexical route is asked: how much each term is asked for, and which count only together.

    `whole`: of a term that stands in dates alone the dates' terms, group by group; a memory has to hold one whole.
    """

    terms: Mapping[str, float]
    whole: Mapping[str, Sequence[frozenset[str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """A query as the routes take it. `probe`: None if dense is off."""

    asked: Asked
    probe: Probe | None
    n: int
    #: What it may call a speaker by, and the times it names: seconds, the end not included.
    names: Collection[str] = ()
    windows: Sequence[tuple[int, int]] = ()
    only_dates: bool = False  # the times are all that it says
    dominant: str = ""  # the mood's dominant colour
    feels: bool = False  # the query has an emotion word


@dataclass(frozen=True)
class Place:
    """Where a route found a hit: rank from 1, score in the route's own unit."""

    rank: int
    score: float


@dataclass(frozen=True)
class Hit:
    """A memory that came back: `score` = `fused` × every factor; `a`: its retention, `old`: was it replaced."""

    memory: Memory
    score: float
    fused: float
    a: float
    routes: Mapping[str, Place]
    factors: Mapping[str, float]
    #: What each part added to `fused`.
    parts: Mapping[str, float] = field(default_factory=dict)
    old: bool = False
    #: For a hit of the graph: the edge that brought it most, e.g. "n3 共同关键词 灯塔·看守".
    edge: str = ""
    #: Where two encoders gave to it: the part's name in `parts` -> the encoder's.
    encoders: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """`[词#3 义#1 图#1]`, ranks from 1; a route that did not find it is left out (spec 5)."""
        parts = [f"{mark}#{self.routes[name].rank}" for name, mark in ROUTES.items() if name in self.routes]
        return f"[{' '.join(parts)}]"


@dataclass(frozen=True)
class Evidence:
    """The clearest that any memory has for a query: cosine with the whole of it, share of its information (0…1).

    `second`: the clearest cosine under a second encoder, where the query was asked under one.
    """

    cosine: float
    share: float
    second: float | None = None
