"""What the lexicon hears: words of the seven dimensions, what turns them, what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nebula.mindlib.record import EMOTIONS
from nebula.mood import lexicon
from nebula.mood.emotionwords import CHINESE, ENGLISH, FALSE_FRIENDS, TRADITIONAL

HEARD = [
    # plain words, one of each dimension in both languages
    ("我今天开心", {"happy": 0.6}),
    ("湖面上很安静", {"calm": 0.52}),
    ("他给我带了糖，心里甜", {"sweet": 0.6}),
    ("看她一瘸一拐，真叫人心疼", {"heartache": 0.6}),
    ("我担心他赶不上船", {"worry": 0.6}),
    ("信寄丢了，难过", {"sad": 0.6}),
    ("她吃醋了", {"jealous": 0.6}),
    ("I was happy", {"happy": 0.6}),
    ("a calm evening", {"calm": 0.6}),
    ("they kissed", {"sweet": 0.6}),
    ("heartache for the old dog", {"heartache": 0.6}),
    ("I worry about the boat", {"worry": 0.6}),
    ("Sad news from home", {"sad": 0.6}),
    ("JEALOUS of his brother", {"jealous": 0.6}),
    # stronger and weaker
    ("非常开心", {"happy": 0.78}),
    ("难过极了", {"sad": 0.78}),
    ("有点担心", {"worry": 0.36}),
    ("绝望", {"sad": 0.8}),
    ("特别绝望", {"sad": 1.0}),
    ("特别难过", {"sad": 0.78}),
    ("告别难过", {"sad": 0.6}),
    ("so very happy", {"happy": 0.78}),
    ("slightly sad", {"sad": 0.36}),
    ("a bit worried", {"worry": 0.36}),
    # turned: happy into a mild sadness, calm into a mild worry, others into silence
    ("不开心", {"sad": 0.3}),
    ("不太高兴", {"sad": 0.3}),
    ("高兴不起来", {"sad": 0.3}),
    ("心里不平静", {"worry": 0.3}),
    ("不难过", {}),
    ("一点都不担心", {}),
    ("别担心", {}),
    ("没什么可担心的", {}),
    ("没人难过", {}),
    ("我不再害怕", {}),
    ("not sad", {}),
    ("I'm not very happy", {"sad": 0.3}),
    ("he isn’t happy at all", {"sad": 0.3}),
    ("don't worry", {}),
    ("no longer afraid", {}),
    ("never calm", {"worry": 0.3}),
    # turned twice, asked, or not turned at all
    ("我不是不开心", {"happy": 0.6}),
    ("不得不高兴", {"happy": 0.6}),
    ("开不开心", {"happy": 0.6}),
    ("你有没有难过", {"sad": 0.6}),
    ("忍不住难过", {"sad": 0.6}),
    ("我不知道为什么难过", {"sad": 0.6}),
    ("no one knew. Sad!", {"sad": 0.6}),
    ("not only happy", {"happy": 0.6}),
    ("couldn't be happier", {"happy": 0.8}),
    ("unhappy", {"sad": 0.6}),
    # longer than its parts
    ("开心得哭了", {"happy": 0.8}),
    ("闷闷不乐", {"sad": 0.6}),
    ("羡慕嫉妒恨", {"jealous": 0.8}),
    ("scared to death", {"worry": 0.8}),
    ("I was moved to tears", {"sweet": 0.4}),
    # several
    ("既开心又担心", {"happy": 0.6, "worry": 0.6}),
    ("有点难过，后来非常难过", {"sad": 0.78}),
    # traditional characters
    ("我很開心，也有點擔心", {"happy": 0.78, "worry": 0.36}),
    ("難過", {"sad": 0.6}),
    # what only looks like one
    ("开心果在哪买", {}),
    ("祝你生日快乐", {}),
    ("差点难过关", {}),
    ("我家住幸福路", {}),
    ("尿检查出兴奋剂", {}),
    ("sweet potato soup", {}),
    ("the saddle of a horse", {}),
    ("happy birthday to you", {}),
    ("short and sweet", {}),
    ("calm down", {}),
    ("什么时候开船", {}),
    ("The ferry leaves at six.", {}),
    ("", {}),
]


@pytest.mark.parametrize(("text", "dims"), HEARD)
def test_heard(text: str, dims: dict[str, float]) -> None:
    heard = lexicon.hear(text)
    assert dict(heard.dims) == dims
    assert bool(heard.words) == bool(dims) == lexicon.feels(text)


def test_the_words_are_shown_as_they_stand() -> None:
    assert lexicon.hear("我一點也不開心，She isn’t happy，开心").words == ("不開心", "isn’t happy", "开心")
    assert lexicon.hear("开心！开心！").words == ("开心",)


def test_the_dominant_is_the_strongest_and_the_first_of_equals() -> None:
    assert lexicon.dominant(lexicon.hear("有点开心，非常担心")) == ("worry", 0.78)
    assert lexicon.dominant(lexicon.hear("又担心又开心")) == ("happy", 0.6)
    assert lexicon.dominant(lexicon.hear("渡轮")) == ("", 0.0)


def test_each_word_is_of_one_dimension_and_is_heard_as_what_it_is() -> None:
    friends = FALSE_FRIENDS.split()
    words = [
        (word, dim, strength)
        for table in (CHINESE, ENGLISH)
        for dim, grades in table.items()
        for strength, found in grades.items()
        for word in found.split()
    ]
    names = [word for word, _, _ in words] + friends
    assert len(set(names)) == len(names)
    assert len(words) > 850
    for word, dim, strength in words:
        assert dict(lexicon.hear(word.replace("_", " ")).dims) == {dim: strength}, word
    for word in friends:
        assert not lexicon.feels(word.replace("_", " ")), word
    assert {dim for _, dim, _ in words} == set(EMOTIONS)


def test_all_words_are_in_simplified_characters_and_folded() -> None:
    for table in (CHINESE, ENGLISH):
        for grades in table.values():
            for words in grades.values():
                assert words.translate(TRADITIONAL).lower() == words


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    assert lexicon.feels("渡" * (lexicon.READ - 2) + "难过")
    assert not lexicon.feels("渡" * (lexicon.READ - 1) + "难过")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from([*"不没很有点的aİßﬁ’'- \n", "难过", "开心", "sad", "happy", "not ", "𠀀"]), max_size=30)
)
def test_any_text_gives_levels_in_their_range(parts: list[str]) -> None:
    text = "".join(parts)
    heard = lexicon.hear(text)
    assert all(0.0 < level <= 1.0 for level in heard.dims.values())
    assert all(word in text for word in heard.words)
