"""Keywords: which words, in which order, from the text alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nebula.text import words
from nebula.text.keywords import informative, keywords


def test_weight_is_tf_times_idf() -> None:
    """Pinned: 灯塔 (IDF 9.28) twice outweighs what stands once; the rest falls by IDF."""
    found = keywords("灯塔看守的猫叫阿海，灯塔下的猫爱晒太阳")
    assert found[0] == "灯塔"
    table = words.table()
    assert round(table.idf("灯塔"), 2) == 9.28
    rest = [table.idf(word) for word in found[1:]]
    assert rest == sorted(rest, reverse=True)


def test_ties_go_by_first_position() -> None:
    """Words that the table does not know weigh the same."""
    assert keywords("zeta alpha mid") == ("zeta", "alpha", "mid")
    assert keywords("alpha zeta mid alpha") == ("alpha", "zeta", "mid")


def test_what_is_no_keyword() -> None:
    """Stop words, single characters, pure numbers and punctuation are out; folded Latin words are in."""
    assert keywords("我们的 the 2026 12 三 a B … !!! ２０２６") == ()
    assert keywords("GitHub v2 换了SSH密钥") == ("github", "v2", "ssh", "密钥")
    assert not informative("什么")
    assert not informative("海")
    assert informative("灯塔")


def test_at_most_eight() -> None:
    """Eight by default, fewer on request."""
    text = "一艘沉船 灯塔 白鹭 芦苇荡 小提琴 图书馆 天文台 望远镜 咖啡馆 火车站"
    assert len(keywords(text)) == 8
    assert keywords(text, 3) == keywords(text)[:3]
    assert keywords("") == ()


@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    """Distinct, informative, and every one stands in the text as one of its words."""
    found = keywords(text)
    assert len(set(found)) == len(found) <= 8
    assert all(map(informative, found))
    assert found == keywords(text)
    assert set(found) <= set(words.words(text))
