"""Looking ahead: thresholds by their figures, promises by due date, growth."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from nebula import amend, clock, outlook
from nebula.errors import UnknownRef
from nebula.life import forgetting
from nebula.mind import Mind
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 5, 1, 9)


def opened(folder: Path, days: float = 0) -> Mind:
    mind = Mind(folder, now=lambda: NOW + timedelta(days=days))
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


@pytest.mark.parametrize(("a", "half", "days"), [(0.5, 30, 30), (0.55, 30, 23.06), (0.25, 60, 300), (1.0, 60, 0)])
def test_age_at_is_the_inverse(a: float, half: float, days: float) -> None:
    assert forgetting.age_at(a, half) == pytest.approx(days, abs=0.01)
    assert forgetting.retention(forgetting.age_at(a, half), half) == pytest.approx(a)


def test_every_crossing_of_one(tmp_path: Path) -> None:
    """imp 0.5, H = 60: below .55 after 46.1 days, .25 after 300, .18 after 597.3; before it A is still above."""
    opened(tmp_path).add("渡轮早上六点开", imp=0.5)
    found = outlook.forecast(opened(tmp_path), ["n1"])
    days = [(datetime.fromisoformat(c.at) - NOW) / timedelta(days=1) for c in found]
    assert [c.layer for c in found] == [2, 3, 4]
    assert days == pytest.approx([46.12, 300, 597.28], abs=0.01)
    for crossing, threshold in zip(found, (0.55, 0.25, 0.18), strict=True):
        age = (datetime.fromisoformat(crossing.at) - NOW) / timedelta(days=1)
        assert forgetting.retention(age, 60) < threshold
        assert forgetting.retention(age - 2 / 86_400, 60) >= threshold


def test_within_days_the_soonest_first(tmp_path: Path) -> None:
    """H = 30 crosses after 23 days, H = 60 after 46; a fixed star never."""
    mind = opened(tmp_path)
    mind.add("重要些的", imp=0.5)
    mind.add("不重要的", imp=0.0)
    mind.add("恒星", imp=0.0, pinned=True)
    assert [c.memory.ref for c in outlook.forecast(opened(tmp_path), days=30)] == ["n2"]
    assert [c.memory.ref for c in outlook.forecast(opened(tmp_path), days=60)] == ["n2", "n1"]
    assert [c.memory.ref for c in outlook.forecast(opened(tmp_path, 100), days=300)] == ["n2", "n1"]
    with pytest.raises(UnknownRef):
        outlook.forecast(opened(tmp_path), ["n9"])


def test_a_promise_that_sinks_before_it_is_due(tmp_path: Path) -> None:
    """imp 0 reaches deep water on day 150: due a year ahead it is pointed out, due tomorrow not."""
    mind = opened(tmp_path)
    mind.add("明年交房租", ledger="promises", imp=0.0, due="2027-05-01")
    mind.add("明天还书", ledger="promises", imp=0.0, due="2026-05-02")
    early = {c.memory.ref: c.early for c in outlook.forecast(opened(tmp_path, 140), days=20)}
    assert early == {"o1": True, "o2": False}


class TestPromises:
    def fill(self, folder: Path) -> None:
        mind = opened(folder)
        for text, due in (("没有期限", ""), ("后天", "后天"), ("过期", "2026-04-28"), ("今天", "2026-05-01T20:00:00")):
            mind.add(text, ledger="promises", **({"due": due} if due else {}))

    def test_overdue_first_undated_last(self, tmp_path: Path) -> None:
        self.fill(tmp_path)
        found = outlook.promises(opened(tmp_path))
        assert [(p.memory.text, p.days) for p in found] == [("过期", -3), ("今天", 0), ("后天", 2), ("没有期限", None)]

    def test_kept_ones_leave_the_list(self, tmp_path: Path) -> None:
        self.fill(tmp_path)
        mind = opened(tmp_path)
        amend.change(mind, ["o3"], {"done_at": clock.write(NOW)}, "done")
        assert "过期" not in [p.memory.text for p in outlook.promises(mind)]
        assert [p.memory.done_at for p in outlook.promises(mind, done=True)].count("2026-05-01T09:00:00") == 1

    def test_a_due_date_that_can_not_be_read_is_kept_and_last(self, tmp_path: Path) -> None:
        """As an old folder may hold it."""
        (tmp_path / "promises.jsonl").write_text('{"id":1,"at":"2026-04-01T00:00:00","text":"某天","due":"等花开"}\n')
        assert [(p.memory.due, p.days) for p in outlook.promises(opened(tmp_path))] == [("等花开", None)]


def test_stats(tmp_path: Path) -> None:
    """What holds by ledger, layers, recalls, months."""
    mind = opened(tmp_path)
    mind.add("渡轮早上六点开", at="2026-03-05T00:00:00")
    mind.add("渡轮改到七点开了", supersedes="n1")
    mind.add("爱吃面", ledger="profile")
    mind.recall("面", n=1)
    found = outlook.stats(opened(tmp_path))
    assert (found.ledgers, found.layers, found.replaced) == ({"notes": 1, "profile": 1}, [0, 2, 0, 0, 0], 1)
    assert (found.hits, found.recalled, [m.ref for m in found.most]) == (1, 1, ["p1"])
    assert found.months == {"2026-03": 1, "2026-05": 2}
