"""The default's parts: what each adds to a hit, and what it rests on."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nebula.index import sessions
from nebula.index.table import Table
from nebula.mind import Mind
from nebula.recall import dense
from nebula.recall.fusion import mix
from nebula.recall.hit import Probe

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 12, 2, 9)
OFF = {"recall.freshness": 0.0, "recall.weight": 0.0, "recall.floor": 0.0}


def mind(folder: Path, rows: list[dict[str, Any]], **more: object) -> Mind:
    made = Mind(folder / "mind", overrides={**OFF, **more}, now=lambda: NOW)
    made.add_many(rows)
    return made


def test_scores_are_added_by_their_weights() -> None:
    found = mix([4, 9, 7], {"lexical": [0.5, 0.0, 0.1], "dense": [0.2, 0.9, 0.0]}, {"lexical": 2.0, "dense": 1.0}, int)
    assert found.ids == [4, 9, 7]
    assert found.scores == pytest.approx([1.2, 0.9, 0.2])


def test_the_best_sentence_counts_beside_the_whole_and_fades_with_its_age() -> None:
    """(1 - .5) · .4 + .5 · max(.9 - .2 · (1 - .7²), .3) = .2 + .5 · .798."""
    _, score = dense.scoring(Probe(np.zeros((1, 4)), np.zeros((2, 4)), [2, 0]), 0.5)
    assert score(np.array([[0.4, 0.9, 0.3]], np.float32)).tolist() == pytest.approx([0.599], abs=1e-6)


def test_the_day_a_query_names(tmp_path: Path) -> None:
    """Of two equal texts the one of that day comes first, 时#1, by .3; without a day neither has the label."""
    rows = [{"text": "去码头看船", "at": "2026-11-20T10:00"}, {"text": "去码头看船", "at": "2026-12-01T10:00"}]
    found = mind(tmp_path, rows).recall("昨天去码头看船", touch=False).hits
    assert [hit.memory.ref for hit in found] == ["n2", "n1"]
    assert "时#1" in found[0].label
    assert "时#" not in found[1].label
    assert found[0].score - found[1].score == pytest.approx(0.3)
    assert all("时#" not in hit.label for hit in mind(tmp_path, []).recall("去码头看船", touch=False).hits)


def test_the_speaker_a_query_names(tmp_path: Path) -> None:
    """By the text's label or the field; .3."""
    rows = [{"text": "Caroline: the boat was late"}, {"text": "the boat was late", "speaker": "Melanie"}]
    found = mind(tmp_path, rows).recall("what did Melanie say of the boat", touch=False).hits
    assert found[0].memory.ref == "n2"
    assert found[0].parts["speaker"] == pytest.approx(0.3)
    assert "speaker" not in found[1].parts


def test_turns_beside_lend_their_words(tmp_path: Path) -> None:
    """.3 of the turn before, .2 of the turn after, in the same session only."""
    rows = [
        {"text": "我们说说灯塔的望远镜", "session": "a", "turn": 0},
        {"text": "好啊", "session": "a", "turn": 1},
        {"text": "好啊", "session": "b", "turn": 1},
    ]
    found = {hit.memory.ref: hit for hit in mind(tmp_path, rows).recall("灯塔的望远镜", touch=False).hits}
    assert found["n2"].parts["lexical"] == pytest.approx(0.3 * found["n1"].parts["lexical"])
    assert "lexical" not in found["n3"].parts


def test_turns_that_do_not_lie_side_by_side_are_found() -> None:
    """-1 where there is none; rows without a session have no neighbours."""
    columns = {
        "id": np.arange(6),
        "session": np.array([7, 0, 7, 8, 7, 8], np.uint64),
        "turn": np.array([0, 0, 2, 5, 1, 6], np.int64),
    }
    table = Table([columns], {})
    every = np.arange(6)
    assert sessions.beside(table, every, 1).tolist() == [4, -1, -1, 5, 2, -1]
    assert sessions.beside(table, every, -1).tolist() == [-1, -1, 4, -1, 0, 3]


def test_the_storys_own_time_is_searched(tmp_path: Path) -> None:
    rows = [{"text": "我在天台吃饭", "time": "转学第一天午休"}, {"text": "我在天台吃饭"}]
    found = mind(tmp_path, rows).recall("转学第一天", touch=False).hits
    assert found[0].memory.ref == "n1"
    assert found[0].parts["lexical"] > 0
