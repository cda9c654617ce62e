"""Queries taken apart: sentences, labels, names."""

from __future__ import annotations

import pytest

from nebula.text import dialogue
from nebula.text.dialogue import Clause

TALK = "小满：明天去码头吗？我有点怕。\n阿苇：去，我陪你。\n小满：那几点走？"


def test_a_plain_sentence_has_no_clauses_of_its_own() -> None:
    assert dialogue.clauses("渡轮几点开？") == []
    assert not dialogue.is_dialogue("渡轮：早上六点")


def test_sentences_of_a_dialogue_lose_their_labels_and_know_how_far_back_they_stand() -> None:
    assert dialogue.is_dialogue(TALK)
    assert dialogue.clauses(TALK) == [
        Clause("明天去码头吗？", 2),
        Clause("我有点怕。", 2),
        Clause("去，我陪你。", 1),
        Clause("那几点走？", 0),
    ]


def test_several_sentences_without_labels() -> None:
    found = dialogue.clauses("The ferry was late. Mr. Lin waited at 3.30! Why?")
    assert [clause.text for clause in found] == ["The ferry was late.", "Mr.", "Lin waited at 3.30!", "Why?"]
    assert {clause.back for clause in found} == {0}


def test_of_a_very_long_query_the_last_sentences_are_looked_at() -> None:
    found = dialogue.clauses("".join(f"第{number}句话。" for number in range(40)))
    assert len(found) == dialogue.AT_MOST
    assert found[-1].text == "第39句话。"


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("Caroline: I went there yesterday", "caroline"),
        ("小满：我怕黑", "小满"),
        ("User: hello", ""),
        ("我：你好", ""),
        ("https://example.org is down", ""),
        ("10:30 开会", ""),
        ("渡轮早上六点开", ""),
    ],
)
def test_who_speaks(text: str, who: str) -> None:
    """A person's label; not a mere part, an address or a clock time."""
    assert dialogue.speaker(text) == who


def test_names_that_a_query_may_call() -> None:
    """Words, runs of words, and stretches of Han characters; none in a dialogue."""
    found = dialogue.names("When did Mary Ann meet 林小满？")
    assert {"mary", "mary ann", "林小满"} <= found
    assert dialogue.names(TALK) == set()
