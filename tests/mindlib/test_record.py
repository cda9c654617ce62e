"""Line <-> record (spec 1): defaults, leniency, round trips, refs and derived uids."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nebula.mindlib.record import EXPECTED, Memory, derived_uid, from_object, reason_unreadable, split_ref, to_object

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(sorted(EXPECTED)) | st.text(max_size=6).filter(lambda name: name not in {"id", "text"})
LINES = st.builds(
    lambda number, text, rest: {**rest, "id": number, "text": text},
    st.integers(0, 2**53 - 1),
    st.text(max_size=20),
    st.dictionaries(NAMES.filter(lambda name: name != "text"), JSON, max_size=8),
)


def test_defaults_of_the_table() -> None:
    """Every default of spec 1; only id and text are there."""
    found = from_object("notes", {"id": 3, "text": "灯塔"})
    assert (found.via, found.tag, found.w, found.imp, found.e, found.emo) == ("他说的", "", 1.0, 0.5, 0.0, "")
    assert (found.depth, found.pinned, found.hits, found.last_hit, found.sunken_at) == (1, False, 0, "", "")
    assert (found.valid_to, found.mood, found.w_why, found.due, found.topic) == (None, {}, "", "", "")
    assert (found.say, found.uid, found.by, found.ref) == ("gently", "", "", "n3")
    assert from_object("thoughts", {"id": 1, "text": "想"}).via == "我自己想的"


@given(LINES, st.sampled_from(["notes", "thoughts", "promises"]))
def test_reading_never_raises_and_round_trips(line: dict[str, Any], ledger: str) -> None:
    """record -> object -> record is the identity; unknown fields and wrong types survive in `extra`."""
    assert reason_unreadable(line) is None
    memory = from_object(ledger, line)
    assert from_object(ledger, to_object(memory)) == memory
    for name, value in line.items():
        if name not in EXPECTED and name != "id":
            assert to_object(memory)[name] == value


@pytest.mark.parametrize(
    ("name", "raw", "default"),
    [("w", "重", 1.0), ("depth", 5, 1), ("pinned", 1, False), ("hits", -1, 0), ("tag", None, ""), ("mood", [], {})],
)
def test_a_wrong_type_reads_as_the_default_and_is_kept(name: str, raw: object, default: object) -> None:
    """The raw value stays in `extra` and goes back into the line."""
    memory = from_object("notes", {"id": 1, "text": "", name: raw})
    assert getattr(memory, name) == default
    assert to_object(memory)[name] == raw


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ([], "不是 JSON 对象"),
        ({"text": ""}, "缺 id"),
        ({"id": True, "text": ""}, "缺 id"),
        ({"id": -1, "text": ""}, "缺 id"),
        ({"id": 2**53, "text": ""}, "缺 id"),
        ({"id": 1, "text": None}, "缺 text"),
        ({"id": 0, "text": ""}, None),
    ],
)
def test_what_makes_a_line_a_record(line: object, reason: str | None) -> None:
    """Only a whole `id` and a `text`."""
    assert reason_unreadable(line) == reason


def test_refs() -> None:
    """`n12` by letter, upper case too; a repeated id is addressed by its uid."""
    assert split_ref(" N12 ") == ("notes", 12)
    assert split_ref("h7") == ("thoughts", 7)
    assert [split_ref(text) for text in ("x1", "n", "n-1", "n9999999999999999")] == [None] * 4
    assert Memory("notes", 1, "", "", uid="ab" * 8, repeated=True).ref == "ab" * 8


def test_derived_uids_differ_by_each_part() -> None:
    """Ledger, at, text, occurrence: 16 hex digits, the same for the same parts."""
    parts = [("notes", "a", "t", 0), ("profile", "a", "t", 0), ("notes", "b", "t", 0), ("notes", "a", "u", 0)]
    made = {derived_uid(*part) for part in [*parts, ("notes", "a", "t", 1)]}
    assert len(made) == 5
    assert all(len(uid) == 16 for uid in made)
    assert derived_uid("notes", "a", "t", 0) in made
