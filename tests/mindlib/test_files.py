"""Appending under a lock and replacing whole (reliability 3)."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nebula.errors import FileUnusable, LockedTooLong, WriteFailed
from nebula.mindlib import files

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("before", [b'{"id":3,"te', b'{"id":3}'])
def test_an_append_begins_on_its_own_line(tmp_path: Path, before: bytes) -> None:
    """S01, both rounds: after a torn line and after a whole one without a newline; old bytes are kept."""
    path = tmp_path / "notes.jsonl"
    path.write_bytes(before)
    with files.appending(path) as file:
        assert file.append(b"{}\n") == len(before) + 1
        assert file.append(b"[]\n") == len(before) + 4
    assert path.read_bytes() == before + b"\n{}\n[]\n"


def test_a_new_file_needs_no_guard_and_is_private(tmp_path: Path) -> None:
    """No blank first line; mode 0600."""
    path = tmp_path / "notes.jsonl"
    with files.appending(path) as file:
        assert file.append(b"{}\n") == 0
    assert path.read_bytes() == b"{}\n"
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("failure", ["short", "error", "sync"])
def test_a_failed_write_is_cut_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: str) -> None:
    """Half a line, no space and a failed sync: WriteFailed, and the file as it was, torn end included."""
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b'{"id":1}\n{"to')
    write = os.write

    def short(descriptor: int, data: bytes) -> int:
        return write(descriptor, data[:4])

    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    if failure == "sync":
        monkeypatch.setattr(files, "_sync", fail)
    else:
        monkeypatch.setattr(os, "write", short if failure == "short" else fail)
    with files.appending(path) as file, pytest.raises(WriteFailed):
        file.append(b'{"id":2}\n')
    assert path.read_bytes() == b'{"id":1}\n{"to'


def test_a_held_lock_is_waited_for_only_so_long(tmp_path: Path) -> None:
    """LockedTooLong, and free again afterwards."""
    path = tmp_path / "notes.jsonl"
    with files.appending(path), pytest.raises(LockedTooLong), files.appending(path, timeout=0.02):
        pass
    with files.appending(path, timeout=0.0):
        pass


def test_a_file_replaced_while_waiting_is_opened_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name goes to another file between open and lock: the append lands in the new one."""
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b"old\n")
    acquire = files._acquire
    calls: list[int] = []

    def replaced_meanwhile(descriptor: int, name: Path, timeout: float) -> None:
        acquire(descriptor, name, timeout)
        calls.append(descriptor)
        if len(calls) == 1:
            files.replace(path, b"new\n")

    monkeypatch.setattr(files, "_acquire", replaced_meanwhile)
    with files.appending(path) as file:
        file.append(b"{}\n")
    assert len(calls) == 2
    assert path.read_bytes() == b"new\n{}\n"


def test_replace_keeps_a_link_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The link's target gets the bytes; after a failure the old bytes stand and no temporary file is left."""
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    target.write_bytes(b"1")
    link.symlink_to(target)
    files.replace(link, b"2")
    assert link.is_symlink()
    assert target.read_bytes() == b"2"
    monkeypatch.setattr(os, "write", lambda _, data: len(data) - 1)
    with pytest.raises(WriteFailed):
        files.replace(link, b"three")
    assert target.read_bytes() == b"2"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "real.json"]


@pytest.mark.parametrize("failure", ["short", "error", "sync"])
def test_what_a_program_without_our_lock_appended_is_never_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    """Its line comes between our look at the size and our failing write: it stays, whole and on its own line."""
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b'{"id":1}\n')
    write, foreign = os.write, b'{"id":7,"text":"theirs"}\n'
    mine = b'{"id":2,"text":"ours"}\n'

    def meddled(descriptor: int, data: bytes) -> int:
        if data != mine:  # the newline that ends a remainder
            return write(descriptor, data)
        with path.open("ab") as other:
            other.write(foreign)
        if failure == "error":
            raise OSError(5, "Input/output error")
        return write(descriptor, data[:6] if failure == "short" else data)

    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "write", meddled)
    monkeypatch.setattr(files, "_sync", fail)
    with files.appending(path) as file, pytest.raises(WriteFailed):
        file.append(mine)
    monkeypatch.undo()
    with path.open("ab") as other:  # and what it appends next is on its own line too
        other.write(foreign)
    lines = path.read_bytes().split(b"\n")
    assert lines[0] == b'{"id":1}'
    assert lines.count(foreign.rstrip()) == 2


def test_an_append_after_a_foreign_one_cuts_back_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second append under one lock that fails takes back itself alone, not what came in between."""
    path = tmp_path / "notes.jsonl"
    with files.appending(path) as file:
        file.append(b'{"id":1}\n')
        with path.open("ab") as other:
            other.write(b'{"id":7}\n')
        true = os.write
        monkeypatch.setattr(os, "write", lambda fd, data: true(fd, data[:3]))
        with pytest.raises(WriteFailed):
            file.append(b'{"id":2}\n')
    assert path.read_bytes() == b'{"id":1}\n{"id":7}\n'


def test_an_append_tells_where_it_stands_whatever_came_in_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's line that came in after our look, even between the look and the write."""
    path, true = tmp_path / "notes.jsonl", os.write

    def meddled(descriptor: int, data: bytes) -> int:
        with path.open("ab") as other:
            other.write(b'{"id":7}\n')
        return true(descriptor, data)

    with files.appending(path) as file:
        monkeypatch.setattr(os, "write", meddled)
        places = [file.append(line) for line in (b'{"id":1}\n', b'{"id":2}\n')]
    monkeypatch.undo()
    data = path.read_bytes()
    assert [data[place : place + 9] for place in places] == [b'{"id":1}\n', b'{"id":2}\n']


def fill(pipe: Path, length: int) -> None:
    """Write into a pipe; its reader may turn away before all is read."""
    with contextlib.suppress(BrokenPipeError):
        pipe.write_bytes(b"a" * length)


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
@pytest.mark.parametrize("read", [files.read_given, files.mapped_given])
def test_a_pipe_waits_for_a_writer_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Path], bytes]
) -> None:
    """One to which nobody writes is refused; a writer that has come may be slow; mapped or not, it is all read."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with monkeypatch.context() as patch:
        patch.setattr(files, "LOCK_TIMEOUT", 0.01)
        with pytest.raises(FileUnusable, match="没有谁往里写"):
            read(pipe)
    writer = threading.Thread(target=fill, args=(pipe, 100_000))
    writer.start()
    assert len(read(pipe)) == 100_000
    writer.join()


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
def test_a_stream_that_does_not_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe and standard input are read to their end, which must come; a file is as long as it is."""
    monkeypatch.setattr(files, "ENDLESS", 100_000)
    for length in (100_000, 100_001):
        pipe = tmp_path / str(length)
        os.mkfifo(pipe)
        writer = threading.Thread(target=fill, args=(pipe, length))
        writer.start()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a" * length)))
        if length == 100_000:
            assert len(files.read_given(pipe)) == len(files.read_given(Path("-"))) == length
        else:
            for given in (pipe, Path("-"), Path("/dev/zero")):
                with pytest.raises(FileUnusable, match="100000"):
                    files.read_given(given)
        writer.join()
    (tmp_path / "file").write_bytes(b"a" * 200_000)
    assert len(files.read_given(tmp_path / "file")) == 200_000
