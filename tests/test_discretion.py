"""What the tacts hold back, and which of them come along with a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nebula import discretion
from nebula.mind import Mind
from nebula.mindlib.record import Memory

if TYPE_CHECKING:
    from pathlib import Path

#: Of each kind of character that can't be seen and is no format character: joiner of graphemes, fillers, selectors.
INVISIBLE = "\u034f\u115f\u1160\u17b4\u180b\u2800\u3164\uffa0\ufe00\ufe0f\ufff0\U000e0100\U000e01ef"


def tact(topic: str, say: str, text: str = "一条分寸") -> Memory:
    return Memory("tacts", 1, "2026-05-01T09:00:00", text, topic=topic, say=say)


def note(text: str, tag: str = "") -> Memory:
    return Memory("notes", 1, "2026-05-01T09:00:00", text, tag=tag)


@pytest.mark.parametrize(
    ("say", "query", "told", "rule"),
    [
        ("never", "", False, False),
        ("never", "前任怎么样了", False, True),
        ("if-asked", "", False, False),
        ("if-asked", "今天天气如何", False, False),
        ("if-asked", "前任怎么样了", True, True),
        ("gently", "", True, False),
        ("gently", "前任怎么样了", True, True),
        ("freely", "前任怎么样了", True, True),
    ],
)
def test_the_four_ways(say: str, query: str, told: bool, rule: bool) -> None:
    judged = discretion.judge([tact("前任", say)], query)
    assert judged.allows(note("前任住在北京")) is told
    assert judged.allows(note("他在北京", tag="前任")) is told
    assert judged.allows_text("* 关于前任") is told
    assert judged.allows(note("渡轮早上六点开"))
    assert bool(judged.rules) is rule


@pytest.mark.parametrize(
    ("topic", "text", "within"),
    [
        ("Ex", "my ex called", True),
        ("Ex", "an example", False),
        ("dog", "two DOGS", True),
        ("dog", "dogma", False),
        ("ex wife", "her wife", False),
        ("ex wife", "his ex wife", True),
        ("ex wife", "his ex-wife, the ex_wife", True),
        ("Ex", "my_ex", True),
        ("Ex", "ex2", False),
        ("cancer", "cancerous cells were found", True),
        ("cancer", "they can certainly come", False),
        ("divorce", "they are divorcing", True),
        ("divorce", "my parents divorced", True),
        ("salary", "our salaries, Sarah's salary", True),
        ("party", "a particle, part of it", False),
        ("beg", "he begged, she was begging", True),
        ("beg", "we begin", False),
        ("die", "she died, he dies", True),
        ("die", "a diet", False),
        ("debt", "her debts, the debtor", True),
        ("heart attack", "two heart attacks", True),
        ("covid19", "covid19's", True),
        ("前任，小王", "小王来了", True),
        ("前任 小王", "小王来了", True),
        ("ＧｉｔＨｕｂ", "github 的事", True),
        ("  ", "什么", False),
    ],
)
def test_topics(topic: str, text: str, within: bool) -> None:
    """Latin terms are words in any form; alternatives are parted; letter case and width do not matter."""
    assert discretion.topic(tact(topic, "never", "")).within(discretion.Said(text)) is within


def test_without_a_topic_by_two_keywords() -> None:
    about = discretion.topic(tact("", "never", "不要提起灯塔看守的欠债"))
    assert about.within(discretion.Said("灯塔看守还欠债没还"))
    assert not about.within(discretion.Said("灯塔亮了"))
    assert not discretion.topic(tact("", "never", "的了")).within(discretion.Said("的了"))


@pytest.mark.parametrize(
    ("say", "topic", "told"),
    [("never", "", True), ("if-asked", " ", True), ("never", "欠债", False), ("gently", "", False)],
)
def test_a_tact_that_names_no_topic_says_what_it_goes_by(mind_dir: Path, say: str, topic: str, told: bool) -> None:
    added = Mind(mind_dir).add("不要提起灯塔看守的欠债", ledger="tacts", say=say, topic=topic)
    notices = [one for one in added.notices if one.code == "tact_without_topic"]
    assert bool(notices) is told
    if told:
        assert {"ref": "t1", "n": 2}.items() <= notices[0].facts.items()
        assert "欠债" in str(notices[0].facts["terms"])


@pytest.mark.parametrize(
    "text",
    [
        "前\u200b任来电话了",
        "前 任来电话了",
        "前\n任",
        "\u202e前\u2060任",
        "前\u00ad任",
        *(f"前{one}任" for one in INVISIBLE),
    ],
)
def test_nothing_hides_a_word(text: str) -> None:
    """Unseen characters and blanks part no topic; a Latin word keeps its bounds."""
    judged = discretion.judge([tact("前任", "never"), tact("Ex", "never")], "")
    assert not judged.allows(note(text))
    assert not judged.allows_text("e\u200dx called")
    assert judged.allows(note("see example"))


def test_no_field_that_is_told_names_a_topic() -> None:
    judged = discretion.judge([tact("前任", "never")], "")
    fields: dict[str, Any] = {"text": "他在北京"}
    for name in ("text", "tag", "topic", "speaker", "via", "due"):
        assert not judged.allows(Memory("notes", 1, "2026-05-01", **{**fields, name: "前任"})), name


def test_a_rule_tells_no_more_than_was_named() -> None:
    """Of several names the one that was asked for; of another rule nothing that is never told."""
    never, gently = (
        tact("前任，小王", "never"),
        Memory("tacts", 2, "", "在图书馆别提前任", topic="图书馆", say="gently"),
    )
    assert [rule.topic for rule in discretion.judge([never, gently], "小王去图书馆了吗").rules] == ["小王"]
    assert discretion.judge([gently], "去图书馆").rules == [gently]
    untitled = tact("", "never", "不要提起灯塔看守的欠债")
    assert set(discretion.judge([untitled], "灯塔看守还债了吗").rules[0].topic.split()) <= {"灯塔", "看守", "欠债"}
