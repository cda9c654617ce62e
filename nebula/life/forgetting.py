"""Forgetting as a power law, and the five layers (spec 2 and 3). Nothing here deletes; A only ranks and layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula import clock

if TYPE_CHECKING:
    from nebula.settings import ForgettingSettings

HOT, WARM, DEEP = 1, 2, 3  # the layers between the core and the attic


def half_life(settings: ForgettingSettings, ledger: str, imp: float) -> float:
    """H = half_base · (1 + half_imp · imp), in days; half_base may be the ledger's own. imp 0.5 -> 60."""
    base = settings.half_base_by_ledger.get(ledger, settings.half_base)
    return base * (1.0 + settings.half_imp * imp)


def retention(age: float, half: float) -> float:
    """A = (1 + age / max(0.1, H/3)) ** -0.5, age in days, never below 0: 0 -> 1, H=60: 30 -> 0.632 (spec 2).

    A record from the future has age 0: the bare formula divides by zero at age = -H/3 and is complex beyond.
    """
    return float((1.0 + max(0.0, age) / max(0.1, half / 3.0)) ** -0.5)


def age_days(now: int, at: int) -> float:
    """Days between two moments in seconds, never below 0."""
    return max(0, now - at) / clock.DAY_SECONDS


def age_at(a: float, half: float) -> float:
    """The age in days at which A has fallen to `a` (0 < a ≤ 1), the inverse of `retention`: 0.5 with H=30 -> 30."""
    return max(0.1, half / 3.0) * (1.0 / (a * a) - 1.0)


def layer(a: float, settings: ForgettingSettings, *, core: bool = False) -> int:
    """Depth 0–4: core 0, hot A ≥ 0.55, warm ≥ 0.25, deep ≥ 0.18, else attic (spec 3)."""
    if core:
        return 0
    if a >= settings.hot:
        return 1
    if a >= settings.warm:
        return 2
    return 3 if a >= settings.deep else 4
