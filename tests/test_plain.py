"""Without numpy everything works but the dense route (spec 9), and what it writes stays valid for a run with it.

Also run by `.ci/run` with numpy really hidden, where the second half of each test's story can't be told.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nebula import places
from nebula.cli import main
from nebula.doctor import examine
from nebula.index import has_numpy
from nebula.mind import Mind

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent


def installed() -> bool:
    """Whether numpy is there when it is not hidden."""
    spec = importlib.util.find_spec("numpy")
    return spec is not None and "hidden" not in str(spec.origin)


@pytest.fixture
def hidden() -> Iterator[pytest.MonkeyPatch]:
    """numpy can't be imported until `undo`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "numpy", None)  # what makes an import fail
        yield patch


def test_words_and_graph_answer(hidden: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Lexical finds the word, the graph its neighbour by category; no dense rank; a notice says so."""
    assert not has_numpy()
    mind = Mind(tmp_path / "plain", now=lambda: datetime(2026, 12, 1))
    added = mind.add("我下个月要搬去青岛", tag="家")
    mind.add("明天晚上吃饺子", tag="家")
    assert [notice.code for notice in added.notices] == ["dense_off"]
    assert [hit.memory.ref for hit in mind.recall("青岛").hits] == ["n1"]  # by default the graph finds nothing
    found = mind.under({"recall.w_graph": 0.15}).recall("青岛")
    assert [hit.memory.ref for hit in found.hits] == ["n1", "n2"]
    assert found.hits[0].routes.keys() == {"lexical", "graph"}
    assert found.hits[1].routes.keys() == {"graph"}
    assert [notice.code for notice in found.notices] == ["dense_off"]
    hidden.undo()


def test_doctor_warns_and_names_the_next_step(hidden: pytest.MonkeyPatch, tmp_path: Path) -> None:
    report = examine(places.Place(tmp_path / "plain", "--mind"), os.environ, now=lambda: datetime(2026, 12, 1))
    hidden.undo()
    meaning = report.checks[3]
    assert (meaning.name, meaning.status, report.ok) == ("meaning", "warn", True)
    assert "pip install numpy" in meaning.hint
    assert meaning.facts["dead"] == []


def test_commands_work(hidden: pytest.MonkeyPatch) -> None:
    """Every everyday command does its work."""
    everyday = (["add", "渡轮早上六点开"], ["recall", "渡轮"], ["list"], ["show", "n1"], ["pin", "n1"], ["doctor"])
    assert [main(argv) for argv in everyday] == [0] * len(everyday)


@pytest.mark.process
def test_build_says_that_numpy_is_missing(tmp_path: Path) -> None:
    """Exit 4 and the install line; a fresh process, so that no module is loaded beforehand."""
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text('raise ImportError("hidden for this test")')
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "nebula", "embed", "--build"]
    done = subprocess.run(command, env=env, capture_output=True, timeout=60, check=False)
    assert done.returncode == 4
    assert "pip install numpy" in done.stderr.decode()


@pytest.mark.skipif(not installed(), reason="needs numpy in its second half")
def test_what_was_written_without_is_found_with(hidden: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """S10: the gap is counted, filled by build alone, and then found by meaning."""
    mind = Mind(tmp_path / "mind", now=lambda: datetime(2026, 12, 1))
    mind.add("我下个月要搬去青岛")
    hidden.undo()
    assert (mind.peek().present, mind.peek().total) == (0, 1)
    assert mind.build().embedded == 1
    assert "dense" in mind.recall("搬家去海边城市").hits[0].routes
