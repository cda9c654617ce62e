"""`nebula schedule` from the command line, with a `crontab` of its own on PATH."""

from __future__ import annotations

import os
import plistlib
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Nebula

pytestmark = pytest.mark.process
ROOT = Path(__file__).parents[2]
FOREIGN = "MAILTO=me@example.org\n# 每天备份\n0 3 * * *\tbackup  --all".encode()
OLD_LINE = "0 22 * * * python3 /opt/夜间沉淀.py"
#: Keeps its table in the file TABLE, as the true one does in its spool.
CRONTAB = """#!/bin/sh
case "$1" in
  -l) [ -f "TABLE" ] || { echo "no crontab for $LOGNAME" >&2; exit 1; }; cat "TABLE" ;;
  -) cat > "TABLE.new" && mv "TABLE.new" "TABLE" ;;
  *) exit 2 ;;
esac
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The crontab's file; not there yet."""
    monkeypatch.setattr(sys, "platform", "linux")
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "crontab"
    program.write_text(CRONTAB.replace("TABLE", str(tmp_path / "table")))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return tmp_path / "table"


def test_install_status_remove(nebula: Nebula, table: Path, mind_dir: Path) -> None:
    """End to end; what was there before is there after, to the byte."""
    table.write_bytes(FOREIGN)
    assert nebula("schedule", "status", "--json").data == {
        "system": "cron", "installed": False, "at": "", "entries": [], "old": [], "removed": [], "last": "",
    }  # fmt: skip
    said = nebula("schedule", "install")
    assert (said.code, said.err) == (0, "")
    shown = said.out.splitlines()
    assert shown[0] == "cron 22:05"
    assert shown[1].startswith("5 22 * * * ")
    assert shown[2].startswith("@reboot ")
    assert table.read_bytes() == "".join(f"{line}\n" for line in shown[1:3]).encode() + FOREIGN
    assert f"{sys.executable} -P -m nebula consolidate --mind {mind_dir} >> {mind_dir}/consolidate.log" in shown[1]
    nebula("schedule", "install")
    data = nebula("schedule", "status", "--json").data
    assert (data["installed"], data["at"], data["entries"]) == (True, "22:05", shown[1:3])
    assert nebula("schedule", "remove").out.splitlines()[:2] == [f"- {line}" for line in shown[1:3]]
    assert table.read_bytes() == FOREIGN


def test_status_tells_the_last_night(nebula: Nebula, table: Path) -> None:
    nebula("add", "渡轮改到七点开了", "--now", "2026-05-01T19:00:00")
    nebula("consolidate", "--now", "2026-05-01T22:05:00")
    assert nebula("schedule", "status", "--json").data["last"] == "2026-05-01T22:05:00"
    assert "2026-05-01T22:05:00" in nebula("schedule", "status").out


def test_the_time(nebula: Nebula, table: Path) -> None:
    """--at, else the setting night.at; a new one takes the place of the old."""
    nebula("config", "set", "night.at", "23:15")
    assert nebula("schedule", "install", "--json").data["at"] == "23:15"
    data = nebula("schedule", "install", "--at", "3:07", "--json").data
    assert nebula("config", "get", "night.at").out == "03:07\n"  # which `--if-missed` reckons with
    assert data["at"] == "03:07"
    assert [line.split(" ")[:2] for line in data["removed"]] == [["15", "23"]]
    assert len(table.read_text().splitlines()) == 2


@pytest.mark.parametrize("at", ["24:00", "22:60", "2205", "22:5", "x", "-1:00", "22:05:00"])
def test_a_time_that_is_none(nebula: Nebula, table: Path, at: str) -> None:
    said = nebula("schedule", "install", f"--at={at}")
    assert (said.code, said.out) == (2, "")
    assert "--at" in said.err
    assert not table.exists()


@pytest.mark.parametrize("command", ["install", "status", "remove"])
def test_a_scheduler_that_is_none(nebula: Nebula, table: Path, command: str) -> None:
    said = nebula("schedule", command, "--system", "systemd")
    assert said.code == 2
    assert "cron | launchd | schtasks" in said.err


