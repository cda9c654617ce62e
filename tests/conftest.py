"""Every test has a home, a mind and a language of its own: nothing of the user's is read or written."""

from __future__ import annotations

import os
import sys
import tempfile
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from nebula import encoder, messages
from nebula.index import has_numpy

# as the command itself has it; test processes that share two processors lose most of their time to more
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from nebula.encoder.bert import Bert


@pytest.fixture(autouse=True, scope="session")
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Where no bytecode may lie beside the code, processes share a folder for it: compiling is most of their start."""
    if sys.dont_write_bytecode:
        mine = tmp_path_factory.getbasetemp()
        shared = mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(shared / "bytecode")


_homes = count()


@pytest.fixture(autouse=True)
def own_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh home; -> its folder."""
    number = next(_homes)
    home, temporary = (tmp_path_factory.getbasetemp() / "homes" / f"{kind}{number}" for kind in ("home", "temporary"))
    for folder in (home, temporary):  # mktemp would list thousands of others first
        folder.mkdir(mode=0o700, parents=True)
    for name in list(os.environ):
        if name.startswith(("NEBULA_", "XDG_")) or name in {"NO_COLOR", "FORCE_COLOR", "PAGER", "COLUMNS"}:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))  # reports of failures lie there, and are looked into
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))
    monkeypatch.setenv("NEBULA_MIND", str(home / "mind"))
    monkeypatch.setenv("NEBULA_LANG", "zh")
    monkeypatch.setenv("TERM", "xterm")
    messages.use("zh")
    return home


_open_encoder = encoder.open_encoder


class Kept:
    """A Bert that works a sequence of tokens out once: its vector depends on nothing else (tests/encoder)."""

    def __init__(self, bert: Bert) -> None:
        self._bert = bert
        self._held: dict[tuple[int, ...], Any] = {}

    def embed(self, sequences: Sequence[Sequence[int]]) -> Any:
        import numpy as np

        asked = [tuple(sequence) for sequence in sequences]
        fresh = [sequence for sequence in dict.fromkeys(asked) if sequence not in self._held]
        if fresh:
            self._held |= zip(fresh, self._bert.embed(fresh), strict=True)
        return np.array([self._held[sequence] for sequence in asked])


@cache
def _bundled(folder: Path, changed: tuple[int, ...], lowercase: bool) -> encoder.Encoder:
    opened = _open_encoder(lowercase=lowercase)
    opened._bert = Kept(opened._bert)  # type: ignore[assignment]
    return opened


@pytest.fixture(autouse=True)
def one_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundled encoder is opened once a process, not once a mind, and each text of the tests goes through it once.

    Processes of their own and tests/encoder have it as it is.
    """

    def opened(folder: Path | None = None, *, lowercase: bool = True, longest: int | None = None) -> encoder.Encoder:
        bundled = encoder.bundled_folder()
        if folder or longest or not has_numpy() or not bundled.is_dir():
            return _open_encoder(folder, lowercase=lowercase, longest=longest)
        changed = tuple(path.stat().st_mtime_ns for path in sorted(bundled.iterdir()))
        return _bundled(bundled, changed, lowercase)

    monkeypatch.setattr(encoder, "open_encoder", opened)


@pytest.fixture
def mind_dir(own_environment: Path) -> Path:
    """The mind that commands use; not there yet."""
    return own_environment / "mind"


@pytest.fixture
def lose_numpy(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it, and from then on `import numpy` fails; what was imported before keeps it."""
    return lambda: monkeypatch.setitem(sys.modules, "numpy", None)
