"""The mood on the command line, and in a memory and a recall."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nebula.mindlib.record import EMOTIONS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Nebula

NOW = ("--now", "2026-05-01T09:00:00")
LATER = ("--now", "2026-05-01T10:00:00")


def test_calm_ground_first(nebula: Nebula) -> None:
    """Everything is at rest: 50, no dominant dimension, transmitters at 50; nothing is written by looking."""
    data = nebula("mood", "--json", *NOW).data
    assert (data["value"], data["label"], data["source"], data["stale"]) == (50.0, "", "builtin", False)
    assert set(data["dims"].values()) == {0.0}
    assert set(data["transmitters"].values()) == {50.0}
    assert data["expression"] == {"rate": 0.5, "volume": 0.5, "clinginess": 0.4, "distance": 0.3}
    assert "平静的底色" in nebula("mood", *NOW).out


def test_feel_then_look(nebula: Nebula) -> None:
    felt = nebula("mood", "feel", "开心", "0.8", "--why", "收到信", "--json", *NOW).data
    # no gain at rest: surface 0.8, underlying 0.24, shown 0.65 · 0.8 + 0.35 · 0.24
    assert felt["surface"]["happy"] == pytest.approx(0.8)
    assert felt["underlying"]["happy"] == pytest.approx(0.24)
    assert felt["dims"]["happy"] == pytest.approx(0.604)
    assert felt["value"] == pytest.approx(80.2)
    assert (felt["label"], felt["reason"]) == ("happy", "收到信")
    shown = nebula("mood", *NOW).out
    for word in ("80 ", "开心", "[builtin]", "语速", "黏人度", "多巴胺", "皮质醇", "收到信"):
        assert word in shown
    # an hour later: 35 % by half, 65 % gone in 20 half-lives of 3 minutes
    later = nebula("mood", "--json", *LATER).data
    assert later["dims"]["happy"] == pytest.approx(0.604 * (0.65 * 2**-20 + 0.35 / 2))


def test_what_is_no_feeling_is_refused(nebula: Nebula) -> None:
    for words in (("rage", "0.5"), ("happy", "2"), ("happy", "-1"), ("happy", "nan"), ("happy",), ("happy", "much")):
        said = nebula("mood", "feel", *words, *NOW)
        assert said.code == 2, words
        assert said.err
        assert "Traceback" not in said.err
    assert nebula("mood", "history", "--json", *NOW).data["history"][-1]["value"] == 50.0


def test_read(nebula: Nebula) -> None:
    data = nebula("mood", "read", "我很难过，也有点担心", "--json").data
    assert data == {
        "dims": {"worry": 0.36, "sad": 0.78},
        "words": ["难过", "担心"],
        "dominant": "sad",
        "strength": 0.78,
    }
    assert nebula("mood", "read", "-", given=b"not sad\n").code == 1
    assert "难过" in nebula("mood", "read", "-", given="难过\n".encode()).out


def test_history(nebula: Nebula) -> None:
    nebula("mood", "feel", "sad", "0.9", *NOW)
    data = nebula("mood", "history", "--since", "2026-05-01T08:00:00", "--json", *LATER).data["history"]
    assert data[0]["at"] == "2026-05-01T08:00:00"
    assert data[-1]["at"] == "2026-05-01T10:00:00"
    assert data[0]["value"] == 50.0
    assert data[-1]["value"] < 50.0
    shown = nebula("mood", "history", "--since", "2026-05-01T08:00:00", *LATER).out
    assert "难过" in shown
    assert "▃" in shown or "▄" in shown or "▅" in shown


def test_scan_then_source(nebula: Nebula, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A local mood file is found, its map guessed; set as the source it colours what is shown, without hormones."""
    home = tmp_path / "someone"
    path = home / ".dsh" / "moods.json"
    path.parent.mkdir(parents=True)
    document = {"moods": {"default": {"mood": 20, "dims": {"sad": 0.7, "happy": 0.1}}}}
    path.write_text(json.dumps(document), encoding="utf-8")
    monkeypatch.setenv("HOME", str(home))
    assert "$.moods.default.mood" in nebula("mood", "scan").out
    found = nebula("mood", "scan", "--json").data["found"]
    assert [one["path"] for one in found] == [str(path)]
    maps = [word for name, where in found[0]["map"].items() for word in ("--map", f"{name}={where}")]
    set_ = nebula("mood", "source", "file", found[0]["path"], *maps, "--json", *NOW).data
    assert (set_["value"], set_["dims"]["sad"], set_["label"], set_["source"]) == (20.0, 0.7, "sad", "file:moods.json")
    assert (set_["transmitters"], set_["surface"], set_["underlying"]) == ({}, {}, {})
    assert "多巴胺" not in nebula("mood", *NOW).out
    path.unlink()
    lost = nebula("mood", "--json", *LATER).data
    assert (lost["value"], lost["stale"]) == (20.0, True)
    added = nebula("add", "渡轮七点开", *LATER)
    assert added.code == 0
    assert "moods.json" in added.err
    assert nebula("recall", "难过的时候坐渡轮", *LATER).code == 0
    back = nebula("mood", "source", "builtin", "--json", *LATER).data
    assert (back["source"], back["stale"]) == ("builtin", False)


def test_source_is_refused_where_it_says_nothing(nebula: Nebula) -> None:
    for words in (("file",), ("http",), ("builtin", "x"), ("radio", "x"), ("file", "x", "--map", "mood")):
        assert nebula("mood", "source", *words).code == 2, words


def test_into_memory(nebula: Nebula) -> None:
    """The mood is kept with a memory, the lexicon gives it a colour, hormones weigh on it and say so."""
    for _ in range(3):
        nebula("mood", "feel", "难过", "1", *NOW)
    # cortisol lags 15 minutes
    nebula("add", "今天特别难过", "--now", "2026-05-01T09:20:00")
    data = nebula("show", "n1", "--json", *LATER).data["memories"][0]
    assert (data["emo"], data["e"]) == ("sad", 0.78)
    assert data["mood"]["value"] < 50
    assert data["mood"]["dims"]["sad"] > 0.15
    level = nebula("mood", "--json", "--now", "2026-05-01T09:20:00").data["transmitters"]["cortisol"]
    assert level > 50
    factor = 1 + 0.15 * (level - 50) / 50
    plain = 4 * (1 + 0.5 * 0.78)  # he said it
    assert data["w"] == pytest.approx(plain * factor, abs=1e-3)
    assert f"激素×{factor:.2f}"[:5] in data["w_why"]


def test_help_names_the_seven(nebula: Nebula) -> None:
    shown = nebula("mood", "feel", "--help").out
    assert all(name in shown for name in EMOTIONS)
