"""A project in a folder of the test's own."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from nebula.subject import recall
from nebula.subject.leaktest import Drawn
from nebula.subject.project import Project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = datetime(2026, 5, 1, 9)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "story")


@pytest.fixture
def asker(project: Project) -> Callable[[str], recall.Asker]:
    """Asks with vectors of character pairs: no model."""
    return lambda subject: recall.Asker(project, subject, Drawn(), NOW)
