"""The star map as one HTML file: what a star and a sky are, and how the page holds them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from nebula.webpage import assembled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Star:
    """A memory, a category's hub or a day, as the page holds it. `half`: days; 0 for what never dims."""

    ref: str
    kind: str  # a ledger, "category" or "date"
    x: float
    y: float
    r: float
    text: str
    half: float = 0.0
    age: float = 0.0  # days
    layer: int = 0
    at: str = ""
    tag: str = ""
    via: str = ""
    why: str = ""
    old: bool = False
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sky:
    """All that a map shows. `edges`: (star, star, kind, cosine), stars by their numbers, -1 for the core."""

    now: str
    stars: Sequence[Star]
    edges: Sequence[tuple[int, int, int, float]]
    kinds: Sequence[str] = ()
    words: Mapping[str, str] = field(default_factory=dict)


def render(sky: Sky) -> bytes:
    """The page; equal skies give equal bytes."""
    return assembled("nebula.starmap", "sky", sky.words.get("lang", "zh"), _data(sky))


def _data(sky: Sky) -> dict[str, Any]:
    """Edges as one flat list of numbers: 50,000 of them as lists would triple the file."""
    flat = [value for a, b, kind, cosine in sky.edges for value in (a, b, kind, round(cosine, 2))]
    return {
        "now": sky.now,
        "stars": [_short(star) for star in sky.stars],
        "edges": flat,
        "kinds": list(sky.kinds),
        "words": dict(sky.words),
    }


def _short(star: Star) -> dict[str, Any]:
    """What differs from the default; numbers to a thousandth."""
    found = asdict(star)
    default = asdict(Star("", "", 0.0, 0.0, 0.0, ""))
    always = {"ref", "kind", "x", "y", "r", "text"}
    rounded = {key: round(value, 3) if isinstance(value, float) else value for key, value in found.items()}
    return {key: value for key, value in rounded.items() if key in always or value != default[key]}
