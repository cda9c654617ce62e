"""R13: folders of the predecessor open unchanged, unknown fields survive; R14: clocks that go wrong."""

from __future__ import annotations

import math
import random
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from nebula import maps, night, outlook
from nebula.life import forgetting
from nebula.mind import Mind
from tests.invented import DrawnEncoder
from tests.torture.harness import copy, full, inside, ledgers, only_grown, tree

if TYPE_CHECKING:
    from collections.abc import Callable

    Record = Callable[[str, object], None]

ORIGINAL = Path(__file__).parents[1] / "data" / "original"
READING: tuple[tuple[str, ...], ...] = (
    ("recall", "海", "--no-touch"), ("list",), ("show", "n1"), ("log",), ("stats",), ("forecast",), ("mood",),
    ("promises",), ("doctor",), ("map", "-o", "-"), ("sky",), ("longterm", "show"),
    ("consolidate", "--plan"), ("config", "list"),
)  # fmt: skip
WRITING: tuple[tuple[str, ...], ...] = (
    ("add", "新的一条"), ("recall", "海"), ("pin", "n1"), ("tag", "n1", "海"), ("edit", "n2", "改过的一条"),
    ("set", "n1", "imp=0.9"), ("consolidate",), ("undo",), ("mood", "feel", "sad", "0.4"),
    ("config", "set", "recall.k", "13"), ("doctor", "--repair"),
)  # fmt: skip


def test_a_folder_of_the_first_version(tmp_path: Path, record_property: Record) -> None:
    """Every reading command leaves each byte; every writing one only adds lines; unknown keys of the settings stay."""
    folder = copy(ORIGINAL, tmp_path / "mind")
    with (folder / "notes.jsonl").open("ab") as file:
        file.write(
            orjson.dumps({"id": 900, "at": "2026-01-01", "text": "带着别的字段", "theirs": {"a": [1, 2]}}) + b"\n"
        )
        file.write(b'{"kind":"unknown","of":"another program"}\n')
    before = tree(folder)
    for argv in READING:
        code, _, said = inside(folder, *argv)
        assert code in (0, 1), (argv, said)
        assert "Traceback" not in said
        assert tree(folder) == before, argv
    held = ledgers(folder)
    config = orjson.loads((folder / "mind-config.json").read_bytes())
    for argv in WRITING[:-1]:
        code, _, said = inside(folder, *argv)
        assert code == 0, (argv, said)
        assert only_grown(folder, held), argv
    kept = orjson.loads((folder / "mind-config.json").read_bytes())
    assert {
        name: value for name, value in config.items() if name in kept and name not in {"recall", "K"}
    }.items() <= kept.items()
    assert inside(folder, *WRITING[-1])[0] in (0, 1)
    assert Mind(folder).get("n900").extra["theirs"] == {"a": [1, 2]}
    record_property("commands on a folder of the first version", len(READING) + len(WRITING))


def test_a_writer_that_rewrites_would_be_seen(tmp_path: Path) -> None:
    """The control: one field written back into its line, and the bytes are no longer those."""
    folder = copy(ORIGINAL, tmp_path / "mind")
    held = ledgers(folder)
    rows = [orjson.loads(line) for line in held["notes.jsonl"].splitlines()]
    (folder / "notes.jsonl").write_bytes(b"".join(orjson.dumps({**row, "hits": 1}) + b"\n" for row in rows))
    assert not only_grown(folder, held)


MOMENTS = (
    "1970-01-01T00:00:00", "0001-01-01T00:00:00", "2026-03-29T02:30:00", "2026-10-25T02:30:00", "2038-01-19T03:14:08",
    "9999-12-31T23:59:59", "2024-02-29T12:00:00", "2026-11-01T01:30:00", "2026-05-01T09:00:00",
)  # fmt: skip


def lived(folder: Path, draw: random.Random) -> None:
    """One step at a moment that comes after no other: write, recall, sleep, draw, look ahead."""
    at = datetime.fromisoformat(draw.choice(MOMENTS))
    if 1 < at.year < 9999:
        at += timedelta(minutes=draw.randint(-3000, 3000))
    mind = Mind(folder, now=lambda: at)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    mind.add(f"灯塔看守 {draw.random()}", imp=draw.choice([0.0, 0.5, 1.0]))
    for hit in mind.recall("灯塔看守", n=20, explain=True).hits:
        assert math.isfinite(hit.score)
        assert hit.score >= 0
    if draw.random() < 0.4:
        night.consolidate(mind)
        maps.sky(mind)
        outlook.promises(mind)
        mind.mood()
    listed = mind.list(n=None).memories
    ids = [memory.id for memory in mind.store.read("notes").memories]
    assert ids == list(range(1, len(ids) + 1))
    assert listed == sorted(listed, key=lambda memory: (memory.seconds, memory.id), reverse=True)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York", "Asia/Shanghai", "Pacific/Apia"])
@pytest.mark.parametrize("steps", [3, full(60)])
def test_clocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Record, zone: str, steps: int
) -> None:
    """Back, through the changes of summer time, 1970, 2038, 9999, year 1: no exception, ids in file order."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    draw = random.Random(zone)
    try:
        for _ in range(steps):
            lived(tmp_path, draw)
    finally:
        monkeypatch.undo()
        time.tzset()
    record_property(f"{zone}: moments in no order", f"{steps}, 0 exceptions")


def _bare(age: float, half: float) -> Any:
    return (1.0 + age / max(0.1, half / 3.0)) ** -0.5


def test_ages_below_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Record) -> None:
    """The control: the bare formula without its floors divides by zero, or is no number that can be compared."""
    monkeypatch.setattr(forgetting, "age_days", lambda now, at: (now - at) / 86_400)
    monkeypatch.setattr(forgetting, "retention", _bare)
    draw, failed = random.Random(1), 0
    for _ in range(12):
        try:
            lived(tmp_path, draw)
        except (TypeError, ZeroDivisionError, ValueError):
            failed += 1
    record_property("control, floors off: exceptions", failed)
    assert failed > 0
