"""Every test has a home, a mind and a language of its own: nothing of the user's is read or written."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from nebula import messages

# as the command itself has it; test processes that share two processors lose most of their time to more
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(autouse=True)
def own_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh home; -> its folder."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("NEBULA_", "XDG_")) or name in {"NO_COLOR", "FORCE_COLOR", "PAGER", "COLUMNS"}:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))
    monkeypatch.setenv("NEBULA_MIND", str(home / "mind"))
    monkeypatch.setenv("NEBULA_LANG", "zh")
    monkeypatch.setenv("TERM", "xterm")
    messages.use("zh")
    return home


@pytest.fixture
def mind_dir(own_environment: Path) -> Path:
    """The mind that commands use; not there yet."""
    return own_environment / "mind"


@pytest.fixture
def lose_numpy(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it, and from then on `import numpy` fails; what was imported before keeps it."""
    return lambda: monkeypatch.setitem(sys.modules, "numpy", None)
