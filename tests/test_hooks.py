"""Hooks: an agent's settings are edited with care, and the hook itself never fails or delays its host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nebula import hooks
from nebula.errors import NotOurs
from nebula.mind import Mind
from nebula.mindlib import files

if TYPE_CHECKING:
    from tests.cli.conftest import Nebula

from tests.cli.conftest import nebula as nebula  # noqa: PLC0414 - the fixture

ROOT = Path(__file__).parent.parent
FOREIGN = b"""{
    "model":  "opus",
    "hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo mine"}]}],
              "Stop": [], "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check"}]}]}
}"""

EMPTIED = b'{"hooks": {"SessionStart": [], "UserPromptSubmit": [], "BeforeAgent": []}}'


@pytest.mark.parametrize("agent", hooks.HOSTS)
@pytest.mark.parametrize("before", [None, b"", b"{}", b"\xef\xbb\xbf{}\r\n", EMPTIED, FOREIGN])
def test_in_and_out_again(own_environment: Path, nebula: Nebula, agent: str, before: bytes | None) -> None:
    """Twice is once; what others wrote stays; taken out, the file is byte for byte as it was, alone."""
    path = hooks.HOSTS[agent].path(os.environ)
    if before is not None:
        path.parent.mkdir(parents=True)
        path.write_bytes(before)
        path.chmod(0o640)
    assert nebula("hooks", "install", agent, "--json").data["changed"] is True
    once = path.read_bytes()
    assert nebula("hooks", "install", agent, "--json").data["changed"] is False
    assert path.read_bytes() == once
    assert nebula("hooks", "status", "--json").data["agents"] == {name: name == agent for name in hooks.HOSTS}
    assert nebula("hooks", "status", agent, "--json").data["agents"] == {agent: True}
    events = json.loads(once)["hooks"]
    host = hooks.HOSTS[agent]
    for event in (host.start, host.prompt):
        (ours,) = [hook for group in events[event] for hook in group["hooks"] if "nebula" in hook["command"]]
        assert ours["timeout"] == 10 * host.second
    if before == FOREIGN:
        assert events["PreToolUse"] == json.loads(FOREIGN)["hooks"]["PreToolUse"]
        assert "echo mine" in once.decode()
        assert path.stat().st_mode & 0o777 == 0o640
    assert nebula("hooks", "remove", agent, "--json").data["changed"] is True
    assert nebula("hooks", "remove", agent, "--json").data["changed"] is False
    assert (path.read_bytes() if path.exists() else None) == before
    assert [one.name for one in path.parent.iterdir()] == ([path.name] if path.exists() else [])


def test_what_others_changed_meanwhile_stays(own_environment: Path) -> None:
    path = hooks.HOSTS["claude-code"].path(os.environ)
    path.parent.mkdir()
    path.write_bytes(FOREIGN)
    hooks.install("claude-code", os.environ, "x -m nebula hooks run claude-code")
    settings = json.loads(path.read_bytes())
    path.write_text(json.dumps({**settings, "theme": "dark"}), encoding="utf-8")
    hooks.remove("claude-code", os.environ)
    assert json.loads(path.read_bytes()) == {**json.loads(FOREIGN), "theme": "dark"}


TWICE = b'{"hooks": {"Stop": []}, "hooks": {}}'
LARGE = b'{"a": [{"b": 12345678901234567890123}]}'


@pytest.mark.parametrize(
    "data",
    [b"{,}", b'{"a": 1,}', b"// mine\n{}", b"[]", b'{"hooks": []}', b'{"hooks": {"Stop": 1}}', b"\xff", TWICE, LARGE],
)
def test_a_file_of_another_shape_is_left_alone(own_environment: Path, data: bytes) -> None:
    path = hooks.HOSTS["codex"].path(os.environ)
    path.parent.mkdir()
    path.write_bytes(data)
    with pytest.raises(NotOurs) as refused:
        hooks.install("codex", os.environ, "x")
    assert "--print" in refused.value.hint
    with pytest.raises(NotOurs):
        hooks.remove("codex", os.environ)
    assert path.read_bytes() == data


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini"])
def test_codex_alone_asks_for_trust(own_environment: Path, nebula: Nebula, agent: str) -> None:
    """And nobody else is told of it."""
    assert ("codex 会请你确认信任" in nebula("hooks", "install", agent).out) == (agent == "codex")


def test_print_changes_nothing_and_unknown_agents_are_refused(own_environment: Path, nebula: Nebula) -> None:
    said = nebula("hooks", "install", "claude-code", "--print")
    assert "hooks run claude-code" in json.dumps(json.loads(said.out))
    assert not (own_environment / ".claude").exists()
    assert nebula("hooks", "install", "emacs").code == 2


def test_any_other_agent_is_shown_what_to_put_in(own_environment: Path, nebula: Nebula) -> None:
    """The shape that agents copy from each other, its hook answers, and the server for one without hooks."""
    said = nebula("hooks", "install", "cursor", "--print")
    shown = json.loads(said.out)
    assert "hooks run cursor" in shown["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
    assert shown["mcpServers"]["nebula"]["args"][:4] == ["-P", "-m", "nebula", "mcp"]
    assert "cursor" in said.err
    assert nebula("hooks", "install", "a\x1b[31m", "--print").code == 2
    assert list(own_environment.iterdir()) == []


def test_status_tells_of_the_others_where_one_can_t_be_read(own_environment: Path, nebula: Nebula) -> None:
    hooks.install("codex", os.environ, "x -m nebula hooks run codex")
    hooks.HOSTS["claude-code"].path(os.environ).mkdir(parents=True)
    said = nebula("hooks", "status", "--json")
    assert said.code == 3
    assert said.data["agents"] == {"claude-code": None, "codex": True, "gemini": False}
    assert "settings.json" in nebula("hooks", "status").out
    assert nebula("hooks", "status", "claude-code").code == 3


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_waited_for(own_environment: Path) -> None:
    path = hooks.HOSTS["codex"].path(os.environ)
    path.parent.mkdir()
    os.mkfifo(path)
    for act in (hooks.status, hooks.remove):
        with pytest.raises(NotOurs):
            act("codex", os.environ)
    with pytest.raises(NotOurs):
        hooks.install("codex", os.environ, "x")


def test_what_could_not_be_remembered_is_said_so(mind_dir: Path) -> None:
    mind = Mind(mind_dir, lock_timeout=0.05)
    mind.add("渡轮改到七点开")
    with files.appending(mind_dir / "notes.jsonl"):
        told = hooks.answer("claude-code", json.dumps(prompt("记住：我对花生过敏")).encode(), mind)
    assert told is not None
    assert told["hookSpecificOutput"]["additionalContext"].startswith("没有记住，什么都没写下：")
    assert len(Mind(mind_dir).list().memories) == 1


def called(mind: Path, given: object, agent: str = "claude-code") -> tuple[dict[str, Any] | None, float]:
    """The hook as a host calls it: exit 0, nothing on stderr; -> what it told, seconds that it took."""
    data = given if isinstance(given, bytes) else json.dumps(given).encode()
    command = [sys.executable, "-m", "nebula", "hooks", "run", agent, "--mind", str(mind)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    begun = time.monotonic()
    done = subprocess.run(command, input=data, capture_output=True, env=env, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return (json.loads(done.stdout) if done.stdout else None), time.monotonic() - begun


START = {"hook_event_name": "SessionStart", "session_id": "s1", "source": "startup"}


def prompt(text: str) -> dict[str, str]:
    return {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": text}


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("before", [b'{"a": 1}', None])
def test_a_link_stays_a_link(own_environment: Path, before: bytes | None) -> None:
    """Settings that are kept elsewhere are edited there, and are there as before afterwards."""
    path, kept = hooks.HOSTS["codex"].path(os.environ), own_environment / "dotfiles.json"
    path.parent.mkdir()
    path.symlink_to(kept)
    if before is not None:
        kept.write_bytes(before)
    assert hooks.install("codex", os.environ, "x -m nebula hooks run codex")
    assert b"hooks run codex" in kept.read_bytes()
    assert hooks.remove("codex", os.environ)
    assert (path.is_symlink(), kept.read_bytes() if kept.exists() else None) == (True, before)


@pytest.mark.process
def test_what_an_agent_is_told(mind_dir: Path) -> None:
    """At the start what stands; on a prompt what it brings; `记住：` is remembered in the user's words."""
    Mind(mind_dir).add("渡轮改到七点开")
    told, _ = called(mind_dir, START)
    assert told is not None
    assert told["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert "渡轮改到七点开" in told["hookSpecificOutput"]["additionalContext"]
    told, _ = called(mind_dir, prompt("记住：我对花生过敏"))
    assert told is not None
    assert "n2" in told["hookSpecificOutput"]["additionalContext"]
    written = Mind(mind_dir).get("n2")
    assert (written.text, written.via, written.by, written.session) == ("我对花生过敏", "他说的", "hook", "s1")


def test_a_prompt_that_was_cut_within_a_character(mind_dir: Path) -> None:
    """Half an emoji at its end is no character; a whole one stays."""
    mind = Mind(mind_dir)
    mind.add("渡轮改到七点开")
    given = json.dumps(prompt("记住：渡轮 🚢 停开")).encode().replace(rb"\u505c\u5f00", rb"\u505c\ud83d")
    told = hooks.answer("claude-code", given, mind)
    assert told is not None
    assert mind.get("n2").text == "渡轮 🚢 停\ufffd"


@pytest.mark.process
def test_a_missing_a_broken_and_a_locked_mind(tmp_path: Path) -> None:
    """Silence and exit 0; a missing mind is not made; a locked one delays by less than the limit."""
    assert called(tmp_path / "none", START)[0] is None
    assert not (tmp_path / "none").exists()
    for given in (b"", b"{", b"[]", b'{"hook_event_name": "Stop"}'):
        assert called(tmp_path, given)[0] is None
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "mind-config.json").write_bytes(b"{")
    (broken / "notes.jsonl").mkdir()
    assert called(broken, prompt("渡轮"))[0] is None
    locked = tmp_path / "locked"
    Mind(locked).add("渡轮改到七点开")
    with files.appending(locked / "changes.jsonl"), files.appending(locked / "notes.jsonl"):
        told, seconds = called(locked, prompt("记住：渡轮几点"))
    assert seconds < 15
    assert told is None or "七点" in told["hookSpecificOutput"]["additionalContext"]


@pytest.mark.process
def test_a_host_that_never_ends_its_input_is_not_kept(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "nebula", "hooks", "run", "codex", "--mind", str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as hook:
        assert hook.wait(30) == 0
        assert hook.stdout is not None
        assert hook.stdout.read() == b""


def test_a_module_in_the_agents_folder_is_not_run(nebula: Nebula, mind_dir: Path, tmp_path: Path) -> None:
    """The folder that an agent works in may be anybody's: what lies there as `nebula` or `numpy` stays unread."""
    nebula("add", "渡轮早上六点开")
    for name in ("nebula", "numpy"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')\n")
    (groups,) = json.loads(nebula("hooks", "install", "claude-code", "--print").out)["hooks"]["UserPromptSubmit"]
    told = json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "渡轮几点开"})
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        ["/bin/sh", "-c", groups["hooks"][0]["command"]],
        input=told.encode(),
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert "渡轮早上六点开" in done.stdout.decode()
    assert not (tmp_path / "ran").exists()
