"""The table of goals names tests that are there, so that no promise is shown by nothing."""

from __future__ import annotations

import ast

import pytest

from tests.torture.goals import GOALS
from tests.torture.harness import ROOT

NAMES = [f"R{n}" for n in range(1, 15)] + [f"S{n}" for n in range(1, 16)] + ["F"]


def test_every_goal_is_there_once() -> None:
    assert [goal.name for goal in GOALS] == NAMES


@pytest.mark.parametrize("test", sorted({test for goal in GOALS for test in goal.tests}))
def test_what_shows_it_exists(test: str) -> None:
    path, *names = test.split("::")
    scope: list[ast.stmt] = ast.parse((ROOT / path).read_text("utf-8")).body
    for name in names:
        (found,) = [node for node in scope if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name]
        scope = found.body
