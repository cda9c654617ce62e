"""An agent and a person at a shell on one mind at the same time: nothing is lost, each finds what the other wrote."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from nebula.mind import Mind
from tests.invented import WORDS
from tests.mcp.conftest import ask, connected, environment

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process


@dataclass
class Shared:
    """What each wrote, in order, as (ref, text); how often something was looked for."""

    agent: list[tuple[str, str]] = field(default_factory=list)
    person: list[tuple[str, str]] = field(default_factory=list)
    looked: int = 0


def shell(mind: Path, *argv: str) -> str:
    """A command as a person types it, in a process of its own."""
    command = [sys.executable, "-m", "nebula", *argv]
    done = subprocess.run(command, capture_output=True, env=environment(mind), timeout=120, check=False, input=b"")
    assert (done.returncode, done.stderr) == (0, b""), done
    return done.stdout.decode()


def sentence(who: str, turn: int, draw: random.Random) -> str:
    """Told apart by its number; alike in its words."""
    return f"{who}{turn:04d}号 {draw.choice(WORDS)}和{draw.choice(WORDS)}"


async def agent(mind: Path, shared: Shared, turns: int, draw: random.Random) -> None:
    """Writes, and looks for the last thing that the person wrote; now and then replaces something of its own."""
    async with connected(mind) as session:
        for turn in range(turns):
            theirs = shared.person[-1] if shared.person else None
            if turn % 2 and theirs:
                found = await ask(session, "recall", query=theirs[1], limit=8)
                assert theirs[0] in [hit["ref"] for hit in found["hits"]], theirs
                shared.looked += 1
            else:
                text = sentence("agent", turn, draw)
                written = await ask(session, "remember", text=text)
                shared.agent.append((written["memory"]["ref"], text))


async def person(mind: Path, shared: Shared, turns: int, draw: random.Random) -> None:
    """The same from the shell."""
    for turn in range(turns):
        theirs = shared.agent[-1] if shared.agent else None
        if turn % 2 and theirs:
            found = json.loads(await asyncio.to_thread(shell, mind, "recall", theirs[1], "--json"))["data"]["hits"]
            assert theirs[0] in [hit["ref"] for hit in found], theirs
            shared.looked += 1
        else:
            text = sentence("person", turn, draw)
            ref = (await asyncio.to_thread(shell, mind, "add", text, "-q")).strip()
            shared.person.append((ref, text))


def together(mind: Path, operations: int, seed: int) -> None:
    """So many operations, half by either; then every one of them is accounted for."""
    shared, half = Shared(), operations // 2

    async def both() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(agent(mind, shared, half, random.Random(seed)))
            group.create_task(person(mind, shared, half, random.Random(seed + 1)))

    asyncio.run(both())
    written = shared.agent + shared.person
    assert len(written) + shared.looked == operations
    memories = Mind(mind).list(n=None).memories
    assert {memory.ref: memory.text for memory in memories} == dict(written)
    assert len(memories) == len(written)
    assert sorted(memory.by for memory in memories) == ["cli"] * len(shared.person) + ["mcp"] * len(shared.agent)
    lines: list[dict[str, Any]] = [
        json.loads(line) for line in (mind / "changes.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert sum("hit" in line for line in lines) == shared.looked
    assert shell(mind, "doctor", "--json")


def test_an_agent_and_a_person(mind_dir: Path) -> None:
    """The short form."""
    together(mind_dir, 16, seed=1)


@pytest.mark.torture
@pytest.mark.timeout(1800)
def test_an_agent_and_a_person_for_500_operations(mind_dir: Path) -> None:
    together(mind_dir, 500, seed=2)
