"""Changes folded per ref and laid over a memory (spec 10)."""

from __future__ import annotations

from typing import Any

import pytest

from nebula.mindlib.changes import apply, fold, hit_line, set_line, sound
from nebula.mindlib.record import Memory

AT = "2026-05-01T09:00:00"
LATER = "2026-05-02T09:00:00"
MEMORY = Memory("notes", 1, AT, "灯塔看守换人了", hits=2, last_hit=AT)


def test_the_last_set_wins_and_hits_add_up() -> None:
    """`set` is last-wins for each field; hits are added to the line's own, `last_hit` is the latest."""
    lines = [
        set_line(AT, "n1", {"w": 2.0, "depth": 3}, "沉"),
        hit_line(LATER, ["n1", "n2"]),
        set_line(LATER, "n1", {"w": 5.0}, "捕获"),
        hit_line(AT, ["n1"]),
    ]
    found = apply(MEMORY, fold(lines).get("n1"))
    assert (found.w, found.depth, found.hits, found.last_hit) == (5.0, 3, 4, LATER)


def test_undo_takes_back_one_run_alone() -> None:
    """Every change of the run, wherever the undo stands; changes of no run and of other runs stay."""
    lines: list[dict[str, Any]] = [
        set_line(AT, "n1", {"depth": 2}, "夜", "r1"),
        {"at": AT, "undo": "r2"},
        set_line(AT, "n1", {"depth": 4}, "夜", "r2"),
        set_line(AT, "n1", {"pinned": True}, "手"),
    ]
    assert fold(lines)["n1"].fields == {"depth": 2, "pinned": True}


def test_as_of_a_moment_sees_no_later_undo() -> None:
    """With `until` both later changes and later undos are not there yet."""
    lines: list[dict[str, Any]] = [
        set_line(AT, "n1", {"depth": 2}, "夜", "r1"),
        {"at": LATER, "undo": "r1"},
        set_line(LATER, "n1", {"w": 9.0}, "手"),
    ]
    assert fold(lines, until=AT)["n1"].fields == {"depth": 2}
    assert fold(lines)["n1"].fields == {"w": 9.0}


@pytest.mark.parametrize(
    "line",
    [
        {"at": AT, "ref": "n1", "surfaced": "s"},
        {"at": AT, "ref": "n1", "taken": True},
        {"at": AT, "undo": ["r1"]},
        {"at": AT, "hit": "n1"},
        {"at": AT, "hit": [1, None, {}]},
        {"at": AT, "ref": ["n1"], "set": {"w": 3}},
        {"at": AT, "ref": "n1", "set": [1]},
        {},
    ],
)
def test_unknown_kinds_are_ignored(line: dict[str, Any]) -> None:
    """Kinds and shapes that nobody here knows change nothing and raise nothing."""
    assert fold([line]) == {}


@pytest.mark.parametrize("run", [["r1"], {"r": 1}, 7, None])
def test_a_run_of_the_wrong_type_is_no_run(run: object) -> None:
    """Closes: a list as `run` raised TypeError (unhashable) and cost the whole mind; the change itself counts."""
    lines: list[dict[str, Any]] = [{"at": AT, "ref": "n1", "set": {"w": 3.0}, "run": run}, {"at": AT, "undo": "r1"}]
    assert fold(lines)["n1"].fields == {"w": 3.0}


def test_only_changeable_fields_of_the_right_type_change() -> None:
    """The text never changes; a value of the wrong type leaves the field as it was."""
    line = set_line(
        AT, "n1", {"text": "别的", "uid": "0" * 16, "w": "重", "depth": 9, "tag": "海", "valid_to": LATER}, "手"
    )
    found = apply(MEMORY, fold([line])["n1"])
    assert (found.text, found.uid, found.w, found.depth) == (MEMORY.text, "", 1.0, 1)
    assert (found.tag, found.valid_to) == ("海", LATER)
    assert apply(found, fold([set_line(LATER, "n1", {"valid_to": None}, "手")])["n1"]).valid_to is None
    assert apply(MEMORY, None) is MEMORY


@pytest.mark.parametrize(
    "name", ["at", "ref", "run", "undo", "why", "surfaced", "by", "until", "hit", "keys", "set", "night"]
)
@pytest.mark.parametrize("value", [3, None, [[]], [{}], {"a": []}])
def test_fields_of_the_wrong_type_are_passed_over(name: str, value: object) -> None:
    """Closes: a list as `run` or within `hit` cost the night, `log` and a merge; the rest of the line counts."""
    found = sound({"foreign": [1], name: value})
    assert found.pop("foreign") == [1]
    assert found in ({}, {name: []}, {name: value})
    assert name not in found or isinstance(value, list if name in {"hit", "keys"} else dict)
    assert sound(hit_line(AT, ["n1"], "s")) == hit_line(AT, ["n1"], "s")
