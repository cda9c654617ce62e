"""The sky as a PNG, drawn without a browser: for a mail or a terminal that shows pictures. Needs Pillow."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from nebula.errors import ExtraMissing
from nebula.starmap.terminal import EDGE, light

if TYPE_CHECKING:
    from nebula.starmap.page import Sky

SIZE = 1200  # pixels of a side
SMOOTH = 2  # drawn so many times larger, then reduced
GROUND, CORE, LINE = (11, 14, 26), (255, 243, 208), (127, 143, 192)
COLOURS = {
    "profile": (242, 193, 78),
    "notes": (124, 196, 255),
    "tacts": (255, 143, 163),
    "promises": (140, 233, 154),
    "thoughts": (201, 160, 255),
    "category": (231, 233, 243),
    "date": (143, 179, 217),
}
LINE_LIGHT = 0.22
MANY = 3000  # edges, beyond which they are fainter


def render(sky: Sky, size: int = SIZE) -> bytes:
    """A square picture; stars where and as large as on the page, as bright as they are now. Raises ExtraMissing."""
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise ExtraMissing("png", "Pillow") from error
    side = size * SMOOTH
    scale = side / (2 * EDGE + 20)
    picture = Image.new("RGB", (side, side), GROUND)
    pen = ImageDraw.Draw(picture)

    def at(number: int) -> tuple[float, float]:
        x, y = (sky.stars[number].x, sky.stars[number].y) if number >= 0 else (0.0, 0.0)
        return side / 2 + x * scale, side / 2 + y * scale

    def disc(x: float, y: float, r: float, colour: tuple[int, int, int]) -> None:
        pen.ellipse((x - r, y - r, x + r, y + r), fill=colour)

    line = _mixed(LINE, LINE_LIGHT if len(sky.edges) <= MANY else LINE_LIGHT / 2)
    for a, b, _, _ in sky.edges:
        pen.line((at(a), at(b)), fill=line, width=SMOOTH)
    for number in sorted(range(len(sky.stars)), key=lambda n: light(sky.stars[n])):
        star = sky.stars[number]
        disc(*at(number), star.r * scale, _mixed(COLOURS[star.kind], max(0.06, light(star))))
    disc(side / 2, side / 2, 9 * scale, CORE)
    out = io.BytesIO()
    picture.resize((size, size), Image.Resampling.LANCZOS).save(out, "PNG", optimize=True)
    return out.getvalue()


def _mixed(colour: tuple[int, int, int], share: float) -> tuple[int, int, int]:
    """A colour of so much light on the ground."""
    r, g, b = (round(under + (over - under) * share) for under, over in zip(GROUND, colour, strict=True))
    return r, g, b
