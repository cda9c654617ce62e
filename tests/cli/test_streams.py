"""Pipes, terminals, colours, encodings and signals (ecosystem 4, rows 10–13, 23, 30; case S04)."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nebula.cli import main, printing

if TYPE_CHECKING:
    from tests.cli.conftest import Nebula

ROOT = Path(__file__).parents[2]
LONG = "很长的航海日志" * 60 + "结尾标记"


def process(*argv: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    """The command as a shell runs it."""
    settled = {**os.environ, "PYTHONPATH": str(ROOT), **env}
    command = [sys.executable, "-m", "nebula", *argv]
    return subprocess.run(command, capture_output=True, env=settled, timeout=120, check=False, input=b"")


def on_terminal(columns: int, *argv: str, **env: str) -> str:
    """What the command writes to a terminal of that width."""
    pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX")
    leader, follower = pty.openpty()
    settled = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": str(columns), "TERM": "xterm", **env}
    command = [sys.executable, "-m", "nebula", *argv]
    with subprocess.Popen(command, stdout=follower, stderr=subprocess.DEVNULL, stdin=follower, env=settled) as started:
        os.close(follower)
        data = b""
        try:
            while part := os.read(leader, 65536):
                data += part
        except OSError:  # Linux's way of saying that the other end is closed
            pass
        started.wait(60)
    os.close(leader)
    return data.decode()


COLOURS = [
    {"COLUMNS": "20"},
    {"COLUMNS": "20", "FORCE_COLOR": "1"},
    {"COLUMNS": "20", "NO_COLOR": "1", "TERM": "dumb"},
    {"FORCE_COLOR": "0"},
]


@pytest.mark.parametrize("env", COLOURS)
def test_json_whatever_the_width_and_colour(
    nebula: Nebula, monkeypatch: pytest.MonkeyPatch, env: dict[str, str]
) -> None:
    """S04: one valid document without an escape byte, the text exact."""
    nebula("add", LONG)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    said = nebula("recall", "航海日志", "--json")
    assert "\x1b" not in said.out
    assert said.data["hits"][0]["text"] == LONG


@pytest.mark.parametrize(
    ("env", "flags", "coloured"),
    [
        ({}, (), False),
        ({"FORCE_COLOR": "1"}, (), True),
        ({"FORCE_COLOR": "0"}, (), False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, (), False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, (), False),
        ({"FORCE_COLOR": "1"}, ("--no-color",), False),
    ],
)
def test_colour_in_a_pipe(
    nebula: Nebula, monkeypatch: pytest.MonkeyPatch, env: dict[str, str], flags: tuple[str, ...], coloured: bool
) -> None:
    """Row 10 and S04: no escape byte unless FORCE_COLOR asks for it; one result, one line."""
    nebula("add", LONG)
    for name, value in {"COLUMNS": "20", **env}.items():
        monkeypatch.setenv(name, value)
    said = nebula("recall", "航海日志", *flags)
    assert ("\x1b" in said.out) is coloured
    assert said.out.count("\n") == 1
    assert "结尾标记" in said.out


@pytest.mark.process
@pytest.mark.parametrize("columns", [40, 80, 120])
def test_terminal_width(nebula: Nebula, columns: int) -> None:
    """Row 13: a result takes one line of a terminal, Chinese counted double, shortened openly, its ref kept."""
    from rich.cells import cell_len

    nebula("add", LONG, "--at", "2026-05-01")
    lines = on_terminal(columns, "list", "--no-pager", NO_COLOR="1").splitlines()
    assert len(lines) == 1
    assert columns - 3 <= cell_len(lines[0]) <= columns
    assert lines[0].endswith("…")
    recalled = on_terminal(columns, "recall", "航海日志", "--no-touch", NO_COLOR="1").splitlines()
    assert recalled[0].endswith("…  n1")


@pytest.mark.process
def test_terminal_is_coloured_and_paged(nebula: Nebula, tmp_path: Path) -> None:
    """Rows 10 and 12: colours on a terminal; what is longer than it goes through PAGER there, never in a pipe."""
    batch = tmp_path / "batch.jsonl"
    batch.write_text("".join(f'{{"text": "第{n}条"}}\n' for n in range(120)), encoding="utf-8")
    nebula("add", "--batch", str(batch))
    assert "\x1b[" in on_terminal(80, "list", PAGER="cat")
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho paged; cat\n")
    pager.chmod(0o755)
    assert "paged" in on_terminal(80, "list", "-n", "99", PAGER=str(pager))
    assert "paged" not in on_terminal(80, "show", "n1", PAGER=str(pager))
    assert "paged" in on_terminal(80, "list", "--help", PAGER=str(pager))
    assert "paged" not in on_terminal(80, "list", "--help", "--no-pager", PAGER=str(pager))
    for plain in ({"TERM": "dumb"}, {"NO_COLOR": "1"}):
        assert "paged" not in on_terminal(80, "list", "-n", "99", PAGER=str(pager), **plain)
    assert "paged" not in on_terminal(80, "list", "-n", "99", "--no-pager", PAGER=str(pager))
    assert b"paged" not in process("list", "-n", "99", PAGER=str(pager)).stdout


@pytest.mark.process
def test_no_text_at_a_terminal_is_no_hang(mind_dir: Path) -> None:
    """Row 7: `nebula add` alone at a terminal ends at once."""
    assert on_terminal(80, "add") == ""
    assert not mind_dir.exists()


@pytest.mark.parametrize("said", ["", "cat", "/no/such/pager", "sh -c 'open"])
def test_no_pager_to_run(said: str) -> None:
    """Row 12: as git has it, an empty PAGER or cat is none; one that can't be started is none either."""
    assert printing.pager({"TERM": "xterm", "PAGER": said}) == []
    assert printing.pager({"TERM": "xterm", "PAGER": "sh -c 'cat -n'"}) == ["sh", "-c", "cat -n"]


