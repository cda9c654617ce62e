"""The extract: nearest to the centre, diverse, bounded, and nothing that was not said."""

from __future__ import annotations

import pytest

from nebula.life import digest


def one(*values: float) -> dict[object, float]:
    return dict(enumerate(values))


def test_sentences_are_split_and_told_once() -> None:
    """Both scripts' endings and new lines; a figure is no ending; what tells nothing is left out."""
    texts = ["灯塔换了看守。他养了一只猫！好的。", "It rained at 3.5 mm. We stayed in.\n灯塔换了看守。"]
    assert digest.sentences(texts) == ["灯塔换了看守。", "他养了一只猫！", "It rained at 3.5 mm.", "We stayed in."]
    assert digest.sentences(["好。"]) == ["好。"]
    assert digest.sentences([]) == []


def test_the_centre_first_then_what_adds() -> None:
    """Of two alike one is taken before the second: λ·cos - (1 - λ)·max cos."""
    parts = ["渡轮七点开了", "渡轮七点就开", "晚饭吃了饺子", "外面下着大雨", "她去了图书馆", "他们看了电影"]
    vectors = [
        one(1, 0.9, 0, 0, 0),
        one(1, 0.91, 0, 0, 0),
        one(0, 1, 0, 0, 0),
        one(0, 0, 1, 0, 0),
        one(1, 0, 0, 1, 0),
        one(0, 0, 0, 0, 1),
    ]
    text = digest.extract(parts, vectors)
    assert text.count("。") == 5
    assert ("渡轮七点开了" in text) != ("渡轮七点就开" in text)


def test_in_their_own_order_and_closed_sentences() -> None:
    text = digest.extract(["渡轮七点开", "We stayed in"], [one(1, 0), one(0, 1)])
    assert text == "渡轮七点开。 We stayed in."


@pytest.mark.parametrize("length", [10, 90, 290])
def test_at_most_300_characters(length: int) -> None:
    parts = [chr(0x4E00 + n) * length for n in range(8)]
    text = digest.extract(parts, [one(*(float(n == k) for k in range(8))) for n in range(8)])
    assert length <= len(text) <= digest.CHARACTERS + digest.SENTENCES
    assert text.count("。") == min(digest.SENTENCES, 300 // length)


def test_one_long_sentence_is_kept_whole() -> None:
    assert digest.extract(["长" * 900], [one(1)]) == "长" * 900 + "。"


def test_nothing_gives_nothing() -> None:
    assert digest.extract([], []) == ""
    assert digest.extract(["没有向量的一句"], [{}]) == "没有向量的一句。"
