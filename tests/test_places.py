"""Which rule decides where a mind lies (spec 9)."""

from __future__ import annotations

from pathlib import Path

from nebula import places


def test_the_rules_in_their_order(tmp_path: Path) -> None:
    """--mind, NEBULA_MIND, NEBULA_HOME/memory, the original's place where it exists, the platform's."""
    environ = {"HOME": str(tmp_path), "NEBULA_MIND": "/a", "NEBULA_HOME": "/b"}
    old = tmp_path / ".dsh" / "nebula-mind" / "memory"
    old.mkdir(parents=True)
    assert places.decide(environ, Path("/c")) == places.Place(Path("/c"), "--mind")
    assert places.decide(environ) == places.Place(Path("/a"), "NEBULA_MIND")
    del environ["NEBULA_MIND"]
    assert places.decide(environ) == places.Place(Path("/b/memory"), "NEBULA_HOME")
    del environ["NEBULA_HOME"]
    assert places.decide(environ) == places.Place(old, "original")
    old.rmdir()
    assert places.decide(environ) == places.Place(places.platform_default(), "platform")


def test_other_minds_are_those_with_a_ledger(tmp_path: Path) -> None:
    """A folder is a mind when a ledger lies there; the chosen one is not named."""
    environ = {"HOME": str(tmp_path), "NEBULA_HOME": str(tmp_path / "b")}
    folder = tmp_path / "b" / "memory"
    folder.mkdir(parents=True)
    assert places.other_minds(environ, tmp_path) == []
    (folder / "tacts.jsonl").touch()
    assert places.other_minds(environ, tmp_path) == [folder]
    assert places.other_minds(environ, folder) == []
