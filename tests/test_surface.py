"""Surfacing on a real mind: the night's candidate, the gates, and what an answer does."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from nebula import night, surface
from nebula.errors import LockedTooLong, NotSurfaced, WriteFailed
from nebula.mind import Mind
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 5, 1, 22, 5)
TEXT = "灯塔的看守换人了"


def opened(folder: Path, hours: float = 0) -> Mind:
    mind = Mind(folder, now=lambda: NOW + timedelta(hours=hours))
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An old important memory, which the night nominates."""
    opened(tmp_path, -24 * 2000).add(TEXT, imp=0.9)
    opened(tmp_path, -24 * 2000).add("没什么要紧的", imp=0.1)
    done = night.consolidate(opened(tmp_path))
    assert done.plan.nominated == "n1"
    return tmp_path


def test_in_its_context_it_surfaces_once_a_session(folder: Path) -> None:
    """All gates open, and it is written down; the same session again is too often, and it has to cool down."""
    found = surface.surface(opened(folder, 1), TEXT, "s1")
    assert found.open
    again = surface.surface(opened(folder, 2), TEXT, "s1")
    assert [gate.name for gate in again.gates if not gate.open] == ["cooldown", "frequency"]
    later = surface.surface(opened(folder, 24 * 8), TEXT, "s1")
    assert [gate.name for gate in later.gates if not gate.open] == ["frequency"]
    assert surface.surface(opened(folder, 24 * 8), TEXT, "s2").open


def test_of_several_at_once_one_tells_it(folder: Path) -> None:
    """As prompts of one session that come together: each looks while the gates are open, one alone tells."""
    ready = threading.Barrier(6)

    def told(_: int) -> bool:
        mind = opened(folder, 1)
        ready.wait()
        return "surfaced" in mind.context(TEXT, session="s1").shown

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(told, range(6))) == 1
    assert (folder / "changes.jsonl").read_bytes().count(b'"surfaced"') == 1
    assert not surface.claim(opened(folder, 1), opened(folder, 1).get("n1"), "s1")


def test_what_can_t_be_written_down_is_told_all_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But not while another holds the lock: that one may be telling it."""
    for error, shown in ((WriteFailed(folder, "full"), True), (LockedTooLong(folder, 1.0), False)):

        def failing(*_: object, error: Exception = error) -> bool:
            raise error

        monkeypatch.setattr(surface, "claim", failing)
        told = opened(folder, 1).context(TEXT, session="s1")
        assert ("surfaced" in told.shown) is shown
        assert [notice.code for notice in told.notices if notice.code == "not_touched"] == ["not_touched"][: int(shown)]


def test_without_a_context_it_stays_below(folder: Path) -> None:
    """Only relevance is shut, and nothing is written."""
    before = (folder / "changes.jsonl").read_bytes()
    found = surface.surface(opened(folder, 1))
    assert [gate.name for gate in found.gates if not gate.open] == ["relevance"]
    assert (folder / "changes.jsonl").read_bytes() == before


def test_no_feeds_the_utility_gate(folder: Path) -> None:
    """Raised three times and never taken up: shut; taken up once: open again."""
    for week in range(3):
        assert surface.surface(opened(folder, 24 * 8 * week + 1), TEXT, f"s{week}").open
        surface.answer(opened(folder, 24 * 8 * week + 2), "n1", taken=False)
    shut = surface.surface(opened(folder, 24 * 32), TEXT, "s9")
    assert [gate.name for gate in shut.gates if not gate.open] == ["utility"]
    surface.answer(opened(folder, 24 * 33), "n1", taken=True)
    assert surface.surface(opened(folder, 24 * 34), TEXT, "s9").open


def test_in_vain_another_is_nominated(folder: Path) -> None:
    """It is still the important one that comes first, until it cools down."""
    surface.surface(opened(folder, 1), TEXT, "s1")
    assert night.consolidate(opened(folder, 24)).plan.nominated == "n2"
    assert night.consolidate(opened(folder, 24 * 9)).plan.nominated == "n1"


def test_an_answer_to_what_never_surfaced(folder: Path) -> None:
    with pytest.raises(NotSurfaced):
        surface.answer(opened(folder, 1), "n2", taken=True)


def test_no_night_no_candidate(tmp_path: Path) -> None:
    opened(tmp_path).add(TEXT)
    assert surface.surface(opened(tmp_path), TEXT).memory is None


def test_a_candidate_that_was_replaced_is_none(folder: Path) -> None:
    opened(folder, 1).add("灯塔没有看守了", supersedes="n1")
    assert surface.surface(opened(folder, 2), TEXT).memory is None
