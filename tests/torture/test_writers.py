"""R1: many writers at once, ours and a foreign one; R2: writers killed while they write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.torture.harness import full, helper

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Record = Callable[[str, object], None]

pytestmark = pytest.mark.process

GOOD = {"writers that failed": 0, "bad lines": 0, "lost": 0, "twice": 0, "ids that repeat": 0, "gaps in ids": 0}
TOLD = ("acknowledged", "lost", "fragments")


def together(folder: Path, writers: int, records: int, size: int, mode: str, *guards: str) -> dict[str, Any]:
    found: dict[str, Any] = helper("writers", folder / "mind", writers, records, size, mode, *guards)
    return found


@pytest.mark.parametrize(
    ("writers", "records", "size"), [(8, 10, 180), (4, 5, 24_000), full(100, 50, 180), full(100, 20, 24_000)]
)
def test_writers_lose_nothing(tmp_path: Path, record_property: Record, writers: int, records: int, size: int) -> None:
    """Every record once and whole, ids without gap or repetition."""
    found = together(tmp_path, writers, records, size, "ids")
    record_property(f"{writers} × {records} of {size} B", f"{found['lost']} lost, {found['a second']}/s")
    assert {name: found[name] for name in GOOD} == GOOD


@pytest.mark.parametrize(("mode", "least"), [full("unsynced", 3000), full("synced", 300)])
def test_writers_are_fast_enough(tmp_path: Path, record_property: Record, mode: str, least: int) -> None:
    """100 × 50 lines of 180 B: a goal of 3,000 a second unsynced, 300 synced (the best of three on a busy machine)."""
    runs = [together(tmp_path / str(at), 100, 50, 180, mode) for at in range(3)]
    record_property(f"{mode} records a second", max(found["a second"] for found in runs))
    assert all(found["lost"] == found["bad lines"] == 0 for found in runs)
    assert max(found["a second"] for found in runs) >= least


@pytest.mark.parametrize(("writers", "records"), [(8, 20), full(100, 50)])
def test_without_the_lock_ids_repeat(tmp_path: Path, record_property: Record, writers: int, records: int) -> None:
    """The control: nobody waits, and two take the same id."""
    found = together(tmp_path, writers, records, 180, "ids", "lock")
    record_property("control, lock off: ids that repeat", found["ids that repeat"])
    assert found["ids that repeat"] > 0


@pytest.mark.parametrize(("writers", "records", "size"), [(8, 20, 180), full(100, 50, 180), full(100, 20, 24_000)])
def test_a_program_without_our_lock(
    tmp_path: Path, record_property: Record, writers: int, records: int, size: int
) -> None:
    """Half of the writers append valid lines by plain writes, knowing no lock: nothing is lost, ours or theirs."""
    found = together(tmp_path, writers, records, size, "foreign")
    record_property(f"half of {writers} writers foreign, {size} B: lost", found["lost"])
    assert {name: found[name] for name in GOOD if name != "gaps in ids"} == {
        name: 0 for name in GOOD if name != "gaps in ids"
    }


@pytest.mark.parametrize("size", [180, 60_000, 1_200_000])
@pytest.mark.parametrize("kills", [4, full(500)])
def test_killed_writers_lose_nothing_acknowledged(
    tmp_path: Path, record_property: Record, size: int, kills: int
) -> None:
    """SIGKILL after 2 to 20 ms: what was acknowledged is there once and whole; at most one fragment a kill."""
    found = helper("deaths", tmp_path, size, kills, 1, "random")
    record_property(f"{kills} kills at {size} B", ", ".join(f"{found[name]} {name}" for name in TOLD))
    assert found["lost"] == found["fragments beyond one a kill"] == 0
    assert found["acknowledged"] >= kills


@pytest.mark.parametrize("size", [60_000, 1_200_000])
@pytest.mark.parametrize("kills", [full(500)])
def test_killed_writers_without_the_newline_guard(
    tmp_path: Path, record_property: Record, size: int, kills: int
) -> None:
    """The control: a record after a torn one is glued to it and lost."""
    found = helper("deaths", tmp_path, size, kills, 1, "random", "newline")
    record_property(f"control, newline guard off, {size} B: lost", found["lost"])
    assert found["lost"] > 0


@pytest.mark.parametrize("size", [180, 60_000])
def test_torn_records_cost_themselves_only(tmp_path: Path, record_property: Record, size: int) -> None:
    """Deaths after a part of the bytes, every time; and the control, where each tear takes the next record along."""
    found = helper("deaths", tmp_path, size, 12, 1, "torn")
    assert found["lost"] == found["fragments beyond one a kill"] == 0
    assert found["fragments"] > 0
    without = helper("deaths", tmp_path, size, 12, 1, "torn", "newline")
    record_property(f"12 deaths in mid-write at {size} B: lost", f"{found['lost']} (guard off: {without['lost']})")
    assert without["lost"] > 0
