"""Self-check (spec 9): six checks, each with what is missing and the next step. Never raises, never changes anything.

The check of meaning really encodes, and really asks a throw-away mind by all three routes: a dead route shows.
"""

from __future__ import annotations

import hashlib
import platform
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebula import messages, places
from nebula.errors import NebulaError
from nebula.mind import Mind, has_numpy
from nebula.mindlib.record import LEDGERS
from nebula.mindlib.store import SIDE_LEDGERS, Store
from nebula.settings import build, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from nebula.places import Place
    from nebula.settings import Settings

#: Two sentences that mean alike, one that does not, and their cosines by the bundled encoder.
ALIKE = ("我下个月要搬去青岛", "搬家去海边城市", "数据库索引坏了")
COSINES = (0.5, 0.45)  # the first two at least, the first and the third at most
MAP_FILE = "星图.html"


@dataclass(frozen=True)
class Check:
    """One line of the doctor: `status` ok, warn or bad; `hint` is the next step, empty where there is none."""

    name: str
    status: str
    line: str
    hint: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """All checks; `ok` unless something is broken."""

    checks: list[Check]

    @property
    def ok(self) -> bool:
        """Whether no check is bad."""
        return all(check.status != "bad" for check in self.checks)


def examine(place: Place, environ: Mapping[str, str], now: Callable[[], datetime]) -> Report:
    """Look at everything the mind in `place` needs."""
    store = Store(place.folder)
    settings, settings_error = _settings(store)
    checks = [
        _python(),
        _folder(store, place),
        _memories(store, place, environ),
        _meaning(store, settings, now),
        _mood(settings, settings_error, store),
        _map(store),
    ]
    return Report(checks)


def _say(key: str, **facts: object) -> str:
    return messages.say(f"doctor.{key}", **facts)


def _settings(store: Store) -> tuple[Settings, str]:
    try:
        return build(store.config()), ""
    except NebulaError as error:
        return build(), str(error)


def _python() -> Check:
    version = platform.python_version()
    enough = sys.version_info >= (3, 11)
    facts = {"version": version, "numpy": has_numpy()}
    return Check("python", "ok" if enough else "bad", _say("python", version=version), "", facts)


def _folder(store: Store, place: Place) -> Check:
    found = sum(store.path(kind.name).is_file() for kind in LEDGERS)
    facts = {"folder": str(place.folder), "rule": place.rule, "ledgers": found}
    line = _say("folder", folder=place.folder, rule=messages.say(f"rule.{place.rule}"), ledgers=found)
    if not place.folder.exists():
        return Check("folder", "ok", _say("folder_new", folder=place.folder, rule=messages.say(f"rule.{place.rule}")), "", facts)
    try:
        store.check_writable()
    except NebulaError as error:
        return Check("folder", "bad", _say("folder_readonly", folder=place.folder, reason=error.message), error.hint, facts)
    if sys.platform != "win32" and place.folder.stat().st_mode & 0o077:
        return Check("folder", "warn", line, _say("modes", folder=place.folder), facts)
    return Check("folder", "ok", line, "", facts)


def _memories(store: Store, place: Place, environ: Mapping[str, str]) -> Check:
    counts: dict[str, int] = {}
    damages: list[str] = []
    repeated: list[str] = []
    for kind in LEDGERS:
        try:
            reading = store.read(kind.name)
        except NebulaError as error:
            return Check("memories", "bad", error.message, error.hint, {"counts": counts})
        counts[kind.name] = len(reading.memories)
        damages += [f"{d.path.name}:{d.line}" for d in reading.damages]
        repeated += [m.ref for m in reading.memories if m.repeated]
    for name in SIDE_LEDGERS:
        try:
            damages += [f"{name}:{d.line}" for d in store.scan(name).damages]
        except NebulaError as error:
            return Check("memories", "bad", error.message, error.hint, {"counts": counts})
    facts = {"counts": counts, "damages": damages, "repeated": repeated}
    total = sum(counts.values())
    shown = " · ".join(f"{kind.chinese} {counts[kind.name]}" for kind in LEDGERS if counts[kind.name])
    if damages:
        hint = _say("damaged", n=len(damages), where=", ".join(damages[:5]))
        return Check("memories", "bad", _say("memories", total=total, shown=shown), hint, facts)
    if repeated:
        hint = _say("repeated", refs=", ".join(repeated[:5]))
        return Check("memories", "warn", _say("memories", total=total, shown=shown), hint, facts)
    if not total:
        others = places.other_minds(environ, place.folder)
        hint = _say("elsewhere", folder=others[0]) if others else _say("first")
        return Check("memories", "ok", _say("empty"), hint, {**facts, "elsewhere": [str(other) for other in others]})
    return Check("memories", "ok", _say("memories", total=total, shown=shown), "", facts)


