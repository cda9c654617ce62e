"""What is left of the cases: a map with records from the future (S14), a foreign cache that costs no time (S08)."""

from __future__ import annotations

import json
import os
import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from nebula import maps
from nebula.mind import Mind
from nebula.starmap.page import render
from tests.cases.test_cases import process
from tests.invented import DrawnEncoder
from tests.starmap.test_page import data_of

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 5, 1, 9)


def test_s14_the_map_of_records_from_the_future(tmp_path: Path) -> None:
    """Ten, eleven and four hundred days ahead: every star is drawn, every figure in the page is finite."""
    rows = [
        {"id": number, "at": (NOW + timedelta(days=days)).isoformat(), "text": f"候鸟南飞 {number}", "imp": imp}
        for number, (days, imp) in enumerate([(0, 0), (1, 0), (10, 0), (11, 0), (20, 0.5), (400, 1), (-40, 0)], 1)
    ]
    mind = Mind(tmp_path, now=lambda: NOW)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    mind.store.append_lines("notes.jsonl", rows, durable=False)
    page = data_of(render(maps.sky(mind)))
    json.dumps(page, allow_nan=False)
    assert {f"n{number}" for number in range(1, 8)} <= {star["ref"] for star in page["stars"]}


@pytest.mark.process
def test_s08_a_foreign_cache_costs_no_time(tmp_path: Path) -> None:
    """With the splitter's cache name taken in the shared temporary folder a call takes at most twice a plain one."""
    mind, taken = tmp_path / "mind", tmp_path / "taken"
    assert process(mind, "add", "芦苇荡里有白鹭").returncode == 0
    taken.mkdir()
    (taken / "jieba.cache").write_bytes(os.urandom(4096))

    def seconds(**env: str) -> float:
        begun = time.monotonic()
        assert process(mind, "recall", "白鹭", "--no-touch", **env).returncode == 0
        return time.monotonic() - begun

    plain, beside = zip(*((seconds(), seconds(TMPDIR=str(taken))) for _ in range(3)), strict=True)
    assert min(beside) <= 2 * min(plain)
