"""Traditional characters stand for simplified ones, at both ends, and simplified text stays as it is."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from nebula import places
from nebula.index import has_numpy
from nebula.mind import Mind
from nebula.recall import asking
from nebula.settings import RecallSettings
from nebula.text import words
from nebula.text.simplified import simplified

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 12, 2, 9)


def test_characters_one_for_one() -> None:
    """As long as before; what simplified text writes too stays: 乾隆, and everything that is not in the table."""
    assert simplified("後天去臺北圖書館，裡面很熱鬧") == "后天去台北图书馆，里面很热闹"
    assert simplified("乾隆在乾坤宫读书，café ＮＡＳＡ") == "乾隆在乾坤宫读书，café ＮＡＳＡ"
    assert simplified("") == ""


def test_the_table_is_sound() -> None:
    """Pairs of two characters, each traditional one once, none that needs folding again."""
    lines = (places.asset("hanzi") / "simplified.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len({line[0] for line in lines}) == 2955
    assert all(len(line) == 2 and simplified(line[1]) == line[1] for line in lines)


@pytest.mark.parametrize("text", ["圖書館的鑰匙在抽屜裡", "ＧｉｔＨｕｂ備份"])
def test_both_scripts_have_the_same_terms(text: str) -> None:
    assert words.tokens(text) == words.tokens(simplified(text))
    assert words.query_tokens(text) == words.query_tokens(simplified(text))


@pytest.mark.parametrize(
    ("told", "asked"), [("把钥匙放在书柜后面了", "鑰匙放在哪裡？"), ("把鑰匙放在書櫃後面了", "钥匙放在哪里？")]
)
def test_what_was_told_in_one_script_is_found_in_the_other(tmp_path: Path, told: str, asked: str) -> None:
    """By word and by meaning: the same score as if both were in one script; and shown as it was told."""
    one = Mind(tmp_path / "one", now=lambda: NOW)
    one.add_many([{"text": told, "at": "2026-12-01"}, {"text": "午饭吃了面条", "at": "2026-12-01"}])
    other = Mind(tmp_path / "other", now=lambda: NOW)
    other.add_many([{"text": simplified(told), "at": "2026-12-01"}, {"text": "午饭吃了面条", "at": "2026-12-01"}])
    found = one.recall(asked, touch=False).hits[0]
    assert found.memory.text == told
    assert found.score == pytest.approx(other.recall(simplified(asked), touch=False).hits[0].score)
    assert ({"lexical", "dense"} if has_numpy() else {"lexical"}) <= set(found.routes)


def test_times_in_traditional_script() -> None:
    assert asking.windows("上週三我們談了什麼", NOW, RecallSettings()) == asking.windows(
        "上周三我们谈了什么", NOW, RecallSettings()
    )
    assert asking.windows("後天", NOW, RecallSettings())
