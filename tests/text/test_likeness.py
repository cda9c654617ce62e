"""How much of a text others say, and what it says otherwise."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nebula import duplicates, echo
from nebula.text import forms, likeness
from tests.text import pairs


def covered(text: str, *sources: str) -> likeness.Cover:
    return likeness.cover(forms.tokens(text), {at: forms.tokens(source) for at, source in enumerate(sources)})


@pytest.mark.parametrize(
    ("text", "sources", "differs"),
    [
        ("渡轮早上六点开", ["渡轮早上六点开"], ""),
        ("渡轮早上六点开了吧", ["渡轮早上六点开"], "了 吧"),
        ("渡轮早上七点开", ["渡轮早上六点开"], "七 点 开"),
        ("Lisa won the race at school and was happy", ["Bart won the race at school and was happy"], "lisa"),
        ("She went to Rome with me on the early train", ["She went to Rome on the early train"], "with me"),
        ("the tide gauge on a shelf works again", ["tide gauge on the shelf works again"], "a the the"),
        ("ab cd ef gh. one two three four", ["one two three four", "ab cd ef gh"], ""),
        ("游客带狗进入园区的草坪", ["禁止游客带狗进入园区的草坪"], "禁 止"),
        ("带狗进入园区的草坪", ["春天的游客带狗进入园区的草坪"], ""),
        ("听说听说渡轮早上六点开", ["听说渡轮早上六点开"], ""),
        ("I remember that the ferry leaves at six", ["the ferry leaves at six"], ""),
        ("the tide gauge on the shelf wor", ["the tide gauge on the shelf works again"], ""),
        ("这个月的电费一共是12", ["这个月的电费一共是1200"], "12"),
    ],
)
def test_what_sources_say_of_a_text(text: str, sources: list[str], differs: str) -> None:
    """What is added, left out between runs or in their place; a frame, and a word that was cut short, are nothing."""
    found = covered(text, *sources)
    assert sorted(found.differs) == sorted(differs.split())
    assert found.says_nothing_new is (set(differs.split()) <= {"了", "吧", "a", "the"})


@pytest.mark.parametrize("text", ["渡轮", "完全不同的一句话"])
def test_nothing_is_said_of_a_stranger(text: str) -> None:
    found = covered(text, "渡轮早上六点开")
    assert (found.share, found.says_nothing_new) == (1.0, False)


@pytest.mark.parametrize("how", ["echo", "hint"])
def test_pairs_that_say_the_same_and_pairs_that_do_not(how: str) -> None:
    """Of some two thousand, generated and written by hand, all are told apart but for what marks can't show."""

    def same(one: pairs.Pair) -> bool:
        if how == "hint":
            found = duplicates.compared(forms.tokens(one.text), forms.tokens(one.source))
            return found is not None and found[0] != "differs"
        known = echo.Window([echo.Handed(**echo._line(0, one.source, "n1"))]).echo(one.text, 1, 12.0)
        return known is not None and not known.news

    drawn = pairs.drawn()
    wrapped = {"quoted", "bullet", "number", "bold", "role"}
    told = {one: same(one) for one in drawn if how == "echo" or one.kind not in wrapped}
    assert {sum(one.same is wanted for one in told) > 500 for wanted in (True, False)} == {True}
    wrong = [one for one, answer in told.items() if answer is not one.same]
    assert [one.kind for one in wrong] == ["power"], wrong


@given(st.text("ab渡轮 1。\n", max_size=60))
def test_every_text_is_covered_by_itself(text: str) -> None:
    """Whole, and nothing of it new; and the cover of nothing is nothing."""
    said = forms.tokens(text)
    if said:
        assert not likeness.cover(said, {0: said}).differs
    assert likeness.cover(said, {}).share == 1.0


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


def test_changes_name_what_differs() -> None:
    """The share of both texts in common, and pairs of what stands in the one and in the other."""
    one = forms.tokens("答应妈妈下个月搬回青岛住，离她近一点")
    assert likeness.changes(one, one) == (1.0, [])
    share, differs = likeness.changes([*one, "x"], one)
    assert share == pytest.approx(34 / 35)
    assert differs == [([], ["x"])]
    assert likeness.changes([*one, "了"], one)[1] == []
    assert likeness.changes(["我", "记", "得", *one], one)[1] == []
    assert likeness.changes(["爸", "爸"], one) == (0.0, [(one, ["爸", "爸"])])
    assert likeness.changes([], []) == (0.0, [])
