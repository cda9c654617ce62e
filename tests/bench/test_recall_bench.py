"""`nebula bench recall`: sets are read, asked of throw-away minds and scored; nothing else is touched."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nebula.bench import recall as bench
from nebula.cli import main
from nebula.errors import BadValue, FileUnusable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SUBJECT_ZH = Path(__file__).parents[1] / "data" / "subject_zh"
NOW = datetime(2026, 3, 1, 9)

MEMORIES: Sequence[Mapping[str, Any]] = (
    {
        "id": 1,
        "text": "灯塔的看守人养了一只三条腿的猫",
        "subject": "甲",
        "at": "2026-01-05",
        "emo": "开心",
        "tag": "猫",
    },
    {"id": 2, "text": "渡轮早上六点从北码头开出", "subject": "甲", "at": "2026-01-06T08:00"},
    {"id": 3, "text": "潮汐表放在左边的抽屉里", "subject": "甲", "at": "2026-02-20", "emo": "calm"},
    {"id": "b", "text": "灯塔的看守人退休以后搬去了山里", "subject": "乙", "session": "s1", "turn": 4},
)
QUERIES: Sequence[Mapping[str, Any]] = (
    {"qid": "q1", "query": "灯塔看守人", "gold": [1], "subject": "甲", "at": "2026-02-21"},
    {"qid": "q2", "query": "渡轮几点开", "gold": [2], "subject": "甲"},
    {"qid": "q3", "query": "灯塔看守人", "gold": ["b"], "subject": "乙"},
    {"qid": "q4", "query": "没有答案的题", "gold": [], "subject": "乙"},
)


def write_set(folder: Path, memories: Sequence[object] = MEMORIES, queries: Sequence[object] = QUERIES) -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows in (("memories", memories), ("queries", queries)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_each_subject_has_a_mind_of_its_own(tmp_path: Path) -> None:
    """The same words asked of two subjects bring each its own memory, ids in the file's own type, on every route."""
    table = bench.run(write_set(tmp_path / "set"), now=lambda: NOW)
    rankings: dict[object, Any] = {row["qid"]: row["ids"] for row in table.rankings}
    assert rankings["q1"][0] == 1
    assert set(rankings["q1"]) <= {1, 2, 3}
    assert rankings["q3"] == ["b"]
    assert "q4" not in rankings
    assert (table.queries, table.memories, table.subjects) == (3, 4, 2)
    for route in ("lexical", "dense", "fused"):
        assert table.rows[route]["nDCG@10"].mean == 1.0, route
    assert set(table.rows) == {"lexical", "dense", "fused"}  # the graph has no weight
    table = bench.run(tmp_path / "set", {"recall.w_graph": 0.1}, now=lambda: NOW)
    assert set(table.rows) == {"lexical", "dense", "graph", "fused"}


def test_a_querys_at_is_its_now(tmp_path: Path) -> None:
    """The mind's clock is the query's `at`; without one, the run's now. Seen by what freshness ranks."""
    old_and_new = [
        {"id": "old", "text": "渡轮早上六点开", "at": "2025-01-01"},
        {"id": "new", "text": "渡轮早上六点开", "at": "2026-01-01"},
    ]
    queries = [
        {"qid": "before", "query": "渡轮早上六点开", "gold": ["old"], "at": "2024-01-01"},
        {"qid": "after", "query": "渡轮早上六点开", "gold": ["new"]},
    ]
    table = bench.run(
        write_set(tmp_path / "set", old_and_new, queries), {"recall.freshness": 1.0}, now=lambda: datetime(2026, 1, 2)
    )
    first: dict[object, Any] = {row["qid"]: row["ids"] for row in table.rankings}
    assert first["before"][0] == "old"  # both lie in the future, A is 1 for both, the lower id comes first
    assert first["after"][0] == "new"


def test_unknown_emotions_are_left_out_and_told(tmp_path: Path) -> None:
    """An `emo` that is none of the seven does not stop a set; it is counted."""
    memories = [{"id": 1, "text": "渡轮早上六点开", "emo": "Disappointed"}]
    table = bench.run(
        write_set(tmp_path / "set", memories, [{"qid": "q", "query": "渡轮", "gold": [1]}]), now=lambda: NOW
    )
    assert table.unknown_emo == {"Disappointed": 1}
    assert table.rows["fused"]["MRR"].mean == 1.0


