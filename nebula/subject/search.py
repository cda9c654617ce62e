"""What comes to a character's mind for a query: its own events and views by word and by meaning, by mixed scores.

All figures (document frequencies, ranks) are those of the rows that hold as of the moment asked for, in this subject's
own partitions: what others lived, or what comes later, moves nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nebula.recall import asking, dense, lexical
from nebula.recall.fusion import mix
from nebula.recall.ranking import ROUTE_DEPTH, Ranking
from nebula.settings import RecallSettings
from nebula.subject.index import SOURCES
from nebula.text import dialogue

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nebula.subject.files import Lived
    from nebula.subject.index import Embedder, Partition, SubjectIndex

#: A subject's recall is the mind's, under its defaults.
RECALL = RecallSettings()
WEIGHTS: Mapping[str, float] = {"lexical": RECALL.w_lexical, "dense": RECALL.w_dense}
#: A candidate is clearly irrelevant below both: its cosine, and the share of the query's information in it. The
#: original's cosine (its L2 distance 1.15) is for a model that nothing is known of; the other two were chosen on
#: subject_zh (tests/bench/subjects.py): there they raise nDCG@10 from .773 to .789 and leave every question an answer.
COSINE_FLOOR = 0.339
BUILTIN_FLOOR = 0.40
SHARE_FLOOR = 0.25
FEW = 50  # rows; among fewer of them every word would seem common beside one that was never heard
LIMIT = range(1, 21)


@dataclass(frozen=True)
class Found:
    """A hit: an event by its line, or a view by its topic; ranks from 1 by route, cosine, share of information."""

    source: str
    line: int
    text: str
    score: float
    topic: str = ""
    aliases: Sequence[str] = ()
    time: str = ""
    tick: str = ""
    kind: str = ""
    origin: Mapping[str, Any] = field(default_factory=dict)
    ranks: Mapping[str, int] = field(default_factory=dict)
    cosine: float = 0.0
    share: float = 0.0


def search(
    index: SubjectIndex,
    subject: str,
    lived: Lived,
    embedder: Embedder,
    query: str,
    *,
    sources: Sequence[str] = SOURCES,
    limit: int = 6,
    line: int | None = None,
) -> list[Found]:
    """At most `limit` hits, best first, in one ranking of the sources asked for; the index is in sync with `lived`.

    `line`: as of a line of events, with the views that were held then; None for now. A view of several parts counts
    by its best. Raises what the embedder raises.
    """
    query = asking.heard(query)
    clauses = dialogue.clauses(query)
    vectors = embedder.embed([query, *(clause.text for clause in clauses)])
    partitions = [index.partition(subject, source, line) for source in sources]
    rows = [(p.source, number) for p in partitions for number, _ in p.keys]
    tokens = [counter for p in partitions for counter in p.tokens]
    if not rows:
        return []
    by_word, share = _lexical(asking.terms(query, RECALL), tokens)
    cosine = _cosines(partitions, vectors[0])
    best = [_cosines(partitions, vector) for vector in vectors[1:]]
    floor = BUILTIN_FLOOR if embedder.name[0] == "builtin" else COSINE_FLOOR
    clear = [c >= floor or s >= SHARE_FLOOR for c, s in zip(cosine, share, strict=True)]
    by_meaning = _with_clauses(cosine, best, [clause.back for clause in clauses])
    rankings = {"lexical": _ranking(by_word, clear), "dense": _ranking(by_meaning, clear)}
    candidates = list(dict.fromkeys(row for ranking in rankings.values() for row in ranking.ids))
    scores = {"lexical": [by_word[row] for row in candidates], "dense": [by_meaning[row] for row in candidates]}
    fused = mix(candidates, scores, WEIGHTS, lambda row: row)
    ranks = {route: {row: rank for rank, row in enumerate(found.ids, start=1)} for route, found in rankings.items()}
    hits: dict[tuple[str, int], Found] = {}
    for row, score in zip(fused.ids, fused.scores, strict=True):
        if rows[row] not in hits and len(hits) < limit:
            mine = {route: found[row] for route, found in ranks.items() if row in found}
            hits[rows[row]] = _found(lived, *rows[row], score, mine, cosine[row], share[row])
    return list(hits.values())


def _with_clauses(whole: Sequence[float], best: Sequence[Sequence[float]], back: Sequence[int]) -> list[float]:
    """The dense score as in `recall.dense`: the whole query's cosine, and the best sentence's beside it."""
    if not best:
        return list(whole)
    less = [dense.LOST * (1.0 - dense.KEPT**lines) for lines in back]
    clause = [max(c - lost for c, lost in zip(row, less, strict=True)) for row in zip(*best, strict=True)]
    return [(1 - RECALL.clauses) * w + RECALL.clauses * c for w, c in zip(whole, clause, strict=True)]


def _lexical(asked: Mapping[str, float], tokens: Sequence[Counter[str]]) -> tuple[list[float], list[float]]:
    """BM25 of every row as in `recall.lexical`, and Σ idf(found) / Σ idf(asked), the share of the query's terms in it.

    The second counts a term as unheard that few rows could make common (FEW), and how often it stands nowhere.
    """
    n, lengths = len(tokens), [counter.total() for counter in tokens]
    mean = max(1e-9, sum(lengths) / n)
    scores, held = [0.0] * n, [0.0] * n
    whole = highest = 0.0
    for token, count in asked.items():
        rows = [row for row, counter in enumerate(tokens) if token in counter]
        idf = lexical.idf(len(rows), n)
        information = lexical.idf(len(rows), max(n, FEW))
        whole += information
        highest += count * idf
        for row in rows:
            tf = tokens[row][token]
            norm = RECALL.k1 * (1 - RECALL.b + RECALL.b * lengths[row] / mean)
            scores[row] += count * idf * tf / (tf + norm)
            held[row] += information
    return [score / highest if highest else 0.0 for score in scores], [
        value / whole if whole else 0.0 for value in held
    ]


def _cosines(partitions: Sequence[Partition], vector: NDArray[Any]) -> list[float]:
    """Of every row; rounded, so that equal texts are equal whatever stands beside them."""
    found = [round(float(c), 6) for p in partitions if p.keys for c in p.vectors @ vector]
    return [0.0 if math.isnan(cosine) else cosine for cosine in found]


def _ranking(scores: Sequence[float], clear: Sequence[bool]) -> Ranking:
    rows = [row for row, score in enumerate(scores) if score > 0 and clear[row]]
    rows = sorted(rows, key=lambda row: (-scores[row], row))[:ROUTE_DEPTH]
    return Ranking(rows, [scores[row] for row in rows])


def _found(
    lived: Lived, source: str, number: int, score: float, ranks: Mapping[str, int], cosine: float, share: float
) -> Found:
    if source == "memory":
        version = lived.versions[number]
        view = version.view
        return Found(
            source, version.since, view.view, score, view.topic, view.aliases, ranks=ranks, cosine=cosine, share=share
        )
    event = next(one for one in lived.events if one.line == number)
    return Found(
        source,
        number,
        event.text,
        score,
        "",
        (),
        event.time,
        event.tick,
        event.kind,
        event.origin,
        ranks,
        cosine,
        share,
    )
