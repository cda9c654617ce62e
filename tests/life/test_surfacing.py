"""The five gates, one by one, with the figures of section 6 and their boundaries; and whom the night nominates."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from nebula import clock
from nebula.life import surfacing
from nebula.life.consolidation import Sleeper
from nebula.life.surfacing import Facts, Past
from nebula.settings import SurfaceSettings

SETTINGS = SurfaceSettings()
NOW = datetime(2026, 5, 10, 9)
T = clock.seconds(NOW)
DAY = clock.DAY_SECONDS
OPEN = Facts("n1", imp=0.7, a=0.2, cosine=0.75, session="s1")


def shut(facts: Facts, past: Past = Past()) -> list[str]:  # noqa: B008 - frozen
    """The gates that do not let it through."""
    return [gate.name for gate in surfacing.gates(facts, past, T, SETTINGS) if not gate.open]


def surfaced(*ago: tuple[float, str]) -> list[dict[str, object]]:
    """Lines that say n1 surfaced that many days ago, in a session."""
    return [{"at": clock.write(NOW - timedelta(days=days)), "ref": "n1", "surfaced": session} for days, session in ago]


def test_all_open_at_the_boundary() -> None:
    gates = surfacing.gates(OPEN, Past(), T, SETTINGS)
    assert [gate.name for gate in gates] == ["relevance", "importance", "cooldown", "frequency", "utility"]
    assert shut(OPEN) == []


@pytest.mark.parametrize(("cosine", "gates"), [(0.75, []), (0.7499, ["relevance"]), (-1.0, ["relevance"])])
def test_relevance(cosine: float, gates: list[str]) -> None:
    """Cosine ≥ 0.75 to the context at hand; without one never."""
    assert shut(replace(OPEN, cosine=cosine)) == gates


@pytest.mark.parametrize(
    ("imp", "a", "gates"), [(0.7, 0.1, []), (0.699, 0.5, []), (0.699, 0.499, ["importance"]), (0.0, 0.9, [])]
)
def test_importance(imp: float, a: float, gates: list[str]) -> None:
    """imp ≥ 0.7 or A ≥ 0.5."""
    assert shut(replace(OPEN, imp=imp, a=a)) == gates


@pytest.mark.parametrize(("days", "gates"), [(7.0, []), (6.99, ["cooldown"]), (3000, [])])
def test_cooldown(days: float, gates: list[str]) -> None:
    """Not surfaced for 7 days."""
    assert shut(OPEN, surfacing.past(surfaced((days, "s0")))) == gates


def test_frequency() -> None:
    """At most 1 a session and 2 a day; another memory's surfacing counts as well."""
    other = {"at": clock.write(NOW - timedelta(hours=1)), "ref": "n2", "surfaced": "s1"}
    assert shut(OPEN, surfacing.past([other])) == ["frequency"]
    assert shut(replace(OPEN, session="s2"), surfacing.past([other])) == []
    twice = [{**other, "surfaced": "s8"}, {**other, "surfaced": "s9"}]
    assert shut(OPEN, surfacing.past(twice)) == ["frequency"]
    yesterday = [{**line, "at": clock.write(NOW - timedelta(days=1))} for line in twice]
    assert shut(OPEN, surfacing.past(yesterday)) == []


def test_utility() -> None:
    """Halved each time it was raised in vain; shut from the third on, until it is taken up."""
    vain = surfaced((30, "a"), (20, "b"))
    assert surfacing.utility("n1", surfacing.past(vain)) == 0.25
    assert shut(OPEN, surfacing.past(vain)) == []
    vain += surfaced((10, "c"))
    assert shut(OPEN, surfacing.past(vain)) == ["utility"]
    taken = {"at": clock.write(NOW - timedelta(days=9)), "ref": "n1", "taken": True}
    assert shut(OPEN, surfacing.past([*vain, taken])) == []
    refused = {**taken, "taken": False}
    assert shut(OPEN, surfacing.past([*vain, refused])) == ["utility"]


class TestNomination:
    """One deep or attic memory a night."""

    def sleepers(self, *rows: tuple[str, int, float, float]) -> list[tuple[Sleeper, float]]:
        return [(Sleeper(ref, "notes", T - 200 * DAY, imp, depth, w), 0.2) for ref, depth, imp, w in rows]

    def test_deep_and_attic_alone(self) -> None:
        rows = self.sleepers(("n1", 1, 0.9, 9), ("n2", 2, 0.9, 9), ("n3", 3, 0.9, 2), ("n4", 4, 0.9, 1))
        assert surfacing.nominate(rows, Past(), T, SETTINGS) == "n3"
        assert surfacing.nominate(rows[:2], Past(), T, SETTINGS) == ""

    def test_those_that_could_pass_come_first(self) -> None:
        """An important lighter one before an unimportant heavier one; alone the latter is still nominated."""
        rows = self.sleepers(("n1", 4, 0.1, 9), ("n2", 4, 0.8, 2))
        assert surfacing.nominate(rows, Past(), T, SETTINGS) == "n2"
        assert surfacing.nominate(rows[:1], Past(), T, SETTINGS) == "n1"

    def test_in_vain_ranks_lower(self) -> None:
        rows = self.sleepers(("n1", 4, 0.8, 4), ("n2", 4, 0.8, 3))
        assert surfacing.nominate(rows, Past(), T, SETTINGS) == "n1"
        assert surfacing.nominate(rows, surfacing.past(surfaced((30, "s"))), T, SETTINGS) == "n2"

    def test_while_it_cools_down_another(self) -> None:
        rows = self.sleepers(("n1", 4, 0.8, 40), ("n2", 4, 0.8, 3))
        assert surfacing.nominate(rows, surfacing.past(surfaced((3, "s"))), T, SETTINGS) == "n2"

    def test_ties_go_by_ref(self) -> None:
        rows = self.sleepers(("n2", 4, 0.8, 3), ("n1", 4, 0.8, 3))
        assert surfacing.nominate(rows, Past(), T, SETTINGS) == "n1"
