"""What each command prints, in JSON and in lines, and the settings' order of precedence."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from nebula.cli.printing import clean, one_line

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Nebula

NOW = ("--now", "2026-11-13T12:00:00")
HOSTILE = "红\x1b[31m字\x07\u202e倒\x9b2J[bold]粗[/bold]\r\n第二行"


def stored(mind_dir: Path, name: str = "notes") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (mind_dir / f"{name}.jsonl").read_text(encoding="utf-8").split("\n") if line]


def test_add_prints_the_ref(nebula: Nebula, mind_dir: Path) -> None:
    """Stdout holds the ref alone; the fields arrive in the ledger, words folded (design, Output)."""
    said = nebula(
        "add", "周五交稿", "-l", "约定", "--via", "user", "--due", "2026-11-20", "--imp", "0.8", "--emo", "担心", *NOW
    )
    assert (said.code, said.out, said.err) == (0, "o1\n", "")
    row = stored(mind_dir, "promises")[0]
    assert {k: row[k] for k in ("text", "via", "due", "imp", "emo", "at", "by")} == {
        "text": "周五交稿", "via": "他说的", "due": "2026-11-20", "imp": 0.8, "emo": "worry",
        "at": "2026-11-13T12:00:00", "by": "cli",
    }  # fmt: skip


@pytest.mark.parametrize("argv", [("add", "-"), ("add",)])
def test_text_from_standard_input(nebula: Nebula, mind_dir: Path, argv: tuple[str, ...]) -> None:
    """Row 7: `-`, or piped where the argument is missing; byte for byte."""
    assert nebula(*argv, given="- [ ] 买灯油\n  二".encode()).out == "n1\n"
    assert stored(mind_dir)[0]["text"] == "- [ ] 买灯油\n  二"


def test_batch(nebula: Nebula, mind_dir: Path, tmp_path: Path) -> None:
    """Refs in the file's order; a damaged line refuses the whole file by its number."""
    path = tmp_path / "many.jsonl"
    path.write_text('{"text": "一"}\n{"text": "二", "ledger": "thoughts"}\n', encoding="utf-8")
    assert nebula("add", "--batch", str(path), "--tag", "批").out == "n1\nh1\n"
    assert stored(mind_dir)[0]["tag"] == "批"
    path.write_text('{"text": "三"}\n{"text": \n', encoding="utf-8")
    said = nebula("add", "--batch", str(path))
    assert said.code == 3
    assert "行 2" in said.err
    assert len(stored(mind_dir)) == 1


def test_recall_line(nebula: Nebula) -> None:
    """`0.101 [词#3 义#1 图#1] 2026-11-13 text`, the ref last (spec 5)."""
    nebula("add", "记忆星图 v2 定稿：三路召回", *NOW)
    said = nebula("recall", "记忆星图", *NOW)
    assert said.code == 0
    assert re.fullmatch(r"\d\.\d{3} \[词#1 义#1\] 2026-11-13 记忆星图 v2 定稿：三路召回  n1\n", said.out)


def test_recall_json_and_explain_agree(nebula: Nebula) -> None:
    """Score = fused × every factor; the lines of --explain show the same figures."""
    nebula("add", "渡轮早上六点开", *NOW)
    hit = nebula("recall", "几点开船", "--json", "--no-touch", *NOW).data["hits"][0]
    product = hit["fused"]
    for value in hit["factors"].values():
        product *= value
    assert hit["score"] == pytest.approx(product)
    assert hit["ref"] == "n1"
    assert hit["ledger"] == "notes"
    assert hit["freshness"] == pytest.approx(1.0)
    assert hit["old"] is False
    assert set(hit["routes"]) <= {"lexical", "dense"}
    assert sum(hit["parts"].values()) == pytest.approx(hit["fused"])
    assert hit["label"].startswith("[")
    said = nebula("recall", "几点开船", "--explain", "--no-touch", *NOW).out
    assert f"义 {hit['parts']['dense']:.4f} = {hit['fused']:.5f}" in said
    assert f"= {hit['score']:.5f}" in said
    assert f"义#{hit['routes']['dense']['rank']} {hit['routes']['dense']['score']:.4f}" in said


