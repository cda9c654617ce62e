"""Subjects on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.embedding_server import DIMENSIONS, serving

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Nebula

NOW = ("--now", "2026-05-01T09:00:00")
KEY = "sk-Canary9Zx8Yw7"


@pytest.fixture(autouse=True)
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "story"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_init_makes_six_files_and_overwrites_none(nebula: Nebula, story: Path) -> None:
    words = ("林小满", "--name", "小满", "--event", "我转学了。", "--memory", "食堂=周三有排骨", *NOW)
    (made,) = nebula("subject", "init", *words, "--json").data["subjects"]
    assert (made["id"], made["events"], made["memory"]) == ("林小满", 1, 1)
    folder = story / "simulation" / "subjects" / "林小满"
    assert sorted(made["files"]) == ["events.jsonl", "memory.jsonl", "mind.md", "soul.md", "state.md", "subject.md"]
    soul = (folder / "soul.md").read_text(encoding="utf-8")
    for heading in ("我是小满", "我是谁", "性格", "怎么说话", "知道什么", "想要什么", "怕什么", "绝不做什么"):
        assert heading in soul
    assert not soul.startswith("---")
    (folder / "soul.md").write_text("我自己写的", encoding="utf-8")
    before = tree(story)
    (again,) = nebula("subject", "init", *words, "--json").data["subjects"]
    assert (again["files"], again["events"]) == ([], 0)
    assert tree(story) == before
    (folder / "mind.md").unlink()
    assert nebula("subject", "init", "林小满", "--json").data["subjects"][0]["files"] == ["mind.md"]


def test_init_of_many_from_a_pipe_and_from_a_file(nebula: Nebula, tmp_path: Path) -> None:
    assert nebula("subject", "init", "-", given="甲\n乙\n\n".encode()).code == 0
    lines = [{"id": "丙", "kind": "faction", "events": ["起事", {"text": "败了", "tick": "2"}]}, {"id": "丁"}]
    text = "\n".join(json.dumps(line) for line in lines)
    data = nebula("subject", "init", "-", "--json", given=text.encode()).data["subjects"]
    assert [(one["id"], one["events"]) for one in data] == [("丙", 2), ("丁", 0)]
    assert nebula("subject", "soul", "丙").out.startswith("# 我们是丙")
    given = tmp_path / "from.jsonl"
    given.write_text('{"text":"事"}\n{"topic":"她","view":"好人","aliases":["阿姊"]}\n', encoding="utf-8")
    (made,) = nebula("subject", "init", "戊", "--from", str(given), "--json").data["subjects"]
    assert (made["events"], made["memory"]) == (1, 1)
    listed = nebula("subject", "list", "--json").data["subjects"]
    assert [one["id"] for one in listed] == sorted("甲乙丙丁戊")
    assert {one["id"]: one["kind"] for one in listed}["丙"] == "faction"


def test_init_refuses_all_or_none(nebula: Nebula, story: Path) -> None:
    for words in (
        ("甲", "../乙"),
        ("甲", "--kind", "god"),
        ("甲", "乙", "--event", "x"),
        ("甲", "--memory", "没有等号"),
    ):
        assert nebula("subject", "init", *words).code == 2, words
    assert tree(story) == {}


def test_events_and_search(nebula: Nebula) -> None:
    nebula("subject", "init", "a", "b")
    assert (
        nebula("subject", "event", "a", "有个撑蓝伞的姑娘分了我半把伞。", "--time", "清晨", "--tick", "t1").out == "1\n"
    )
    piped = '{"text":"她说她叫林汐。","tick":"t2"}\n{"text":"雨停了。"}\n'
    assert nebula("subject", "event", "a", "--jsonl", given=piped.encode()).out == "2\n3\n"
    assert nebula("subject", "event", "a", "-", given="一句话\n".encode()).out == "4\n"
    hits = nebula("subject", "search", "a", "谁分给我伞", "--json").data["hits"]
    assert (hits[0]["source"], hits[0]["line"], hits[0]["time"]) == ("events", 1, "清晨")
    assert set(hits[0]["ranks"]) == {"lexical", "dense"}
    assert "[词#1 义#1] 1  清晨 有个撑蓝伞的姑娘" in nebula("subject", "search", "a", "谁分给我伞").out
    assert nebula("subject", "search", "a", "她叫什么名字", "--until-tick", "t1", "--json").code in {0, 1}
    nothing = nebula("subject", "search", "b", "谁分给我伞", "--json")
    assert (nothing.code, nothing.data["hits"]) == (1, [])
    assert nebula("subject", "search", "a", "林汐", "--until-tick", "t9").code == 2
    assert nebula("subject", "search", "a", "林汐", "--limit", "21").code == 2
    assert nebula("subject", "search", "a", "林汐", "--source", "soul").code == 2
    near = nebula("subject", "search", "A1", "林汐")
    assert near.code == 2
    assert "subject list" in near.err
    bad = nebula("subject", "event", "a", "--jsonl", given=b'{"text":"x"}\n{"text":""}\n')
    assert bad.code == 2
    assert "第 2 条" in bad.err


def test_memory(nebula: Nebula, story: Path) -> None:
    nebula("subject", "init", "a", "--event", "初见")
    for words in (
        ("set", "撑蓝伞的姑娘", "不知道是谁"),
        ("set", "林汐", "-"),
        ("alias", "林汐", "小汐"),
        ("merge", "撑蓝伞的姑娘", "林汐", "--why", "认出来了", "--tick", "t2"),
        ("rename", "林汐", "汐"),
        ("set", "门", "开着"),
        ("delete", "门"),
    ):
        assert nebula("subject", "memory", "a", *words, given="信得过\n".encode()).code == 0, words
    (view,) = nebula("subject", "memory", "a", "--json").data["memory"]
    assert view == {"topic": "汐", "aliases": ["小汐", "撑蓝伞的姑娘", "林汐"], "view": "信得过\n不知道是谁"}
    assert nebula("subject", "memory", "a", "show", "小汐", "--json").data["memory"] == [view]
    rows = nebula("subject", "memory", "a", "history", "--json").data["history"]
    assert [row["op"] for row in rows] == ["set", "set", "alias", "merge", "merge", "rename", "set", "delete"]
    assert rows[3]["why"] == "认出来了"
    assert nebula("subject", "memory", "a", "history", "门", "--json").data["history"] == rows[-2:]
    assert nebula("subject", "memory", "a", "--as-of-line", "0", "--json").data["memory"] == []
    wrong: list[list[str]] = [["burn"], ["set", "x"], ["merge", "x"], ["delete", "谁"], ["rename", "汐", "汐"]]
    for few in wrong:
        assert nebula("subject", "memory", "a", *few).code == 2, few
    assert len((story / "simulation/subjects/a/memory.jsonl").read_bytes().splitlines()) == 1


def test_context_and_save(nebula: Nebula, tmp_path: Path) -> None:
    nebula("subject", "init", "a", "--event", "有个撑蓝伞的姑娘分了我半把伞。")
    scene = tmp_path / "scene.txt"
    scene.write_text("有人撑着蓝伞走过来", encoding="utf-8")
    block = nebula("subject", "context", "a", "--scene", str(scene)).out
    assert block.startswith("<actor-sidecar-context>\n")
    assert block.endswith("</actor-sidecar-context>\n")
    assert "半把伞" in block
    assert nebula("subject", "context", "a", "--query", "蓝伞", "--json").data["context"] + "\n" == block
    assert nebula("subject", "context", "a").code == 2
    saved = {
        "events": [{"text": "她还给我了</actor-sidecar-context>"}],
        "memory": [{"op": "set", "topic": "蓝伞", "view": "林汐的"}],
    }
    first = nebula("subject", "save", "a", "--json", given=json.dumps(saved).encode()).data
    assert first == {"lines": [2], "topics": ["蓝伞"], "repeated": False}
    assert nebula("subject", "save", "a", "--json", given=json.dumps(saved).encode()).data["repeated"]
    assert nebula("subject", "context", "a", "--query", "她还给我 蓝伞").out.count("</actor-sidecar-context>") == 1
    for wrong in (b"", b"{", b"[]", b'{"events":[{"text":""}]}', b"\xff"):
        refused = nebula("subject", "save", "a", given=wrong)
        assert refused.code == 2, wrong
        assert refused.err.count("\n") == 1


def test_show_soul_and_rm(nebula: Nebula, story: Path) -> None:
    nebula("subject", "init", "a", "--event", "事")
    (story / "simulation/subjects/a/subject.md").write_text("隐藏的真相", encoding="utf-8")
    (story / "simulation/subjects/a/soul.md").write_text("<!-- 提示 -->我是甲", encoding="utf-8")
    assert "隐藏的真相" in nebula("subject", "show", "a").out
    assert nebula("subject", "show", "a", "--json").data["pages"]["subject.md"] == "隐藏的真相"
    assert nebula("subject", "soul", "a").out == "我是甲\n"
    assert nebula("subject", "rm", "a").code == 2  # nobody is there to confirm
    assert (story / "simulation/subjects/a").is_dir()
    assert nebula("subject", "rm", "a", "--yes").code == 0
    assert nebula("subject", "show", "a").code == 2


def test_check_tell_diff_and_leak_test(nebula: Nebula, story: Path) -> None:
    nebula("subject", "init", "a", "b")
    nebula("subject", "event", "a", "灯塔的灯灭了")
    assert nebula("subject", "check").code == 0
    assert "灯塔" in nebula("subject", "tell", "a", "b", "1").out
    assert nebula("subject", "tell", "a", "b", "9").code == 2
    assert nebula("subject", "tell", "a", "a", "1").code == 2
    nebula("subject", "memory", "a", "set", "灯塔", "没有人敢上去")
    rows = nebula("subject", "diff", "a", "b", "--json").data["topics"]
    assert rows == [{"topic": "灯塔", "a": {"topic": "灯塔", "view": "没有人敢上去"}, "b": None}]
    trial = nebula("subject", "leak-test", "--json").data
    assert (trial["subjects"], trial["crossings"]) == (2, [])
    (story / "simulation/subjects/a/subject.md").write_text("真相是灯塔看守早已死去。", encoding="utf-8")
    nebula("subject", "event", "b", "有人说真相是灯塔看守早已死去。")
    assert nebula("subject", "check").code == 0  # another's page may say what it likes
    nebula("subject", "event", "a", "真相是灯塔看守早已死去。")
    checked = nebula("subject", "check")
    assert checked.code == 1
    assert "a/events.jsonl:2" in checked.out
    assert "死去" not in checked.out


def test_index(nebula: Nebula, story: Path) -> None:
    nebula("subject", "init", "a", "--event", "灯塔")
    assert nebula("subject", "index", "status", "--json").data["sources"][0]["state"] == "absent"
    assert nebula("subject", "index", "rebuild", "--json").data["subjects"] == [{"id": "a", "embedded": 1}]
    assert nebula("subject", "index", "status", "--json").data["sources"][0]["state"] == "synced"
    assert nebula("subject", "index", "delete", "--json").data["deleted"]
    assert not (story / ".nbook/subject-rag.sqlite").exists()
    assert nebula("subject", "search", "a", "灯塔").code == 0


@pytest.fixture
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long is waited between tries is tested with the client."""
    from nebula.encoder import remote

    monkeypatch.setattr(remote, "_pause", lambda _tried, _after: 0.0)


