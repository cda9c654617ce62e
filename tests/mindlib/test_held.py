"""A program that keeps a ledger open while it is put anew loses no line, and nothing of what went stays in its file."""

from __future__ import annotations

import os
import shutil
import sys
from typing import IO, TYPE_CHECKING

import orjson
import pytest

from nebula import erase, repair
from nebula.errors import WriteFailed
from nebula.mind import Mind
from nebula.mindlib import files, held
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SECRET = "体检报告说左肺有一个小结节，先别告诉妈妈"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="who has a file open is told on Linux alone")


def opened(folder: Path) -> Mind:
    mind = Mind(folder)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def lived(folder: Path) -> Mind:
    mind = opened(folder)
    mind.add(SECRET)
    mind.add("渡轮早上六点开")
    with (folder / "notes.jsonl").open("ab") as file:
        file.write(b'{"id": 90, "text": "cut\n')
    return mind


def foreign(number: int) -> bytes:
    return orjson.dumps({"id": 1000 + number, "at": "2026-05-01T09:00:00", "text": f"外来第{number}行"}) + b"\n"


def texts(mind: Mind) -> list[str]:
    return [memory.text for memory in mind.store.read_all().memories]


def old_files(folder: Path) -> list[Path]:
    return sorted(folder.glob(".*.held"))


def erased(mind: Mind) -> None:
    assert erase.erase(mind, erase.plan(mind, ["n1"])).left == {}


def repaired(mind: Mind) -> None:
    assert repair.repair(mind).moved


@pytest.mark.parametrize("act", [erased, repaired])
def test_what_it_writes_afterwards_comes_with_the_next_command(act: Callable[[Mind], None], tmp_path: Path) -> None:
    """Line after line, half a line too, until it closes the file; then nothing is left of the old one."""
    mind = lived(tmp_path / "mind")
    with (mind.folder / "notes.jsonl").open("ab", buffering=0) as writer:
        writer.write(foreign(0))
        act(mind)
        (old,) = old_files(mind.folder)
        assert SECRET.encode() not in old.read_bytes()
        assert old.read_bytes().strip(b"\n") == b""
        assert old.stat().st_mode & 0o777 == 0o600
        before = texts(opened(mind.folder))
        writer.write(foreign(1) + foreign(2)[:20])
        assert texts(opened(mind.folder)) == [*before, "外来第1行"]
        writer.write(foreign(2)[20:])
        writer.write(foreign(3)[:-1])
    assert texts(opened(mind.folder)) == [*before, "外来第1行", "外来第2行", "外来第3行"]
    assert old_files(mind.folder) == []
    assert len(opened(mind.folder).store.scan("notes").damages) == (act is erased)


@pytest.mark.parametrize("act", [erased, repaired])
def test_without_such_a_program_there_is_no_second_file(act: Callable[[Mind], None], tmp_path: Path) -> None:
    mind = lived(tmp_path / "mind")
    with (mind.folder / "notes.jsonl").open("rb"):  # who only reads is in nobody's way
        act(mind)
    assert old_files(mind.folder) == []


def test_a_file_system_that_gives_no_lease_leaves_no_second_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There nobody can tell; what came until the file was put anew has come over."""
    import fcntl

    mind, plain = lived(tmp_path / "mind"), fcntl.fcntl

    def refusing(descriptor: int, what: int, value: int = 0) -> int:
        if what == fcntl.F_SETLEASE:
            raise BlockingIOError
        return plain(descriptor, what, value)

    monkeypatch.setattr(fcntl, "fcntl", refusing)
    with (mind.folder / "notes.jsonl").open("ab", buffering=0) as writer:
        writer.write(foreign(0))
        erased(mind)
    assert list(mind.folder.glob(".*.held")) == list(mind.folder.glob(".lease*")) == []
    assert "外来第0行" in texts(opened(mind.folder))


def test_twice_and_thrice(tmp_path: Path) -> None:
    """Each rewriting leaves one old file; a program that holds the first writes on, and one that holds the second."""
    mind = lived(tmp_path / "mind")
    writers: list[IO[bytes]] = []
    for number, ref in enumerate(("n1", "n2")):
        writers.append((mind.folder / "notes.jsonl").open("ab", buffering=0))
        erase.erase(mind, erase.plan(mind, [ref]))
        assert len(old_files(mind.folder)) == number + 1
    for number, writer in enumerate(writers):
        writer.write(foreign(number))
        writer.close()
    assert sorted(texts(opened(mind.folder))) == ["外来第0行", "外来第1行"]
    assert old_files(mind.folder) == []


def test_where_the_new_file_can_not_be_written_the_ledger_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second name is then the ledger's own, and only the name goes: not a byte of the ledger."""
    path = tmp_path / "notes.jsonl"
    path.write_bytes(foreign(1))

    def full(target: Path, data: bytes, *, durable: bool = True) -> None:
        raise WriteFailed(target, "disk full")

    monkeypatch.setattr(files, "replace", full)
    with pytest.raises(WriteFailed):
        held.rewrite(path, lambda _: b"")
    assert (path.read_bytes(), old_files(tmp_path)) == (foreign(1), [])


@pytest.mark.parametrize("moved", ["ledger", "elsewhere"])
def test_a_kill_before_the_new_file_took_its_place_costs_nothing(moved: str, tmp_path: Path) -> None:
    """The second name still is the ledger's, wherever that lies now."""
    path, old = tmp_path / "notes.jsonl", tmp_path / ".notes.jsonl.5.0123abcd.held"
    path.write_bytes(foreign(1))
    os.link(path, old)
    if moved == "elsewhere":
        path = path.rename(tmp_path / "notes.backup")
    held.carry(tmp_path)
    assert (path.read_bytes(), old_files(tmp_path)) == (foreign(1), [])


def test_a_kill_just_after_it_brings_nothing_back(tmp_path: Path) -> None:
    """What stood in the old file when it was rewritten is never carried over, only what came after."""
    path, old = tmp_path / "notes.jsonl", tmp_path / f".notes.jsonl.{len(foreign(1))}.0123abcd.held"
    path.write_bytes(foreign(7))
    old.write_bytes(foreign(1) + foreign(2))
    held.carry(tmp_path)
    assert (path.read_bytes(), old_files(tmp_path)) == (foreign(7) + foreign(2), [])


def test_names_that_only_look_alike_are_left_alone(tmp_path: Path) -> None:
    """Another's file, a link, a folder."""
    (tmp_path / "notes.jsonl").write_bytes(foreign(1))
    (tmp_path / "mine.held").write_bytes(foreign(2))
    (tmp_path / ".notes.jsonl.x.held").write_bytes(foreign(2))
    (tmp_path / ".notes.jsonl.0.0123abcd.held").symlink_to(tmp_path / "mine.held")
    (tmp_path / ".notes.jsonl.0.0123abce.held").mkdir()
    held.carry(tmp_path)
    assert (tmp_path / "notes.jsonl").read_bytes() == foreign(1)
    assert (tmp_path / "mine.held").read_bytes() == foreign(2)
    shutil.rmtree(tmp_path / ".notes.jsonl.0.0123abce.held")
