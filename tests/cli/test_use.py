"""Handles, more, NUL-separated output, a budget for recall, and echoes at the door."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from nebula.cli import terminal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Nebula

TALK = [
    {"text": "妈妈说青岛的房子找到了", "session": "a", "turn": 1, "speaker": "妈妈"},
    {"text": "我答应妈妈下个月搬回青岛", "session": "a", "turn": 2, "speaker": "我"},
    {"text": "妈妈说青岛今天下雨", "session": "a", "turn": 3},
    {"text": "渡轮早上六点开\n别迟到", "tag": "出行"},
]


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever runs the tests, its terminal has no part in them."""
    for name in terminal._NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(terminal, "_device", lambda: "")


@pytest.fixture
def talk(nebula: Nebula) -> Nebula:
    nebula("add", "--batch", "-", given="\n".join(json.dumps(one) for one in TALK).encode())
    return nebula


def refs(said: str) -> list[str]:
    return [line.split()[-1] for line in said.splitlines()]


def test_a_handle_stands_wherever_a_ref_does(talk: Nebula) -> None:
    """After list: @1 is the newest. Each of these commands takes it for its ref, alone and among others."""
    assert [line.split()[0] for line in talk("list").out.splitlines()] == ["n4", "n3", "n2", "n1"]
    assert talk("show", "@4", "n2", "@1", "--json").data["memories"][0]["ref"] == "n1"
    assert talk("pin", "@1", "@2").out.split() == ["n4", "n3"]
    assert talk("unpin", "@2").out.split() == ["n3"]
    assert talk("tag", "@4", "家").out.split()[0] == "n1"
    assert talk("set", "@4", "imp=0.9", "--json").data["memories"][0]["ref"] == "n1"
    assert talk("forecast", "@1", "--days", "900", "--json").code == 0
    assert talk("add", "渡轮改到七点开", "--supersedes", "@1", "--json").data["memories"][0]["supersedes"] == "n4"
    assert talk("edit", "@2", "妈妈说青岛今天放晴", "--json").data["memories"][0]["supersedes"] == "n3"
    assert talk("erase", "@4", "--dry-run", "--json").data["erased"][0]["ref"] == "n1"


def test_promises_surface_and_their_answers(nebula: Nebula) -> None:
    nebula("add", "还书", "--ledger", "promises", "--due", "2026-12-01")
    assert nebula("promises").code == 0
    assert nebula("promises", "done", "@1", "--json").data["memories"][0]["ref"] == "o1"
    for answer in ("yes", "no"):
        said = nebula(answer, "@1")
        assert said.code == 2
        assert "o1" in said.err, "the handle was resolved; o1 never surfaced"


def test_recall_gives_handles_and_finding_nothing_takes_them(talk: Nebula) -> None:
    first, *_ = refs(talk("recall", "妈妈 青岛").out)
    assert talk("show", "@1", "--json").data["memories"][0]["ref"] == first
    assert talk("list", "--tag", "没有这个").out == ""
    said = talk("show", "@1")
    assert said.code == 2
    assert "@1" in said.err
    assert "0 条" in said.err


def test_a_handle_without_a_list_or_beyond_it(talk: Nebula) -> None:
    """One line that says which list it would be of; nothing is done. In JSON each case has its code."""
    said = talk("show", "@1", "--json")
    assert (said.code, json.loads(said.out)["error"]["code"]) == (2, "handle_unknown")
    talk("list", "-n", "2")
    said = talk("pin", "n1", "@3", "--json")
    assert (said.code, json.loads(said.out)["error"]["code"]) == (2, "handle_beyond")
    assert "★" not in talk("list").out
    assert talk("show", "@0").code == 2, "no handle, and no ref"


def test_old_handles_are_stale(talk: Nebula) -> None:
    """Twelve hours later another list is meant."""
    talk("list", "--now", "2026-12-01T08:00:00")
    assert talk("show", "@1", "--now", "2026-12-01T19:59:00").code == 0
    said = talk("show", "@1", "--now", "2026-12-01T20:01:00")
    assert said.code == 2
    assert "2026-12-01 08:00:00" in said.err
    assert "`list`" in said.err


