"""A place to try what help and pages say: a mind with a few memories, a story with two subjects, files to take over."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nebula.cli import main
from tests.cli.conftest import Said, nebula

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Nebula

__all__ = ["nebula"]

DATA = Path(__file__).parents[1] / "data"
NOW = "2026-05-20T09:00:00"
#: Keeps its table in a file, as the true one does in its spool.
CRONTAB = """#!/bin/sh
case "$1" in
  -l) [ -f "$HOME/table" ] || { echo "no crontab for you" >&2; exit 1; }; cat "$HOME/table" ;;
  -) cat > "$HOME/table.new" && mv "$HOME/table.new" "$HOME/table" ;;
  -r) rm -f "$HOME/table" ;;
  *) cp "$1" "$HOME/table" ;;
esac
"""
SETTING = [
    ["add", "渡轮早上六点开", "--tag", "出行", "--at", "2026-04-30T08:00"],
    ["add", "渡轮的船票放在抽屉里", "--at", "2026-05-19T08:00"],
    ["add", "叫我林楠", "-l", "profile", "--at", "2026-05-01"],
    ["add", "答应小周把书还回去", "-l", "promises", "--due", "2026-05-27", "--at", "2026-05-02"],
]
STORY = [
    ["subject", "init", "林小满", "--event", "有个撑蓝伞的姑娘把伞分了我一半。", "--memory", "撑蓝伞的姑娘=陌生人"],
    ["subject", "init", "艾琳娜", "--event", "看见小满没带伞。"],
]  # fmt: skip


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The place as it is copied for each test: `mind`, and `work`, where commands run."""
    folder = tmp_path_factory.mktemp("place")
    mind, work = folder / "mind", folder / "work"
    for line in SETTING:
        assert main([*line, "--mind", str(mind), "--now", NOW]) == 0
    for line in STORY:
        assert main([*line, "--project", str(work)]) == 0
    (mind / "mood.jsonl").unlink(missing_ok=True)
    shutil.copy(DATA / "imports" / "claude.json", work / "conversations.json")
    shutil.copytree(DATA / "imports" / "notes", work / "notes")
    (work / "mood.json").write_text(json.dumps({"mood": 60}), encoding="utf-8")
    (work / "questions").mkdir()
    assert main(["export", str(work / "backup.jsonl"), "--mind", str(mind)]) == 0
    return folder


@pytest.fixture
def place(template: Path, own_environment: Path, mind_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of its own, with a `crontab` of its own; -> the folder that commands run in."""
    shutil.copytree(template / "mind", mind_dir)
    work = Path(shutil.copytree(template / "work", own_environment / "work"))
    bin_dir = own_environment / "bin"
    bin_dir.mkdir()
    (bin_dir / "crontab").write_text(CRONTAB)
    (bin_dir / "crontab").chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_dir}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("NEBULA_NOW", NOW)
    monkeypatch.chdir(work)
    return work


_LINE = re.compile(
    r"""(?:(?:echo (?P<said>'[^']*'|"[^"]*")|cat (?P<file>\S+)) \| )?nebula(?P<rest> .*?)(?: > (?P<to>\S+))?"""
)


@pytest.fixture
def typed(nebula: Nebula) -> Callable[[str], Said]:
    """Run a line as a shell would: `nebula …`, perhaps with something piped in or the output put into a file."""

    def run(line: str) -> Said:
        found = _LINE.fullmatch(line)
        assert found, line
        given = b""
        if found["said"]:
            given = (shlex.split(found["said"])[0] + "\n").encode()
        elif found["file"]:
            given = Path(found["file"]).read_bytes()
        said = nebula(*shlex.split(found["rest"], comments=True), given=given)
        if found["to"]:
            Path(found["to"]).write_text(said.out, encoding="utf-8")
        return said

    return run
