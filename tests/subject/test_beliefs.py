"""Views: each change keeps what was, and any point of the story can be asked for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nebula.errors import BadValue, UnknownTopic
from nebula.subject import beliefs
from nebula.subject.beliefs import Step, apply, held, operate, versions
from nebula.subject.records import View

ONE, TWO = View("林汐", "她信我", ("撑蓝伞的姑娘",)), View("食堂", "周三有排骨")
VIEWS = {view.topic: view for view in (ONE, TWO)}


def test_set() -> None:
    (new,) = beliefs.set_view(VIEWS, "林汐", "她不信我")
    assert new == Step("set", "林汐", ONE, View("林汐", "她不信我", ("撑蓝伞的姑娘",)))
    assert beliefs.set_view(VIEWS, "林汐", "她信我") == []
    assert beliefs.set_view(VIEWS, "门", "关着", ["后门", "门", "后门"])[0].new == View("门", "关着", ("后门",))


def test_alias_is_never_the_topic_nor_anothers() -> None:
    (added,) = beliefs.alias(VIEWS, "林汐", ["小汐", "林汐"])
    assert added.new
    assert added.new.aliases == ("撑蓝伞的姑娘", "小汐")
    (removed,) = beliefs.alias(VIEWS, "林汐", [], ["撑蓝伞的姑娘"])
    assert removed.new
    assert removed.new.aliases == ()
    for taken in ("食堂", "撑蓝伞的姑娘"):
        with pytest.raises(BadValue):
            beliefs.alias(VIEWS, "食堂" if taken != "食堂" else "林汐", [taken])


def test_merge_keeps_both_names_and_both_views() -> None:
    gone, into = beliefs.merge({**VIEWS, "她": View("她", "在等人")}, "她", "林汐", why="认出来了")
    assert (gone.old, gone.new) == (View("她", "在等人"), None)
    assert into.new == View("林汐", "她信我\n在等人", ("撑蓝伞的姑娘", "她"))
    assert beliefs.merge({**VIEWS, "她": View("她", "在等人")}, "她", "林汐", "新的")[1].new.view == "新的"  # type: ignore[union-attr]
    with pytest.raises(BadValue):
        beliefs.merge(VIEWS, "林汐", "撑蓝伞的姑娘")
    with pytest.raises(UnknownTopic):
        beliefs.merge(VIEWS, "谁", "林汐")


def test_rename_keeps_the_old_name_and_the_place() -> None:
    (step,) = beliefs.rename(VIEWS, "林汐", "汐")
    after = apply(VIEWS, [step])
    assert list(after) == ["汐", "食堂"]
    assert after["汐"].aliases == ("撑蓝伞的姑娘", "林汐")
    with pytest.raises(BadValue):
        beliefs.rename(VIEWS, "林汐", "食堂")


def test_a_view_is_found_by_an_alias() -> None:
    assert beliefs.find(VIEWS, "撑蓝伞的姑娘") is ONE
    with pytest.raises(UnknownTopic):
        beliefs.find(VIEWS, "谁")


def test_what_was_believed_when() -> None:
    steps = [
        (1, Step("set", "她", None, View("她", "陌生人"))),
        (3, Step("set", "她", View("她", "陌生人"), View("她", "朋友"))),
        (5, Step("merge", "她", View("她", "朋友"), None)),
        (5, Step("merge", "林汐", None, View("林汐", "她就是林汐", ("她",)))),
        (7, Step("delete", "林汐", View("林汐", "她就是林汐", ("她",)), None)),
    ]
    found = versions(steps)
    assert [[view.view for view in held(found, line)] for line in range(9)] == [
        [], ["陌生人"], ["陌生人"], ["朋友"], ["朋友"], ["她就是林汐"], ["她就是林汐"], [], [],
    ]  # fmt: skip
    assert held(found) == []
    assert [view.aliases for view in held(found, 4)] == [()]  # the name that came later is not known yet


def test_edits_by_hand_become_steps() -> None:
    steps = beliefs.by_hand(VIEWS, [View("林汐", "改了", ("撑蓝伞的姑娘",)), View("门", "开着")])
    assert [(step.op, step.topic, step.new and step.new.view) for step in steps] == [
        ("hand", "食堂", None),
        ("hand", "林汐", "改了"),
        ("hand", "门", "开着"),
    ]


@pytest.mark.parametrize(
    "obj",
    [
        {},
        {"op": "burn"},
        {"op": "set", "topic": "x"},
        {"op": "set", "topic": " ", "view": "y"},
        {"op": "set", "topic": "x", "view": 3},
        {"op": "alias", "topic": "林汐", "add": "小汐"},
        {"op": "merge", "topic": "林汐"},
        {"op": "rename", "topic": "林汐", "to": ""},
        {"op": "delete", "topic": "谁"},
    ],
)
def test_operations_that_are_none(obj: dict[str, object]) -> None:
    with pytest.raises((BadValue, UnknownTopic)):
        operate(VIEWS, obj)


NAMES = st.sampled_from(["a", "b", "c", "d"])
OPERATIONS = st.one_of(
    st.fixed_dictionaries({"op": st.just("set"), "topic": NAMES, "view": st.sampled_from("xyz")}),
    st.fixed_dictionaries({"op": st.just("alias"), "topic": NAMES, "add": st.lists(NAMES, max_size=2)}),
    st.fixed_dictionaries({"op": st.just("merge"), "topic": NAMES, "into": NAMES}),
    st.fixed_dictionaries({"op": st.just("rename"), "topic": NAMES, "to": NAMES}),
    st.fixed_dictionaries({"op": st.just("delete"), "topic": NAMES}),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(OPERATIONS, max_size=15))
def test_history_tells_every_past_state(operations: list[dict[str, object]]) -> None:
    """Replayed, the history gives at each line just the views that there were; no name is two topics'."""
    views: beliefs.Views = {}
    steps: list[tuple[int, Step]] = []
    states = [views]
    for line, operation in enumerate(operations, start=1):
        try:
            made = operate(views, operation)
        except (BadValue, UnknownTopic):
            made = []
        views = apply(views, made)
        steps += [(line, step) for step in made]
        states.append(views)
        names = [name for one in views.values() for name in (one.topic, *one.aliases)]
        assert len(names) == len(set(names))
    found = versions(steps)
    for line, state in enumerate(states):
        assert {v.topic: v for v in held(found, line)} == state
    assert {v.topic: v for v in held(found)} == views