def test_recall_touches_unless_told(nebula: Nebula, mind_dir: Path) -> None:
    """A use is one line in changes.jsonl; --no-touch writes none."""
    nebula("add", "渡轮早上六点开")
    nebula("recall", "渡轮", "--no-touch")
    assert not (mind_dir / "changes.jsonl").exists()
    nebula("recall", "渡轮")
    assert stored(mind_dir, "changes")[0]["hit"] == ["n1"]


def test_jsonl_and_limit(nebula: Nebula) -> None:
    """Row 6: each line parses alone; -n bounds them."""
    for word in ("一", "二", "三"):
        nebula("add", f"灯塔第{word}层")
    lines = nebula("recall", "灯塔", "--jsonl", "-n", "2").out.splitlines()
    assert [json.loads(line)["ref"][0] for line in lines] == ["n", "n"]
    assert nebula("recall", "灯塔", "--jsonl", "--json").code == 2


def test_filters(nebula: Nebula) -> None:
    """Ledger, tag, via and time, alike for list and recall; a bare day lasts to its end."""
    nebula("add", "灯塔一", "--at", "2026-05-01T09:00", "--tag", "甲", "--via", "tool")
    nebula("add", "灯塔二", "--at", "2026-05-02T23:30", "-l", "thoughts")
    nebula("add", "灯塔三", "--at", "2026-05-03")

    def refs(*argv: str) -> set[str]:
        listed = {row["ref"] for row in nebula("list", "--json", *argv).data["memories"]}
        recalled = {row["ref"] for row in nebula("recall", "灯塔", "--json", *argv).data["hits"]}
        assert listed == recalled
        return listed

    assert refs("--tag", "甲") == {"n1"}
    assert refs("-l", "念想") == {"h1"}
    assert refs("--via", "tool", "--via", "self") == {"n1", "h1"}
    assert refs("--since", "2026-05-02", "--until", "2026-05-02") == {"h1"}


def test_list_show_pin(nebula: Nebula) -> None:
    """List is newest first; show gives the whole text; pin and unpin change it; an unknown ref changes nothing."""
    nebula("add", "旧的", "--at", "2026-05-01")
    nebula("add", "新的\n两行", "--at", "2026-05-02")
    assert nebula("list").out == "n2    2026-05-02 事实 新的 两行\nn1    2026-05-01 事实 旧的\n"
    assert "  新的\n  两行\n" in nebula("show", "n2").out
    assert nebula("pin", "n1", "n9").code == 2
    assert nebula("show", "n1", "--json").data["memories"][0].get("pinned", False) is False
    assert nebula("pin", "n1").out == "n1\n"
    assert nebula("show", "n1", "--json").data["memories"][0]["pinned"] is True
    nebula("unpin", "n1")
    assert nebula("show", "n1", "--json").data["memories"][0].get("pinned", False) is False


