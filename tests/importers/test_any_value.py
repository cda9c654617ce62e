"""Any JSON value at any place of what another program wrote: it costs itself alone, is named, and all else arrives."""

from __future__ import annotations

import copy
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nebula import importers
from nebula.errors import FileUnusable
from nebula.importers import Item, Passed, exports
from tests.importers.test_importers import FILES, SAMPLES, opened

if TYPE_CHECKING:
    from nebula.importers.taking import Taken
    from nebula.mind import Mind
    from tests.cli.conftest import Nebula

ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["\ud83d", "text", "user", "human", "all", "2026-02-30", "0001-01-01T00:00:00+14:00"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
JSON_KINDS = [kind for kind in FILES if kind != "markdown"]


def document(kind: str) -> Any:
    """The sample as JSON; lines as a list of them."""
    data = (SAMPLES / FILES[kind]).read_text(encoding="utf-8")
    if kind != "mcp-memory":
        return json.loads(data)
    return [found for line in data.encode().splitlines() if isinstance(found := exports.loaded(line), dict)]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document but its root."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    return [one for key, held in inner for one in [(*path, key), *places(held, (*path, key))]]


def put(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    """The document with `odd` at a place."""
    changed = copy.deepcopy(value)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = odd
    return changed


def written(path: Path, value: object) -> Path:
    """As escapes, for half a character has no bytes of its own."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def saved(folder: Path, kind: str, value: Any) -> Path:
    if kind != "mcp-memory":
        return written(folder / FILES[kind], value)
    path = folder / FILES[kind]
    path.write_text("".join(json.dumps(one) + "\n" for one in value), encoding="utf-8")
    return path


def sources(found: list[Item | Passed]) -> set[str]:
    return {one.source for one in found if isinstance(one, Item)}


def of_others(kind: str, path: tuple[Any, ...]) -> set[str]:
    """Sources that an odd value at `path` can't touch: those of the elements beside the one it is in."""
    value = document(kind)
    deep = 2 if kind == "mem0" else 1  # results, relations
    if len(path) < deep:
        return set()
    with tempfile.TemporaryDirectory() as folder:
        without = copy.deepcopy(value)
        held = without[path[0]] if deep == 2 else without
        held[path[deep - 1]] = {}
        return sources(list(importers.reader(kind)(saved(Path(folder), kind, without), True)))


PLACES = [(kind, path) for kind in JSON_KINDS for path in places(document(kind))]


@settings(max_examples=300)
@given(st.sampled_from(PLACES), ODD)
@example(place=("chatgpt", (0, "current_node")), odd=["u1"])
@example(place=("chatgpt", (0, "mapping", "a1", "parent")), odd={})
@example(place=("claude", (0, "chat_messages", 0, "sender")), odd=["human"])
@example(place=("mem0", ("memories",)), odd=5)
def test_costs_itself_alone(place: tuple[str, tuple[Any, ...]], odd: Any) -> None:
    """Nothing is raised, and every element beside the one it is in arrives."""
    kind, path = place
    with tempfile.TemporaryDirectory() as folder:
        given_file = saved(Path(folder), kind, put(document(kind), path, odd))
        try:
            found = list(importers.reader(kind)(given_file, True))
        except FileUnusable:
            found = []
            assert len(path) == 1, "an element alone makes no file unusable"
        assert of_others(kind, path) <= sources(found)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(PLACES), ODD)
def test_is_written_all_the_same(place: tuple[str, tuple[Any, ...]], odd: Any) -> None:
    """What arrives can be kept, again it is here already, and nothing is lost uncounted."""
    kind, path = place
    with tempfile.TemporaryDirectory() as folder:
        given_file = saved(Path(folder), kind, put(document(kind), path, odd))
        mind = opened(Path(folder) / "mind")
        try:
            first = mind_takes(mind, given_file, kind)
        except FileUnusable:
            return
        again = mind_takes(mind, given_file, kind)
        assert (again.added, again.newer, again.here) == (0, 0, first.added)


def mind_takes(mind: Mind, path: Path, kind: str) -> Taken:
    from nebula.importers import taking

    return taking.take(mind, path, kind, replies=True)


@given(ODD, st.integers(0, 60), st.booleans())
def test_a_note_with_any_value_in_any_line(odd: Any, line: int, value: bool) -> None:
    """In the place of a line or of what stands after its first colon; the other notes arrive."""
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(shutil.copytree(SAMPLES / "notes", Path(folder) / "notes"))
        before = sources(list(importers.reader("markdown")(notes, False)))
        note = min(path for path in notes.rglob("*.md") if path.name != "latin1.md")
        lines = note.read_text(encoding="utf-8").split("\n")
        said = json.dumps(odd)
        at = line % len(lines)
        lines[at] = f"{lines[at].partition(':')[0]}: {said}" if value else said
        of_it = sources(list(importers.reader("markdown")(note, False)))
        note.write_text("\n".join(lines), encoding="utf-8")
        assert before - of_it - of_note(before, note, notes) <= sources(
            list(importers.reader("markdown")(notes, False))
        )


def of_note(found: set[str], note: Path, notes: Path) -> set[str]:
    """Sources of one note, by its name in the folder or its permalink."""
    text = note.read_text(encoding="utf-8")
    names = [
        note.relative_to(notes).as_posix(),
        *(line[11:].strip() for line in text.split("\n") if "permalink" in line),
    ]
    return {one for one in found if any(name in one for name in names)}


# each odd thing is counted


CHATGPT_ODD = [
    (("current_node",), ["g1"], 2),
    (("current_node",), 5, 2),
    (("mapping",), [], 1),
    (("mapping", "g1"), "x", 1),
    (("mapping", "g1", "parent"), ["x"], 2),
    (("mapping", "g1", "parent"), "nowhere", 2),
    (("mapping", "g1", "parent"), "g1", 2),
    (("mapping", "g1", "message"), [], 1),
    (("mapping", "g1", "message", "author"), "user", 1),
    (("mapping", "g1", "message", "author", "role"), ["user"], 1),
    (("mapping", "g1", "message", "recipient"), ["all"], 1),
    (("mapping", "g1", "message", "content"), "said", 1),
    (("mapping", "g1", "message", "content", "content_type"), ["text"], 1),
    (("mapping", "g1", "message", "content", "parts"), "said", 1),
    (("mapping", "g1", "message", "content", "parts"), [5], 1),
]


@pytest.mark.parametrize(("path", "odd", "come"), CHATGPT_ODD, ids=lambda one: str(one)[:40])
def test_odd_turns_of_chatgpt_are_counted(tmp_path: Path, path: tuple[str, ...], odd: Any, come: int) -> None:
    """Named, one damage each; `come`: what arrives of a turn of another conversation and the one concerned."""
    whole = document("chatgpt")
    talks = [whole[2], put({**whole[2], "id": "other"}, path, odd)]
    found = list(importers.reader("chatgpt")(written(tmp_path / "conversations.json", talks), False))
    assert len(sources(found)) == come
    assert [one.damaged for one in found if isinstance(one, Passed)] == [True]


CLAUDE_ODD: list[tuple[tuple[Any, ...], Any, int]] = [
    (("chat_messages",), {}, 0),
    (("chat_messages", 0), 5, 0),
    (("chat_messages", 0, "sender"), ["human"], 0),
    (("chat_messages", 0, "uuid"), {}, 0),
    (("chat_messages", 0, "content"), "said", 1),
    (("chat_messages", 0, "content"), [5], 1),
    (("chat_messages", 0, "text"), [], 0),
]


@pytest.mark.parametrize(("path", "odd", "come"), CLAUDE_ODD, ids=lambda one: str(one)[:40])
def test_odd_turns_of_claude_are_counted(tmp_path: Path, path: tuple[Any, ...], odd: Any, come: int) -> None:
    """`come`: whether the turn still arrives, by its other half."""
    message = {"uuid": "m", "sender": "human", "text": "My ferry leaves at six"}
    talk = {"uuid": "t", "name": "Ferry", "chat_messages": [message]}
    found = list(
        importers.reader("claude")(written(tmp_path / "conversations.json", [put(talk, path, odd), talk]), False)
    )
    assert len([one for one in found if isinstance(one, Item)]) == come + 1
    assert [one.damaged for one in found if isinstance(one, Passed)] == [True]


@pytest.mark.parametrize("kind", ["chatgpt", "claude"])
def test_what_is_no_conversation_is_counted(tmp_path: Path, kind: str) -> None:
    """Numbers, texts and lists between two conversations, each by its place."""
    talks = [5, *document(kind)[:1], "x, [", None, [1], *document(kind)[2:], 7]
    path = written(tmp_path / "conversations.json", talks)
    found = list(importers.reader(kind)(path, False))
    damages = [one for one in found if isinstance(one, Passed) and one.why == "不是 JSON 对象"]
    assert [one.where.partition(" ")[2] for one in damages] == [
        f"[{n}]" for n, one in enumerate(talks, start=1) if not isinstance(one, dict)
    ]


def test_a_pictures_turn_is_counted(tmp_path: Path) -> None:
    """It has no text; that is no damage."""
    path = ("mapping", "g1", "message", "content")
    talk = put(document("chatgpt")[2], path, {"content_type": "multimodal_text", "parts": [{"asset_pointer": "x"}]})
    found = list(importers.reader("chatgpt")(written(tmp_path / "conversations.json", [talk]), False))
    assert [(one.why, one.damaged) for one in found if isinstance(one, Passed)] == [("no text", False)]


def test_half_a_character_costs_nobody_the_rest(tmp_path: Path) -> None:
    """A title that was cut within an emoji: everything comes, the half as a question mark."""
    talk = put(document("chatgpt")[2], ("title",), "Guitar \ud83c")
    (one,) = importers.reader("chatgpt")(written(tmp_path / "conversations.json", [talk]), False)
    assert isinstance(one, Item)
    assert one.fields["title"] == "Guitar ?"


@pytest.mark.parametrize(
    ("written_so", "read"),
    [
        (rb'"\ud83c\udfb8"', "🎸"),
        (rb'"\ud83c"', "?"),
        (rb'"\udfb8\ud83c"', "??"),
        (rb'"\ud83c\ud83c\udfb8"', "?🎸"),
        (rb'"\\ud83c"', "\\ud83c"),
        (rb'"\\\ud83c \n"', "\\? \n"),
        (rb'"\ud83', None),
    ],
)
def test_halves_are_told_from_what_looks_like_them(written_so: bytes, read: str | None) -> None:
    assert exports.loaded(written_so) == read


def test_what_the_attacker_gave(nebula: Nebula, tmp_path: Path) -> None:
    """Two good conversations and one whose current_node is a list: exit 0, the good ones here, the odd one named."""
    talks = document("chatgpt")
    path = written(tmp_path / "conversations.json", [*talks, {**talks[2], "id": "odd", "current_node": ["g1"]}])
    said = nebula("import", str(path), "--from", "chatgpt")
    assert said.code == 0
    assert "current_node" in said.err
    assert len(nebula("list", "--json").data["memories"]) == 4
