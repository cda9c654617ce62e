"""Where a star stands and how large it is: fixed orbits and the golden angle, so that none ever moves (spec 8)."""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Orbit radii of the ledgers, by their names in the record; summaries are no stars.
ORBITS: Mapping[str, float] = {
    "profile": 170.0,
    "notes": 235.0,
    "tacts": 285.0,
    "promises": 325.0,
    "thoughts": 400.0,
}
CATEGORY_ORBIT, DATE_ORBIT = 150.0, 330.0
GOLDEN_ANGLE = 2.399963229728653  # radians
_HUBS = 1_000_003


def place(orbit: float, k: int) -> tuple[float, float]:
    """(x, y) of star k on an orbit, the core at the origin; k = 0 stands at (orbit, 0)."""
    angle = k * GOLDEN_ANGLE
    return orbit * math.cos(angle), orbit * math.sin(angle)


def star(ledger: str, number: int) -> tuple[float, float]:
    """(x, y) of a memory by its ledger and id: k is the id - 1."""
    return place(ORBITS[ledger], number - 1)


def category(tag: str) -> tuple[float, float]:
    """(x, y) of a category's hub. A tag has no number: its checksum stands for one, so that it never moves either."""
    return place(CATEGORY_ORBIT, zlib.crc32(tag.encode("utf-8", "surrogatepass")) % _HUBS)


def date_star(ordinal: int) -> tuple[float, float]:
    """(x, y) of a day by its proleptic Gregorian ordinal."""
    return place(DATE_ORBIT, ordinal)


def radius(w: float) -> float:
    """2.6 + min(7, sqrt(w) · 3.2): w 0 -> 2.6, w 1 -> 5.8, from 4.7852 on 9.6."""
    return 2.6 + min(7.0, math.sqrt(max(0.0, w)) * 3.2)
