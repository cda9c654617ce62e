"""More of a memory: its neighbours in the graph, each with the reasons, and what was said before and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula import clock
from nebula.echo import handed_out
from nebula.index import kinds
from nebula.looking import of_session
from nebula.mindlib.record import LEDGER_CODE
from nebula.quick import dataclass
from nebula.results import Notice
from nebula.text.keywords import keywords

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nebula.index.view import Index
    from nebula.mind import Mind
    from nebula.mindlib.record import Memory

#: Neighbours and turns on either side, where nothing else is asked for.
NEIGHBOURS, TURNS = 8, 3


@dataclass(frozen=True)
class Neighbour:
    """A memory that edges join to the one asked for: their weights together, and each one's reason, heaviest first."""

    memory: Memory
    weight: float
    reasons: Sequence[str]


@dataclass(frozen=True)
class More:
    """A memory, the turns of its session around it in their order, and its neighbours, nearest first."""

    memory: Memory
    before: Sequence[Memory] = ()
    after: Sequence[Memory] = ()
    neighbours: Sequence[Neighbour] = ()
    notices: Sequence[Notice] = ()


def more(mind: Mind, ref: str, neighbours: int = NEIGHBOURS, turns: int = TURNS) -> More:
    """What stands around a memory now. Without edges no neighbours, and a notice. Raises UnknownRef."""
    memory = mind.get(ref)
    before, after = _turns(mind, memory, turns)
    lacks = _edgeless(mind)
    around = [] if lacks else _neighbours(mind, memory, neighbours)
    handed_out(mind, [memory, *before, *after, *(one.memory for one in around)])
    return More(memory, before, after, around, [Notice(lacks)] if lacks else [])


def _edgeless(mind: Mind) -> str:
    """Why neighbours are left out; "" where they are known."""
    from nebula.index import has_numpy

    if not has_numpy():
        return "edges_off"
    return "edges_elsewhere" if mind.served()[0] is not None else ""


def _turns(mind: Mind, memory: Memory, turns: int) -> tuple[list[Memory], list[Memory]]:
    """What its session holds before and after it: by turn, then time; what was replaced is left out."""
    if not memory.session or not turns:
        return [], []
    now = clock.seconds(mind.now())
    held = [m for m in of_session(mind, memory.session) if m.uid == memory.uid or not m.is_old(now)]
    held.sort(key=lambda m: (m.turn, m.seconds, LEDGER_CODE[m.ledger], m.id))
    at = next(place for place, m in enumerate(held) if m.uid == memory.uid)
    return held[max(0, at - turns) : at], held[at + 1 : at + 1 + turns]


def _neighbours(mind: Mind, memory: Memory, limit: int) -> list[Neighbour]:
    """Memories that an edge joins to it, heaviest together first; of hubs, the day and the category have no reason."""
    import numpy as np

    from nebula.index.neighbours import Neighbours

    index = mind.index()
    row = index.row(memory.ref)
    if row < 0:
        return []
    alive = index.table.column("valid_to") > clock.seconds(mind.now())
    alive[row] = True
    graph = Neighbours(index, alive, clock.seconds(mind.now()), mind.settings.graph.min_cosine)
    edges = graph.of(np.array([row]))
    found: dict[int, dict[int, float]] = {}
    for other, kind, weight in zip(edges.end.tolist(), edges.kind.tolist(), edges.weight.tolist(), strict=True):
        if other < graph.rows and other != row:
            found.setdefault(other, {})[kind] = weight
    best = sorted(
        found, key=lambda other: (-sum(found[other].values()), int(index.table.order_of(np.array([other]))[0]))
    )
    joined = [_neighbour(index, memory, row, other, found[other]) for other in best[:limit]]
    return [one for one in joined if one is not None]


def _neighbour(index: Index, memory: Memory, row: int, other: int, edges: dict[int, float]) -> Neighbour | None:
    theirs = index.memory(other)
    if theirs is None:
        return None
    words = {one.ref: keywords(one.text) for one in (memory, theirs)}
    cosine = _cosine(index, row, other) if kinds.MEANING in edges else 0.0
    heaviest = sorted(edges, key=lambda kind: (-edges[kind], kind))
    reasons = [kinds.reason(kind, memory, theirs, words, cosine) for kind in heaviest]
    return Neighbour(theirs, sum(edges.values()), reasons)


def _cosine(index: Index, row: int, other: int) -> float:
    import numpy as np

    vectors, owner = index.vectors.of_rows(np.array([row, other]))
    mine, theirs = vectors[owner == 0], vectors[owner == 1]
    return float((mine @ theirs.T).max()) if len(mine) and len(theirs) else 0.0
