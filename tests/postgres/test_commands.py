"""Commands on a mind in a database: the same words and exit codes as on a folder, and refusals in one line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nebula import messages
from nebula.address import Address
from nebula.cli.app import MODULES
from nebula.mind import Mind
from nebula.places import cache_of
from nebula.postgres import schema
from nebula.stores import compare, copy
from tests.cli.conftest import nebula  # noqa: F401 - the fixture

if TYPE_CHECKING:
    from tests.cli.conftest import Nebula
    from tests.postgres.conftest import Server

ROOT = Path(__file__).parent.parent.parent
SUBJECTS = ROOT / "tests" / "data" / "subject_zh"
#: What works on any mind; every other command must refuse one that lies in a database.
ANYWHERE = {
    *("add", "edit", "tag", "set", "pin", "unpin", "undo", "recall", "why", "why-not", "list", "show", "more", "log"),
    *("promises", "forecast", "stats", "embed", "config", "store", "context", "longterm", "mcp"),
    *("consolidate", "surface", "yes", "no", "subject", "erase", "doctor", "mood", "map", "sky"),
    *("import", "export", "merge"),
}
#: What is of a project, of an agent's settings, or works on a mind of its own.
OF_NO_MIND = {"hooks", "demo", "bench"}
STORY = (
    ("add", "渡轮早上六点开", "--at", "2026-05-01", "--tag", "船"),
    ("add", "艾琳娜怕水，从不坐船", "--at", "2026-05-02"),
    ("add", "五月底交稿", "-l", "promises", "--due", "2026-05-31", "--at", "2026-05-02"),
    ("add", "渡轮改到七点开", "--supersedes", "n1", "--at", "2026-05-03"),
    ("edit", "n2", "艾琳娜怕水，但肯坐渡轮"),
    ("tag", "n3", "船"),
    ("set", "n3", "imp=0.9"),
    ("pin", "n4"),
    ("undo",),
    ("promises", "done", "o1"),
    ("recall", "船几点出发"),
    ("recall", "艾琳娜", "--no-touch", "--as-of", "2026-05-02"),
    ("list", "--all"),
    ("show", "n1", "--history"),
    ("why", "n3", "渡轮几点开"),
    ("log", "-n", "50"),
    ("stats",),
    ("forecast",),
    ("config", "set", "recall.k", "9"),
    ("config", "list"),
    ("embed", "--build"),
    ("recall", "什么都没有的问题xyz"),
    ("longterm", "edit", "-"),
    ("longterm", "edit", "-"),
    ("longterm", "history"),
    ("consolidate", "--plan"),
    ("consolidate",),
    ("consolidate",),
    ("surface", "--query", "渡轮"),
    ("no", "n1"),
    ("context", "--query", "渡轮几点开"),
    ("consolidate", "--undo"),
    ("mood", "feel", "sad", "0.6", "--why", "渡轮停航"),
    ("mood",),
    ("add", "心里难过，码头空了"),
    ("mood", "history"),
    ("sky",),
    ("erase", "n4", "--dry-run"),
    ("erase", "n4", "--yes"),
    ("list", "--all"),
    ("log", "-n", "50"),
)


def test_a_story_is_told_the_same(
    nebula: Nebula,  # noqa: F811
    uri: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every command's output, code and errors, but for what is drawn at random."""
    ticks = iter(range(10_000))
    monkeypatch.setattr("nebula.clock.stamp", lambda what: f"{what}-{next(ticks):05}")
    told: dict[str, list[Any]] = {}
    for place in (uri, str(tmp_path / "mind")):
        ticks = iter(range(10_000))
        monkeypatch.setenv("NEBULA_MIND", place)
        for minute, argv in enumerate(STORY):
            said = nebula(*argv, "--now", f"2026-05-04T10:{minute:02}:00", given=f"说话直接，第 {minute} 版\n".encode())
            kept = [
                re.sub(r"[0-9a-f]{16}|[0-9.]+KB", "#", line) for line in said.out.splitlines() if argv[0] != "embed"
            ]
            told.setdefault(place, []).append((argv, said.code, kept, said.err.replace(place, "PLACE")))
    here, there = told.values()
    assert here == there
    assert {argv[0] for argv, code, *_ in here if code == 2} == {"no"}  # nothing had surfaced


