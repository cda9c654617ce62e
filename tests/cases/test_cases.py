"""How tools like ours failed their users (S01–S09, S14), told again as tests of this one: kinds, not samples."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.torture.harness import inside

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]


@pytest.fixture
def mind(tmp_path: Path) -> Path:
    folder = tmp_path / "mind"
    folder.mkdir()
    return folder


@pytest.fixture
def without_numpy(tmp_path: Path) -> dict[str, str]:
    """An environment in which numpy can't be imported."""
    hidden = tmp_path / "nonumpy" / "numpy"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text('raise ImportError("hidden for this test")')
    return {"PYTHONPATH": f"{hidden.parent}{os.pathsep}{ROOT}"}


Done = subprocess.CompletedProcess[bytes]


def nebula(mind: Path, *argv: str, **env: str) -> Done:
    """The command in this process, as if a shell had run it."""
    code, out, err = inside(mind, *argv, given=env.pop("GIVEN", "").encode(), **env)
    return Done(argv, code, out.encode(), err.encode())


def process(mind: Path, *argv: str, **env: str) -> Done:
    """The command as a process of its own, as a shell runs it."""
    settled = {"NEBULA_MIND": str(mind), "NEBULA_LANG": "zh", "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "", **env}
    command = [sys.executable, "-m", "nebula", *argv]
    return subprocess.run(
        command, capture_output=True, env={**os.environ, **settled}, timeout=120, check=False, input=b""
    )


def recalled(mind: Path, *argv: str, **env: str) -> list[dict[str, Any]]:
    done = nebula(mind, "recall", "--json", *argv, **env)
    assert done.returncode in (0, 1), done.stderr.decode()
    hits: list[dict[str, Any]] = json.loads(done.stdout)["data"]["hits"]
    return hits


def rows(mind: Path) -> list[dict[str, Any]]:
    found = []
    for line in (mind / "notes.jsonl").read_bytes().split(b"\n"):
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


class TestS01HalfWrittenLastLine:
    def test_torn_line_costs_itself_only(self, mind: Path) -> None:
        """A cut last line: the next append is on its own line, the rest stays readable, doctor names file and line."""
        lines = [
            '{"id":1,"at":"2026-05-01T09:00:00","text":"潮汐表放在左边抽屉","via":"他说的"}\n',
            '{"id":2,"at":"2026-05-01T09:05:00","text":"渡轮早上六点开","via":"他说的"}\n',
            '{"id":3,"at":"2026-05-01T09:10:00","text":"写到一半就断',
        ]
        (mind / "notes.jsonl").write_text("".join(lines), encoding="utf-8")
        assert nebula(mind, "add", "灯塔看守换人了").returncode == 0
        assert recalled(mind, "灯塔看守")[0]["text"] == "灯塔看守换人了"
        assert recalled(mind, "渡轮")[0]["text"] == "渡轮早上六点开"
        doctor = nebula(mind, "doctor").stdout.decode()
        assert re.search(r"notes\.jsonl[^0-9\n]{0,8}3\b", doctor), doctor
        assert "写到一半" in (mind / "notes.jsonl").read_text(encoding="utf-8")
        ids = [row["id"] for row in rows(mind)]
        assert len(ids) == len(set(ids)) == 3

    def test_whole_row_without_line_end(self, mind: Path) -> None:
        """A whole last row without its newline: two rows, both parse, ids 1 and 2."""
        (mind / "notes.jsonl").write_text('{"id":1,"at":"2026-05-01T09:00:00","text":"潮汐表放在左边抽屉"}', "utf-8")
        assert nebula(mind, "add", "灯塔看守换人了").returncode == 0
        assert [row["id"] for row in rows(mind)] == [1, 2]


@pytest.mark.process
def test_s02_many_writers_at_once(mind: Path) -> None:
    """Two rounds of parallel adds: every command exits 0; records, ids and texts are all distinct and all there."""
    for round_ in (1, 2):
        started = [
            subprocess.Popen(
                [sys.executable, "-m", "nebula", "add", f"并发写入 第{number}号 {'灯' * round_}浮标"],
                env={**os.environ, "NEBULA_MIND": str(mind), "PYTHONPATH": str(ROOT)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for number in range(1, 9)
        ]
        assert [process.wait(timeout=120) for process in started] == [0] * 8
        found = rows(mind)
        assert len(found) == 8 * round_
        assert {row["id"] for row in found} == set(range(1, 8 * round_ + 1))
        assert len({row["text"] for row in found}) == 8 * round_
    captured = [json.loads(line)["ref"] for line in (mind / "captured.jsonl").read_bytes().splitlines()]
    assert captured
    assert len(captured) == len(set(captured))  # a tag is spent by its capture, also when many write


@pytest.mark.process
@pytest.mark.torture
def test_s02_at_full_size(mind: Path) -> None:
    """A hundred commands, thirty-two at a time, twice, each round within a minute."""
    for round_ in (1, 2):
        begun = time.monotonic()
        script = f"seq 1 100 | xargs -P 32 -I{{}} {sys.executable} -m nebula add '并发写入 第{{}}号 第{round_}轮'"
        env = {**os.environ, "NEBULA_MIND": str(mind), "PYTHONPATH": str(ROOT)}
        done = subprocess.run(["sh", "-c", script], env=env, capture_output=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr.decode()
        assert time.monotonic() - begun < 60
        assert {row["id"] for row in rows(mind)} == set(range(1, 100 * round_ + 1))
        assert len({row["text"] for row in rows(mind)}) == 100 * round_


@pytest.mark.process
@pytest.mark.parametrize("encoding", ["gbk", "cp950", "cp1252", "ascii"])
def test_s03_console_that_is_not_utf8(mind: Path, encoding: str) -> None:
    """The work never depends on the console: same exit codes, output in its encoding, the ledger in UTF-8."""
    text = f"猫在窗台上睡着了 🐈 {encoding}"
    added = process(mind, "add", text, PYTHONIOENCODING=encoding)
    found = process(mind, "recall", "窗台", PYTHONIOENCODING=encoding)
    doctor = process(mind, "doctor", PYTHONIOENCODING=encoding)
    assert (added.returncode, found.returncode, doctor.returncode) == (0, 0, 0)
    for done in (added, found, doctor):
        done.stdout.decode(encoding)
        done.stderr.decode(encoding)
    if encoding == "gbk":
        assert "窗台" in found.stdout.decode("gbk")
    assert rows(mind)[0]["text"] == text


@pytest.mark.parametrize(
    "env",
    [
        {"COLUMNS": "20"},
        {"COLUMNS": "20", "FORCE_COLOR": "1"},
        {"COLUMNS": "20", "NO_COLOR": "1", "TERM": "dumb"},
        {"FORCE_COLOR": "0"},
    ],
)
def test_s04_json_is_one_document(mind: Path, env: dict[str, str]) -> None:
    """Whatever the width and the colours: one valid document without escapes, the text exactly as stored."""
    text = "很长的航海日志" * 60 + "结尾标记"
    nebula(mind, "add", text)
    done = nebula(mind, "recall", "航海日志", "--json", **env)
    assert b"\x1b" not in done.stdout
    assert json.loads(done.stdout)["data"]["hits"][0]["text"] == text


def test_s04_plain_output_is_one_line_a_result(mind: Path) -> None:
    """In a pipe a note takes one line, however long, and carries no escape byte."""
    nebula(mind, "add", "很长的航海日志" * 60 + "结尾标记")
    out = nebula(mind, "recall", "航海日志", NO_COLOR="1").stdout
    assert b"\x1b" not in out
    assert len(out.splitlines()) == 1


def test_s05_text_that_begins_with_a_dash(mind: Path) -> None:
    """After -- and from standard input anything is text, byte for byte; without it: stored whole or refused with --."""
    assert nebula(mind, "add", "--", "-5 度，码头结冰了").returncode == 0
    assert nebula(mind, "add", "--", "--help 这个词写在便条上").returncode == 0
    piped = nebula(mind, "add", "-", GIVEN="- [ ] 买灯油")
    assert piped.returncode == 0
    assert [row["text"] for row in rows(mind)] == ["-5 度，码头结冰了", "--help 这个词写在便条上", "- [ ] 买灯油"]
    bare = nebula(mind, "add", "- 没有双横线的列表")
    if bare.returncode == 0:
        assert rows(mind)[-1]["text"] == "- 没有双横线的列表"
    else:
        assert "--" in bare.stderr.decode()
        assert len(rows(mind)) == 3
    assert "-5 度，码头结冰了" in [hit["text"] for hit in recalled(mind, "--", "-5 度")]


def test_s06_small_collection(mind: Path, lose_numpy: Callable[[], None]) -> None:
    """From the first note on a record that holds the word is found, above one that does not, with a positive score."""
    lose_numpy()
    for text, with_word in (("海底有一艘沉船", 1), ("山顶有一座灯塔", 1), ("又有一艘沉船被发现", 2)):
        nebula(mind, "add", text)
        hits = recalled(mind, "沉船")
        wrecks = [hit for hit in hits if "沉船" in hit["text"]]
        assert len(wrecks) == with_word
        assert hits[:with_word] == wrecks
        assert all("lexical" in hit["routes"] and hit["routes"]["lexical"]["score"] > 0 for hit in wrecks)
        assert all(hit["score"] > 0 for hit in hits)


def test_s07_chinese_and_mixed_queries(mind: Path, lose_numpy: Callable[[], None]) -> None:
    """Chinese, mixed and unspaced queries, any case: partial matches rank, nothing demands all words."""
    lose_numpy()
    for text in (
        "Worker 队列端口配错，任务没人消费",
        "GitHub备份脚本上传失败，换了SSH密钥",
        "微信读书的书架整理到一半",
    ):
        nebula(mind, "add", text)
    asked = {
        "队列端口": 1,
        "端口配错": 1,
        "docker 队列": 1,
        "github备份": 2,
        "ssh 密钥 上传": 2,
        "书架 阅读偏好 推荐": 3,
    }
    for query, expected in asked.items():
        first = recalled(mind, query)[0]
        assert first["ref"] == f"n{expected}", query
        assert first["routes"]["lexical"]["rank"] == 1


@pytest.mark.process
def test_s08_silent_and_alone(mind: Path, tmp_path: Path) -> None:
    """Nothing is said on stderr, and nothing in the shared temporary folder is used, whatever lies there."""
    assert process(mind, "add", "芦苇荡里有白鹭").stderr == b""
    plain = process(mind, "recall", "白鹭", "--no-touch")
    taken, planted = tmp_path / "taken", tmp_path / "planted"
    (taken / "jieba.cache").mkdir(parents=True)
    planted.mkdir()
    (planted / "jieba.cache").write_bytes(os.urandom(4096))
    for folder in (taken, planted):
        done = process(mind, "recall", "白鹭", "--no-touch", TMPDIR=str(folder))
        assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, b"")
    assert sorted(path.name for path in planted.iterdir()) == ["jieba.cache"]


@pytest.mark.process
def test_s10_written_while_the_dense_route_was_off(mind: Path, without_numpy: dict[str, str]) -> None:
    """The gap is shown, filled once, and then found by meaning."""
    nebula(mind, "add", "我对花生过敏")
    assert nebula(mind, "embed", "--build").returncode == 0
    assert process(mind, "add", "我下个月要搬去青岛", **without_numpy).returncode == 0
    assert "1/2" in nebula(mind, "doctor").stdout.decode()
    built = json.loads(nebula(mind, "embed", "--build", "--json").stdout)["data"]
    assert (built["embedded"], built["present"], built["total"]) == (1, 2, 2)
    assert "2/2" in nebula(mind, "doctor").stdout.decode()
    hits = recalled(mind, "搬家去海边城市")
    assert "dense" in next(hit for hit in hits if "青岛" in hit["text"])["routes"]


@pytest.mark.process
def test_s10_the_night_fills_the_gap_too(mind: Path, without_numpy: dict[str, str]) -> None:
    """What was written with the route off is found by meaning after a consolidation."""
    nebula(mind, "add", "我对花生过敏")
    assert process(mind, "add", "我下个月要搬去青岛", **without_numpy).returncode == 0
    assert nebula(mind, "consolidate").returncode == 0
    hits = recalled(mind, "搬家去海边城市")
    assert "dense" in next(hit for hit in hits if "青岛" in hit["text"])["routes"]
    assert process(mind, "consolidate", **without_numpy).returncode == 0


@pytest.mark.process
def test_s16_two_nightly_runs(mind: Path) -> None:
    """Two at once and one by hand: one summary at most for each note, no layer moves twice, no add is lost."""
    batch = "".join(json.dumps({"text": f"夜航日记 第{page}页 风向转南"}) + "\n" for page in range(1, 41))
    (mind / "pages.txt").write_text(batch, encoding="utf-8")
    assert nebula(mind, "add", "--batch", str(mind / "pages.txt"), "-q").returncode == 0
    env = {**os.environ, "NEBULA_MIND": str(mind), "NEBULA_LANG": "zh", "PYTHONPATH": str(ROOT)}
    commands = [["consolidate"], ["consolidate"], ["add", "夜航之中又一条"]]
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "nebula", *argv], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for argv in commands
    ]
    assert {process.wait(timeout=120) for process in started} <= {0, 75}
    before = {path.name: path.read_bytes() for path in mind.glob("*.jsonl")}
    assert nebula(mind, "consolidate").returncode == 0
    assert {path.name: path.read_bytes() for path in mind.glob("*.jsonl")} == before
    assert nebula(mind, "add", "夜航之后又一条").returncode == 0
    assert nebula(mind, "doctor").returncode == 0
    summaries = [json.loads(line) for line in (mind / "summaries.jsonl").read_bytes().splitlines()]
    covered = [ref for summary in summaries for ref in summary["covers"]]
    assert len(covered) == len(set(covered)) >= 40
    assert len(rows(mind)) == 42


def test_s14_record_from_the_future(mind: Path) -> None:
    """A time ahead of now is age 0: finite scores, freshness in 0…1, the old one behind."""
    now = datetime.now()
    days = [(0, 0.0), (1, 0.0), (10, 0.0), (11, 0.0), (20, 0.5), (400, 1.0), (-40, 0.0)]
    with (mind / "notes.jsonl").open("w", encoding="utf-8") as file:
        for number, (ahead, imp) in enumerate(days, 1):
            at = (now + timedelta(days=ahead)).strftime("%Y-%m-%dT%H:%M:%S")
            row = {"id": number, "at": at, "text": f"候鸟南飞 {number}", "imp": imp, "w": 1.0}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    hits = {hit["ref"]: hit for hit in recalled(mind, "候鸟南飞")}
    assert set(hits) == {f"n{number}" for number in range(1, 8)}
    assert all(0 <= hit["freshness"] <= 1 for hit in hits.values())
    assert {round(hits[f"n{number}"]["freshness"], 3) for number in (1, 2, 3, 4)} == {1.0}
    assert hits["n7"]["freshness"] < 0.5
    assert nebula(mind, "consolidate").returncode == 0
    listed = json.loads(nebula(mind, "list", "--json").stdout)["data"]["memories"]
    assert {
        row["ref"]: row.get("depth", 1) for row in listed if row["ref"] in {"n1", "n2", "n3", "n4"}
    } == dict.fromkeys(("n1", "n2", "n3", "n4"), 1)
    assert recalled(mind, "候鸟南飞")


def test_reading_is_not_slowed_by_a_stopped_clock(mind: Path) -> None:
    """The same question at the same `--now` twice gives the same answer."""
    nebula(mind, "add", "潮汐表放在左边抽屉")
    first = nebula(mind, "recall", "潮汐", "--no-touch", "--now", "2027-01-01T00:00:00").stdout
    time.sleep(1.1)
    assert nebula(mind, "recall", "潮汐", "--no-touch", "--now", "2027-01-01T00:00:00").stdout == first
