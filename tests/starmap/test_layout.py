"""Orbits, the golden angle and radii, each figure of spec 8."""

from __future__ import annotations

import math
from datetime import date

import pytest

from nebula.starmap import layout
from nebula.starmap.page import Star
from nebula.starmap.terminal import light, rows


@pytest.mark.parametrize(
    ("ledger", "orbit"), [("profile", 170), ("notes", 235), ("tacts", 285), ("promises", 325), ("thoughts", 400)]
)
def test_orbits(ledger: str, orbit: float) -> None:
    assert layout.star(ledger, 1) == (orbit, 0.0)
    for number in (2, 17, 4096):
        x, y = layout.star(ledger, number)
        assert math.hypot(x, y) == pytest.approx(orbit)
        turned = (number - 1) * math.pi * (3 - math.sqrt(5))
        assert [x, y] == pytest.approx([orbit * math.cos(turned), orbit * math.sin(turned)])


def test_golden_angle_and_the_other_orbits() -> None:
    assert layout.GOLDEN_ANGLE == 2.399963229728653
    assert math.hypot(*layout.category("出行")) == pytest.approx(150.0)
    assert layout.category("出行") != layout.category("工作")
    ordinal = date(2026, 5, 1).toordinal()
    assert layout.date_star(ordinal) == layout.place(330.0, ordinal)


@pytest.mark.parametrize(("w", "r"), [(0, 2.6), (1, 5.8), (4, 9.0), (4.7852, 9.6), (100, 9.6), (-1, 2.6)])
def test_radius(w: float, r: float) -> None:
    """2.6 + min(7, sqrt(w) · 3.2)"""
    assert layout.radius(w) == pytest.approx(r, abs=1e-4)


def test_no_star_moves_when_others_come() -> None:
    before = [layout.star("notes", number) for number in range(1, 50)]
    assert [layout.star("notes", number) for number in range(1, 100)][:49] == before


def test_a_sky_of_cells() -> None:
    bright = Star("n1", "notes", 235.0, 0.0, 5.0, "x")
    dim = Star("n2", "notes", 235.0, 0.0, 5.0, "x", half=30.0, age=300.0)
    assert light(bright) == 1.0
    assert light(dim) == pytest.approx((1 + 300 / 10) ** -0.5)
    assert light(dim, 365.0) == pytest.approx((1 + 665 / 10) ** -0.5)
    for width in (16, 40, 72, 500):
        drawn = rows([dim, bright], width)
        assert len(drawn) == min(width, 100) // 2
        assert all(len(line) == min(width, 100) for line in drawn)
        signs = [sign for line in drawn for sign, _ in line if sign != " "]
        assert sorted(signs) == ["☉", "✦"]  # of two in one cell the brighter one shows
