"""A throw-away mind of invented memories, to look at before one's own: the same code as `add` and `recall`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from nebula import clock, places
from nebula.mind import Mind
from nebula.mindlib import files, ledger

if TYPE_CHECKING:
    from pathlib import Path

#: What the demo asks: a name, a meaning, and one in English.
QUERIES = ("望远镜", "搬家去海边城市", "what time does the ferry leave")
OWN = "猫今天没有来，小鱼留在窗台上了。"


def prepare(folder: Path, now: datetime) -> Mind:
    """Put the demo's memories into an empty folder, dated back from `now`."""
    path = places.asset("demo-mind") / "memories.jsonl"
    objects = [_dated(line.obj, now) for line in ledger.scan(path, files.read(path)).lines]
    mind = Mind(folder, now=lambda: now)
    mind.add_many(objects, by="demo")
    return mind


def _dated(obj: dict[str, Any], now: datetime) -> dict[str, Any]:
    dated = {**obj, "at": clock.write(now + timedelta(days=obj["days"]))}
    if "due" in obj:
        dated["due"] = clock.write(now + timedelta(days=obj["due"]))[:10]
    del dated["days"]
    return dated