def test_two_terminals_do_not_mix(talk: Nebula, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor two programs that name themselves; and what no list came of leaves them as they are."""
    monkeypatch.setattr(terminal, "_device", lambda: "/dev/pts/1:100")
    talk("list")
    monkeypatch.setattr(terminal, "_device", lambda: "/dev/pts/2:200")
    assert talk("show", "@1").code == 2
    talk("list", "--tag", "出行")
    talk("add", "别的")
    talk("show", "n1")
    assert talk("show", "@1", "--json").data["memories"][0]["ref"] == "n4"
    monkeypatch.setattr(terminal, "_device", lambda: "/dev/pts/1:100")
    assert talk("show", "@2", "--json").data["memories"][0]["ref"] == "n3"
    monkeypatch.setenv("NEBULA_SESSION", "agent 7")
    assert talk("show", "@2").code == 2


def test_the_session_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """NEBULA_SESSION over the terminal itself over what terminals set; "" where there is nothing."""
    assert terminal.session({}) == ""
    assert terminal.session({"TMUX_PANE": "%3", "WT_SESSION": "x"}) == "TMUX_PANE=%3"
    monkeypatch.setattr(terminal, "_device", lambda: "/dev/pts/1:100")
    assert terminal.session({"TMUX_PANE": "%3"}) == "/dev/pts/1:100"
    assert terminal.session({"TMUX_PANE": "%3", "NEBULA_SESSION": "x"}) == "NEBULA_SESSION=x"


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs pseudo-terminals")
def test_a_real_terminal_is_told_by_its_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    _, end = os.openpty()
    keys = []
    saved = os.dup(0)
    try:
        os.dup2(end, 0)
        keys.append(terminal.session({}))
    finally:
        os.dup2(saved, 0)
    assert keys == [f"{os.ttyname(end)}:{os.getsid(0)}"]


def test_lists_of_many_sessions_are_pruned(talk: Nebula, mind_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a list that can't be read names nothing."""
    for number in range(40):
        monkeypatch.setenv("NEBULA_SESSION", str(number))
        talk("list", "-n", "1")
    lists = list((mind_dir / ".recent").glob("handles-*.json"))
    assert len(lists) == 32
    assert talk("show", "@1").code == 0
    for path in lists:
        path.write_bytes(b'{"refs": 3')
    assert talk("show", "@1").code == 2


def test_more_tells_turns_and_neighbours_with_reasons(talk: Nebula) -> None:
    """The session in its order, the one asked for marked; each neighbour with every edge; handles in that order."""
    talk("recall", "我答应妈妈搬回青岛")
    said = talk("more", "@1")
    session, rest = said.out.splitlines()[:3], said.out.splitlines()[3:]
    assert [line.split()[0] for line in session] == ["n1", "▶", "n3"]
    assert "妈妈: 妈妈说青岛的房子找到了" in session[0]
    assert any("共同关键词 青岛·妈妈" in line for line in rest)
    assert any("同源相邻" in line for line in rest)
    data = talk("more", "n2", "--turns", "1", "-n", "1", "--json").data
    assert [one["ref"] for one in data["before"] + data["after"]] == ["n1", "n3"]
    assert len(data["neighbours"]) == 1
    assert data["neighbours"][0]["edges"][0].startswith("共同关键词")
    assert talk("show", "@2", "--json").data["memories"][0]["ref"] == "n2"
    assert talk("more", "n99").code == 2


def test_more_of_a_memory_alone(nebula: Nebula) -> None:
    nebula("add", "渡轮早上六点开")
    data = nebula("more", "n1", "--json").data
    assert (data["before"], data["after"], data["neighbours"]) == ([], [], [])


def test_nul_ends_each_one_and_texts_stay_whole(talk: Nebula) -> None:
    """Line breaks inside are the text's own; --explain belongs to its hit; nothing found is nothing printed."""
    records = talk("list", "-0").out.split("\0")
    assert records.pop() == ""
    assert len(records) == 4
    assert records[0].endswith("渡轮早上六点开\n别迟到")
    assert "\0" not in talk("list").out
    hits = talk("recall", "渡轮", "--null", "--explain").out.split("\0")
    assert "渡轮早上六点开\n别迟到" in hits[0]
    assert " + 义 " in hits[0]
    assert len(hits) == 1 + len(talk("recall", "渡轮", "--json").data["hits"])
    assert talk("more", "n4", "-0").out.count("\0") >= 1
    assert talk("list", "-0", "--tag", "没有").out == ""
    assert talk("promises", "-0").out == ""


def test_a_budget_cuts_whole_hits_and_says_so(talk: Nebula) -> None:
    """What has no room is named, counts as not recalled, and gets no handle; the output keeps within the budget."""
    whole = talk("recall", "妈妈", "--no-touch")
    every = refs(whole.out)
    room = len(whole.out.splitlines()[0]) + 1
    said = talk("recall", "妈妈", "--budget", str(room))
    assert refs(said.out) == every[:1]
    assert len(said.out) <= room
    assert all(ref in said.err for ref in every[1:])
    assert talk("show", "@2").code == 2
    hits = {m["ref"]: m.get("hits", 0) for m in talk("list", "--json").data["memories"]}
    assert hits == {ref: int(ref == every[0]) for ref in hits}
    data = talk("recall", "妈妈", "--budget", str(room), "--json").data
    assert data["left_out"] == every[1:]
    tight = talk("recall", "妈妈", "--budget", "5")
    assert (tight.code, tight.out) == (0, "")
    assert "left_out" not in talk("recall", "妈妈", "--json").data
    assert talk("recall", "妈妈", "--budget", "0").code == 2


def test_a_smaller_hit_takes_the_room_that_a_large_one_leaves(nebula: Nebula) -> None:
    nebula("add", "渡轮" * 400)
    nebula("add", "渡轮早上六点开")
    said = nebula("recall", "渡轮", "--budget", "100")
    assert refs(said.out) == ["n2"]
    assert "n1" in said.err


def test_what_was_printed_and_piped_back(nebula: Nebula) -> None:
    """The output of recall, list and recall --json as they are: echoes, with a word on stderr; refused on request."""
    nebula("add", "答应妈妈下个月搬回青岛住，离她近一点")
    nebula("add", "The tide gauge works again: a loose wire, not the sensor")
    out = nebula("recall", "青岛").out
    said = nebula("add", "-", given=out.encode())
    assert (said.code, said.out) == (0, "n3\n")
    assert "回声" in said.err
    for argv in (["list"], ["recall", "tide", "--explain"], ["recall", "青岛", "--json"], ["more", "n1"]):
        given = nebula(*argv).out.encode()
        data = nebula("add", "-", "--json", given=given).data["memories"]
        assert [one["via"] for one in data] == ["回声"], argv
    rows = nebula("recall", "青岛", "--jsonl").out.encode()
    assert {one["via"] for one in nebula("add", "--batch", "-", "--json", given=rows).data["memories"]} == {"回声"}
    refused = nebula("add", "--echo", "refuse", "-", given=out.encode())
    assert (refused.code, refused.out) == (2, "")
    assert nebula("add", "--echo", "perhaps", "x").code == 2
    assert nebula("config", "set", "echo.action", "off").code == 0
    anew = nebula("add", "答应妈妈下个月搬回青岛住，离她近一点", "--json")
    assert anew.data["memories"][0]["via"] == "他说的"
    assert "n1" in anew.err, "the older one is pointed out"


def test_duplicates_are_pointed_out_and_stored(nebula: Nebula) -> None:
    """The same, nearly the same; never short notes that differ in a word; and in a batch how many."""
    nebula("add", "答应妈妈下个月搬回青岛住，离她近一点")
    said = nebula("add", "答应妈妈下个月搬回青岛居住，离她近一点")
    assert (said.code, "n1" in said.err) == (0, True)
    nebula("add", "跑步五公里")
    assert "n3" in nebula("add", "跑步五公里。").err
    said = nebula("add", "--batch", "-", given='{"text": "跑步五公里"}\n{"text": "买菜"}'.encode())
    assert "n5=n3" in said.err
    assert len(nebula("list").out.splitlines()) == 6


def test_a_budget_in_tokens(talk: Nebula, lose_numpy: Callable[[], None]) -> None:
    """Those of the encoder's vocabulary; without it an estimate, which says so."""
    for counted, unit, first in (("tokens", "token", 32), ("tokens_about", "约", 24)):
        whole = talk("recall", "妈妈", "--no-touch", "--json").data["hits"]
        data = talk("recall", "妈妈", "--budget", str(first), "--tokens", "--json").data
        assert data["budget"] == {"most": first, "unit": counted}
        assert 0 < len(data["hits"]) < len(whole)
        assert len(data["hits"]) + len(data["left_out"]) == len(whole)
        assert unit in talk("recall", "妈妈", "--budget", str(first), "--tokens").err
        lose_numpy()
    assert talk("recall", "妈妈", "--tokens").code == 2, "tokens of what?"
