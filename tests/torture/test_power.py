"""R6: the power fails at any point of a life; what was promised is there, and readers never raise."""

from __future__ import annotations

import contextlib
import random
import shutil
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from nebula import longterm
from nebula.errors import NebulaError
from nebula.mind import Mind
from nebula.mindlib.store import Store
from nebula.subject import cast, records, saving
from nebula.subject.project import Project
from tests.invented import DrawnEncoder, sentence
from tests.torture import disk, guards
from tests.torture.harness import full

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Record = Callable[[str, object], None]

NOW = datetime(2026, 5, 1, 9)


def opened(folder: Path) -> Mind:
    mind = Mind(folder, now=lambda: NOW)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def life(folder: Path, rounds: int, *off: str) -> list[tuple[object, ...]]:
    """A life that writes by every way there is, each promise noted when the operation has returned."""
    draw = random.Random(3)
    recorder = disk.Recorder(folder)
    (folder / "mind").mkdir(parents=True)
    project = Project(folder / "p")
    with guards.off(*off), recorder.recording():
        cast.init(project, [cast.Part("a", events=[records.event({"text": "开学了"})])], NOW)
        for number in range(rounds):
            mind = opened(folder / "mind")
            text = sentence(draw) + f"第{number}条" + "长" * draw.choice([0, 0, 900])
            ref = mind.add(text).memories[0].ref
            recorder.said("memory", text)
            if number % 3 == 0:
                many = [{"text": sentence(draw) + f"第{number}批{at}"} for at in range(3)]
                mind.add_many(many)
                for one in many:
                    recorder.said("memory", one["text"])
            if number % 4 == 1:
                mind.recall("灯塔看守", n=3)
                mind.configure("recall.k", 10 + number)
                recorder.said("k", 10 + number)
            if number % 4 == 2:
                changed = f"改过的第{number}条"
                mind.add(changed, supersedes=ref)
                recorder.said("memory", changed)
                longterm.write(mind, f"长期笔记{number}\n", longterm.read(mind))
                recorder.said("longterm", f"长期笔记{number}\n")
            if number % 2:
                event = f"她说的第{number}句"
                change = {"op": "set", "topic": "林汐", "view": f"看法{number}"}
                with saving.held(project, "a", NOW) as actor:
                    saving.write(actor, saving.read_save({"events": [{"text": event}], "memory": [change]}))
                recorder.said("event", event)
                recorder.said("view", number)
    return recorder.log


def faults(folder: Path, promises: list[tuple[object, ...]], *, deep: bool) -> list[str]:
    """What of the promises does not hold, and what raises."""
    found = []
    memories = [memory.text for memory in Store(folder / "mind").read_all().memories]
    found += [f"lost: {text}" for kind, text in promises if kind == "memory" and memories.count(str(text)) != 1]
    least = {kind: value for kind, value in promises if kind in {"k", "view", "longterm"}}
    try:
        k = opened(folder / "mind").settings.recall.k
        found += [f"settings: {k}"] if k < least.get("k", 0) else []  # type: ignore[operator]
    except NebulaError as error:
        found.append(f"settings: {error}")
    if "longterm" in least and (folder / "mind" / "longterm.md").read_text("utf-8", "replace")[:4] != "长期笔记":
        found.append("long-term notes")
    events = [text for kind, text in promises if kind == "event"]
    if events:
        with saving.held(Project(folder / "p"), "a", NOW) as actor:
            lived = actor.lived()
        there = [event.text for event in lived.events]
        found += [f"lost: {text}" for text in events if there.count(str(text)) != 1]
        view = int(lived.views[0].view.removeprefix("看法")) if lived.views else -1
        found += [f"view: {view}"] if view < least.get("view", -1) else []  # type: ignore[operator]
    if deep and memories:
        hits = opened(folder / "mind").recall(memories[-1], n=50, touch=False).hits
        found += [] if memories[-1] in [hit.memory.text for hit in hits] else ["not found by its own text"]
    return found


def replay(log: list[tuple[object, ...]], folder: Path, every: int, deep: int) -> tuple[int, list[str]]:
    """Each `every`-th prefix of the log by each fate; -> how many states, and what was wrong in them."""
    found = []
    device, count, draw = disk.Disk(), 0, random.Random(7)
    for at, entry in enumerate(log):
        device.does(entry)
        if at % every:
            continue
        for fate in disk.FATES:
            place = folder / "state"
            shutil.rmtree(place, ignore_errors=True)
            (place / "mind").mkdir(parents=True)
            for name, data in device.state(fate, draw).items():
                path = place / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            count += 1
            try:
                wrong = faults(place, device.promises, deep=count % deep == 0)
            except Exception as error:
                wrong = [f"{type(error).__name__}: {error}"]
            found += [f"{fate} after {at} ({entry[:2]}): {one}" for one in wrong]
    return count, found


@pytest.mark.parametrize(("rounds", "every", "deep"), [(3, 8, 6), full(24, 2, 3)])
def test_power_loss(tmp_path: Path, record_property: Record, rounds: int, every: int, deep: int) -> None:
    """Every synced record is there once, replaced files are old or new, recall finds whatever its index is."""
    log = life(tmp_path / "life", rounds)
    count, wrong = replay(log, tmp_path, every, deep)
    record_property("states of a disk after a power loss", f"{count}, {len(wrong)} faults")
    assert wrong[:5] == []
    assert count >= (2000 if rounds > 4 else 100)


@pytest.mark.parametrize("guard", ["sync", "rename"])
def test_power_loss_without_guards(tmp_path: Path, record_property: Record, guard: str) -> None:
    """The controls: nothing synced, or files replaced in place; promises are broken."""
    with contextlib.suppress(NebulaError):
        log = life(tmp_path / "life", 4, guard)
    count, wrong = replay(log, tmp_path, 9, 10**9)
    record_property(f"control, {guard} off: faults", f"{len(wrong)} in {count} states")
    assert wrong
