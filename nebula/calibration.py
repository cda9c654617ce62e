"""What queries about nothing find in a mind: the stock queries asked of its index, kept in a small derived file.

The stock (assets/stock) is made up: questions and talk about other people's lives, in Han and in Latin script. Their
terms and the bundled encoder's vectors ship beside it. The figures are taken again when the mind has grown.
"""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson

from nebula import places
from nebula.errors import LedgerUnusable, NebulaError
from nebula.index import parts
from nebula.mindlib import files
from nebula.quick import dataclass
from nebula.recall import floor
from nebula.recall.floor import Nulls
from nebula.text import dialogue, words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from nebula.encoder import Encoder
    from nebula.index.view import Index
    from nebula.recall.hit import Evidence
    from nebula.settings import RecallSettings

    Array = NDArray[Any]

#: The figures of a mind hold until it is this much larger or smaller.
GROWN = 1.25
#: Kinds of query, each with stock queries of its own: by script, and a few words and dialogues beside sentences.
KINDS = ("han", "latin", "han-short", "latin-short", "han-dialogue", "latin-dialogue")
LATIN = tuple(kind for kind in KINDS if kind.startswith("latin"))  # what a second encoder is asked
#: Characters of a short query in Han script, words of one in Latin script.
SHORT = {"han": 6, "latin": 3}


@dataclass(frozen=True)
class Stock:
    """q queries: kind (its place in KINDS) [q], unit vectors [q, d]; query i asks terms[starts[i] : starts[i + 1]]."""

    kind: Array
    vectors: Array
    terms: Array
    asked: Array
    starts: Array


def kind_of(query: str) -> str:
    """By which stock queries a query is judged: few words find nothing as near as a sentence does, a dialogue more."""
    runs = words.RUNS.findall(query)
    han = [run for run in runs if words.unspaced(run)]
    script, length = ("han", len(query.strip())) if han else ("latin", len(runs))
    if dialogue.is_dialogue(query):
        return f"{script}-dialogue"
    return f"{script}-short" if length <= SHORT[script] else script


def queries() -> list[tuple[str, str]]:
    """The stock's (kind, query) as they stand in the file."""
    lines = (places.asset("stock") / "queries.jsonl").read_bytes().splitlines()
    return [(obj["kind"], obj["query"]) for obj in map(orjson.loads, lines)]


def make(found: Sequence[tuple[str, str]], encoder: Encoder, recall: RecallSettings, instruction: str = "") -> Stock:
    """Stock queries as the routes are asked them, behind the instruction that the model wants.

    Raises what the encoder raises.
    """
    import numpy as np

    from nebula.index.hashing import h64
    from nebula.recall import asking

    terms = [asking.terms(query, recall) for _, query in found]
    encoded = encoder.encode([instruction + query for _, query in found])
    first = np.searchsorted(encoded.owner, np.arange(len(found)))
    return Stock(
        np.array([KINDS.index(kind) for kind, _ in found], np.uint8),
        encoded.vectors[first],
        np.array([h64(term) for each in terms for term in each], np.uint64),
        np.array([count for each in terms for count in each.values()], np.float32),
        np.cumsum([0, *map(len, terms)]).astype(np.int64),
    )


@cache
def _shipped() -> tuple[Stock, dict[str, str]]:
    from nebula.mindlib import tensors

    arrays, meta = tensors.read(places.asset("stock") / "stock.safetensors")
    return Stock(**arrays), meta


#: Stocks worked out here, by all that they depend on: each text may be paid for at an endpoint.
_made: dict[tuple[str, str, bool, str, str], Stock] = {}


def stock(encoder: Encoder, recall: RecallSettings, kind: str, instruction: str = "") -> Stock:
    """The stock under an encoder and settings, of a kind at least; worked out once where none ships for them."""
    shipped, meta = _shipped()
    if (meta["key"], meta["tokens"], instruction) == (encoder.key, recall.tokens, "") and recall.clauses:
        return shipped
    key = (encoder.key, recall.tokens, bool(recall.clauses), kind, instruction)
    if key not in _made:
        _made[key] = make([one for one in queries() if one[0] == kind], encoder, recall, instruction)
    return _made[key]