@pytest.mark.process
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize(
    "argv",
    [("list",), ("list", "--json"), ("show", "n99", "--json"), ("--help",), ("--version",), ("add", "-h"), ()],
    ids=" ".join,
)
def test_no_room_for_the_output(nebula: Nebula, argv: tuple[str, ...]) -> None:
    """Row 22: a full disk behind stdout is one sentence on stderr and exit 3, whatever the command had to say."""
    nebula("add", LONG)
    for language, sentence in {"zh": "写不了标准输出", "en": "Standard output can't be written"}.items():
        env = {**os.environ, "PYTHONPATH": str(ROOT), "NEBULA_LANG": language}
        command = [sys.executable, "-m", "nebula", *argv]
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=env, timeout=120, check=False)
        assert done.returncode == 3
        said = done.stderr.decode().splitlines()
        assert said[-1].startswith(f"nebula: {sentence}")
        assert os.strerror(errno.ENOSPC) in said[-1]
        assert len(said) == (2 if "n99" in argv else 1)


def test_no_room_for_words(nebula: Nebula, mind_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notice that can't be told does not fail the command."""
    nebula("add", LONG)
    with (mind_dir / "notes.jsonl").open("ab") as ledger:
        ledger.write(b"{\n")
    monkeypatch.setattr(sys, "stderr", Full())
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["list"]) == 0
    assert LONG[:7] in out.getvalue()


class Full(io.StringIO):
    """A stream without room."""

    def write(self, _: str) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="needs sh")
def test_closed_streams(mind_dir: Path) -> None:
    """What a shell has closed is the null device: the command does its work, no file takes a stream's place."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    program = f'"{sys.executable}" -m nebula'
    line = f"{program} add 渡轮 <&- >&- 2>&-; echo $?; {program} list <&-; {program} add <&-; echo $?"
    done = subprocess.run(["sh", "-c", line], capture_output=True, env=env, timeout=120, check=False)
    first, listed, refused = done.stdout.decode().splitlines()
    assert (first, refused) == ("0", "2")
    assert listed.endswith("渡轮")
    assert done.stderr.startswith(b"nebula: ")
    assert len((mind_dir / "notes.jsonl").read_bytes().splitlines()) == 1


@pytest.mark.process
@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_utf8_whatever_the_locale(mind_dir: Path, locale: str) -> None:
    """Row 30: an argument is stored as it was typed."""
    assert process("add", "海边 🌊", LC_ALL=locale).returncode == 0
    assert json.loads((mind_dir / "notes.jsonl").read_text(encoding="utf-8"))["text"] == "海边 🌊"


@pytest.mark.process
def test_closed_pipe_is_silent(mind_dir: Path) -> None:
    """Row 23: `nebula list | head -1` prints no traceback, though more than a pipe holds is left."""
    mind_dir.mkdir()
    rows = ({"id": i, "at": "2026-05-01T00:00:00", "text": f"第 {i} 条 " + "长" * 100} for i in range(1, 1001))
    (mind_dir / "notes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = f'"{sys.executable}" -m nebula list -n 10000 | head -1'
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, shell=True, capture_output=True, env=env, timeout=120, check=False)
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""
