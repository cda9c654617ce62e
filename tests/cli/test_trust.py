"""erase and the doctor's repair and chain, as a person meets them."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from nebula.mindlib import ledger

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Nebula


def test_erase_asks_first(nebula: Nebula, mind_dir: Path) -> None:
    """Without --yes and without a terminal it is refused in one line, and nothing changes."""
    nebula("add", "体检报告在左边抽屉里")
    before = (mind_dir / "notes.jsonl").read_bytes()
    said = nebula("erase", "n1")
    assert (said.code, said.out) == (2, "")
    assert "erase n1 --yes" in said.err
    assert (mind_dir / "notes.jsonl").read_bytes() == before


def test_erase_shows_beforehand_and_says_that_nothing_is_left(nebula: Nebula) -> None:
    nebula("add", "体检报告在左边抽屉里")
    nebula("add", "渡轮早上六点开")
    assert "体检报告" in nebula("erase", "n1", "--dry-run").out
    assert nebula("erase", "--verify", "--match", "体检报告").code == 1
    said = nebula("erase", "n1", "--yes")
    assert said.code == 0
    assert "0 处" in said.out
    data = nebula("erase", "--verify", "--match", "-", "--json", given="体检报告".encode()).data
    assert data == {"left": {}, "places": 0, "subjects_searched": False}
    assert nebula("erase", "n1", "--yes").code == 2, "there is nothing of that name any more"


def test_erase_by_words_from_standard_input(nebula: Nebula) -> None:
    nebula("add", "Ingrid has the key")
    data = nebula("erase", "--match", "-", "--yes", "--json", given=b"ingrid\n").data
    assert data["erased"] == [{"ref": "n1", "why": "matches"}]
    assert data["left"] == {}


def test_what_is_left_elsewhere_is_a_failed_check(nebula: Nebula, mind_dir: Path) -> None:
    nebula("add", "体检报告在左边抽屉里")
    (mind_dir / "notes.backup").write_bytes((mind_dir / "notes.jsonl").read_bytes())
    said = nebula("erase", "n1", "--yes")
    assert said.code == 1
    assert "notes.backup" in said.out


def test_a_short_text_that_others_have_in_them_is_not_said_to_be_gone(nebula: Nebula) -> None:
    nebula("add", "恨老板")
    nebula("mood", "feel", "sad", ".5", "--why", "因为恨老板了")
    said = nebula("erase", "n1", "--yes")
    assert said.code == 1
    assert "0 处" not in said.out
    assert "mood.jsonl" in said.out


def test_doctor_repairs_and_says_what_it_did(nebula: Nebula, mind_dir: Path) -> None:
    nebula("add", "渡轮早上六点开")
    with (mind_dir / "notes.jsonl").open("ab") as file:
        file.write(b'{"id": 2, "text": "cu')
    assert "doctor --repair" in nebula("doctor").out
    data = nebula("doctor", "--repair", "--json").data
    assert [(moved["file"], moved["line"]) for moved in data["moved"]] == [("notes.jsonl", 2)]
    assert data["sizes"]["notes.jsonl"]["moved"] == 21
    assert nebula("doctor").code == 0
    assert nebula("doctor", "--repair").out == "没有要修的\n"


def test_doctor_verifies(nebula: Nebula, mind_dir: Path) -> None:
    for text in ("一", "二", "三"):
        nebula("add", f"第{text}条记忆")
    n = sum(len(ledger.split(path.read_bytes())) for path in mind_dir.glob("*.jsonl"))
    for told in (f"0 行与接上时一致，另有 {n} 行按现状刚接上", f"{n} 行与接上时一致，另有 0 行按现状刚接上"):
        said = nebula("doctor", "--verify")
        assert (said.code, said.out.partition("；")[0]) == (0, told)
    path = mind_dir / "notes.jsonl"
    lines = ledger.split(path.read_bytes())
    path.write_bytes(lines[0] + lines[2])
    said = nebula("doctor", "--verify")
    assert said.code == 1
    assert "notes.jsonl 原来的第 2 行不见了" in said.out
    assert nebula("doctor", "--verify", "--json").data["faults"] == [
        {"file": "notes.jsonl", "line": 2, "what": "removed"}
    ]
    assert nebula("doctor", "--verify", "--accept").code == 0
    assert nebula("doctor", "--verify").code == 0


@pytest.mark.parametrize("argv", [["--repair", "--verify"], ["--accept"], ["--repair", "--accept"]])
def test_doctor_does_one_thing_at_a_time(nebula: Nebula, argv: list[str]) -> None:
    assert nebula("doctor", *argv).code == 2


@pytest.mark.skipif(os.name == "nt", reason="modes of Unix")
def test_nothing_of_a_mind_is_open_to_others(nebula: Nebula, mind_dir: Path, tmp_path: Path) -> None:
    """S10: with umask 000, after every kind of writing command, folders are 0700 and files 0600."""
    before = os.umask(0)
    try:
        commands = [
            ["add", "渡轮早上六点开", "--tag", "出行"],
            ["add", "答应妈妈搬回青岛", "--ledger", "promises"],
            ["edit", "n1", "渡轮改到七点"],
            ["pin", "n2"],
            ["recall", "渡轮"],
            ["mood", "feel", "sad", "0.6", "--why", "下雨"],
            ["config", "set", "night.at", "22:00"],
            ["longterm", "edit", "-"],
            ["longterm", "edit", "-"],
            ["embed", "--build"],
            ["map"],
            ["consolidate"],
            ["doctor"],
            ["doctor", "--verify"],
            ["doctor", "--repair"],
            ["erase", "o1", "--yes"],
        ]
        for at, argv in enumerate(commands):
            if argv == ["doctor", "--repair"]:
                with (mind_dir / "notes.jsonl").open("ab") as file:
                    file.write(b"broken\n")
            assert nebula(*argv, given=f"# 长期 {at}\n".encode()).code == 0, argv
            for path in [mind_dir, *mind_dir.rglob("*")]:
                wanted = 0o700 if path.is_dir() else 0o600
                assert stat.S_IMODE(path.stat().st_mode) == wanted, (argv, path)
    finally:
        os.umask(before)
    (mind_dir / "notes.jsonl").chmod(0o640)
    assert "notes.jsonl" in nebula("doctor").out


@pytest.mark.parametrize("how", [["erase", "n1", "--yes"], ["erase", "--verify", "--match", "灯塔"]])
def test_erase_says_that_stories_were_not_searched(nebula: Nebula, mind_dir: Path, how: list[str]) -> None:
    nebula("add", "灯塔的看守换了人")
    said = nebula(*how).out
    assert "subject search" in said
