"""The handwritten notes: every earlier text is kept, and nobody's change is overwritten unseen."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from nebula import longterm
from nebula.errors import ChangedMeanwhile, FileUnusable
from nebula.mind import Mind

if TYPE_CHECKING:
    from pathlib import Path


def opened(folder: Path) -> Mind:
    return Mind(folder, now=lambda: datetime(2026, 5, 1, 9))


def test_each_earlier_text_is_kept(tmp_path: Path) -> None:
    mind = opened(tmp_path / "mind")
    assert longterm.read(mind) == ""
    assert longterm.write(mind, "我住在青岛\n", "")
    assert longterm.write(mind, "我住在烟台\n", "我住在青岛\n")
    assert not longterm.write(mind, "我住在烟台\n", "我住在烟台\n")
    assert longterm.read(mind) == "我住在烟台\n"
    assert longterm.history(mind) == [("2026-05-01T09:00:00", "我住在青岛\n")]


def test_what_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    """House rule 13: the hash of what was read decides."""
    mind = opened(tmp_path)
    longterm.write(mind, "一\n", "")
    with pytest.raises(ChangedMeanwhile):
        longterm.write(mind, "二\n", "")
    assert longterm.read(mind) == "一\n"
    assert longterm.history(mind) == []


def test_unreadable(tmp_path: Path) -> None:
    (tmp_path / "longterm.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileUnusable):
        longterm.read(opened(tmp_path))
