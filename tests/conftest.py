"""No test can see a real mind, a real home, or the language and colours of whoever runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

_UNSET = ("NO_COLOR", "FORCE_COLOR", "NEBULA_HOME", "NEBULA_NOW", "COLUMNS", "LC_ALL", "LC_MESSAGES", "PYTHONIOENCODING")


@pytest.fixture(autouse=True)
def _isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("NEBULA_MIND", str(tmp_path / "mind"))
    monkeypatch.setenv("NEBULA_LANG", "zh")
    for name in _UNSET:
        monkeypatch.delenv(name, raising=False)
