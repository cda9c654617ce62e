"""A small sky for the terminal: a cell for each place, its brightest star's sign, in the colour of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nebula.starmap.page import Star

    Line = list[tuple[str, str]]

EDGE = 415.0  # of the sky, a little beyond the outermost orbit
#: From how much light on: a star's sign.
SIGNS = ((0.8, "✦"), (0.55, "✧"), (0.25, "•"), (0.0, "·"))
COLOURS = {
    "profile": "yellow",
    "notes": "cyan",
    "tacts": "red",
    "promises": "green",
    "thoughts": "magenta",
    "category": "white",
    "date": "blue",
}


def light(star: Star, ahead: float = 0.0) -> float:
    """A in so many days, 1 for what never dims; a replaced memory has a third of it."""
    a = (1.0 + (star.age + ahead) / (star.half / 3.0)) ** -0.5 if star.half else 1.0
    return a * 0.35 if star.old else a


def rows(stars: Sequence[Star], width: int, ahead: float = 0.0) -> list[Line]:
    """The sky in lines of at most `width` cells, half as many lines: a cell is twice as high as wide."""
    columns = max(16, min(width, 100))
    lines = columns // 2
    best: dict[tuple[int, int], tuple[float, Star]] = {}
    for star in stars:
        x = min(columns - 1, int((star.x / EDGE + 1) / 2 * columns))
        y = min(lines - 1, int((star.y / EDGE + 1) / 2 * lines))
        bright = light(star, ahead)
        if bright > best.get((x, y), (-1.0, star))[0]:
            best[x, y] = (bright, star)
    found = []
    for y in range(lines):
        line: Line = []
        for x in range(columns):
            found_here = best.get((x, y))
            if (x, y) == (columns // 2, lines // 2):
                line.append(("☉", "bold yellow"))
            elif found_here is None:
                line.append((" ", ""))
            else:
                bright, star = found_here
                line.append((next(sign for least, sign in SIGNS if bright >= least), COLOURS[star.kind]))
        found.append(line)
    return found