def test_list_tells_of_damaged_lines(nebula: Nebula, mind_dir: Path) -> None:
    """Nothing degrades in silence: file and line on stderr."""
    nebula("add", "好的")
    with (mind_dir / "notes.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": 2, "te\n')
    said = nebula("list")
    assert said.code == 0
    assert "notes.jsonl:2" in said.err


def test_embed(nebula: Nebula) -> None:
    """The vector of a text is a unit vector; --build says what it does on stderr before the result on stdout."""
    vector = nebula("embed", "海边", "--json").data["vectors"][0]
    assert sum(number * number for number in vector) == pytest.approx(1.0, abs=1e-5)
    nebula("add", "海边")
    said = nebula("embed", "--build")
    assert "共 1 条" in said.err
    assert "1/1" in said.out
    assert nebula("embed").code == 2


def test_precedence_of_settings(nebula: Nebula) -> None:
    """Row 15: flag > file > profile > default, and --explain says which."""

    def origin(key: str) -> tuple[object, str]:
        settings = {row["key"]: row for row in nebula("config", "list", "--json").data["settings"]}
        return settings[key]["value"], settings[key]["origin"]

    assert origin("recall.freshness") == (0.1, "default")
    nebula("config", "set", "profile", "original")
    assert origin("recall.freshness") == (1.0, "profile")
    assert nebula("config", "set", "recall.freshness", "0.2").code == 0
    assert origin("recall.freshness") == (0.2, "file")
    assert nebula("config", "get", "recall.freshness").out == "0.2\n"
    for words in (("config", "list", "--explain"), ("config", "--explain")):
        assert "recall.freshness = 0.2  [file] 0…1" in nebula(*words).out
    nebula("add", "渡轮早上六点开", "--at", "2020-01-01")
    hit = nebula("recall", "渡轮", "--json", "--set", "recall.freshness=0", "--no-touch").data["hits"][0]
    assert hit["factors"]["freshness"] == 1.0
    nebula("config", "unset", "recall.freshness")
    assert origin("recall.freshness") == (1.0, "profile")


@pytest.mark.parametrize("rule", ["--mind", "NEBULA_MIND", "NEBULA_HOME", "original"])
def test_where_the_mind_lies(nebula: Nebula, monkeypatch: pytest.MonkeyPatch, own_environment: Path, rule: str) -> None:
    """Row 14: the flag, then the variables, then the predecessor's place."""
    places = {
        "--mind": own_environment / "flag",
        "NEBULA_MIND": own_environment / "variable",
        "NEBULA_HOME": own_environment / "home" / "memory",
        "original": own_environment / ".dsh" / "nebula-mind" / "memory",
    }
    monkeypatch.delenv("NEBULA_MIND")
    places["original"].mkdir(parents=True)
    order = list(places)
    below = order[order.index(rule) :]
    if "NEBULA_MIND" in below:
        monkeypatch.setenv("NEBULA_MIND", str(places["NEBULA_MIND"]))
    if "NEBULA_HOME" in below:
        monkeypatch.setenv("NEBULA_HOME", str(own_environment / "home"))
    flag = ("--mind", str(places["--mind"])) if rule == "--mind" else ()
    assert nebula("add", "在哪里", *flag).code == 0
    assert [name for name, folder in places.items() if (folder / "notes.jsonl").exists()] == [rule]


def test_now_from_the_environment(nebula: Nebula, mind_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NEBULA_NOW makes a run reproducible; --now wins; a wrong one is refused."""
    monkeypatch.setenv("NEBULA_NOW", "2026-01-02T03:04:05")
    nebula("add", "一")
    nebula("add", "二", *NOW)
    assert [row["at"] for row in stored(mind_dir)] == ["2026-01-02T03:04:05", "2026-11-13T12:00:00"]
    assert nebula("add", "三", "--now", "tomorrow").code == 2


def test_stored_text_steers_no_terminal(nebula: Nebula) -> None:
    """Untrusted text: no control, C1 or direction character is printed; markup stays as it was written."""
    nebula("add", HOSTILE)
    for argv in (("list",), ("recall", "红字"), ("show", "n1")):
        out = nebula(*argv).out
        assert "[bold]粗[/bold]" in out
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", out)
    assert nebula("show", "n1", "--json").data["memories"][0]["text"] == HOSTILE
    assert len(nebula("list").out.splitlines()) == 1


def test_clean_and_one_line() -> None:
    """Shortening is open; line ends of every kind become blanks."""
    assert one_line("a\r\nb\u2028c\td") == "a b c d"
    assert one_line("abcdef", 4) == "abc…"
    assert clean("a\ud800\u2066b") == "ab"
