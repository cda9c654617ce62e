"""The form of a text: its tokens, the signs that count among them, and what falls off around it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nebula.text import forms, normal
from nebula.text.words import UNSPACED


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
        ("-5 度", "-5 度"),
        ("❌ 买药", "❌ 买药"),
        ("他付了？ (n3)", "他付了？"),
        ("", ""),
    ],
)
def test_wrappings_fall_off_and_a_date_of_ones_own_stays(line: str, text: str) -> None:
    """Score, labels, date, ledger and ref only where a ref or a label shows that a list made them."""
    assert forms.unwrapped(line) == text


def test_json_gives_the_texts_of_memories_alone() -> None:
    """Of objects that have a ref or an id; another's JSON is what it says."""
    assert forms.parts('{"data": {"hits": [{"ref": "n1", "text": "a b"}, {"id": 2, "text": "c"}]}}') == [
        ["a", "b"],
        ["c"],
    ]
    assert forms.parts('- {"ref": "n1", "text": "x y"}\n- {"ref": "n2", "text": "z"}') == [["x", "y"], ["z"]]
    assert forms.parts('{"text": "x", "value": 3}') == [["text", "x", "value", "3"]]
    assert forms.parts('{"ref": "n1", "text": broken') == [["ref", "n1", "text", "broken"]]


def test_lines_that_explain_or_introduce_say_nothing() -> None:
    text = (
        "Recalled:\n0.068 [词#1] 2026-11-21 渡轮  o1\n      词#1 2.1\n      词 1.2000 + 义 0.5000 = 1.7\n      图 ← n3"
    )
    assert forms.parts(text) == [["渡", "轮"]]
    assert forms.parts("只有一行：") == [["只", "有", "一", "行"]]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("渡轮，6点开! It's", "渡 轮 6 点 开 it's"),
        ("跌了-1,200元？", "跌 了 minus1200 元 吗"),
        ("3.5 ml, v1.2.3 on 2026.06.30 and 12,000", "3ꞏ5 ml v1 2 3 on 2026 06 30 and 12000"),
        ("气温-5度，9-18度，1月-3月，covid-19", "气 温 minus5 度 9 18 度 1 月 3 月 covid 19"),
        ("涨15 %，A+，O-，C++、c#、C", "涨 15percent aplus ominus cplusplus csharp c"),
        ("a - b, well-known+x", "a b well known x"),
        ("p < 30, ≥5, x != 3 -> 3", "p below 30 above 5 x unequal 3 3"),
        ("$40 40€ ￥3 3+4 2×3", "dollar 40 40 euro yuan 3 3 plus 4 2 times 3"),
        ("去吗？ 去?! 啊！", "去 吗 去 吗 啊"),
        ("👍 ✅ ❌ ☑", "否 done"),
        ("can’t de\u00adlay 2\u200b026", "can't delay 2026"),
        ("後天去臺北", "后 天 去 台 北"),
    ],
)
def test_signs_that_turn_what_is_said_are_words(text: str, form: str) -> None:
    """A minus, a decimal point, a currency, a question, a cross; other marks and what nobody sees fall away."""
    assert " ".join(forms.tokens(text)) == form


def test_tokens_as_text() -> None:
    assert forms.joined(forms.tokens("He's at 北京 2 号")) == "he's at北京2号"
    assert forms.joined([]) == ""


#: The tokens as one expression says them; compiling it took 7 ms of every command that shows a memory.
TOKEN = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+(?:'[^\W_{UNSPACED}]+)?")


@given(st.text("a7é灯かー가'’ _，'", max_size=30))
def test_tokens_are_those_of_the_expression(text: str) -> None:
    assert forms.tokens(text) == TOKEN.findall(normal.fold(text).replace("’", "'"))
