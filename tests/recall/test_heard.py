"""Of a query as long as a pasted file its beginning and its end are heard, so that no paste delays an agent's turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nebula.mind import Mind
from nebula.recall import asking
from nebula.results import Notice
from nebula.settings import RecallSettings
from tests.invented import Drawn, DrawnEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PASTED = "2026-05-01 12:00:00 服务启动，第三方库的日志。\n" * 20_000  # 620,000 characters, a date in each line


@pytest.mark.parametrize(
    ("query", "heard"),
    [
        ("渡轮几点开", "渡轮几点开"),
        ("一" * 4_000, "一" * 4_000),
        ("头" * 1_000 + "中" * 5_000 + "尾" * 2_999, "头" * 1_000 + "\n" + "尾" * 2_999),
    ],
)
def test_what_is_heard(query: str, heard: str) -> None:
    assert asking.heard(query) == heard
    assert len(heard) <= asking.HEARD == 4_000


@pytest.mark.parametrize("query", ["蓝伞在谁那里？\n" + PASTED, PASTED + "蓝伞在谁那里？"])
def test_a_question_before_or_after_a_paste_is_answered(mind_dir: Path, query: str) -> None:
    mind = Mind(mind_dir)
    for text in ("蓝伞借给了林汐", "渡轮早上六点开", "灯塔的钥匙在抽屉里"):
        mind.add(text)
    found = mind.recall(query, nearest=True)
    assert found.hits[0].memory.text == "蓝伞借给了林汐"
    assert Notice("query_cut", {"first": 1000, "last": 3000}) in found.notices


def test_no_route_is_asked_for_more(mind_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the encoder nor the terms nor the dates see what was not heard."""
    mind, read = Mind(mind_dir), list[int]()
    mind.add("蓝伞借给了林汐")

    class Listening(DrawnEncoder):
        def encode(self, texts: Sequence[str]) -> Drawn:
            read.append(max(map(len, texts)))
            return super().encode(texts)

    mind._encoder = Listening()  # type: ignore[assignment]
    mind.recall("蓝伞\n" + PASTED, nearest=True)
    mind.context("蓝伞\n" + PASTED)
    assert max(read) <= asking.HEARD
    terms = asking.asked(asking.heard(PASTED), RecallSettings(), mind.now()).terms
    assert sum(terms.values()) < asking.HEARD
