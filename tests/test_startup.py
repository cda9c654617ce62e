"""What a cold command loads (house rule 29, ecosystem goal 2): a person and a hook wait for every module."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
#: Off the path of every command in a pipe.
NEVER = {
    "pydantic", "rich", "starlette", "uvicorn", "urllib3", "requests", "httpx", "mcp", "jsonpath_ng", "filelock",
    "asyncio", "sqlite3", "multiprocessing", "tokenizers", "hypothesis",
}  # fmt: skip
HEAVY = {"numpy", "jieba", "orjson"}

SCRIPT = """
import sys
from nebula.cli import main
code = main(sys.argv[1:])
sys.stdout.flush()
tops = sorted({name.split(".")[0] for name in sys.modules})
sys.stderr.write("\\n" + str(code) + " " + " ".join(tops))
"""

pytestmark = pytest.mark.process


def loaded(mind: Path, *argv: str) -> tuple[int, set[str], str]:
    """Run a command in a fresh process; -> exit code, top-level modules loaded, stdout."""
    env = {**os.environ, "NEBULA_MIND": str(mind), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SCRIPT, *argv]
    done = subprocess.run(command, capture_output=True, env=env, timeout=120, check=False, stdin=subprocess.DEVNULL)
    code, *tops = done.stderr.decode().rsplit("\n", 1)[1].split()
    return int(code), set(tops), done.stdout.decode()


@pytest.mark.parametrize(
    "argv", [["--version"], ["-V"], ["--help"], ["-h"], [], ["recall", "--help"], ["config", "list", "-h"]]
)
def test_help_and_version_load_nothing_heavy(tmp_path: Path, argv: list[str]) -> None:
    code, tops, out = loaded(tmp_path / "mind", *argv)
    assert code == 0
    assert out
    assert not tops & (NEVER | HEAVY)


def test_add_and_recall_load_what_they_use(tmp_path: Path) -> None:
    """numpy, jieba and orjson, as they must; nothing else that is heavy. The check sees what is loaded."""
    mind = tmp_path / "mind"
    for argv in (["add", "渡轮早上六点开"], ["recall", "渡轮"], ["recall", "渡轮", "--json"]):
        code, tops, _ = loaded(mind, *argv)
        assert code == 0
        assert "numpy" in tops
        assert not tops & NEVER


def test_list_needs_no_numpy(tmp_path: Path) -> None:
    """Looking at the ledgers needs neither arrays nor words."""
    mind = tmp_path / "mind"
    mind.mkdir()
    row = {"id": 1, "at": "2026-05-01T09:00:00", "text": "渡轮早上六点开"}
    (mind / "notes.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    for argv in (["list"], ["show", "n1"]):
        code, tops, out = loaded(mind, *argv)
        assert (code, "渡轮早上六点开" in out) == (0, True)
        assert not tops & (NEVER | {"numpy", "jieba"})


def test_importing_the_package_costs_nothing() -> None:
    """`import nebula` loads none of its parts; its names load when used."""
    code = "import sys, nebula; seen = lambda: 'nebula.mind' in sys.modules; print(seen(), nebula.Mind and seen())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, timeout=60, check=True)
    assert done.stdout.split() == [b"False", b"True"]