def test_time_is_measured_a_query(tmp_path: Path) -> None:
    """With a clock that moves 2 ms at every look, the median and the 95th percentile are 2 ms."""
    ticks = iter(range(10_000))
    table = bench.run(write_set(tmp_path / "set"), now=lambda: NOW, timer=lambda: next(ticks) * 0.002)
    assert table.milliseconds == pytest.approx((2.0, 2.0))


@pytest.mark.parametrize(
    ("memories", "queries", "says"),
    [
        ([{"id": 1}], QUERIES, "memories.jsonl"),
        ([*MEMORIES, MEMORIES[0]], QUERIES, "×2"),
        (MEMORIES, [{"qid": "q", "query": "灯塔", "gold": ["none"]}], "none"),
        (MEMORIES, [{"qid": "q", "query": "灯塔", "gold": []}], "0 gold"),
        (MEMORIES, [{"qid": "q", "query": "灯塔", "gold": [1], "at": "gestern"}], "gestern"),
        (MEMORIES, [["q"]], ":1"),
    ],
)
def test_a_set_that_can_not_be_used(
    tmp_path: Path, memories: Sequence[object], queries: Sequence[object], says: str
) -> None:
    """Refused by name of file, line and fault, before anything is asked."""
    with pytest.raises(FileUnusable) as caught:
        bench.run(write_set(tmp_path / "set", memories, queries), now=lambda: NOW)
    assert says in caught.value.message


def test_an_unknown_override_is_refused(tmp_path: Path) -> None:
    """A setting's rule holds here as everywhere."""
    with pytest.raises(BadValue):
        bench.run(write_set(tmp_path / "set"), {"recall.k": -1}, now=lambda: NOW)


def test_subject_zh_scores_within_its_band(tmp_path: Path) -> None:
    """The CC0 set, 54 queries: as measured at 0.6.0, nDCG@10 by route; a change of .02 is a change of recall."""
    table = bench.run(SUBJECT_ZH, now=lambda: NOW)
    assert (table.queries, table.memories, table.subjects) == (54, 98, 3)
    measured = {route: row["nDCG@10"].mean for route, row in table.rows.items()}
    assert measured == pytest.approx(BAND, abs=0.02)


BAND = {"lexical": 0.726, "dense": 0.803, "fused": 0.833}


def test_original_profile_reproduces_the_published_baselines() -> None:
    """Spec's RRF without its freshness on subject_zh: BM25 .581 and BGE .811 as the benchmark's README gives them."""
    table = bench.run(SUBJECT_ZH, {"profile": "original", "recall.freshness": 0, "recall.w_graph": 0}, now=lambda: NOW)
    assert table.rows["lexical"]["nDCG@10"].mean == pytest.approx(0.581, abs=0.01)
    assert table.rows["dense"]["nDCG@10"].mean == pytest.approx(0.811, abs=0.01)
    assert table.rows["fused"]["nDCG@10"].mean == pytest.approx(0.715, abs=0.01)


def test_command_prints_a_table_and_writes_rankings(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A line a route with its intervals; at most 20 ids a query in the file; the mind in use unmade."""
    folder, out = write_set(tmp_path / "set"), tmp_path / "out.jsonl"
    assert main(["bench", "recall", str(folder), "--rankings", str(out), "--set", "recall.w_graph=0"]) == 0
    shown = capfdbinary.readouterr().out.decode()
    for mark in ("词", "义", "=", "nDCG@10", "1.000 [1.000,1.000]"):
        assert mark in shown
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [line["qid"] for line in lines] == ["q1", "q2", "q3"]
    assert all(set(line) == {"qid", "ids"} for line in lines)
    assert not (tmp_path / "mind").exists()


def test_command_as_json(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """One document: figures by route and metric, counts and times."""
    assert main(["bench", "recall", str(write_set(tmp_path / "set")), "--json"]) == 0
    data = json.loads(capfdbinary.readouterr().out)["data"]
    assert data["queries"] == 3
    assert set(data["rows"]["fused"]["MRR"]) == {"mean", "low", "high"}
    assert data["milliseconds"]["median"] > 0


def test_command_on_a_missing_folder(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Exit 3 and one line."""
    assert main(["bench", "recall", str(tmp_path / "none")]) == 3
    assert b"none" in capfdbinary.readouterr().err


def test_the_throwaway_minds_are_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing stays in the temporary folder."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    bench.run(write_set(tmp_path / "set"), now=lambda: NOW)
    assert list(place.iterdir()) == []
    shutil.rmtree(place)
