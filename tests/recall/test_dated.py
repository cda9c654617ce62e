"""A date in a query is one expression: its day's memories and those that write it, never its characters apart."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from nebula.mind import Mind
from nebula.recall import asking
from nebula.settings import RecallSettings

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 12, 1, 9)
CLIMB, RENT = "和老许去爬山，山顶风很大", "记得6月18日交房租"
RECALL = RecallSettings()


@pytest.fixture(scope="module")
def mind(tmp_path_factory: pytest.TempPathFactory) -> Mind:
    """A month of days that hold the characters of every date, one memory of 18 June, one that names it."""
    made = Mind(tmp_path_factory.mktemp("dated") / "mind", now=lambda: NOW)
    noise = ["六个人开了一日的会", "月饼买了18个", "周日看了月亮", "第六页没读懂", "房间号是18", "日子过得快"]
    made.add_many(
        [
            {"text": f"{text}，{day}", "at": (datetime(2026, 6, day, 9)).isoformat()}
            for day, text in enumerate(noise * 2, start=1)
        ]
        + [{"text": CLIMB, "at": "2026-06-18T15:00"}, {"text": RENT, "at": "2026-06-02T10:00"}]
        + [{"text": "昨天下了一天雨", "at": "2026-05-02T10:00"}]
    )
    return made


@pytest.mark.parametrize(
    "query", ["6月18日", "2026年6月18日", "6月18日那天发生了什么？", "６月１８日做了什么", "六月十八号"]
)
def test_a_mere_date_finds_its_day_first(mind: Mind, query: str) -> None:
    hits = mind.recall(query, touch=False).hits
    assert hits[0].memory.text == CLIMB
    assert hits[0].label.endswith("时#1]")
    assert hits[0].parts["time"] == pytest.approx(RECALL.w_time + RECALL.w_lexical)
    assert [hit for hit in hits[1:] if "time" in hit.routes] == []


def test_what_writes_the_date_comes_next(mind: Mind) -> None:
    """The only one that holds it whole, of fourteen that hold a character of it."""
    hits = mind.recall("6月18日", touch=False).hits
    assert [hit.memory.text for hit in hits if "lexical" in hit.routes] == [RENT]
    assert hits[1].memory.text == RENT


def test_a_day_without_a_memory_is_silent_unless_one_writes_it(mind: Mind) -> None:
    """昨天 in a memory's text was another day: that a memory says it is no answer."""
    assert mind.recall("7月3日", touch=False).abstained
    assert mind.recall("昨天", touch=False).abstained
    assert mind.recall("昨天", nearest=True, touch=False).hits
    assert mind.recall("2025年6月18日", touch=False).abstained
    assert not mind.recall("6月18日", touch=False, as_of=NOW - timedelta(days=120)).abstained


def test_with_words_the_one_that_says_both_comes_first(mind: Mind) -> None:
    assert mind.recall("6月18日交房租", touch=False).hits[0].memory.text == RENT
    assert mind.recall("6月18日爬山", touch=False).hits[0].memory.text == CLIMB


def test_a_dates_terms_count_together() -> None:
    """Each is asked for as before, and belongs to its date; one that stands outside it, too, is free."""
    asked = asking.asked("6月18日的生日礼物", RECALL, NOW)
    date = frozenset({"6", "月", "18", "日"})
    assert asked.whole == {"6": [date], "月": [date], "18": [date]}
    assert asked.terms["礼物"] == 2.0
    assert asking.asked("灯塔的月亮", RECALL, NOW).whole == {}
    assert asking.asked("6月18日的灯塔", RecallSettings(w_time=0.0), NOW).whole == {}


def test_two_dates_each_by_itself() -> None:
    """Whoever holds one of the two has its terms."""
    asked = asking.asked("灯塔5月2日或者6月18日开", RECALL, NOW)
    assert {frozenset(group) for group in asked.whole["月"]} == {
        frozenset({"5", "月", "2", "日"}),
        frozenset({"6", "月", "18", "日"}),
    }
    assert len(asked.whole["18"]) == 1


def test_the_original_knows_no_dates(tmp_path: Path) -> None:
    """Its tokens are jieba's, each by itself."""
    made = Mind(tmp_path / "mind", overrides={"profile": "original"}, now=lambda: NOW)
    made.add_many([{"text": CLIMB, "at": "2026-06-18T15:00"}, {"text": "一共18个"}])
    assert made.recall("6月18日", touch=False).hits[0].memory.text == "一共18个"
