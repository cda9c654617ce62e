"""What people expect of a command line: the rows that have no nearer home (the others stand in tests/cli)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Nebula

ROOT = Path(__file__).parents[2]
NOW = "2026-05-01T09:00:00"


def process(mind: Path, *argv: str, before: str = "") -> subprocess.CompletedProcess[bytes]:
    """The command in an interpreter of its own, after some code of ours."""
    code = f"import sys\n{before}\nfrom nebula.cli import main\nsys.exit(main(sys.argv[1:]))"
    env = {**os.environ, "NEBULA_MIND": str(mind), "NEBULA_LANG": "zh", "PYTHONPATH": str(ROOT), "NEBULA_NOW": NOW}
    return subprocess.run(
        [sys.executable, "-c", code, *argv], capture_output=True, env=env, timeout=120, check=False, input=b""
    )


@pytest.mark.process
def test_data_on_stdout_words_on_stderr(tmp_path: Path) -> None:
    """Row 4: with notices to tell, stdout is what it is without them."""
    mind = tmp_path / "mind"
    process(mind, "add", "渡轮早上六点开")
    calm = process(mind, "recall", "渡轮", "--no-touch")
    with (mind / "notes.jsonl").open("ab") as file:
        file.write(b'{"id": 2, "te\n')
    told = process(mind, "list")
    assert told.stdout.decode() == "n1    2026-05-01 事实 渡轮早上六点开\n"
    assert "notes.jsonl:2" in told.stderr.decode()
    assert (calm.stderr, len(calm.stdout.splitlines())) == (b"", 1)


@pytest.mark.process
def test_no_animation_in_a_pipe(tmp_path: Path) -> None:
    """Row 11: neither carriage returns nor escape sequences, however long the work."""
    batch = tmp_path / "many.jsonl"
    batch.write_text("".join(json.dumps({"text": f"第{n}条记忆"}) + "\n" for n in range(60)), encoding="utf-8")
    for argv in (("add", "--batch", str(batch)), ("embed", "--build"), ("consolidate",)):
        done = process(tmp_path / "mind", *argv)
        assert done.returncode == 0
        assert not re.search(rb"[\r\x1b\b]", done.stdout + done.stderr)


def test_refs_are_short_and_shell_safe(nebula: Nebula) -> None:
    """Row 19: a ledger's letter and a number, in every command that prints one."""
    for ledger in ("notes", "profile", "promises", "tacts", "thoughts"):
        assert re.fullmatch(r"[npoth]1\n", nebula("add", "一条", "-l", ledger).out)
    refs = [row["ref"] for row in nebula("list", "--json").data["memories"]]
    refs += [row["ref"] for row in nebula("recall", "一条", "--json").data["hits"]]
    assert refs
    assert all(re.fullmatch(r"[npoths][1-9][0-9]*", ref) for ref in refs)


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_the_next_step_is_told_at_a_terminal_alone(tmp_path: Path) -> None:
    """Row 20: after add one hint on stderr where a person sits there; in a pipe none."""
    assert process(tmp_path / "mind", "add", "渡轮早上六点开").stderr == b""
    leader, follower = os.openpty()
    env = {**os.environ, "NEBULA_MIND": str(tmp_path / "mind"), "NEBULA_LANG": "zh", "PYTHONPATH": str(ROOT)}
    heard: list[bytes] = []

    def listen() -> None:
        try:
            while part := os.read(leader, 1000):
                heard.append(part)
        except OSError:
            return  # the other side was closed

    listener = threading.Thread(target=listen)
    listener.start()
    command = [sys.executable, "-m", "nebula", "add", "外面下着大雨"]
    done = subprocess.run(
        command, env=env, stdout=subprocess.PIPE, stderr=follower, stdin=subprocess.DEVNULL, check=False
    )
    os.close(follower)
    listener.join(10)
    os.close(leader)
    assert done.stdout == b"n2\n"
    assert b"".join(heard).decode().strip().splitlines() == ["看它：`nebula show n2`"]


def test_a_word_before_a_long_wait(nebula: Nebula, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row 24: what is going to be done is on the screen before the first text is embedded."""
    from nebula.mind import Mind

    nebula("add", "渡轮早上六点开")
    said: list[str] = []
    monkeypatch.setattr("nebula.cli.printing.tell", said.append)
    true_build = Mind.build

    def build(self: Mind, progress: object = None) -> object:
        assert said == ["要为 0 条记忆计算向量（共 1 条）。"]
        return true_build(self, None)

    monkeypatch.setattr(Mind, "build", build)
    assert nebula("embed", "--build").code == 0
    assert said


def test_twice_is_once(nebula: Nebula, mind_dir: Path) -> None:
    """Row 27: what sets up or tidies can be run again, and changes nothing more."""
    nebula("add", "渡轮早上六点开", "--now", NOW)
    for argv in (
        ("embed", "--build"),
        ("config", "set", "recall.k", "14"),
        ("pin", "n1"),
        ("tag", "n1", "海"),
        ("consolidate",),
    ):
        assert nebula(*argv, "--now", NOW).code == 0
        before = {path: path.read_bytes() for path in mind_dir.rglob("*") if path.is_file()}
        assert nebula(*argv, "--now", NOW).code == 0
        assert {path: path.read_bytes() for path in mind_dir.rglob("*") if path.is_file()} == before, argv


#: Makes every look at the network end the process with a code of its own.
NO_NETWORK = """
def hook(event, args):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.bind", "socket.gethostby")):
        import os
        os._exit(99)
sys.addaudithook(hook)
"""


#: Runs the commands of a list, and ends before the one that a process is for.
AFTER_ANOTHER = """
from nebula.cli import main
for argv in {}:
    if main(list(argv)) > 1:
        sys.exit(str(argv))
sys.exit(0)
"""


@pytest.mark.process
def test_no_network(tmp_path: Path) -> None:
    """Row 28: no command looks at it; the watch itself works."""
    mind = tmp_path / "mind"
    everyday = [
        ("add", "渡轮早上六点开"), ("add", "渡轮改到七点开了", "--supersedes", "n1"), ("recall", "渡轮"), ("list",),
        ("show", "n2"), ("doctor",), ("embed", "--build"), ("consolidate",), ("surface", "--query", "渡轮"),
        ("promises",), ("forecast",), ("stats",), ("log",), ("config", "list"), ("demo",), ("undo",),
        ("recall", "渡轮", "--as-of", "2026-05-01"),
    ]  # fmt: skip
    done = process(mind, before=f"{NO_NETWORK}\n{AFTER_ANOTHER.format(everyday)}")
    assert done.returncode == 0, done.stderr.decode()
    look = "import socket; socket.create_connection(('127.0.0.1', 9))"
    assert process(mind, "list", before=NO_NETWORK + look).returncode == 99
