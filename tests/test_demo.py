"""The demo: invented memories, asked through the real thing, and nothing left behind."""

from __future__ import annotations

import json
import os
import re
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from nebula import clock, demo, places
from nebula.cli import main
from nebula.mindlib.record import EMO_WORDS, LEDGERS, VIA_WORDS

NOW = datetime(2026, 12, 1, 12)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder for temporary files, empty."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_output_shows_all_three_routes(capfd: pytest.CaptureFixture[str], temporary: Path, tmp_path: Path) -> None:
    """Add, recall by a word, by meaning alone, with the explanation, and where to go on: at most 40 lines."""
    assert main(["demo"]) == 0
    out, err = capfd.readouterr()
    lines = out.splitlines()
    assert err == ""
    assert len(lines) <= 40
    assert {"词#", "义#", "图#"} <= set(re.findall("[词义图]#", out))
    assert [line.split(" ")[2] for line in lines if line.startswith("$")] == ["add", "recall", "recall", "recall"]
    asked = lines.index(f'$ nebula recall "{demo.QUERIES["meaning"]}" -n 2')
    assert all("义#" in line and "词#" not in line and "猫" in line for line in lines[asked + 1 : asked + 3])
    assert any(
        re.match(r" +(词|义) [0-9.]+ .*= [0-9.]+", line) or re.match(r" +(词|义) [0-9.]+ = ", line) for line in lines
    )
    assert "nebula doctor" in lines[-1]


def test_nothing_is_left_and_the_mind_is_not_touched(
    capfd: pytest.CaptureFixture[str], temporary: Path, tmp_path: Path
) -> None:
    """Neither the temporary folder nor a mind of the user's own: what did not exist does not exist after."""
    assert main(["demo", "--json"]) == 0
    data = json.loads(capfd.readouterr().out)["data"]
    assert list(data["recalled"]) == list(demo.QUERIES.values())
    assert data["memories"] == 25
    assert list(temporary.iterdir()) == []
    assert not Path(os.environ["NEBULA_MIND"]).exists()
    home = Path(os.environ["HOME"])
    assert not home.exists() or list(home.iterdir()) == []


def test_an_own_mind_keeps_its_bytes(capfd: pytest.CaptureFixture[str], temporary: Path) -> None:
    own = Path(os.environ["NEBULA_MIND"])
    assert main(["add", "渡轮早上六点开"]) == 0
    before = {path: path.read_bytes() for path in own.rglob("*") if path.is_file()}
    assert main(["demo"]) == 0
    assert {path: path.read_bytes() for path in own.rglob("*") if path.is_file()} == before


def test_memories_fill_all_six_ledgers(tmp_path: Path) -> None:
    """24 memories, all dated before now, a promise due after; three or four in English."""
    mind = demo.prepare(tmp_path / "demo", NOW)
    memories = mind.list(n=None).memories
    assert len(memories) == 24
    assert {memory.ledger for memory in memories} == {kind.name for kind in LEDGERS}
    assert all(NOW - timedelta(days=366) < clock.read("at", memory.at) < NOW for memory in memories)
    assert all(memory.due > clock.write(NOW) for memory in memories if memory.ledger == "promises")
    assert 3 <= sum(memory.text.isascii() for memory in memories) <= 4
    assert {memory.by for memory in memories} == {"demo"}


def test_memories_move_with_now(tmp_path: Path) -> None:
    """A demo a year later is the same demo: every date has moved by as much."""
    early = demo.prepare(tmp_path / "early", NOW).list(n=None).memories
    late = demo.prepare(tmp_path / "late", NOW + timedelta(days=365)).list(n=None).memories
    for one, other in zip(early, late, strict=True):
        assert (one.ref, one.text) == (other.ref, other.text)
        assert clock.read("at", other.at) - clock.read("at", one.at) == timedelta(days=365)


def test_asset_holds_known_words_only() -> None:
    """Every value is one that `add` documents, and no absolute date stands in the file."""
    text = (places.asset("demo-mind") / "memories.jsonl").read_text(encoding="utf-8")
    for obj in map(json.loads, text.splitlines()):
        assert obj.get("emo", "") in {"", *EMO_WORDS, *EMO_WORDS.values()}
        assert obj.get("via", "他说的") in VIA_WORDS.values()
        assert not {"at", "id", "uid", "w"} & obj.keys()
    assert not re.search(r"20\d\d-\d\d", text)


def test_same_now_same_output(capfd: pytest.CaptureFixture[str], temporary: Path) -> None:
    said = []
    for _ in range(2):
        assert main(["demo", "--now", "2026-12-01T12:00:00"]) == 0
        said.append(capfd.readouterr().out)
    assert said[0] == said[1]
