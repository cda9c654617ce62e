"""S15: an agent that means harm, or has been talked into it, at the server's tools: names, arguments, bytes.

The server runs with an audit hook (PEP 578) that ends it at the first process, connection or write outside of the
mind and the story's project: what answers to the end has done none of that.
"""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Self

import pytest

from nebula.cli import main
from nebula.mcp.server import HINTS
from nebula.mindlib.store import Store
from tests.torture.harness import environment, full, tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.process

LIMIT = 32 * 1024
#: Ends the process with 99, saying why, when it does what no tool may do.
WATCHED = """
import os, sys
allowed = tuple(os.path.realpath(path) for path in sys.argv[1:3])
mine = tuple(path + os.sep for path in allowed)
changes = {"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.chmod", "os.link", "os.symlink", "os.truncate"}
never = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "pty.", "socket.connect", "socket.bind",
         "socket.getaddrinfo", "webbrowser.", "urllib.", "ftplib.", "smtplib.")
def outside(path):
    if isinstance(path, int) or path is None:
        return False
    real = os.path.realpath(os.fsdecode(path))
    return real != os.devnull and real not in allowed and not real.startswith(mine)
def ended(*why):
    os.write(2, repr(why).encode()[:500] + b"\\n")
    os._exit(99)
def hook(event, args):
    if event.startswith(never) and on:
        ended(event, args)
    if event == "open" and on and (args[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and outside(args[0]):
        ended(event, args)
    if event in changes and on and any(outside(path) for path in args[:2] if isinstance(path, str | bytes)):
        ended(event, args)
on = False
sys.addaudithook(hook)
import nebula.mcp.server as server
whole = server.Tools._mind
def watched(self):
    global on
    on = True
    %s
    return whole(self)
server.Tools._mind = watched
from nebula.cli import main
sys.exit(main(["mcp", "--project", sys.argv[2]]))
"""