def judge(
    query: str,
    found: Evidence,
    index: Index,
    encoder: Encoder,
    recall: RecallSettings,
    folder: Path | None,
    second: Callable[[str], Nulls | None] | None = None,
) -> float:
    """How far a query's clearest find stands out from what its kind of stock queries find, in floors (recall.floor).

    `second`: what those of a kind find under a second encoder, asked where there is evidence of it.
    """
    kind = kind_of(query)
    other = second(kind) if second and found.second is not None else None
    return judged(query, found, nulls(index, kind, encoder, recall, folder), recall, other)


def judged(query: str, found: Evidence, known: Nulls, recall: RecallSettings, other: Nulls | None = None) -> float:
    """The same by the figures of the query's kind, under a second encoder the `other` ones."""
    evidence = floor.evidence(found, known, other, recall.second_share)
    return floor.in_floors(evidence, recall.floor, short=kind_of(query).endswith("-short"))


def nulls(
    index: Index, kind: str, encoder: Encoder, recall: RecallSettings, folder: Path | None, instruction: str = ""
) -> Nulls:
    """What the stock queries of a kind find, from the file in the index's `folder` or taken anew and put there.

    No folder: taken anew and kept nowhere. A file that can't be read or written costs time alone.
    """
    key, kept = key_of(encoder, recall, instruction), _read(folder / parts.FLOOR) if folder else {}
    known = held(kept.get(kind, {}), key, index.table.n)
    if known is not None:
        return known
    found = measure(index, stock(encoder, recall, kind, instruction), KINDS.index(kind), recall)
    if folder:
        with contextlib.suppress(NebulaError):
            fresh = {kind: entry(found, key, index.table.n)}
            files.replace(folder / parts.FLOOR, orjson.dumps(kept | fresh), durable=False)
    return found


def key_of(encoder: Encoder, recall: RecallSettings, instruction: str = "") -> str:
    """All that the figures of a mind depend on, but for its memories."""
    return f"median {encoder.key} {recall.tokens} {recall.k1} {recall.b} {bool(recall.clauses)}{instruction}"


def held(kept: Mapping[str, Any], key: str, n: int) -> Nulls | None:
    """A kind's figures as they were kept, where they hold for a mind of n memories; None where they don't."""
    if kept.get("key") != key or not kept["n"] / GROWN <= n <= kept["n"] * GROWN:
        return None
    return Nulls(_pair(kept["cosine"]), _pair(kept["share"]))


def entry(found: Nulls, key: str, n: int) -> dict[str, Any]:
    """A kind's figures as they are kept."""
    return {"key": key, "n": n, **asdict(found)}


def prepare(index: Index, encoder: Encoder, recall: RecallSettings, folder: Path) -> None:
    """Take all figures of a large mind now, so that no recall has to."""
    for kind in KINDS if recall.floor and index.table.n else ():
        nulls(index, kind, encoder, recall, folder)


def _read(path: Path) -> dict[str, Any]:
    try:
        return sound(files.read(path))
    except LedgerUnusable:
        return {}


def sound(raw: bytes) -> dict[str, Any]:
    """What was kept, by kind; nothing where it can't be read."""
    try:
        found: dict[str, Any] = orjson.loads(raw)
        for one in found.values():
            _pair(one["cosine"]), _pair(one["share"]), float(one["n"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    return found


def _pair(values: list[float]) -> tuple[float, float]:
    mean, deviation = map(float, values)
    return mean, deviation


def measure(index: Index, asked: Stock, kind: int, recall: RecallSettings) -> Nulls:
    """The clearest cosine and share that each stock query of a kind finds in an index: medians and deviations."""
    import numpy as np

    from nebula.recall import lexical

    chosen = np.flatnonzero(asked.kind == kind)
    cosines = index.vectors.clearest(asked.vectors[chosen].astype(np.float32))
    shares = [
        float(lexical.shares(_terms(asked, int(query)), index, recall.k1, recall.b).max(initial=0.0))
        for query in chosen
    ]
    return Nulls(floor.spread(cosines.tolist()), floor.spread(shares))


def _terms(asked: Stock, query: int) -> dict[int, float]:
    span = slice(int(asked.starts[query]), int(asked.starts[query + 1]))
    return dict(zip(asked.terms[span].tolist(), asked.asked[span].tolist(), strict=True))
