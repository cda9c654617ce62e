"""Warm recall in one process: each route and the whole, against bm25s, rank_bm25 and brute force on the same data.

bm25s (its Lucene variant) and rank_bm25 get the very tokens that nebula's index holds; whether the first ten are the
same is said beside each.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.bench.parts import minds
from tests.bench.parts.timing import Row, in_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from nebula.mind import Mind
    from nebula.recall.mapped import MappedSearch

K = 200
#: rank_bm25 scores every memory for every token in Python: larger minds would take minutes.
RANK_BM25_UP_TO = 10_000
BM25S_UP_TO = 100_000


def rows(folder: Path, sizes: Sequence[int], rounds: int) -> Iterator[Row]:
    """Each size by itself."""
    from nebula.mind import Mind

    for size in sizes:
        yield from _of(Mind(minds.mind(folder, size), now=lambda: minds.NOW), size, rounds)


def _of(mind: Mind, size: int, rounds: int) -> Iterator[Row]:
    from nebula import clock, recalling
    from nebula.recall import asking, fusion
    from nebula.recall.graph import SEEDS
    from nebula.recall.hit import Filters
    from nebula.recall.mapped import MappedSearch
    from nebula.recall.ranking import Ranking
    from nebula.text import words

    index, now = mind.index(), clock.seconds(minds.NOW)

    def search() -> MappedSearch:
        found = MappedSearch(index, mind.settings, now, Filters(), recalling.ageing_of(mind.settings.forgetting, now))
        _ = found.eligible
        return found

    recall = mind.settings.recall
    tokens = [words.query_tokens(query) for query in minds.QUERIES]
    terms = [asking.terms(query, recall) for query in minds.QUERIES]
    probes = [asking.probe(query, mind.encoder(), recall) for query in minds.QUERIES]
    seeds = []
    for query, probe in zip(terms, probes, strict=True):
        rankings = {"lexical": search().lexical(query, K), "dense": search().dense(probe, K)}
        fused = fusion.fuse(rankings, {"lexical": 0.4, "dense": 0.35}, 12, search().order)
        seeds.append(Ranking(fused.ids[:SEEDS], fused.scores[:SEEDS]))

    def each(act: Any, given: Sequence[Any]) -> None:
        for one in given:
            act(one)

    every = np.concatenate([part["vec"] for part in index.vectors.segments])
    runs = {
        "nebula 词": partial(each, lambda query: search().lexical(query, K), terms),
        "nebula 义": partial(each, lambda probe: search().dense(probe, K), probes),
        "numpy, all cosines": partial(each, lambda probe: _brute(every, probe.whole), probes),
        "nebula 图": partial(each, lambda given: search().graph(given, K), seeds),
        "nebula whole, no touch": partial(each, lambda query: mind.recall(query, touch=False), minds.QUERIES),
    }
    peers = _peers(index, mind, size)
    runs |= {name: partial(each, act, tokens) for name, act in peers.items()}
    taken = {name: [v / len(minds.QUERIES) for v in values] for name, values in in_turn(runs, rounds).items()}
    same = {
        name: _same(act, tokens, lambda query: search().lexical(Counter(query), 10).ids) for name, act in peers.items()
    }
    for name, values in taken.items():
        note = f", {same[name]} first tens the same" if name in same else ""
        yield Row(f"{name}, {size:,}{note}", values)
    for mine, other in [("nebula 词", name) for name in peers] + [("nebula 义", "numpy, all cosines")]:
        yield Row(f"{mine}, {size:,}: speed", [median(taken[other]) / median(taken[mine])], "×", other)


def _first_ten(search: Callable[[], MappedSearch], tokens: Sequence[str]) -> Sequence[int]:
    return search().lexical(Counter(tokens), 10).ids


def _brute(every: Any, vector: Any) -> Any:
    scores = (every @ vector.T).max(axis=1)
    best = np.argpartition(scores, len(scores) - min(K, len(scores)))[-K:]
    return best[np.argsort(-scores[best])]


def _peers(index: Any, mind: Mind, size: int) -> dict[str, Any]:
    """Scorers of one query's tokens -> rows, best first."""
    if size > BM25S_UP_TO:
        return {}
    import bm25s
    from rank_bm25 import BM25Okapi

    from nebula.text import words

    corpus = []
    for row in range(index.table.n):
        memory = index.memory(row)
        corpus.append(words.tokens(memory.text, mind.settings.recall.tokens))
    peer = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    peer.index(corpus, show_progress=False)
    found: dict[str, Any] = {"bm25s": lambda query: peer.retrieve([query], k=K, show_progress=False).documents[0]}
    if size <= RANK_BM25_UP_TO:
        okapi = BM25Okapi(corpus, k1=1.5, b=0.75)
        found["rank_bm25"] = lambda query: np.argsort(-okapi.get_scores(query))[:K]
    return found


def _same(act: Any, tokens: Sequence[Any], mine: Any) -> str:
    """In how many queries the first ten are the same, as sets: equal scores may stand in another order."""
    return f"{sum(set(act(query)[:10].tolist()) == set(mine(query)) for query in tokens)} of {len(tokens)}"