@pytest.mark.parametrize("command", ["install", "status", "remove"])
def test_no_crontab_program(
    nebula: Nebula, table: Path, tmp_path: Path, mind_dir: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Exit 4, one line: what, and the way round."""
    monkeypatch.setenv("PATH", str(tmp_path))
    said = nebula("schedule", command)
    assert (said.code, said.out, said.err.count("\n")) == (4, "", 1)
    assert "crontab" in said.err
    assert "--print" in said.err
    assert not mind_dir.exists()


@pytest.mark.parametrize("system", ["auto", "cron", "launchd", "schtasks"])
def test_print_shows_and_changes_nothing(
    nebula: Nebula, table: Path, own_environment: Path, mind_dir: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    """No program is run, no file written; for people and in JSON the same text, for all three on any system."""
    monkeypatch.setenv("PATH", "/nowhere")
    before = sorted(own_environment.rglob("*"))
    said = nebula("schedule", "install", "--print", "--system", system)
    data = nebula("schedule", "install", "--print", "--system", system, "--json").data
    assert (said.code, said.err) == (0, "")
    assert said.out.rstrip("\n") == "\n".join(data["entries"]).rstrip("\n")
    assert data["system"] == {"auto": "cron"}.get(system, system)
    assert str(mind_dir) in said.out
    assert not table.exists()
    assert sorted(own_environment.rglob("*")) == before


def test_printed_lines_are_the_installed_ones(nebula: Nebula, table: Path) -> None:
    printed = nebula("schedule", "install", "--print").out
    nebula("schedule", "install")
    assert table.read_text() == printed
    assert printed.startswith("5 22 * * * ")


def test_printed_documents_are_whole(nebula: Nebula, table: Path) -> None:
    agent: dict[str, Any] = plistlib.loads(nebula("schedule", "install", "--print", "--system", "launchd").out.encode())
    assert agent["StartCalendarInterval"] == {"Hour": 22, "Minute": 5}
    task = nebula("schedule", "install", "--print", "--system", "schtasks").out
    assert "Nebula MIND 夜间巩固" in task
    assert task.rstrip().endswith("</Task>")


def test_an_old_line_is_offered_with_its_flag(nebula: Nebula, table: Path) -> None:
    """Named word for word, with the flag that removes it; without the flag it stays."""
    table.write_text(f"{OLD_LINE}\n")
    said = nebula("schedule", "install")
    assert OLD_LINE in said.out
    assert "--remove-old" in said.out
    assert OLD_LINE in table.read_text().splitlines()
    assert nebula("schedule", "status", "--json").data["old"] == [OLD_LINE]
    data = nebula("schedule", "install", "--remove-old", "--json").data
    assert (data["old"], data["removed"]) == ([], [OLD_LINE])
    assert OLD_LINE not in table.read_text()
    assert "--remove-old" not in nebula("schedule", "status").out


def test_each_mind_has_its_own_lines(nebula: Nebula, table: Path, tmp_path: Path) -> None:
    for name in ("one", "two 二"):
        nebula("schedule", "install", "--mind", str(tmp_path / name))
    assert len(table.read_text().splitlines()) == 4
    nebula("schedule", "remove", "--mind", str(tmp_path / "one"))
    assert len(table.read_text().splitlines()) == 2
    assert nebula("schedule", "status", "--json", "--mind", str(tmp_path / "two 二")).data["installed"]


def test_a_relative_folder_becomes_absolute(
    nebula: Nebula, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cron starts elsewhere."""
    monkeypatch.chdir(tmp_path)
    assert f"--mind {tmp_path}/here " in nebula("schedule", "install", "--mind", "here").out


def test_the_installed_line_runs_a_night(nebula: Nebula, table: Path, tmp_path: Path) -> None:
    """In cron's bare environment, from another folder, for a mind with a space and a percent sign in its name."""
    mind = tmp_path / "我的 心 100%"
    nebula("add", "渡轮改到七点开了", "--mind", str(mind))
    nebula("schedule", "install", "--mind", str(mind))
    nightly, at_boot = (line.replace("\\%", "%") for line in table.read_text().splitlines())
    bare = {"HOME": str(tmp_path), "LOGNAME": "me", "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    for command in (nightly.split(" ", 5)[5], re.sub(r"^@reboot sleep \d+; ", "", at_boot)):
        subprocess.run(["/bin/sh", "-c", command], env=bare, cwd="/", check=True, timeout=120)
    log = (mind / "consolidate.log").read_text(encoding="utf-8").splitlines()
    assert log[0] == "沉海 热 1"
    assert sum(line.startswith("沉海") for line in log) == 1
    assert nebula("schedule", "status", "--json", "--mind", str(mind)).data["last"]
    assert os.listdir(tmp_path / "bin") == ["crontab"]  # noqa: PTH208
