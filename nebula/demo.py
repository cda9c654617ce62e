"""A throw-away mind of invented memories, to look at before one's own: the same code as `add` and `recall`.

The memories ship in `assets/demo-mind/`, dated in days from now, so that the demo never looks old.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from nebula import clock, places
from nebula.mind import Mind
from nebula.mindlib import files, ledger

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: What the demo adds, and what it asks: by a word, by meaning alone, and with the explanation.
OWN = "猫今天没有来，小鱼留在窗台上了。"
QUERIES: Mapping[str, str] = {
    "word": "望远镜",
    "meaning": "养宠物",
    "explain": "what time does the ferry leave",
}


def prepare(folder: Path, now: datetime) -> Mind:
    """Put the demo's memories into an empty folder, dated back from `now`. Raises WriteFailed."""
    path = places.asset("demo-mind") / "memories.jsonl"
    objects = [_dated(line.obj, now) for line in ledger.scan(path, files.read(path)).lines]
    mind = Mind(folder, now=lambda: now)
    mind.add_many(objects, by="demo")
    return mind


def _dated(obj: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """The object with its day offsets `days` and `due` turned into dates."""
    dated = {name: value for name, value in obj.items() if name != "days"}
    dated["at"] = clock.write(now + timedelta(days=obj["days"]))
    if "due" in obj:
        dated["due"] = clock.write(now + timedelta(days=obj["due"]))[:10]
    return dated
