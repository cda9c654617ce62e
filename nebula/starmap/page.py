"""The star map as one HTML file: code and style hashed in its Content-Security-Policy, memories as inert data.

Three layers keep a stored text from becoming code (reliability 5.2): in the data every `<`, `>`, `&`, U+2028 and U+2029
is escaped, the script writes text by textContent alone, and the policy lets no other script run and nothing load.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ESCAPED = {
    b"<": b"\\u003c",
    b">": b"\\u003e",
    b"&": b"\\u0026",
    "\u2028".encode(): b"\\u2028",
    "\u2029".encode(): b"\\u2029",
}


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
    folder = files("nebula.starmap")
    code, style = (folder.joinpath(name).read_text(encoding="utf-8") for name in ("sky.js", "sky.css"))
    page = folder.joinpath("sky.html").read_text(encoding="utf-8")
    for mark, value in {
        "%LANG%": sky.words.get("lang", "zh"),
        "%SCRIPT_HASH%": _hash(code),
        "%STYLE_HASH%": _hash(style),
        "%STYLE%": style,
        "%SCRIPT%": code,
    }.items():
        page = page.replace(mark, value)
    before, after = page.split("%DATA%")
    return before.encode() + inert(_data(sky)) + after.encode()


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


def inert(data: object) -> bytes:
    """JSON that ends no script and begins no comment, whatever its texts hold."""
    import orjson

    found = orjson.dumps(data)
    for char, escape in _ESCAPED.items():
        found = found.replace(char, escape)
    return found


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
