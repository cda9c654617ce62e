"""The lexical route scores as bm25s does in its Lucene variant, for the same tokens (extra `bench`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from nebula.index.cache import Cache
from nebula.recall import lexical
from nebula.text import words
from tests.index.test_index import fill, memories

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("query", ["灯塔的渡轮", "github 备份", "妈妈 医院 妈妈", "土星"])
def test_scores_are_those_of_bm25s(tmp_path: Path, query: str) -> None:
    """Every row's score, but for the constant k1 + 1 that Lucene leaves out; a word asked twice counts twice."""
    bm25s = pytest.importorskip("bm25s")
    store = fill(tmp_path / "mind", memories(11, 120), 6)
    index = Cache(store, "test", "full").open(None)
    texts = [memory.text for row in range(index.table.n) if (memory := index.memory(row))]
    peer = bm25s.BM25(method="lucene", k1=lexical.K1, b=lexical.B)
    peer.index([words.tokens(text) for text in texts], show_progress=False)
    tokens = words.query_tokens(query)
    theirs = peer.get_scores(tokens)
    found = lexical.rank(tokens, index, np.ones(len(texts), np.bool_), len(texts))
    assert len(found.ids) == int((theirs > 0).sum()) > 0
    assert np.array(found.scores) / (lexical.K1 + 1) == pytest.approx(theirs[list(found.ids)], rel=1e-5)