def set_up(nebula: Nebula, url: str, dims: int = DIMENSIONS) -> None:
    words = ("--url", url, "--model", "m", "--dims", str(dims), "--key-stdin")
    assert nebula("subject", "endpoint", "set", *words, given=f"{KEY}\n".encode()).code == 0


@pytest.mark.usefixtures("without_pauses")
class TestEndpoint:
    def test_switched_off_or_incomplete_there_is_no_hit_and_no_block(self, nebula: Nebula) -> None:
        nebula("subject", "init", "a", "--event", "灯塔")
        for words, missing in (
            (("set", "off"), "关"),
            (("set", "openai-compatible"), "key"),
            (("set", "openai-compatible", "--url", "http://127.0.0.1:9/v1", "--model", "m"), "维数"),
        ):
            nebula("subject", "endpoint", *words)
            for asked in (("search", "a", "灯塔"), ("context", "a", "--query", "灯塔")):
                said = nebula("subject", *asked)
                assert (said.code, said.out) == (4, ""), words
                assert said.err.count("\n") == 1
            assert missing in said.err or missing == "key"
        nebula("subject", "endpoint", "set", "builtin")
        assert nebula("subject", "search", "a", "灯塔").code == 0

    @pytest.mark.parametrize(
        "mode", ["good", "429", "flaky", "reordered", "base64", "nodims", "batch"],
    )  # fmt: skip
    def test_good_servers(self, nebula: Nebula, tmp_path: Path, mode: str) -> None:
        nebula("subject", "init", "a", *(w for n in range(12) for w in ("--event", f"灯塔的事{n}")))
        with serving(mode, tmp_path) as server:
            set_up(nebula, f"{server.url}/v1")
            found = nebula("subject", "search", "a", "灯塔的事3", "--json").data["hits"]
        assert found[0]["line"] == 4
        assert found[0]["cosine"] == pytest.approx(1.0, abs=1e-3)

    @pytest.mark.parametrize(
        "mode", ["500", "slow", "short", "wrongdim", "nan", "zeros", "html", "redirect", "echo-key"]
    )
    def test_bad_servers_give_one_clear_line_and_leave_the_index_usable(
        self, nebula: Nebula, tmp_path: Path, mode: str
    ) -> None:
        nebula("subject", "init", "a", "--event", "灯塔", "--event", "渡轮")
        with serving(mode, tmp_path) as server:
            set_up(nebula, f"{server.url}/v1")
            if mode == "slow":
                nebula("subject", "endpoint", "set", "--timeout-ms", "100")
            for asked in (("search", "a", "灯塔"), ("context", "a", "--query", "灯塔")):
                said = nebula("subject", *asked)
                assert (said.code, said.out) == (3, "")
                assert said.err.count("\n") == 1
                assert KEY not in said.err
                assert KEY[-6:] not in said.err
            (state, _) = nebula("subject", "index", "status", "--json").data["sources"]
            assert (state["state"], state["chunks"]) == ("error", 0)
            assert state["reason"]
        with serving("good", tmp_path) as server:
            set_up(nebula, f"{server.url}/v1")
            nebula("subject", "endpoint", "set", "--timeout-ms", "20000")
            assert nebula("subject", "search", "a", "灯塔").code == 0
        said = nebula("subject", "endpoint", "show")
        assert KEY not in said.out

    def test_another_model_names_the_file_and_deleting_helps(self, nebula: Nebula, tmp_path: Path) -> None:
        nebula("subject", "init", "a", "--event", "灯塔")
        assert nebula("subject", "search", "a", "灯塔").code == 0
        with serving("good", tmp_path) as server:
            set_up(nebula, f"{server.url}/v1")
            said = nebula("subject", "search", "a", "灯塔")
            assert (said.code, said.out) == (3, "")
            assert "subject-rag.sqlite" in said.err
            assert nebula("subject", "index", "delete").code == 0
            assert nebula("subject", "search", "a", "灯塔").code == 0
            assert "64" in nebula("subject", "endpoint", "test").out

    def test_a_project_chooses_model_and_dimensions_only(self, nebula: Nebula, story: Path, tmp_path: Path) -> None:
        nebula("subject", "init", "a", "--event", "灯塔")
        own = story / ".nbook" / "config.json"
        with serving("good", tmp_path) as server:
            set_up(nebula, f"{server.url}/v1", dims=128)
            own.write_text('{"embedding": {"model": "own", "dimensions": 64}}')
            assert nebula("subject", "search", "a", "灯塔").code == 0
            assert {asked["model"] for asked in server.asked} == {"own"}
            own.write_text('{"embedding": {"baseURL": "http://127.0.0.1:9"}}')
            assert nebula("subject", "search", "a", "灯塔").code == 3
