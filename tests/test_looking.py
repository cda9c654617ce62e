"""Looking up in the index gives what the ledgers give, and only where it is near them."""

from __future__ import annotations

import json
import random
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from nebula import amend, clock, looking
from nebula.index import near
from nebula.mind import Mind
from nebula.mindlib.store import Store
from nebula.more import more
from nebula.recall.hit import Filters
from tests.invented import DrawnEncoder, sentence

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = datetime(2026, 5, 1, 9)
FILTERS = {
    "all that holds": Filters(),
    "old too": Filters(old=True),
    "one ledger": Filters(ledgers=("promises",)),
    "tags": Filters(tags=("旅行", "工作")),
    "source": Filters(vias=("小刘",)),
    "a span of time": Filters(since=clock.seconds(datetime(2025, 3, 1)), until=clock.seconds(datetime(2025, 9, 1))),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mind of all ledgers that was changed in every way, its index as new as its ledgers; counted as a large one."""
    monkeypatch.setattr(near, "LARGE", 1)
    at = tmp_path / "mind"
    mind, draw = opened(at), random.Random(5)
    for number in range(40):
        ledger = draw.choice(["notes", "notes", "notes", "promises", "profile", "tacts"])
        fields = {"topic": "饭局", "say": "never"} if ledger == "tacts" else {}
        day = f"2025-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}T08:00:00"
        mind.add(
            sentence(draw),
            ledger=ledger,
            at=day,
            tag=draw.choice(["", "旅行", "工作"]),
            via=draw.choice(["我说的", "小刘"]),
            session=draw.choice(["", "s1", "s2"]),
            turn=number,
            **fields,
        )
    mind.add("码头的灯换过了", supersedes="n1")
    mind.add("同一秒", at="2025-06-01T08:00:00")
    mind.add("同一秒", ledger="profile", at="2025-06-01T08:00:00")
    amend.change(mind, ["n2"], {"pinned": True}, "pin")
    amend.change(mind, ["n3"], {"tag": "旅行", "imp": 0.9}, "set")
    mind.touch(["n4", "n5"], "s1")
    stranger = [
        {"id": 2, "at": "2025-07-01T08:00:00", "text": "编号重复的一条"},
        {"id": 900, "at": "2025-07-02T08:00:00", "text": "别的程序写的", "uid": "不是十六进制"},
        {"id": 901, "at": "2025-07-03T08:00:00", "text": "没有 uid 的"},
    ]
    with (at / "notes.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in stranger)
    mind.follow()
    return at


def opened(folder: Path) -> Mind:
    mind = Mind(folder, now=lambda: NOW)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def is_near(mind: Mind) -> bool:
    return near.is_near(mind.store, mind.cache().folder)


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it, and from then on reading the ledgers as a whole fails."""

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a ledger was read as a whole")

    return lambda: monkeypatch.setattr(Store, "read_all", fail)


def test_every_memory_is_found_as_it_stands(folder: Path, unread: Callable[[], None]) -> None:
    """By ref, by uid, in capitals, with blanks; all fields as the ledgers give them."""
    mind = opened(folder)
    every = mind.store.read_all().memories
    assert len(every) == 46
    unread()
    for memory in every:
        assert mind.find(memory.ref) == memory
        assert mind.find(f" {memory.ref.upper()} ") == memory
    for memory in every:
        if memory.uid != "不是十六进制":
            assert mind.find(memory.uid) == memory
    assert mind.find("n77") is None
    assert mind.find("0123456789abcdef") is None


def test_a_uid_that_is_none_of_ours_is_found_in_the_ledgers(folder: Path) -> None:
    found = opened(folder).find("不是十六进制")
    assert found is not None
    assert found.text == "别的程序写的"


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("n", [1, 7, 100])
def test_listed_as_the_ledgers_list(folder: Path, unread: Callable[[], None], name: str, n: int) -> None:
    """The same memories in the same order, two of one second and one id too, and the same number in all."""
    mind = opened(folder)
    every = mind.list(FILTERS[name], n=None)  # all of them are read from the ledgers
    assert 0 < every.total < 46 or name == "old too"
    unread()
    found = mind.list(FILTERS[name], n=n)
    assert list(found.memories) == list(every.memories)[:n]
    assert found.total == every.total


def test_a_session_around_a_memory(folder: Path, unread: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    mind = opened(folder)
    memory = next(m for m in mind.store.read_all().memories if m.session == "s2" and m.turn > 12)
    with monkeypatch.context() as patch:
        patch.setattr(near, "LARGE", 10**9)
        slowly = more(mind, memory.ref, turns=50)
    unread()
    found = more(mind, memory.ref, turns=50)
    assert slowly.before
    assert (found.before, found.after) == (slowly.before, slowly.after)


def test_a_damaged_line_is_told_in_a_large_mind_too(folder: Path) -> None:
    """The index passes over it; the list names it, as in a small mind."""
    with (folder / "notes.jsonl").open("a", encoding="utf-8") as file:
        file.write("{kaputt\n")
    mind = opened(folder)
    mind.follow()
    assert [damage.path.name for damage in mind.list().damages] == ["notes.jsonl"]


def test_a_damaged_change_is_told_too(folder: Path) -> None:
    with (folder / "changes.jsonl").open("a", encoding="utf-8") as file:
        file.write("{kaputt\n")
    assert [damage.path.name for damage in opened(folder).list().damages] == ["changes.jsonl"]


def test_what_came_since_is_there(folder: Path) -> None:
    """A line by another program, and a change that no index has folded."""
    with (folder / "notes.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"id": 902, "at": "2026-04-30T08:00:00", "text": "刚写的"}, ensure_ascii=False) + "\n")
    mind = opened(folder)
    mind.store.append_lines(
        "changes.jsonl", [{"at": "2026-04-30T09:00:00", "ref": "n902", "set": {"imp": 0.3}}], durable=True
    )
    found = mind.find("n902")
    assert found is not None
    assert (found.text, found.imp) == ("刚写的", 0.3)
    assert mind.list(n=2).memories[1] == found


def test_an_edited_or_missing_index_is_not_built_for_a_look(folder: Path) -> None:
    """A text changed by hand is seen at once, and the rows are left for the next recall."""
    path = folder / "notes.jsonl"
    path.write_text(path.read_text("utf-8").replace("码头的灯换过了", "码头的灯没换过"), "utf-8")
    mind = opened(folder)
    assert not is_near(mind)
    found = next(m for m in mind.list(n=100).memories if m.text == "码头的灯没换过")
    assert mind.find(found.ref) == found
    bare = opened(folder.parent / "empty")
    assert not is_near(bare)
    assert looking.find(bare, "n1") is None


def test_a_small_mind_is_read_without_its_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near, "LARGE", 47)
    assert not is_near(opened(folder))
    monkeypatch.setattr(near, "LARGE", 46)
    assert is_near(opened(folder))
