"""Warm recall in one process: each route and the whole, against bm25s, rank_bm25 and brute force on the same data.

bm25s (its Lucene variant) and rank_bm25 get the very tokens that nebula's index holds, and its k1 and b; whether the
first ten are the same is said beside each. Cutting a query into tokens is in nobody's time. All choose the first 200;
`scores alone` is bm25s without the choosing, which numpy's partition makes slow where most scores are 0.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.recall.hit import Asked
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
SCORES_ALONE = "bm25s, scores alone"


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
    terms = [asking.asked(query, recall, minds.NOW) for query in minds.QUERIES]
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
        name: _same(act, tokens, lambda query: search().lexical(Asked(Counter(query)), 10).ids)
        for name, act in peers.items()
        if name != SCORES_ALONE
    }
    for name, values in taken.items():
        note = f", {same[name]} first tens the same" if name in same else ""
        yield Row(f"{name}, {size:,}{note}", values)
    for mine, other in [("nebula 词", name) for name in peers] + [("nebula 义", "numpy, all cosines")]:
        yield Row(f"{mine}, {size:,}: speed", [median(taken[other]) / median(taken[mine])], "×", other)
    if peers:
        yield Row(
            f"nebula 词, {size:,}: furthest score of any row from bm25s's", [_furthest(index, mind, tokens)], "of 1"
        )


def _first_ten(search: Callable[[], MappedSearch], tokens: Sequence[str]) -> Sequence[int]:
    return search().lexical(Asked(Counter(tokens)), 10).ids


def _brute(every: Any, vector: Any) -> Any:
    scores = (every @ vector.T).max(axis=1)
    best = np.argpartition(scores, len(scores) - min(K, len(scores)))[-K:]
    return best[np.argsort(-scores[best])]


def _peers(index: Any, mind: Mind, size: int) -> dict[str, Any]:
    """Scorers of one query's tokens -> rows, best first; and bm25s's scores without choosing among them."""
    if size > BM25S_UP_TO:
        return {}
    peer = _bm25s(index, mind)
    found: dict[str, Any] = {
        "bm25s": lambda query: peer.retrieve([query], k=K, show_progress=False).documents[0],
        SCORES_ALONE: peer.get_scores,
    }
    if size <= RANK_BM25_UP_TO:
        from rank_bm25 import BM25Okapi

        recall = mind.settings.recall
        okapi = BM25Okapi(_corpus(index, mind), k1=recall.k1, b=recall.b)
        found["rank_bm25"] = lambda query: np.argsort(-okapi.get_scores(query))[:K]
    return found


def _bm25s(index: Any, mind: Mind) -> Any:
    """Of the same tokens under the same k1 and b, kept beside the mind: indexing takes minutes."""
    import bm25s

    recall = mind.settings.recall
    # `cold` adds memories to the mind
    folder = mind.folder.with_name(f"{mind.folder.name}-bm25s-{recall.k1}-{recall.b}-{index.table.n}")
    if folder.exists():
        return bm25s.BM25.load(folder)
    peer = bm25s.BM25(method="lucene", k1=recall.k1, b=recall.b)
    peer.index(_corpus(index, mind), show_progress=False)
    peer.save(folder, show_progress=False)
    return peer


def _corpus(index: Any, mind: Mind) -> list[list[str]]:
    from nebula.text import words

    return [words.tokens(index.memory(row).text, mind.settings.recall.tokens) for row in range(index.table.n)]


def _furthest(index: Any, mind: Mind, tokens: Sequence[Sequence[str]]) -> float:
    """By how much any row's score differs from bm25s's, as a share of the query's highest."""
    from nebula.index.hashing import h64
    from nebula.recall import lexical

    recall, peer, most = mind.settings.recall, _bm25s(index, mind), 0.0
    for query in tokens:
        asked = Counter(map(h64, query))
        mine, theirs = lexical.shares(asked, index, recall.k1, recall.b), peer.get_scores(list(query))
        scale = float(theirs.max())
        most = max(most, float(np.abs(mine * (scale / mine.max()) - theirs).max()) / scale)
    return most


def _same(act: Any, tokens: Sequence[Any], mine: Any) -> str:
    """In how many queries the first ten are the same, as sets: equal scores may stand in another order."""
    return f"{sum(set(act(query)[:10].tolist()) == set(mine(query)) for query in tokens)} of {len(tokens)}"