def test_a_conversation_is_recalled_and_refs_have_handles(nebula: Nebula, uri: str) -> None:  # noqa: F811
    for turn in range(3):
        nebula("add", f"第 {turn} 句：码头的风", "--session", "s", "--turn", str(turn))
    assert nebula("recall", "码头").code == 0
    assert "第" in nebula("show", "@1").out
    assert nebula("more", "n2").code == 0


@pytest.mark.parametrize(
    "name", sorted(name for names in MODULES.values() for name in names if name not in ANYWHERE | OF_NO_MIND)
)
def test_every_other_command_refuses(nebula: Nebula, name: str, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """One sentence, exit 2, before any connection; nothing is created on this machine."""
    monkeypatch.setenv("NEBULA_MIND", "postgresql://me:geheim@127.0.0.1:1/mind")
    given = {
        "mind": ["move", "there"],
        "schedule": ["install"], "encoder": ["add", "there"],
    }  # fmt: skip
    said = nebula(name, *given.get(name, []))
    assert said.code == 2, said
    assert said.err.count("\n") == 1
    assert "postgresql://me:***@127.0.0.1:1/mind" in said.err
    assert not list(Path(os.environ["HOME"]).rglob("*.jsonl"))


def test_failures_are_one_line_with_a_code_and_no_password(nebula: Nebula, server: Server, uri: str) -> None:  # noqa: F811
    wrong = uri.replace("l%40ng", "wr0ng")
    empty = server.uri("postgres", "agent", "agents-l%40ng-word")
    for place, code in ((wrong, 3), (empty, 4), ("postgresql://me:geheim@127.0.0.1:1/x?password=geheim", 3)):
        for extra in ((), ("--json",), ("--debug",)):
            said = nebula("list", "--mind", place, *extra)
            assert said.code == code
            assert "l%40ng" not in said.out + said.err
            assert not {"wr0ng", "geheim", "l@ng"} & set(said.out.split("-") + said.err.split("-"))
            assert "geheim" not in said.out + said.err
            assert "wr0ng" not in said.out + said.err
            if not extra:
                assert said.err.count("\n") == 1
            if extra == ("--json",):
                assert json.loads(said.out)["error"]["code"] in {"store_unreachable", "store_not_made"}


def test_the_doctor_looks_at_the_database(nebula: Nebula, server: Server, uri: str) -> None:  # noqa: F811
    """Who one is there, what one may do; damaged lines by name and number; the rest as of a folder."""
    nebula("add", "渡轮早上六点开")
    said = nebula("doctor", "--json")
    checks = {check["name"]: check for check in said.data["checks"]}
    assert (said.code, list(checks)) == (0, ["python", "database", "memories", "meaning", "mood", "map"])
    facts = checks["database"]["facts"]
    assert facts["address"] == str(Address(uri))
    assert (facts["role"], facts["version"], facts["rule"]) == ("agent", schema.KNOWN, "NEBULA_MIND")
    assert [facts[name] for name in ("adds", "erases", "walls", "local", "encrypted")] == [True] * 4 + [False]
    assert facts["server"].partition(".")[0] == str(server.do("SHOW server_version_num")[0][0])[:2]
    assert {check["status"] for check in checks.values()} == {"ok"}
    database = uri.rpartition("/")[2]
    server.do("INSERT INTO nebula.line VALUES ('notes', 1, NULL, 'torn')", database)
    server.do(f"REVOKE INSERT ON nebula.line FROM agent; REVOKE ALL ON FUNCTION {schema.ERASE} FROM agent", database)
    said = nebula("doctor")
    assert said.code == 1
    assert messages.say("doctor.line", file="notes.jsonl", line=2) in said.out
    assert said.out.count("store migrate URL --role") == 2
    assert "BYPASSRLS" not in said.out
    assert "CREATE ROLE" in nebula("doctor", "--mind", server.uri(database)).out  # as a superuser no wall binds
    assert nebula("doctor", "--repair").code == nebula("doctor", "--verify").code == 2
    assert not list(Path(os.environ["HOME"]).rglob("*.jsonl"))


def test_the_doctor_of_what_is_not_there(nebula: Nebula, server: Server, uri: str) -> None:  # noqa: F811
    """Unreachable, a wrong password, no tables: one line that says it, no password, and nothing is asked twice."""
    wrong = uri.replace("l%40ng", "wr0ng")
    for place in (wrong, server.uri("postgres"), "postgresql://me:geheim@127.0.0.1:1/x"):
        said = nebula("doctor", "--mind", place)
        assert said.code == 1
        assert [line[0] for line in said.out.splitlines()] == ["✓", "✗"]
        for word in ("wr0ng", "geheim", "keepers-long-word"):
            assert word not in said.out + said.err


def test_a_mind_comes_and_goes_as_a_file(nebula: Nebula, uri: str, tmp_path: Path) -> None:  # noqa: F811
    """import, merge and export of a folder's mind and another program's notes give what they give in a folder."""
    other, here, back = (str(tmp_path / name) for name in ("other", "here", "back"))
    for text in ("渡轮早上六点开", "艾琳娜怕水"):
        nebula("add", text, "--mind", other)
    nebula("config", "set", "recall.k", "9", "--mind", other)
    nebula("longterm", "edit", "-", "--mind", other, given="住在海边。\n".encode())
    (tmp_path / "notes.md").write_text("- 码头结冰了\n- 周三取包裹\n", encoding="utf-8")
    told = []
    for place in (uri, here):
        argv = ("--mind", place, "--now", "2026-05-04T10:00:00")
        ran = [nebula(*words, *argv) for words in (
            ("import", other, "--dry-run"), ("import", other), ("import", other), ("merge", other),
            ("import", str(tmp_path / "notes.md"), "--from", "markdown"), ("list",), ("config", "get", "recall.k"),
        )]  # fmt: skip
        told.append([(one.code, re.sub("[0-9a-f]{16}|2026-[^ ]*", "#", one.out)) for one in ran])
    assert told[0] == told[1]
    assert {code for code, _ in told[0]} == {0}
    exported = str(tmp_path / "mind.jsonl")
    assert nebula("export", exported).code == 0
    assert nebula("import", exported, "--mind", back).code == 0
    assert nebula("store", "verify", back, uri, "--samples", "0").code == 0
    assert nebula("import", exported).code == 0  # into itself: nothing is new
    assert nebula("store", "verify", back, uri, "--samples", "0").code == 0


def test_a_map_is_drawn_where_one_says(nebula: Nebula, uri: str, tmp_path: Path) -> None:  # noqa: F811
    nebula("add", "渡轮早上六点开")
    assert nebula("map", "--out", str(tmp_path / "sky.html")).code == 0
    assert "渡轮早上六点开" in (tmp_path / "sky.html").read_text("utf-8")
    assert nebula("map").code == 0
    assert cache_of(Address(uri)) / "星图.html" in cache_of(Address(uri)).iterdir()
    nebula("erase", "n1", "--yes")
    assert "星图.html" not in {path.name for path in cache_of(Address(uri)).iterdir()}


def test_a_password_in_a_wrong_place_is_not_repeated(
    nebula: Nebula,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """As a word too many, a ref, a name, a folder; where a message cuts it short; in a report of a failure of ours."""
    monkeypatch.setenv("NEBULA_LANG", "en")
    url = "postgresql://me:geheim@127.0.0.1:1/mind"
    long = f"postgresql://me:geheim{'x' * 300}@127.0.0.1:1/mind?sslpassword=geheim"
    for given in (url, long):
        for words in (
            ("list", given), ("show", given), ("config", "set", given, "1"), (given,), ("import", given),
            ("store", "migrate", f"x{given}"), ("list", "--kind", given), ("map", "--out", str(tmp_path / given)),
            ("subject", "show", given, "--project", str(tmp_path)), ("recall", "x", "--as-of", given),
        ):  # fmt: skip
            for more in ((), ("--json",)):
                said = nebula(*words, *more, "--mind", str(tmp_path / "mind"))
                assert said.code, words
                assert "geheim" not in said.out + said.err, words
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(Mind, "list", lambda *_, **__: (_ for _ in ()).throw(RuntimeError(url)))
    assert "geheim" not in nebula("list", "--mind", str(tmp_path / "mind")).err
    (report,) = tmp_path.glob("nebula-report-*.txt")
    assert "me:***@127" in report.read_text("utf-8")
    assert "geheim" not in report.read_text("utf-8")


def test_a_mind_moves_to_a_database_by_three_commands(
    nebula: Nebula,  # noqa: F811
    server: Server,
    tmp_path: Path,
) -> None:
    database = server.database()
    owner, program = server.uri(database), server.uri(database, "agent", "agents-l%40ng-word")
    mind = tmp_path / "mind"
    for text in ("渡轮早上六点开", "艾琳娜怕水", "码头结冰了"):
        nebula("add", text, "--mind", str(mind))
    assert nebula("list", "--mind", program).code in {3, 4}  # no rights on a schema that is not there
    assert nebula("store", "migrate", owner, "--role", "agent").code == 0
    assert nebula("store", "copy", str(mind), program).code == 0
    said = nebula("store", "verify", str(mind), program, "--samples", "3", "--json")
    assert (said.code, said.data["same"], said.data["lines"]["notes"]) == (0, 3, [3, 3])
    nebula("add", "只在这里", "--mind", program)
    said = nebula("store", "verify", str(mind), program)
    assert (said.code, "notes  3 ≠ 4" in said.out) == (1, True)
    said = nebula("store", "copy", program, str(mind))
    assert said.code == 0
    assert nebula("list", "--mind", str(mind)).out.splitlines()[0].endswith("只在这里")


@pytest.mark.parametrize(("memories", "samples"), [(24, 8), pytest.param(None, 1000, marks=pytest.mark.torture)])
def test_subject_zh_is_recalled_the_same(uri: str, tmp_path: Path, memories: int | None, samples: int) -> None:
    """Memories of a bench set: the same first ten with the same scores, for every sampled query."""
    rows = [json.loads(line) for line in (SUBJECTS / "memories.jsonl").read_text(encoding="utf-8").splitlines()]
    mind = Mind(tmp_path / "mind")
    mind.add_many({"text": row["text"]} for row in rows[:memories])
    there = Mind(Address(uri))
    copy(mind, there)
    found = compare(mind, there, samples)
    assert found.samples == min(samples, len(rows[:memories]))
    assert (found.same, found.differing) == (found.samples, [])


def test_an_agents_hooks_reach_it(nebula: Nebula, uri: str, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """The mind by its address, never with a password: that would stand in the agent's settings and in `ps`."""
    nebula("add", "渡轮早上六点开")
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "渡轮几点开"}
    said = nebula("hooks", "run", "claude-code", given=json.dumps(event).encode())
    assert "渡轮早上六点开" in said.out
    refused = nebula("hooks", "install", "claude-code")
    assert (refused.code, "l%40ng" in refused.err, ".pgpass" in refused.err) == (2, False, True)
    plain = uri.replace(":agents-l%40ng-word", "")
    monkeypatch.setenv("NEBULA_MIND", plain)
    assert f"--mind {plain}" in nebula("hooks", "install", "claude-code", "--print").out


@pytest.mark.process
def test_an_agent_reaches_it(uri: str) -> None:
    """The server of the Model Context Protocol: calls at once from one client, and from a second one."""
    import anyio
    from mcp import ClientSession, StdioServerParameters, stdio_client

    env = {**os.environ, "NEBULA_MIND": uri, "PYTHONPATH": str(ROOT)}
    server = StdioServerParameters(command=sys.executable, args=["-m", "nebula", "mcp"], env=env, cwd=str(ROOT))
    texts = ["渡轮早上六点开", "艾琳娜怕水", "码头结冰了"]

    async def talk() -> Any:
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            async with anyio.create_task_group() as tasks:
                for text in texts:
                    tasks.start_soon(session.call_tool, "remember", {"text": text})
            return (await session.call_tool("recall", {"query": "船几点出发"})).structured_content

    assert "渡轮早上六点开" in json.dumps(anyio.run(talk), ensure_ascii=False)
    assert sorted(memory.text for memory in Mind(Address(uri)).store.read("notes").memories) == sorted(texts)


@pytest.mark.process
def test_a_mind_in_a_folder_loads_no_driver(tmp_path: Path) -> None:
    """Cold start: nothing of psycopg, and nothing of ours for it."""
    script = (
        "import sys\nfrom nebula.cli import main\nmain(['add','渡轮'])\nmain(['recall','渡轮'])\n"
        "print(sorted(n for n in sys.modules if n.startswith(('psycopg','nebula.postgres'))))"
    )
    env = {**os.environ, "NEBULA_MIND": str(tmp_path / "mind"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, env=env, timeout=60, check=True)
    assert done.stdout.decode().splitlines()[-1] == "[]"