def _meaning(store: Store, settings: Settings, now: Callable[[], datetime]) -> Check:
    if not has_numpy():
        return Check("meaning", "warn", _say("no_numpy"), messages.say("hint.numpy_missing"))
    try:
        dead = _dead_routes(now)
        wrong = wrong_assets()
        mind = Mind(store.folder, now=now) if build_ok(store) else None
        encoder = (mind or Mind(Path(tempfile.gettempdir()) / "nebula-none")).encoder()
    except NebulaError as error:
        return Check("meaning", "bad", error.message, error.hint)
    if dead or wrong:
        line = _say("dead", routes=" ".join(dead)) if dead else _say("asset", names=", ".join(wrong))
        return Check("meaning", "bad", line, messages.say("hint.model_unusable"), {"dead": dead, "wrong": wrong})
    present, total, size = _coverage(mind)
    facts = {"model": encoder.model, "dimensions": encoder.dimensions, "present": present, "total": total, "bytes": size}
    line = _say(
        "meaning", model=encoder.model, dimensions=encoder.dimensions, present=present, total=total, size=f"{size / 1024:.1f}KB"
    )
    if present < total:
        return Check("meaning", "warn", line, _say("missing", n=total - present), facts)
    return Check("meaning", "ok", line, "", facts)


def build_ok(store: Store) -> bool:
    """Whether the mind's settings can be used."""
    return not _settings(store)[1]


def _coverage(mind: Mind | None) -> tuple[int, int, int]:
    """(memories with a vector, memories, bytes of the index), filling nothing in."""
    if mind is None:
        return 0, 0, 0
    try:
        seen = mind.peek()
    except NebulaError:
        return 0, 0, 0
    return seen.present, seen.total, seen.bytes


def _dead_routes(now: Callable[[], datetime]) -> list[str]:
    """The labels of the routes that do not find what they must, asked in a throw-away mind."""
    import numpy as np

    with tempfile.TemporaryDirectory(prefix="nebula-doctor-") as folder:
        mind = Mind(Path(folder) / "mind", now=now)
        near, same, far = (np.array(mind.embed(text)[0]) for text in ALIKE)
        mind.add_many([{"text": ALIKE[0], "tag": "家"}, {"text": ALIKE[2]}, {"text": "明天晚上吃饺子", "tag": "家"}])
        found = mind.recall(ALIKE[1], touch=False).rankings
        words = mind.recall("索引", touch=False).rankings
    dead = []
    if words["lexical"][:1] != ["n2"]:
        dead.append("词#")
    if found["dense"][:1] != ["n1"] or float(near @ same) < COSINES[0] or float(near @ far) > COSINES[1]:
        dead.append("义#")
    if "n3" not in found["graph"]:
        dead.append("图#")
    return dead


def wrong_assets() -> list[str]:
    """Files of the bundled model whose sha256 is another than when they were made."""
    folder = places.asset("bge-small-zh-v1.5")
    wrong = []
    for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        path = folder / name.strip()
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            wrong.append(name.strip())
    return wrong


def _mood(settings: Settings, settings_error: str, store: Store) -> Check:
    if settings_error:
        return Check("mood", "bad", settings_error, messages.say("hint.settings_unusable"))
    _, unknown = spread(store.config())
    badge = settings.mood.provider if settings.mood.provider != "file" else f"file:{Path(settings.mood.file).name}"
    facts = {"provider": settings.mood.provider, "unknown_settings": unknown}
    if unknown:
        return Check("mood", "warn", _say("mood", badge=badge), _say("unknown_settings", keys=", ".join(unknown)), facts)
    return Check("mood", "ok", _say("mood", badge=badge), "", facts)


def _map(store: Store) -> Check:
    path = store.path(MAP_FILE)
    if path.is_file():
        return Check("map", "ok", _say("map", file=MAP_FILE), "", {"file": str(path)})
    return Check("map", "ok", _say("map_none"), "", {"file": ""})


