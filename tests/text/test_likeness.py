"""The form of a text, what wraps it, and how much of it others say."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nebula.text import likeness, normal
from nebula.text.words import UNSPACED


def covered(text: str, *sources: str) -> likeness.Cover:
    return likeness.cover(likeness.tokens(text), {at: likeness.tokens(source) for at, source in enumerate(sources)})


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("0.068 [词#1 义#1 图#1] 2026-11-21 渡轮早上六点开  o1", "渡轮早上六点开"),
        ("0.068 [词#1] [旧] 2026-11-21 渡轮早上六点开  o1", "渡轮早上六点开"),
        ("n12   2026-11-13 事实 ★ 渡轮", "渡轮"),
        ("- [n12 · 2026-11-13 08:30] The cat", "The cat"),
        ("3. 渡轮", "渡轮"),
        ("> “渡轮”", "渡轮”"),
        ("n12", "n12"),
        ("2026-11-13 开会", "2026-11-13 开会"),
        ("notes on the ferry", "notes on the ferry"),
        ("1.234 公里", "1.234 公里"),
        ("3 个苹果", "3 个苹果"),
        ("", ""),
    ],
)
def test_wrappings_fall_off_and_a_date_of_ones_own_stays(line: str, text: str) -> None:
    """Score, labels, date, ledger and ref only where a ref or a label shows that a list made them."""
    assert likeness.unwrapped(line) == text


def test_json_gives_the_texts_of_memories_alone() -> None:
    """Of objects that have a ref or an id; another's JSON is what it says."""
    assert likeness.parts('{"data": {"hits": [{"ref": "n1", "text": "a b"}, {"id": 2, "text": "c"}]}}') == [
        ["a", "b"],
        ["c"],
    ]
    assert likeness.parts('- {"ref": "n1", "text": "x y"}\n- {"ref": "n2", "text": "z"}') == [["x", "y"], ["z"]]
    assert likeness.parts('{"text": "x", "value": 3}') == [["text", "x", "value", "3"]]
    assert likeness.parts('{"ref": "n1", "text": broken') == [["ref", "n1", "text", "broken"]]


def test_lines_that_explain_or_introduce_say_nothing() -> None:
    text = (
        "Recalled:\n0.068 [词#1] 2026-11-21 渡轮  o1\n      词#1 2.1\n      词 1.2000 + 义 0.5000 = 1.7\n      图 ← n3"
    )
    assert likeness.parts(text) == [["渡", "轮"]]
    assert likeness.parts("只有一行：") == [["只", "有", "一", "行"]]


@pytest.mark.parametrize(
    ("text", "sources", "share", "nothing_new"),
    [
        ("渡轮早上六点开", ["渡轮早上六点开"], 0.0, True),
        ("渡轮早上七点开", ["渡轮早上六点开"], 3 / 7, False),
        ("Lisa won the race at school and was happy", ["Bart won the race at school and was happy"], 1 / 9, False),
        ("She went to Rome with me on the early train", ["She went to Rome on the early train"], 0.2, False),
        ("the tide gauge on a shelf works again", ["tide gauge on the shelf works again"], 3 / 8, False),
        ("tide gauge on shelf works again today", ["the tide gauge on the shelf works again"], 2 / 7, False),
        ("ab cd ef gh. one two three four", ["one two three four", "ab cd ef gh"], 0.0, True),
        ("渡轮", ["渡轮早上六点开"], 1.0, False),
        ("完全不同的一句话", ["渡轮早上六点开"], 1.0, False),
    ],
)
def test_what_sources_say_of_a_text(text: str, sources: list[str], share: float, nothing_new: bool) -> None:
    """The share of tokens that differ, and whether they may be passed over."""
    found = covered(text, *sources)
    assert found.share == pytest.approx(share, abs=0.001)
    assert found.says_nothing_new is nothing_new


@given(st.text("ab渡轮 1。\n", max_size=60))
def test_every_text_is_covered_by_itself(text: str) -> None:
    """Whole, and nothing of it new; and the cover of nothing is nothing."""
    said = likeness.tokens(text)
    if said:
        assert likeness.cover(said, {0: said}).same
    assert not likeness.cover(said, {}).same


def test_what_shares_six_tokens_shares_a_fingerprint() -> None:
    """Winnowing's promise, over drawn texts; and few fingerprints are kept."""
    draw = random.Random(7)
    words = [f"w{n}" for n in range(500)]
    for _ in range(300):
        shared = draw.choices(words, k=likeness.WINDOW + likeness.RUN - 1)
        one = [*draw.choices(words, k=draw.randrange(20)), *shared, *draw.choices(words, k=draw.randrange(20))]
        other = [*draw.choices(words, k=draw.randrange(20)), *shared, *draw.choices(words, k=draw.randrange(20))]
        prints = likeness.fingerprints(one)
        assert set(prints) & set(likeness.grams(other))
        assert likeness.likeliest(other, [[], prints]) in ([1], [])
    assert len(likeness.fingerprints(draw.choices(words, k=1000))) < 500


def test_resemblance_counts_both_texts() -> None:
    """1 for the same, 0 for strangers, in between by the tokens in common runs."""
    one = likeness.tokens("答应妈妈下个月搬回青岛住，离她近一点")
    assert likeness.resemblance(one, one) == 1.0
    assert likeness.resemblance(one, likeness.tokens("渡轮早上六点开")) == 0.0
    assert likeness.resemblance(one, [*one, "x"]) == pytest.approx(34 / 35)
    assert likeness.resemblance([], []) == 0.0


#: The tokens as one expression says them; compiling it took 7 ms of every command that shows a memory.
TOKEN = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+(?:['’][^\W_{UNSPACED}]+)?")


@given(st.text("a7é灯かー가'’ _-，'", max_size=30))
def test_tokens_are_those_of_the_expression(text: str) -> None:
    assert likeness.tokens(text) == TOKEN.findall(normal.fold(text))