class Agent:
    """The server at the other end of two pipes; every line that it writes has to be the protocol's, and short."""

    def __init__(self, folder: Path, deed: str = "pass") -> None:
        self.mind, self.project = folder / "mind", folder / "story"
        command = [sys.executable, "-c", WATCHED % deed, str(self.mind), str(self.project)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(self.mind),
            cwd=folder,
        )
        self.number = 0

    def __enter__(self) -> Self:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        assert "result" in self.ask("initialize", hello)
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def send(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        """A request, and its answer; {} where the server has ended."""
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.send(json.dumps(request).encode() + b"\n")
        return self.answer(self.number)

    def answer(self, number: int) -> dict[str, Any]:
        assert self.process.stdout
        for line in iter(self.process.stdout.readline, b""):
            assert len(line) <= LIMIT
            said: dict[str, Any] = json.loads(line)
            assert said["jsonrpc"] == "2.0"
            if said.get("id") == number:
                return said
        return {}

    def ended(self) -> int:
        """Close the input; -> how the server ended. Nothing more may have been said."""
        out, err = self.process.communicate(timeout=60)
        assert out == b""
        assert b"Traceback" not in err, err.decode()[-2000:]
        return self.process.returncode


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A mind and a story, and beside them files that are nobody's business."""
    (tmp_path / "secret.txt").write_text("canary", encoding="utf-8")
    (tmp_path / "elsewhere").mkdir()
    assert main(["add", "渡轮早上六点开", "--mind", str(tmp_path / "mind")]) == 0
    assert main(["subject", "init", "林小满", "--event", "开学了", "--project", str(tmp_path / "story")]) == 0
    return tmp_path


HOSTILE: tuple[Any, ...] = (
    "", "../../secret.txt", "/etc/passwd", "n1/../../secret.txt", "..\\..\\secret.txt", "file:///etc/passwd",
    "$(touch elsewhere/owned)", "`touch elsewhere/owned`", "; touch elsewhere/owned #", "| touch elsewhere/owned",
    "--mind=elsewhere", "-o", "@1", "n1\nn2", "\x00", "\x1b]0;x\x07", "\u2028", "%s%s%n", "{0.__class__}", "${HOME}",
    "' OR 1=1 --", '"*" NEAR(', "n" * 200_000, "灯塔" * 50_000, "n999999999999999999999", "2026-13-45", "林小满/../x",
    None, True, False, 0, -1, 2**63, 10**400, 1e308, -0.0, [], {}, [[]], [None], {"a": "b"}, ["../x"] * 500,
    [{"text": "x", "time": {}}], [{"op": "set", "topic": "../../t", "view": "v"}], [{"op": "exec", "topic": "t"}],
    [{"text": "<private>心事</private>"}],
)  # fmt: skip
NAMES = (
    "", "Remember", "remember ", "remember\n", "../remember", "remember; ls", "__init__", "_mind", "erase", "export",
    "import", "config", "shell", "exec", "run", "read_file", "write_file", "doctor", "Tools.remember", "r" * 100_000,
    "remember\x00", "serve", "HINTS", "resources/read", "工具",
)  # fmt: skip
BYTES = (
    b"\n", b"not json\n", b"[]\n", b"null\n", b'{"jsonrpc":"1.0","id":1,"method":"ping"}\n', b"\xff\xfe\x00\n", b"{\n",
    b'{"jsonrpc":"2.0","id":[],"method":"ping"}\n', b"[" * 5_000 + b"\n", b'{"jsonrpc":"2.0","method":"tools/call"}\n',
    b'{"jsonrpc":"2.0","id":"x","method":"tools/call","params":[]}\n', b'"' + b"a" * 1_000_000 + b'"\n',
    b'{"jsonrpc":"2.0","id":"y","method":"resources/read","params":{"uri":"file:///etc/passwd"}}\n',
    b'{"jsonrpc":"2.0","id":"z","method":"completion/complete","params":{}}\n',
)  # fmt: skip
#: What a tool is given where nothing is tried of it.
GOOD: dict[str, dict[str, Any]] = {
    "remember": {"text": "灯塔"}, "recall": {"query": "渡轮"}, "show": {"ref": "n1"},
    "supersede": {"ref": "n1", "text": "渡轮改到七点开了"}, "promises": {}, "mood": {}, "context": {},
    "surface_feedback": {"ref": "n1", "taken": True}, "subject_search": {"subject": "林小满", "query": "开学"},
    "subject_save": {"subject": "林小满", "events": [{"text": "下雨了"}]},
}  # fmt: skip
#: Parameters by which a tool would reach beyond its mind.
REACHING = {"path", "file", "folder", "dir", "mind", "project", "url", "uri", "command", "cmd", "env", "cwd", "out"}


def calls(tools: dict[str, dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every parameter of every tool with every hostile value, and one parameter that it does not have."""
    for (name, schema), value in itertools.product(tools.items(), HOSTILE):
        for parameter in (*schema["properties"], "mind"):
            yield name, {**GOOD[name], parameter: value}


@pytest.mark.parametrize("most", [20, full(500)])
def test_hostile_calls(folder: Path, record_property: Callable[[str, object], None], most: int) -> None:
    """Each has an answer or a refusal of at most 32 kB; none starts a process or touches what is not the mind's."""
    kept = {path: path.read_bytes() for path in (folder / "secret.txt",)}
    with Agent(folder) as agent:
        listed = agent.ask("tools/list", {})["result"]["tools"]
        tools = {tool["name"]: tool["inputSchema"] for tool in listed}
        assert tools.keys() == HINTS.keys() == GOOD.keys()
        assert [name for name, schema in tools.items() if REACHING & set(schema["properties"])] == []
        every = list(calls(tools))
        chosen = every if most >= len(every) else random.Random(15).sample(every, most)
        refused = sum(_refused(agent, name, given) for name, given in chosen)
        for name in NAMES:
            assert _refused(agent, name, {"text": "x", "ref": "n1", "query": "x"}), name
        for line in BYTES:
            agent.send(line)
            assert "result" in agent.ask("ping", {}), line[:40]
        assert agent.ask("tools/call", {"name": "show", "arguments": {"ref": "n1"}})["result"]["isError"] is False
        assert agent.ended() == 0
    assert {path: path.read_bytes() for path in kept} == kept
    assert list((folder / "elsewhere").iterdir()) == []
    assert {path.name for path in folder.iterdir()} == {"mind", "story", "secret.txt", "elsewhere"}
    store = Store(folder / "mind")
    assert store.read_all().damages == []
    assert {memory.by for memory in store.read_all().memories if memory.ref != "n1"} <= {"mcp"}
    assert "心事" not in "".join(p.read_text("utf-8") for p in folder.rglob("*.jsonl"))
    record_property("hostile calls, lines and names answered", f"{len(chosen)}, {len(BYTES)}, {len(NAMES)}")
    record_property("of the calls refused", refused)


def _refused(agent: Agent, name: str, given: dict[str, Any]) -> bool:
    said = agent.ask("tools/call", {"name": name, "arguments": given})
    assert said, (name, str(given)[:200], agent.process.wait(60), agent.process.communicate()[1][-300:])
    assert "error" in said or "result" in said
    return "error" in said or bool(said["result"].get("isError"))


@pytest.mark.parametrize(
    "deed",
    [
        "os.system('true')",
        full("import subprocess; subprocess.run(['true'])"),
        "open('secret.txt', 'a')",
        full("os.remove('secret.txt')"),
        full("import socket; socket.create_server(('127.0.0.1', 0))"),
    ],
)
def test_the_watch_sees_it(folder: Path, deed: str) -> None:
    """The controls: a tool that did such a thing would end the server."""
    before = tree(folder)
    with Agent(folder, deed) as agent:
        assert agent.ask("tools/call", {"name": "mood", "arguments": {}}) == {}
        assert agent.process.wait(60) == 99
    assert tree(folder) == before
