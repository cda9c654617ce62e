"""The table of goals names tests that are there, so that no promise is shown by nothing."""

from __future__ import annotations

import ast
import re

import pytest

from tests.torture.goals import GOALS
from tests.torture.harness import ROOT

NAMES = [f"R{n}" for n in range(1, 15)] + [f"S{n}" for n in range(1, 16)] + ["F"]


def test_every_goal_is_there_once() -> None:
    assert [goal.name for goal in GOALS] == NAMES


def test_every_goal_has_its_figures() -> None:
    """A row for each in FIGURES.md, and every test of it passed there."""
    rows = re.findall(
        r"^\| (\w+) \|[^|]*\| ([^|]+) \|", (ROOT / "tests/torture/FIGURES.md").read_text("utf-8"), re.MULTILINE
    )
    assert [name for name, _ in rows if name != "goal"] == NAMES
    told = {name: re.fullmatch(r"(\d+) of (\d+) passed", outcome.strip()) for name, outcome in rows}
    assert [name for name, found in told.items() if found and found[1] != found[2]] == []


def test_the_readme_tells_of_every_goal() -> None:
    """Its table of what was attacked, between marks, has every goal once, alone or as one of a span (`S4–S8`)."""
    found = re.search("<!-- goals -->(.*?)<!-- /goals -->", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    if found is None:
        pytest.skip("the README has no table of goals")
    assert sorted(named(found[1]), key=NAMES.index) == NAMES


def test_the_readme_s_figures_are_those_of_the_table() -> None:
    """Kills, deaths, errors, disks and inputs as FIGURES.md has them, of each command the full size."""
    figures = (ROOT / "tests" / "torture" / "FIGURES.md").read_text("utf-8")
    rows = {row.split("|")[1].strip(): row for row in figures.splitlines() if re.match(r"\| [RSF]\d*", row)}
    told = (ROOT / "README.md").read_text("utf-8").partition("<!-- goals -->")[2].partition("<!-- /goals -->")[0]

    def most(goal: str, pattern: str) -> int:
        """Sum over what was attacked (the first group) of its greatest figure (the second)."""
        found: dict[str, int] = {}
        for name, figure in re.findall(pattern, rows[goal]):
            found[name] = max(found.get(name, 0), int(figure))
        return sum(found.values())

    expected = [
        f"{most(goal, pattern):,} {what}"
        for goal, pattern, what in [
            ("R2", r"500 kills at (\d+ B): (\d+) acknowledged", "acknowledged"),
            ("R3", r"([\w ]+): deaths at each changing call: (\d+)", "deaths"),
            ("R4", r"([\w ]+): errors at each write, sync and rename: (\d+)", "errors"),
            ("R4", r"(short writes): (\d+)", "short writes"),
            ("R6", r"(states of a disk) after a power loss: (\d+)", "disks"),
            ("R7", r"(damaged ledgers): (\d+)", "damaged ledgers"),
            ("S7", r"(random ids): (\d+)", "ids"),
            ("S11", r"(folders of weights): (\d+)", "crafted weights"),
            ("S13", r"(questions): (\d+)", "queries"),
            ("F", r"(settings files|(?:ledgers|subjects) of any bytes|answers of a server): (\d+)", "fuzzed"),
        ]
    ]
    assert [one for one in expected if one not in told] == []


def named(table: str) -> list[str]:
    """The goals in the first column of a table."""
    names = []
    for cell in re.findall(r"^\|([^|]*)\|", table, re.MULTILINE):
        for letter, first, last in re.findall(r"\b([RSF])(\d*)(?:–[RS](\d+))?", cell):
            names += [f"{letter}{n}" for n in range(int(first), int(last or first) + 1)] if first else [letter]
    return names


def test_goals_are_read_from_a_table() -> None:
    assert named("| R1, R3–R5 | x R9 |\n| S2 · F | |") == ["R1", "R3", "R4", "R5", "S2", "F"]


@pytest.mark.parametrize("test", sorted({test for goal in GOALS for test in goal.tests}))
def test_what_shows_it_exists(test: str) -> None:
    path, *names = test.split("::")
    scope: list[ast.stmt] = ast.parse((ROOT / path).read_text("utf-8")).body
    for name in names:
        (found,) = [node for node in scope if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name]
        scope = found.body
