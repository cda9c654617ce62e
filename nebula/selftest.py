"""The doctor's check of retrieval: it really encodes and really asks a throw-away mind, so that a dead route shows.

Holds the pinned figures. Knows nothing of the mind that is being examined.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from nebula import places
from nebula.encoder import BUNDLED
from nebula.mind import Mind
from nebula.mindlib import files
from nebula.recall.fusion import ROUTES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

MODEL = BUNDLED
#: What ships as data, each folder with its SHA256SUMS.
SHIPPED = (MODEL, "words", "hanzi")
#: Two sentences that mean alike and share one word, and one that means something else.
ALIKE, SAME, OTHER = "我下个月要搬去青岛", "搬家去海边城市", "数据库索引坏了"
#: cos(ALIKE, SAME) and cos(ALIKE, OTHER) by the bundled weights; averaged tokens instead of the first give others.
COSINES = (0.6119, 0.3101)
TOLERANCE = 0.001


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """The product of two unit vectors, in plain Python."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def encodes(mind: Mind) -> bool:
    """Whether the encoder gives the pinned cosines. Not a number is not the pinned number. Raises NotSetUp."""
    alike, same, other = (mind.embed(text)[0] for text in (ALIKE, SAME, OTHER))
    found = (cosine(alike, same), cosine(alike, other))
    return all(abs(got - pinned) <= TOLERANCE for got, pinned in zip(found, COSINES, strict=True))


def dead_routes(now: Callable[[], datetime], *, dense: bool) -> list[str]:
    """The labels of the routes that do not find what they must in a mind of three memories, thrown away after.

    By word 索引 finds n2; by meaning SAME finds n1, and the graph walks from it to n3, which shares only its category.
    """
    with tempfile.TemporaryDirectory(prefix="nebula-doctor-") as folder:
        mind = Mind(Path(folder) / "mind", now=now)
        working = {"dense": encodes(mind)} if dense else {}
        mind.add_many([{"text": ALIKE, "tag": "家"}, {"text": OTHER}, {"text": "明天晚上吃饺子", "tag": "家"}])
        word = mind.recall("索引", touch=False, nearest=True).rankings
        meaning = mind.recall(SAME, touch=False, nearest=True, explain=True).rankings
    working["lexical"] = list(word["lexical"][:1]) == ["n2"]
    working["graph"] = "n3" in meaning["graph"]
    if dense:
        working["dense"] &= list(meaning["dense"][:1]) == ["n1"]
    return [f"{label}#" for name, label in ROUTES.items() if not working.get(name, True)]


def wrong_assets() -> list[str]:
    """Files that ship as data and are missing, or whose sha256 is another than when they were made."""
    wrong = []
    for folder in map(places.asset, SHIPPED):
        for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
            digest, _, name = line.partition("  ")
            if files.sha256(folder / name.strip()) != digest:
                wrong.append(name.strip())
    return wrong
