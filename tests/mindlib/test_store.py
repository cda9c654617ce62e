"""One mind's folder: ids under the lock, repeated ids, as-of, settings file."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import nebula
from nebula.errors import BadValue, SettingsUnusable, WriteFailed
from nebula.mindlib import files
from nebula.mindlib.changes import set_line
from nebula.mindlib.record import FAR, MAX_ID, Memory, following
from nebula.mindlib.store import CHANGES, CONFIG, Store

AT = "2026-05-01T09:00:00"
WRITER = """
import sys
from pathlib import Path
from nebula.mindlib.record import Memory
from nebula.mindlib.store import Store
store = Store(Path(sys.argv[1]), lock_timeout=120)
for number in range(50):
    store.append("notes", [Memory("notes", 0, "2026-05-01T09:00:00", f"{sys.argv[2]}-{number}")])
"""


def draft(text: str) -> Memory:
    return Memory("notes", 0, AT, text)


@pytest.mark.process
def test_eight_writers_share_no_id(tmp_path: Path) -> None:
    """8 processes x 50 appends: 400 lines, ids 1…400 without gap or repetition, each writer's in its order."""
    root = Path(nebula.__file__).parent.parent
    started = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "mind"), str(number)], cwd=root)
        for number in range(8)
    ]
    assert [process.wait(150) for process in started] == [0] * 8
    reading = Store(tmp_path / "mind").read("notes")
    assert not reading.damages
    assert [memory.id for memory in reading.memories] == list(range(1, 401))
    for writer in range(8):
        own = [m.text for m in reading.memories if m.text.startswith(f"{writer}-")]
        assert own == [f"{writer}-{number}" for number in range(50)]


def test_ids_go_on_after_damage_and_after_what_changes_mention(tmp_path: Path) -> None:
    """A torn end costs no id; an id that a change names is not given again though its line is gone."""
    store = Store(tmp_path)
    store.append("notes", [draft("一"), draft("二")])
    with store.path("notes").open("ab") as file:
        file.write(b'{"id":3,"text":"\xe5')
    assert [m.id for m in store.append("notes", [draft("三")])] == [3]
    store.append_lines(CHANGES, [set_line(AT, "n9", {"w": 2.0}, "手")], durable=False)
    assert [m.id for m in store.append("notes", [draft("四")])] == [10]
    reading = store.read("notes")
    assert [m.text for m in reading.memories] == ["一", "二", "三", "四"]
    assert [damage.line for damage in reading.damages] == [3]


@pytest.mark.parametrize("far", [MAX_ID, MAX_ID - 1, FAR, 1_700_000_000_000])
def test_ids_do_not_follow_one_far_off(tmp_path: Path, far: int) -> None:
    """Another program's times, or the last id there is: ours go on from the nearer ones, in its ledger or a change."""
    store = Store(tmp_path)
    store.append("notes", [draft("一"), draft("二")])
    with store.path("notes").open("ab") as file:
        file.write(b'{"id":%d,"text":"\xe8\xbf\x9c"}\n' % far)
    assert [m.id for m in store.append("notes", [draft("三"), draft("四")])] == [3, 4]
    store.append_lines(CHANGES, [set_line(AT, f"n{max(far - 1, FAR)}", {"w": 2.0}, "手")], durable=False)
    assert [m.id for m in store.append("notes", [draft("五")])] == [5]
    assert [m.id for m in store.read("notes").memories] == [1, 2, far, 3, 4, 5]
    assert not store.read("notes").damages


@pytest.mark.parametrize(
    ("taken", "next_id"),
    [([], 1), ([4, FAR + 7], 5), ([FAR], 1), ([FAR - 1], FAR), ([FAR - 1, FAR + 3], FAR + 4), ([2, 9, 4], 10)],
)
def test_the_id_that_follows(taken: list[int], next_id: int) -> None:
    assert following(taken) == next_id


def test_where_no_id_is_left_nothing_is_written(tmp_path: Path) -> None:
    store = Store(tmp_path)
    held = b'{"id":%d,"text":"a"}\n{"id":%d,"text":"b"}\n' % (FAR - 1, MAX_ID)
    store.path("notes").write_bytes(held)
    with pytest.raises(WriteFailed):
        store.append("notes", [draft("三")])
    assert store.path("notes").read_bytes() == held


def test_an_id_that_a_stranger_took_meanwhile_is_the_repeated_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its line came between our look and our write: both stay, and ours is told by its uid, as reading has it."""
    store, append = Store(tmp_path), files.Appender.append
    store.append("notes", [draft("一")])

    def meddled(self: files.Appender, data: bytes, **named: bool) -> int:
        with self.path.open("ab") as other:
            other.write(b'{"id":2,"text":"theirs"}\n')
        return append(self, data, **named)

    monkeypatch.setattr(files.Appender, "append", meddled)
    (mine,) = store.append("notes", [replace(draft("二"), uid="00000000000000ff")])
    found = {memory.text: memory.ref for memory in store.read("notes").memories}
    assert found == {"一": "n1", "theirs": "n2", "二": mine.ref}
    assert mine.ref == "00000000000000ff"


def test_a_repeated_id_is_addressed_by_its_uid(tmp_path: Path) -> None:
    """The first line keeps the ref; equal lines get uids of their own, the same at every reading."""
    store = Store(tmp_path)
    store.path("notes").write_bytes(b'{"id":1,"at":"a","text":"t"}\n' * 3)
    refs = [memory.ref for memory in store.read("notes").memories]
    assert refs[0] == "n1"
    assert len(set(refs)) == 3
    assert refs == [memory.ref for memory in store.read("notes").memories]


def test_nothing_is_written_where_one_draft_cannot_be(tmp_path: Path) -> None:
    """All or nothing: a lone surrogate in the second of two."""
    store = Store(tmp_path)
    store.append("notes", [draft("一")])
    before = store.path("notes").read_bytes()
    with pytest.raises(BadValue):
        store.append("notes", [draft("二"), draft("\ud800")])
    assert store.path("notes").read_bytes() == before


def test_as_of_a_moment(tmp_path: Path) -> None:
    """`until` leaves out later memories and later changes."""
    store = Store(tmp_path)
    store.append("notes", [draft("一"), Memory("notes", 0, "2026-06-01T00:00:00", "二")])
    store.append_lines(CHANGES, [set_line("2026-06-02T00:00:00", "n1", {"depth": 4}, "夜")], durable=True)
    assert [(m.text, m.depth) for m in store.read_all(until="2026-05-02").memories] == [("一", 1)]
    assert [(m.text, m.depth) for m in store.read_all().memories] == [("一", 4), ("二", 1)]


def test_settings_file_keeps_what_it_does_not_know(tmp_path: Path) -> None:
    """Setting and removing a dotted key leaves every other key; no object is refused."""
    store = Store(tmp_path)
    assert store.config() == {}
    store.path(CONFIG).write_bytes(b'{"foreign":[1],"recall":{"mine":2}}')
    store.change_config({"recall.k": 20, "profile": "original"})
    assert store.config() == {"foreign": [1], "recall": {"mine": 2, "k": 20}, "profile": "original"}
    store.change_config({"recall.k": None, "profile": None})
    assert store.config() == {"foreign": [1], "recall": {"mine": 2}}
    for broken in (b"[]", b"{"):
        store.path(CONFIG).write_bytes(broken)
        with pytest.raises(SettingsUnusable):
            store.config()
