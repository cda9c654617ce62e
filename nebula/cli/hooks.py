"""Hooks of agents: hooks install, status, remove, and run, which the agents call."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nebula import messages
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome, one_line
from nebula.errors import BadValue, FileUnusable
from nebula.results import Notice

if TYPE_CHECKING:
    from nebula.hooks import Host

LIMIT = 3.0  # seconds that a host is ever kept waiting
LOCK_LIMIT = 0.5
Agent = Annotated[str, typer.Argument(metavar="claude-code|codex|gemini")]
AnyAgent = Annotated[str, typer.Argument(metavar="claude-code|codex|gemini|…")]
OneAgent = Annotated[str, typer.Argument(metavar="[claude-code|codex|gemini]", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer()
    app.add_typer(group, name="hooks")
    for name, body in (("install", install), ("status", status), ("remove", remove), ("run", run_)):
        command(group, name, anywhere=True)(body)


def _host(agent: str) -> Host:
    from nebula.hooks import HOSTS

    if agent not in HOSTS:
        raise BadValue("hooks", agent, " | ".join(HOSTS))
    return HOSTS[agent]


def install(run: Run, agent: AnyAgent, *, print_: Annotated[bool, typer.Option("--print")] = False) -> Outcome:
    """Add the hooks to an agent's settings; twice is once. --print shows them and changes nothing."""
    from nebula import hooks

    if print_:
        return _printed(run, agent)
    path = _host(agent).path(run.environ)
    changed = hooks.install(agent, run.environ, _command(run, agent))
    told = "installed_codex" if agent == "codex" else "installed"
    said = messages.say(f"hooks.{told if changed else 'unchanged'}", path=path)
    return Outcome({"path": str(path), "changed": changed}, [[(said, "")]])


def _printed(run: Run, agent: str) -> Outcome:
    """What would stand in the settings; of an agent we do not know also how it starts the MCP server."""
    import orjson

    from nebula import hooks

    if not agent.isprintable() or not agent.strip():
        raise BadValue("hooks", agent, " | ".join(hooks.HOSTS))
    shown: dict[str, Any] = {"hooks": hooks.entries(agent, _command(run, agent))}
    known = hooks.HOSTS.get(agent)
    if known is None:
        server = {"command": sys.executable, "args": ["-P", "-m", "nebula", "mcp", "--mind", _place(run)]}
        shown["mcpServers"] = {"nebula": server}
    lines = orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode().splitlines()
    path = str(known.path(run.environ)) if known else None
    notices = [] if known else [Notice("hooks_other", {"agent": one_line(agent, 40), "known": ", ".join(hooks.HOSTS)})]
    return Outcome({"path": path, **shown}, [[(line, "")] for line in lines], notices=notices, verbatim=True)


def status(run: Run, agent: OneAgent = "") -> Outcome:
    """Which agents have the hooks; one that is named, or all."""
    from nebula import hooks

    if agent:
        _host(agent)
        names: list[str] = [agent]
    else:
        names = list(hooks.HOSTS)
    found: dict[str, bool | None] = {}
    said = []
    for name in names:
        try:
            found[name] = hooks.status(name, run.environ)
            told = messages.say("hooks.on" if found[name] else "hooks.off")
        except FileUnusable as error:
            if agent:
                raise
            found[name], told = None, error.message  # the others are told of all the same
        said.append(f"{name:<12} {told}")
    return Outcome({"agents": found}, [[(line, "")] for line in said], 3 if None in found.values() else 0)


def remove(run: Run, agent: Agent) -> Outcome:
    """Take the hooks out again; the file is as it was before."""
    from nebula import hooks

    path = _host(agent).path(run.environ)
    changed = hooks.remove(agent, run.environ)
    said = messages.say("hooks.removed" if changed else "hooks.none", path=path)
    return Outcome({"path": str(path), "changed": changed}, [[(said, "")]])


def run_(run: Run, agent: AnyAgent) -> Outcome:
    """What an agent calls: its event on standard input, what it is told on standard output; never fails or waits."""
    timer = threading.Timer(LIMIT, os._exit, (0,))
    timer.daemon = True
    timer.start()
    try:
        from nebula import hooks
        from nebula.cli.remember import piped
        from nebula.mind import Mind

        mind = Mind(run.place().mind, now=run.now, lock_timeout=LOCK_LIMIT)
        told = hooks.answer(agent, piped(), mind)
    except Exception:  # whatever it is: the host's turn goes on without us
        told = None
    finally:
        timer.cancel()
    return Outcome({}, rows=[told] if told else [])


def _place(run: Run) -> str:
    """The mind as another process finds it. Raises BadValue for an address that would show a password there."""
    place = run.place()
    if place.address is None:
        return str(place.folder.absolute())
    if str(place.address) != place.address.uri:
        raise BadValue("--mind / NEBULA_MIND", place.address, "postgresql://… (~/.pgpass)")
    return place.address.uri


def _command(run: Run, agent: str) -> str:
    """The line for the host's shell: this interpreter, this mind, silent and never failing.

    It runs in the folder that the agent works in, which may be anybody's: `-P` keeps modules that lie there out.
    """
    words = [sys.executable, "-P", "-m", "nebula", "hooks", "run", agent, "--mind", _place(run)]
    if sys.platform == "win32":
        return subprocess.list2cmdline(words)
    return f"{shlex.join(words)} 2>/dev/null || true"
