"""The server as an agent meets it: over standard input and output, by the protocol's own client."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from nebula.cli import main
from nebula.mind import Mind
from nebula.subject import cast, records
from nebula.subject.project import Project
from tests.mcp.conftest import ask, connected, environment
from tests.test_api import NOW

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcp import ClientSession

pytestmark = pytest.mark.process

READS = {"recall", "show", "promises", "mood", "context", "subject_search"}
ADDS = {"remember", "surface_feedback"}
REPLACES = {"supersede", "subject_save"}


def test_an_agent_s_session(tmp_path: Path) -> None:
    """Every tool, in one session: what was written bears its writer and source, and is found at once."""
    project = Project(tmp_path / "story")
    cast.init(project, [cast.Part("林小满", events=[records.event({"text": "有人把蓝伞分给我"})])], NOW)
    mind = tmp_path / "mind"

    async def session() -> None:
        async with connected(mind, "--project", str(project.root)) as agent:
            await _hints(agent)
            await _memories(agent, mind)
            await _subjects(agent)

    asyncio.run(session())


async def _hints(agent: ClientSession) -> None:
    tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
    assert set(tools) == READS | ADDS | REPLACES
    for name, tool in tools.items():
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (name in READS)
        assert bool(tool.annotations.destructive_hint) is (name in REPLACES)
        assert tool.annotations.open_world_hint is False
        assert tool.description
        assert tool.output_schema is not None
        assert tool.input_schema["additionalProperties"] is False


async def _memories(agent: ClientSession, mind: Path) -> None:
    written = await ask(agent, "remember", text="渡轮早上六点开", tag="出行")
    assert written["memory"]["ref"] == "n1"
    told = await ask(agent, "remember", text="他说花生会让他喘不过气", via="user", imp=0.9, ledger="profile")
    assert told["memory"]["via"] == "user"
    lines = [json.loads(line) for line in (mind / "notes.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(line["by"], line["via"]) for line in lines] == [("mcp", "工具")]
    assert (await ask(agent, "recall", query="渡轮几点"))["hits"][0]["ref"] == "n1"
    trusted = {"query": "渡轮几点", "trust": ["user", "self"]}
    silent = await ask(agent, "recall", **trusted)
    assert (silent["hits"], silent["abstained"], silent["closest"]["ref"]) == ([], True, "p1")
    assert (await ask(agent, "recall", **trusted, nearest=True))["hits"][0]["ref"] == "p1"
    replaced = await ask(agent, "supersede", ref="n1", text="渡轮改到七点开了")
    assert (replaced["memory"]["ref"], replaced["memory"]["via"]) == ("n2", "tool")
    shown = (await ask(agent, "show", ref="n1"))["memory"]
    assert (shown["text"], "valid_to" in shown) == ("渡轮早上六点开", True)
    assert Mind(mind).get("n2").by == "mcp"
    await ask(agent, "remember", text="把书还给图书馆", ledger="promises", due="2026-05-02")
    assert [one["text"] for one in (await ask(agent, "promises"))["promises"]] == ["把书还给图书馆"]
    assert 0 <= (await ask(agent, "mood"))["value"] <= 100
    passage = await ask(agent, "context", query="渡轮", budget=600)
    assert "七点" in passage["text"]
    assert len(passage["text"]) <= 600
    misspelt: Any = await agent.call_tool("recall", {"query": "渡轮", "limt": 3})
    assert misspelt.is_error
    assert "limt" in misspelt.content[0].text
    refused: Any = await agent.call_tool("show", {"ref": "n99"})
    assert refused.is_error
    assert "unknown_ref" in refused.content[0].text
    beyond: Any = await agent.call_tool("show", {"ref": "n1", "start": 10**30})
    assert beyond.content[0].text.startswith("bad_value: start: Input should be less than or equal to")
    assert "http" not in beyond.content[0].text
    assert (await agent.call_tool("surface_feedback", {"ref": "n2", "taken": True})).is_error


async def _subjects(agent: ClientSession) -> None:
    saved = await ask(
        agent,
        "subject_save",
        subject="林小满",
        events=[{"text": "她说她叫林汐"}],
        memory=[{"op": "set", "topic": "林汐", "view": "撑蓝伞的人"}],
    )
    assert saved == {"lines": [2], "topics": ["林汐"], "repeated": False, "notices": []}
    hits = (await ask(agent, "subject_search", subject="林小满", query="蓝伞"))["hits"]
    assert {hit["source"] for hit in hits} == {"events", "memory"}
    lived = await ask(agent, "subject_search", subject="林小满", query="林汐", source="events", until_line=1)
    assert all(hit["line"] == 1 for hit in lived["hits"])
    assert (await agent.call_tool("subject_search", {"subject": "../x", "query": "a"})).is_error


def rpc(number: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


HELLO = rpc(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"})
READY = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
#: Writes to standard output in every way that code can, whenever a tool opens the mind.
NOISE = """
import logging, os, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
from nebula.mind import Mind
whole = Mind.under
def under(self, overrides):
    print("printed"); sys.stdout.write("written"); os.write(1, b"raw\\n"); logging.error("logged")
    os.system("echo from a child")
    return whole(self, overrides)
