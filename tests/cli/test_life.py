"""Commands of a memory's life: what they print, in lines and in JSON, and the codes they end with."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Nebula

NIGHT = ("--now", "2026-05-01T22:05:00")
DAY = ("--now", "2026-05-01T19:00:00")


@pytest.fixture
def life(nebula: Nebula) -> None:
    """Three notes of a day, one old important one."""
    for text in ("渡轮改到七点开了", "晚饭吃了饺子", "外面下着大雨"):
        nebula("add", text, *DAY)
    nebula("add", "灯塔的看守换人了", "--imp", "0.9", "--at", "2020-05-01", *DAY)


def test_consolidate_prints_three_lines(nebula: Nebula, life: None) -> None:
    """Only the layers that hold anything; vectors; nodes and edges (spec 6)."""
    said = nebula("consolidate", *NIGHT)
    lines = said.out.splitlines()
    assert (said.code, said.err) == (0, "")
    assert lines[0] == "沉海 热 3 / 阁楼 1"
    assert lines[1].startswith("向量 5 条 / 512 维 / ")
    assert lines[2].startswith("星图 ")
    assert lines[2].endswith(" 边")
    assert len(lines) == 3


def test_consolidate_plan_then_undo(nebula: Nebula, life: None, mind_dir: Path) -> None:
    """--plan shows ref, layers, A and reason, and writes nothing; --undo takes the night back."""
    before = {path.name: path.read_bytes() for path in mind_dir.glob("*.jsonl")}
    said = nebula("consolidate", "--plan", *NIGHT)
    assert "n4    热 → 阁楼  A 0.199" not in said.out
    assert said.out.splitlines()[0].startswith("n4    热 → 阁楼  A 0.1")
    assert said.out.splitlines()[0].endswith("  沉降")
    data = nebula("consolidate", "--plan", "--json", *NIGHT).data
    assert [(c["ref"], c["from"], c["to"], c["why"]) for c in data["changes"]] == [("n4", 1, 4, "沉降")]
    assert data["notes"] == ["n1", "n2", "n3"]
    assert {path.name: path.read_bytes() for path in mind_dir.glob("*.jsonl")} == before
    assert nebula("consolidate", *NIGHT).code == 0
    assert nebula("show", "n4", "--json").data["memories"][0]["depth"] == 4
    undone = nebula("consolidate", "--undo", "--json", *NIGHT).data["undone"]
    assert undone == "night-2026-05-01T22:05:00"
    assert "depth" not in nebula("show", "n4", "--json").data["memories"][0]
    assert nebula("consolidate", "--undo", *NIGHT).code == 2


def test_consolidate_if_missed(nebula: Nebula, life: None) -> None:
    nebula("consolidate", *NIGHT)
    assert nebula("consolidate", "--if-missed", "--json", "--now", "2026-05-02T08:00:00").data == {"done": False}
    assert nebula("consolidate", "--if-missed", "--json", "--now", "2026-05-03T08:00:00").data["layers"] == [
        0,
        4,
        0,
        0,
        1,
    ]


@pytest.mark.parametrize("argv", [("--plan", "--undo"), ("--undo", "--if-missed")])
def test_consolidate_takes_one_of_them(nebula: Nebula, argv: tuple[str, ...]) -> None:
    assert nebula("consolidate", *argv).code == 2


def test_surface_yes_no(nebula: Nebula, life: None) -> None:
    """Gates with their values; exit 0 when it surfaces, 1 when it does not; then an answer."""
    assert nebula("surface", *NIGHT).code == 1
    nebula("consolidate", *NIGHT)
    shut = nebula("surface", *NIGHT)
    assert (shut.code, "✗ 相关" in shut.out) == (1, True)
    data = nebula("surface", "--query", "灯塔的看守换人了", "--session", "s", "--json", *NIGHT).data
    assert (data["open"], data["memory"]["ref"]) == (True, "n4")
    assert [gate["name"] for gate in data["gates"]] == ["relevance", "importance", "cooldown", "frequency", "utility"]
    assert nebula("no", "n4", *NIGHT).code == 0
    assert nebula("yes", "n4", *NIGHT).code == 0
    assert nebula("yes", "n1", *NIGHT).code == 2


def test_supersede_edit_tag_set_undo(nebula: Nebula, life: None) -> None:
    """Each prints the ref that now stands; undo goes back one by one."""
    assert nebula("add", "--supersedes", "n1", "渡轮改到八点开了", *NIGHT).out == "n5\n"
    assert nebula("add", "--supersedes", "n1", "再改一次", *NIGHT).code == 2
    assert nebula("edit", "n5", "渡轮停开了", *NIGHT).out == "n6\n"
    assert nebula("edit", "n6", "-", *NIGHT, given="渡轮明天停开".encode()).out == "n7\n"
    assert nebula("tag", "n7", "海", *NIGHT).out == "n7\n"
    assert nebula("set", "n7", "imp=0.9", "emo=担心", *NIGHT).out == "n7\n"
    shown = nebula("show", "n7", "--json", *NIGHT).data["memories"][0]
    assert (shown["tag"], shown["imp"], shown["emo"], shown["supersedes"]) == ("海", 0.9, "worry", "n6")
    assert nebula("undo", "--json", *NIGHT).data["changed"] == ["n7"]
    assert nebula("undo", "--json", *NIGHT).data["changed"] == ["n7"]
    assert nebula("undo", "--json", *NIGHT).data["written"] == ["n7"]
    assert "渡轮停开了" in nebula("list", *NIGHT).out
    assert nebula("set", "n6", "imp", *NIGHT).code == 2
    assert nebula("set", "n6", "w=3", *NIGHT).code == 2


def test_edit_in_an_editor(nebula: Nebula, life: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """$EDITOR gets the old text and gives the new; one that fails or is not there changes nothing."""
    script = tmp_path / "ed.py"
    script.write_text(
        "import pathlib, sys\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "path.write_text(path.read_text(encoding='utf-8').replace('七', '九'), encoding='utf-8')\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("EDITOR", f'"{sys.executable}" "{script}"')
    assert nebula("edit", "n1", *NIGHT).out == "n5\n"
    assert "渡轮改到九点开了" in nebula("list", *NIGHT).out
    for editor in ("/nowhere/ed", "false", "ed 'open", ""):  # none set, and nobody at a terminal: no vi is started
        monkeypatch.setenv("EDITOR", editor)
        assert nebula("edit", "n5", *NIGHT).code == 4
    assert nebula("edit", "n5", "渡轮改到九点开了", *NIGHT).out == "n5\n"


def test_as_of(nebula: Nebula, life: None) -> None:
    """recall and list as they were; a day counts to its end; words for dates are read as the past."""
    nebula("add", "--supersedes", "n1", "渡轮改到八点开了", "--now", "2026-05-03T09:00:00")
    later = ("--now", "2026-05-04T09:00:00")
    assert "渡轮改到七点开了" in nebula("list", "--as-of", "2026-05-02", *later).out
    assert "渡轮改到七点开了" not in nebula("list", "--as-of", "2026-05-03", *later).out
    hits = nebula("recall", "渡轮几点开", "--as-of", "前天", "--json", *later).data["hits"]
    assert next((hit["ref"], hit["old"]) for hit in hits) == ("n1", True)
    assert nebula("recall", "渡轮", "--as-of", "2020-01-01", *later).code == 1
    assert nebula("recall", "渡轮", "--as-of", "哪天", *later).code == 2


def test_history_and_log(nebula: Nebula, life: None) -> None:
    nebula("pin", "n2", *NIGHT)
    shown = nebula("show", "n2", "--history", *NIGHT).out
    assert "写下" in shown
    assert "pinned=True" in shown
    events = nebula("show", "n2", "--history", "--json", *NIGHT).data["memories"][0]["history"]
    assert [event["what"] for event in events] == ["written", "set"]
    log = nebula("log", "-n", "2", "--json", *NIGHT).data["events"]
    assert (log[0]["ref"], log[0]["values"]) == ("n2", {"pinned": True})
    assert len(nebula("log", "-n", "2", *NIGHT).out.splitlines()) == 2


def test_promises(nebula: Nebula) -> None:
    """Dates as people write them are stored as dates; overdue ones first; done ones leave the list."""
    for text, due in (("还书", "明天"), ("交稿", "下周三"), ("打电话", "2026-04-30"), ("浇花", "3d")):
        assert nebula("add", text, "-l", "约定", "--due", due, *DAY).code == 0
    said = nebula("promises", *DAY)
    assert [line.split()[-1] for line in said.out.splitlines()] == ["打电话", "还书", "浇花", "交稿"]
    assert "过期 1 天" in said.out
    data = nebula("promises", "--json", *DAY).data["promises"]
    assert [(p["due"], p["days"]) for p in data] == [
        ("2026-04-30", -1),
        ("2026-05-02", 1),
        ("2026-05-04", 3),
        ("2026-05-06", 5),
    ]
    assert nebula("promises", "done", "o3", *DAY).out == "o3\n"
    assert "打电话" not in nebula("promises", *DAY).out
    assert "已兑现" in nebula("promises", "--all", *DAY).out
    assert nebula("promises", "done", *DAY).code == 2
    assert nebula("promises", "undone", "o1", *DAY).code == 2
    refused = nebula("add", "某事", "-l", "约定", "--due", "等花开", *DAY)
    assert (refused.code, "due" in refused.err) == (2, True)


def test_forecast_and_stats(nebula: Nebula, life: None) -> None:
    said = nebula("forecast", "--days", "60", *DAY)
    assert said.out.splitlines()[0].startswith("2026-06-")
    assert "→ 温" in said.out
    crossings = nebula("forecast", "n1", "--json", *DAY).data["crossings"]
    assert [crossing["layer"] for crossing in crossings] == [2, 3, 4]
    assert nebula("forecast", "--days", "1", *DAY).out == "1 天内没有记忆会再下沉。\n"
    assert nebula("forecast", "n99", *DAY).code == 2
    assert "记忆 4 条：事实 4" in nebula("stats", *DAY).out
    assert nebula("stats", "--json", *DAY).data["ledgers"] == {"notes": 4}


def test_longterm(nebula: Nebula, mind_dir: Path) -> None:
    assert nebula("longterm", "show").code == 0
    assert nebula("longterm", "edit", "-", given="我住在青岛\n".encode()).code == 0
    assert nebula("longterm", "edit", "-", given="我住在烟台\n".encode()).code == 0
    assert nebula("longterm", "show").out == "我住在烟台\n"
    assert (mind_dir / "longterm.md").read_text(encoding="utf-8") == "我住在烟台\n"
    assert nebula("longterm", "history", "--json").data["history"][0]["text"] == "我住在青岛\n"
    assert nebula("longterm", "edit", "x").code == 2


def test_doctor_tells_what_falls_due_today(nebula: Nebula) -> None:
    nebula("add", "还书", "-l", "约定", "--due", "今天", *DAY)
    nebula("add", "交稿", "-l", "约定", "--due", "2026-04-01", *DAY)
    assert "o1" in nebula("doctor", *DAY).out
    facts = {check["name"]: check for check in nebula("doctor", "--json", *DAY).data["checks"]}["memories"]["facts"]
    assert (facts["due"], facts["overdue"]) == (["o1"], ["o2"])


@pytest.mark.parametrize(
    "argv", [("log",), ("stats",), ("forecast",), ("promises",), ("surface",), ("consolidate",), ("longterm", "show")]
)
def test_an_empty_mind_is_no_failure(nebula: Nebula, argv: tuple[str, ...]) -> None:
    """Looked at before the first memory: a clear line, no traceback, JSON that parses."""
    said = nebula(*argv, "--json")
    assert said.code in (0, 1)
    assert json.loads(said.out)["ok"] is True
    assert "Traceback" not in said.err


def test_a_night_in_english_says_it_in_english(nebula: Nebula, monkeypatch: pytest.MonkeyPatch) -> None:
    """But the sea's name and its layers', which are the same in both."""
    nebula("add", "The ferry leaves at six")
    monkeypatch.setenv("NEBULA_LANG", "en")
    lines = nebula("consolidate").out.splitlines()
    assert lines[1].startswith("Vectors: 1 / 512 dimensions / ")
    assert lines[2].startswith("Map: ")
