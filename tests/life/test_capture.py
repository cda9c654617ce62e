"""Synaptic tagging and capture, every figure of section 6, at its boundaries."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from nebula import clock, night
from nebula.life import capture
from nebula.life.capture import Arrival, Tag
from nebula.mind import Mind
from nebula.settings import CaptureSettings
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = CaptureSettings()
NOW = datetime(2026, 5, 1, 9)
T = clock.seconds(NOW)
HOUR = 3600


@pytest.mark.parametrize(("imp", "tagged"), [(0.0, True), (0.6199, True), (0.62, False), (1.0, False)])
def test_who_is_tagged(imp: float, tagged: bool) -> None:
    """Importance below 0.62."""
    assert capture.is_tagged(imp, SETTINGS) is tagged


@pytest.mark.parametrize(
    ("after", "shared", "caught"),
    [
        (0, 2, True),
        (2 * HOUR, 2, True),
        (2 * HOUR + 1, 2, False),
        (HOUR, 1, False),
        (HOUR, 3, True),
        (-1, 2, False),
    ],
)
def test_who_captures(after: int, shared: int, caught: bool) -> None:
    """Within 2 hours, both ends included, and with at least 2 keywords in common."""
    tag = Tag("n1", T, T + 2 * HOUR, ("灯塔", "看守", "渡轮", "潮汐"))
    found = capture.captured_by(T + after, ("灯塔", "看守", "渡轮")[:shared], [tag], (), SETTINGS)
    assert found == (["n1"] if caught else [])


def test_at_most_three_at_once_those_that_share_most_first() -> None:
    """Five are open: the one with three in common, then the latest; what was spent stays out."""
    keys = ("灯塔", "看守", "渡轮")
    tags = [Tag(f"n{n}", T + n, T + 2 * HOUR, keys[:2]) for n in range(1, 5)] + [Tag("n9", T, T + 2 * HOUR, keys)]
    assert capture.captured_by(T + HOUR, keys, tags, (), SETTINGS) == ["n9", "n4", "n3"]
    assert capture.captured_by(T + HOUR, keys, tags, ("n9", "n4"), SETTINGS) == ["n3", "n2", "n1"]


def test_a_tag_is_spent_by_its_capture() -> None:
    """Three of a kind: the second captures the first, the third the second; nothing is captured twice."""
    arrivals = [Arrival(f"n{n}", T + n, 0.5, ("灯塔", "看守")) for n in range(1, 4)]
    assert capture.captures(arrivals, [], (), SETTINGS) == [("n1", "n2"), ("n2", "n3")]


def test_strengthened() -> None:
    """× 1.12, and the reason is told."""
    assert capture.strengthened(4.0, "来源×4", 1.12) == {"w": 4.48, "w_why": "来源×4 捕获×1.12"}


def test_a_tag_near_the_end_of_time() -> None:
    """Two hours after the last moment that can be written there is nothing: the tag ends there."""
    assert capture.tag_line("n1", clock.LATEST, ["a"], SETTINGS)["until"] == "9999-12-31T23:59:59"


class TestInAMind:
    """The three files, as specified."""

    def add(self, folder: Path, text: str, minutes: float, **fields: Any) -> str:
        mind = Mind(folder, now=lambda: NOW + timedelta(minutes=minutes))
        mind._encoder = DrawnEncoder()  # type: ignore[assignment]
        return mind.add(text, **fields).memories[0].ref

    def lines(self, folder: Path, name: str) -> list[dict[str, object]]:
        path = folder / name
        return [orjson.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []

    def test_the_files(self, tmp_path: Path) -> None:
        """tags {at ref until keys}, captured {at ref by factor}, and the change of w with its reason."""
        self.add(tmp_path, "灯塔的看守换人了", 0)
        self.add(tmp_path, "灯塔看守养了一只猫", 119)
        tag = self.lines(tmp_path, "tags.jsonl")[0]
        assert {k: tag[k] for k in ("at", "ref", "until")} == {
            "at": "2026-05-01T09:00:00",
            "ref": "n1",
            "until": "2026-05-01T11:00:00",
        }
        assert {"灯塔", "看守"} <= set(tag["keys"])  # type: ignore[call-overload]
        caught = self.lines(tmp_path, "captured.jsonl")
        assert [(c["at"], c["ref"], c["by"], c["factor"]) for c in caught] == [
            ("2026-05-01T10:59:00", "n1", "n2", 1.12)
        ]
        memory = Mind(tmp_path).get("n1")
        assert (memory.w, memory.w_why, memory.captured) == (4.48, "来源×4 捕获×1.12", True)
        assert Mind(tmp_path).get("n2").w == 4.0

    def test_too_late_or_too_important(self, tmp_path: Path) -> None:
        """After two hours nothing; an important memory is not tagged, so never captured."""
        self.add(tmp_path, "灯塔的看守换人了", 0)
        self.add(tmp_path, "灯塔看守养了一只猫", 121, imp=0.62)
        self.add(tmp_path, "灯塔看守的猫不见了", 122)
        assert self.lines(tmp_path, "captured.jsonl") == []
        assert [tag["ref"] for tag in self.lines(tmp_path, "tags.jsonl")] == ["n1", "n3"]

    def test_recall_multiplies_by_it(self, tmp_path: Path) -> None:
        """× 1.12 after fusion, for the captured one alone."""
        self.add(tmp_path, "灯塔的看守换人了", 0)
        self.add(tmp_path, "灯塔看守养了一只猫", 5)
        hits = {hit.memory.ref: hit for hit in Mind(tmp_path, now=lambda: NOW).recall("灯塔看守", touch=False).hits}
        assert hits["n1"].factors["capture"] == 1.12
        assert hits["n2"].factors["capture"] == 1.0

    def test_what_was_undone_is_not_captured(self, tmp_path: Path) -> None:
        """Taking back the capturing add takes back the weight and the mark."""
        from nebula import amend

        self.add(tmp_path, "灯塔的看守换人了", 0)
        self.add(tmp_path, "灯塔看守养了一只猫", 5)
        amend.undo(Mind(tmp_path, now=lambda: NOW + timedelta(minutes=6)))
        memory = Mind(tmp_path).get("n1")
        assert (memory.w, memory.captured) == (4.0, False)

    @pytest.mark.parametrize("lost", ["tags.jsonl", "captured.jsonl"])
    def test_the_night_finishes_what_was_cut_short(self, tmp_path: Path, lost: str) -> None:
        """An add killed after its memory was written: its capture and its tag come with the night, once."""
        self.add(tmp_path, "灯塔的看守换人了", 0)
        self.add(tmp_path, "灯塔看守养了一只猫", 5)
        whole = {n: self.lines(tmp_path, n) for n in ("tags.jsonl", "captured.jsonl")}
        before = Mind(tmp_path).get("n1")
        for name in ("captured.jsonl", "changes.jsonl"):
            (tmp_path / name).unlink()
        tags = (tmp_path / "tags.jsonl").read_bytes().splitlines(keepends=True)
        (tmp_path / "tags.jsonl").write_bytes(tags[0])
        for minutes in (60, 61):
            mind = Mind(tmp_path, now=lambda minutes=minutes: NOW + timedelta(minutes=minutes))  # type: ignore[misc]
            mind._encoder = DrawnEncoder()  # type: ignore[assignment]
            night.consolidate(mind)
        after = Mind(tmp_path).get("n1")
        assert (after.w, after.w_why, after.captured) == (before.w, before.w_why, True)
        assert self.lines(tmp_path, lost) == whole[lost]

    def test_an_import_of_old_memories_captures_nothing(self, tmp_path: Path) -> None:
        """Memories of another time are nobody's fresh experience."""
        mind = Mind(tmp_path, now=lambda: NOW)
        mind._encoder = DrawnEncoder()  # type: ignore[assignment]
        mind.add_many([{"text": f"灯塔看守第{n}天", "at": "2026-04-01T09:00:00"} for n in range(3)])
        night.consolidate(mind)
        assert self.lines(tmp_path, "tags.jsonl") == []
        assert self.lines(tmp_path, "captured.jsonl") == []