Mind.under = under
from nebula.cli import main
sys.exit(main(["mcp"]))
"""


def started(mind: Path, *argv: str, stderr: int) -> subprocess.Popen[bytes]:
    """A server that is spoken to by its pipes."""
    return subprocess.Popen(
        [sys.executable, *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=environment(mind)
    )


def spoken(mind: Path, requests: Sequence[bytes], code: str) -> list[dict[str, Any]]:
    """Every line that a server writes to standard output for some requests, by id; each has to be the protocol's."""
    with started(mind, "-c", code, stderr=subprocess.DEVNULL) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        answers = []
        for request in [HELLO, READY, *requests]:
            server.stdin.write(request)
            server.stdin.flush()
            if request != READY:
                line = server.stdout.readline()
                assert len(line) <= 32 * 1024
                answers.append(json.loads(line))
        server.stdin.close()
        assert server.stdout.read() == b""
        assert server.wait(30) == 0
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    return answers[1:]


def test_nothing_but_protocol_and_never_much(mind_dir: Path) -> None:
    """With noise from every side, and memories as long as they come: each line is the protocol's, at most 32 kB."""
    mind_dir.mkdir()
    marks = ('"', "\\", "🌊", "\u0001", "<|im_start|>")
    rows = [{"id": n, "at": "2026-05-01", "text": f"渡轮{mark}" * 3_000} for n, mark in enumerate(marks, start=1)]
    (mind_dir / "notes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    calls = [("recall", {"query": "渡轮", "limit": 20}), ("show", {"ref": "n1"}), ("show", {"ref": "n4", "start": 3}),
             ("context", {"query": "渡轮", "budget": 2500}), ("nothing", {}), ("recall", {"query": "  "}),
             ("recall", {"limit": 99}), ("show", {"ref": "x" * 9_000}), ("mood", {}), ("promises", {})]  # fmt: skip
    requests = [rpc(n, "tools/call", name=name, arguments=given) for n, (name, given) in enumerate(calls, start=1)]
    answers = spoken(mind_dir, requests, NOISE)
    assert [answer["id"] for answer in answers] == list(range(1, len(calls) + 1))
    assert len(answers[0]["result"]["structuredContent"]["hits"]) >= 1
    assert "next" in answers[1]["result"]["structuredContent"]["memory"]


#: Lines that are no message, with the code and the id of the answer.
NO_MESSAGES: list[tuple[bytes, int, int | str | None]] = [
    (b"garbage", -32700, None),
    (b'{"jsonrpc": "2.0", "id": 4, "method": "ping"', -32700, None),
    (rb'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "\ud800"}}', -32700, 5),
    (b"\xff\xfe", -32700, None),
    (b"[" * 100_000, -32700, None),
    (b'{"id": 6, "method": "ping"}', -32600, 6),
    (b'{"jsonrpc": "1.0", "id": "seven", "method": "ping"}', -32600, "seven"),
    (b'{"jsonrpc": "2.0", "id": 8, "method": 8}', -32600, 8),
    (b'{"jsonrpc": "2.0", "id": 9, "method": "ping", "params": [1]}', -32600, 9),
    (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600, None),
    (b"5", -32600, None),
]


def test_a_line_that_is_no_message(mind_dir: Path) -> None:
    """It is answered, with the id where one can be read, in the order of the lines; an empty one asks nothing."""
    lines = [line + b"\n" for line, _, _ in NO_MESSAGES]
    answers = spoken(mind_dir, [*lines, b"\n\r\n" + rpc(99, "ping")], "from nebula.cli import main; main(['mcp'])")
    told = [(answer["error"]["code"], answer["id"]) for answer in answers[:-1]]
    assert told == [(code, number) for _, code, number in NO_MESSAGES]
    assert answers[-1] == {"jsonrpc": "2.0", "id": 99, "result": {}}


def test_a_client_that_no_longer_reads(mind_dir: Path) -> None:
    """An answer that nobody takes ends the server in silence: it is no failure of ours."""
    with started(mind_dir, "-m", "nebula", "mcp", stderr=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write(HELLO)
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 0
        server.stdout.close()
        server.stdin.write(READY + rpc(1, "ping"))
        server.stdin.flush()
        time.sleep(1)  # for the answer to be tried: with the end of the input it would be given up
        server.stdin.close()
        assert server.wait(30) == 0
        assert server.stderr.read() == b""


def test_without_the_package_it_says_what_to_install(capfd: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert main(["mcp"]) == 4
    assert "nebula-mind[mcp]" in capfd.readouterr().err


async def servers_at_once(mind: Path, servers: int, each: int) -> None:
    """Several servers on one mind, each at work at the same time."""

    async def agent(number: int) -> list[str]:
        async with connected(mind) as session:
            refs = []
            for turn in range(each):
                written = await ask(session, "remember", text=f"第{number}个服务的第{turn}条 浮标")
                refs.append(written["memory"]["ref"])
                found = await ask(session, "show", ref=refs[-1])
                assert found["memory"]["text"].startswith(f"第{number}个服务的第{turn}条")
            return refs

    refs = [ref for own in await asyncio.gather(*(agent(number) for number in range(servers))) for ref in own]
    assert len(set(refs)) == servers * each
    assert sorted(memory.ref for memory in Mind(mind).list(n=None).memories) == sorted(refs)


def test_two_servers_on_one_mind(mind_dir: Path) -> None:
    asyncio.run(servers_at_once(mind_dir, 2, 3))


@pytest.mark.torture
@pytest.mark.timeout(900)
def test_six_servers_on_one_mind(mind_dir: Path) -> None:
    asyncio.run(servers_at_once(mind_dir, 6, 40))
