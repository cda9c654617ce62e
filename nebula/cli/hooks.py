"""Hooks of agents: hooks install, status, remove, and run, which the agents call."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Annotated

import typer

from nebula import messages
from nebula.cli.command import Run, command
from nebula.cli.printing import Outcome
from nebula.errors import BadValue

if TYPE_CHECKING:
    from nebula.hooks import Host

LIMIT = 3.0  # seconds that a host is ever kept waiting
LOCK_LIMIT = 0.5
Agent = Annotated[str, typer.Argument(metavar="claude-code|codex|gemini")]
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


def install(run: Run, agent: Agent, *, print_: Annotated[bool, typer.Option("--print")] = False) -> Outcome:
    """Add the hooks to an agent's settings; twice is once. --print shows them and changes nothing."""
    from nebula import hooks

    path = _host(agent).path(run.environ)
    if print_:
        import orjson

        shown = {"hooks": hooks.entries(agent, _command(run, agent))}
        lines = orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode().splitlines()
        return Outcome({"path": str(path), **shown}, [[(line, "")] for line in lines], verbatim=True)
    changed = hooks.install(agent, run.environ, _command(run, agent))
    said = messages.say("hooks.installed" if changed else "hooks.unchanged", path=path)
    return Outcome({"path": str(path), "changed": changed}, [[(said, "")]])


def status(run: Run, agent: OneAgent = "") -> Outcome:
    """Which agents have the hooks; one that is named, or all."""
    from nebula import hooks

    if agent:
        _host(agent)
    found = {name: hooks.status(name, run.environ) for name in hooks.HOSTS if agent in ("", name)}
    said = [f"{name:<12} {messages.say('hooks.on' if on else 'hooks.off')}" for name, on in found.items()]
    return Outcome({"agents": found}, [[(line, "")] for line in said])


def remove(run: Run, agent: Agent) -> Outcome:
    """Take the hooks out again; the file is as it was before."""
    from nebula import hooks

    path = _host(agent).path(run.environ)
    changed = hooks.remove(agent, run.environ)
    said = messages.say("hooks.removed" if changed else "hooks.none", path=path)
    return Outcome({"path": str(path), "changed": changed}, [[(said, "")]])


def run_(run: Run, agent: Agent) -> Outcome:
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
