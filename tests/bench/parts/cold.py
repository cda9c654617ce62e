"""Cold processes: recall, context, add, subject search and --help against an interpreter that imports numpy and typer.

`add` writes to the minds that `recall` reads, a text a round. `--nearest` shows hits whatever the floor says, so every
recall does the same work. A round's order is drawn anew: no command always follows the same other one.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from tests.bench.parts import minds
from tests.bench.parts.timing import Row, compiled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FLOOR = '`python -c "import numpy, typer"`'
TYPER = '`python -c "import typer"`'
CHANGES = 1_000_000
CHANGED = ", a million lines of changes"
_CHILD = "import sys; from tests.bench.parts import cold; cold.made(sys.argv[1], *map(int, sys.argv[2:]))"
SAID = "今天把灯塔的旧零件又清点了一遍，第#号齿轮少了一个"
#: The size that larger ones are held against.
MIDDLE = 10_000


def rows(folder: Path, sizes: Sequence[int], rounds: int) -> Iterator[Row]:
    """All commands of all sizes in the same rounds."""
    compiled()
    middle = MIDDLE if MIDDLE in sizes else sizes[0]
    # in a process of its own: the system counts a parent's memory as its children's peak
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    making = [sys.executable, "-c", _CHILD, str(folder), *map(str, [middle, *sizes])]
    subprocess.run(making, check=True, env=environ)
    commands = _commands(folder, sizes, middle)
    taken, peak = _measured(commands, rounds)
    for name, values in taken.items():
        to = TYPER if "--help" in name else FLOOR
        yardstick = 0.0 if name in {FLOOR, TYPER} else median(taken[to])
        yield Row(f"{name}, peak {peak[name]} MB", values, "ms", to if yardstick else "", yardstick)
    pairs = [(f"cold `recall`, {size:,}", f"cold `recall`, {middle:,}") for size in sizes if size > middle]
    pairs += [(f"cold `{name}`, {size:,}", f"cold `recall`, {size:,}") for name in ("add", "context") for size in sizes]
    pairs += [(f"cold `recall`, {middle:,}{CHANGED}", f"cold `recall`, {middle:,}")]
    for name, other in pairs:
        yield Row(f"{name}: time", [median(taken[name]) / median(taken[other])], "×", other)


def made(folder: str, middle: int, *sizes: int) -> None:
    """Make every mind that is not there yet."""
    for size in sizes:
        minds.mind(Path(folder), size)
    _with_changes(Path(folder), middle)


def _commands(folder: Path, sizes: Sequence[int], middle: int) -> dict[str, list[str]]:
    """What is run, by name; `#` stands for the round's number."""
    program = str(Path(sys.executable).parent / "nebula")
    now = ["--now", minds.NOW.isoformat()]
    recall = [program, "recall", "--nearest", *now, minds.QUERIES[0], "--mind"]
    commands = {FLOOR: [sys.executable, "-c", "import numpy, typer"], TYPER: [sys.executable, "-c", "import typer"]}
    commands["cold `--help`"] = [program, "--help"]
    for size in sizes:
        mind = str(minds.mind(folder, size))
        commands[f"cold `recall`, {size:,}"] = [*recall, mind]
        context = [program, "context", "--query", minds.QUERIES[0], *now, "--mind", mind]
        commands[f"cold `context`, {size:,}"] = context
        commands[f"cold `add`, {size:,}"] = [program, "add", SAID, *now, "--mind", mind]
    commands[f"cold `recall`, {middle:,}{CHANGED}"] = [*recall, str(_with_changes(folder, middle))]
    project = ["--project", str(_subject(folder, program))]
    commands["cold `subject search`, 200 events"] = [program, "subject", "search", "艾琳娜", minds.QUERIES[0], *project]
    return commands


def _measured(commands: Mapping[str, list[str]], rounds: int) -> tuple[dict[str, list[float]], dict[str, int]]:
    """Milliseconds of each command, all of them once a round, and its greatest memory in MB.

    A round before the first warms up.
    """
    taken: dict[str, list[float]] = {name: [] for name in commands}
    peak = dict.fromkeys(commands, 0)
    draw, begun = random.Random(5), int(time.time())
    for turn in range(rounds + 1):
        for name, command in draw.sample(sorted(commands.items()), len(commands)):
            words = [word.replace("#", str(begun + turn)) for word in command]
            started = time.perf_counter()
            used = _run(words)
            if turn:
                taken[name].append(1000 * (time.perf_counter() - started))
                peak[name] = max(peak[name], used)
    return taken, peak


def _run(command: list[str]) -> int:
    """Run it to its end, what it prints thrown away; -> its peak memory in MB. A recall may find nothing (exit 1)."""
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        streams = [(os.POSIX_SPAWN_DUP2, nothing, descriptor) for descriptor in (0, 1, 2)]
        child = os.posix_spawn(command[0], command, os.environ, file_actions=streams)
        _, status, used = os.wait4(child, 0)
    finally:
        os.close(nothing)
    if os.waitstatus_to_exitcode(status) not in ({0, 1} if "recall" in command else {0}):
        raise AssertionError(f"{command} ended with {status}")
    return used.ru_maxrss // 1024


def _with_changes(folder: Path, size: int) -> Path:
    """A mind of that size that was recalled a million times, folded."""
    at = folder / f"changed-{size}"
    if not at.exists():
        shutil.copytree(minds.mind(folder, size), at)
        line = '{"at":"2026-05-01T09:00:00","hit":["n%d","n%d"]}\n'
        with (at / "changes.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(line % (1 + number % size, 1 + number * 7 % size) for number in range(CHANGES))
        minds.drawing(at).build()
    return at


def _subject(folder: Path, program: str) -> Path:
    """A project with one character who lived 200 events."""
    project = folder / "project"
    if not project.exists():
        place = ["艾琳娜", "--project", str(project)]
        events = "".join(f'{{"text": "{text}"}}\n' for text in minds.texts(200))
        subprocess.run([program, "subject", "init", *place], check=True, capture_output=True)
        event = [program, "subject", "event", *place, "--jsonl"]
        subprocess.run(event, check=True, capture_output=True, input=events.encode())
    return project
