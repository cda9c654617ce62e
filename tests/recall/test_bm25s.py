"""The lexical route scores as bm25s does in its Lucene variant, for the same tokens (extra `bench`)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from nebula.index.cache import Cache
from nebula.index.hashing import h64
from nebula.recall import lexical
from nebula.text import words
from tests.index.test_index import fill, memories

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("query", ["灯塔的渡轮", "github 备份", "妈妈 医院 妈妈", "土星"])
@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.5, 0.75)])
def test_scores_are_those_of_bm25s(tmp_path: Path, query: str, k1: float, b: float) -> None:
    """Every row's score: its share times the highest that the query could score; a word asked twice counts twice."""
    bm25s = pytest.importorskip("bm25s")
    store = fill(tmp_path / "mind", memories(11, 120), 6)
    index = Cache(store, "test", "full").open(None)
    texts = [memory.text for row in range(index.table.n) if (memory := index.memory(row))]
    peer = bm25s.BM25(method="lucene", k1=k1, b=b)
    peer.index([words.tokens(text) for text in texts], show_progress=False)
    tokens = words.query_tokens(query)
    theirs = peer.get_scores(tokens)
    asked = Counter(h64(token) for token in tokens)
    highest = sum(count * lexical.idf(len(index.postings.run(term)[0]), len(texts)) for term, count in asked.items())
    found = lexical.shares(asked, index, k1, b) * highest
    assert found.max() > 0
    assert found == pytest.approx(theirs, rel=1e-5, abs=1e-6)
