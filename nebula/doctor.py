"""Self-check (spec 9): six checks, each with what is missing and the next step. Never raises, fills nothing in.

Retrieval itself is tried in `selftest`. The one thing written is a probe file in the mind's folder, gone at once; of a
mind in PostgreSQL the database is checked in the folder's stead, and nothing is written.
"""

from __future__ import annotations

import platform
import re
import shlex
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from nebula import messages, outlook, places, repair, selftest
from nebula.errors import NebulaError, NotSetUp, StoreRefused, StoreUnreachable, short
from nebula.index import has_numpy
from nebula.mind import Mind, store_at
from nebula.mindlib import scratch
from nebula.mindlib.record import LEDGERS, Apart
from nebula.mindlib.store import ERASING, MOVING, SIDE_LEDGERS
from nebula.mood import sources
from nebula.settings import Settings, build, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from nebula.mindlib.ledger import Damage
    from nebula.mindlib.store import Store
    from nebula.places import Place
    from nebula.results import Built

MAP_FILE = "星图.html"
#: Copies that sync programs leave beside a file: Dropbox, Nextcloud, Syncthing, Drive.
_CONFLICTED = re.compile(r"conflict|冲突| \(\d+\)\.jsonl?$", re.IGNORECASE)
_SHOWN = 5  # of a list, in a sentence; JSON has them all


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


@dataclass(frozen=True)
class _Patient:
    """What is examined. `refusal` is why its settings can't be used; then `settings` are the defaults."""

    place: Place
    store: Store
    environ: Mapping[str, str]
    now: Callable[[], datetime]
    settings: Settings
    refusal: NebulaError | None


def examine(place: Place, environ: Mapping[str, str], *, now: Callable[[], datetime]) -> Report:
    """Look at everything the mind in `place` needs."""
    patient = _Patient(place, store_at(place.mind), environ, now, *_settings(place, now))
    if isinstance(patient.refusal, StoreUnreachable | StoreRefused | NotSetUp):  # whatever is asked of it waits again
        failed = _guarded("database", partial(_refused, patient.refusal), patient)
        return Report([_guarded("python", _python, patient), failed])
    checks = {
        "python": _python,
        **({"database": _database} if place.address else {"folder": _folder}),
        "memories": _memories,
        "meaning": _meaning,
        "mood": _mood,
        "map": _map,
    }
    return Report([_guarded(name, check, patient) for name, check in checks.items()])


def _settings(place: Place, now: Callable[[], datetime]) -> tuple[Settings, NebulaError | None]:
    try:
        return Mind(place.mind, now=now).settings, None
    except NebulaError as error:
        return build(), error


def _guarded(name: str, check: Callable[[_Patient], Check], patient: _Patient) -> Check:
    """A check that fails says so: the doctor is for minds and installations that are broken."""
    try:
        return check(patient)
    except NebulaError as error:
        return Check(name, "bad", error.message, error.hint)
    except Exception as error:
        said = short(f"{type(error).__name__}: {error}", 120)
        return Check(
            name,
            "bad",
            _say("failed", check=messages.say(f"check.{name}"), reason=said),
            _say("reinstall"),
            {"error": said},
        )


def _say(key: str, **facts: object) -> str:
    return messages.say(f"doctor.{key}", **facts)


def _some(names: Iterable[object]) -> str:
    listed = [str(name) for name in names]
    return ", ".join(listed[:_SHOWN]) + (f" … ({len(listed)})" if len(listed) > _SHOWN else "")


def _joined(hints: Iterable[str]) -> str:
    return "; ".join(hint for hint in hints if hint)


def _python(_: _Patient) -> Check:
    facts = {"version": platform.python_version(), "numpy": has_numpy()}
    return Check("python", "ok", _say("python", version=facts["version"]), "", facts)


def _folder(patient: _Patient) -> Check:
    folder, store = patient.place.folder, patient.store
    said = {"folder": folder, "rule": messages.say(f"rule.{patient.place.rule}")}
    found = sum(store.path(kind.name).is_file() for kind in LEDGERS)
    facts: dict[str, Any] = {"folder": str(folder), "rule": patient.place.rule, "ledgers": found}
    if not folder.exists():
        return Check("folder", "ok", _say("folder_new", **said), "", facts)
    facts |= {name: (folder / file).exists() for name, file in (("erasing", ERASING), ("moving", MOVING))}
    unfinished = [_say(name) for name in ("erasing", "moving") if facts[name]]
    try:
        store.check_writable()
    except NebulaError as error:
        return Check(
            "folder",
            "bad",
            _say("folder_readonly", folder=folder, reason=error.message),
            _joined([*unfinished, error.hint]),
            facts,
        )
    facts |= {"loose": [name for name, _ in repair.loose(folder)], "conflicted": _conflicted(folder)}
    facts["abandoned"] = [str(path) for path in scratch.abandoned(folder)]
    hints = [
        *unfinished,
        _say("modes", names=_some(facts["loose"]), folder=shlex.quote(str(folder))) if facts["loose"] else "",
        _say("conflicted", names=_some(facts["conflicted"])) if facts["conflicted"] else "",
        _say("abandoned", paths=_some(facts["abandoned"])) if facts["abandoned"] else "",
    ]
    return Check("folder", "warn" if any(hints) else "ok", _say("folder", ledgers=found, **said), _joined(hints), facts)


def _refused(error: NebulaError, _: _Patient) -> Check:
    raise error


def _database(patient: _Patient) -> Check:
    """A mind in PostgreSQL: its server, its tables, and what this role may do there."""
    from nebula.postgres import looking
    from nebula.postgres.store import PostgresStore

    assert isinstance(patient.store, PostgresStore)
    seen = looking.look(patient.store)
    facts = {**vars(seen), "address": str(patient.place.address), "rule": patient.place.rule}
    said = {"address": facts["address"], "rule": messages.say(f"rule.{patient.place.rule}"), "server": seen.server}
    hints = [
        "" if seen.adds else _say("database_reads"),
        "" if seen.erases else _say("database_erases"),
        "" if seen.walls else messages.say("hint.walls_down"),
        "" if seen.encrypted or seen.local else _say("database_open"),
    ]
    served = _say(f"served_{seen.served}") if seen.served else _say("served", rows=seen.rows)
    line = _joined([_say("database", role=seen.role, version=seen.version, **said), served])
    return Check("database", "warn" if any(hints) else "ok", line, _joined(hints), facts)


def _conflicted(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if _CONFLICTED.search(path.name))


def _memories(patient: _Patient) -> Check:
    counts: dict[str, int] = {}
    met: list[Damage] = []
    repeated: list[str] = []
    copied: list[str] = []
    refusals: list[NebulaError] = []
    for kind in LEDGERS:
        try:
            reading = patient.store.read(kind.name)
        except NebulaError as error:
            refusals.append(error)
            continue
        counts[kind.name] = len(reading.memories)
        met += reading.damages
        repeated += [memory.ref for memory in reading.memories if memory.repeated]
        apart = Apart()
        copied += [memory.ref for memory in reading.memories if apart.named(memory) is not memory]
    for name in SIDE_LEDGERS:
        try:
            met += patient.store.scan(name).damages
        except NebulaError as error:
            refusals.append(error)
    return _counted(patient, counts, met, (repeated, copied), refusals)


def _counted(
    patient: _Patient,
    counts: Mapping[str, int],
    met: list[Damage],
    doubles: tuple[list[str], list[str]],
    refusals: list[NebulaError],
) -> Check:
    damages, unknown = ([_line(one) for one in met if one.whole == whole] for whole in (False, True))
    total, (repeated, copied) = sum(counts.values()), doubles
    shown = " · ".join(f"{kind.chinese} {counts[kind.name]}" for kind in LEDGERS if counts.get(kind.name))
    line = _say("memories", total=total, shown=shown) if total else _say("empty")
    elsewhere = [] if total else places.other_minds(patient.environ, patient.place.folder)
    hints = [
        _joined([*(refusal.message for refusal in refusals), refusals[0].hint]) if refusals else "",
        _say("damaged", n=len(damages), where=_some(damages)) if damages else "",
        _say("unknown_kind", n=len(unknown), where=_some(unknown)) if unknown else "",
        _say("repeated", refs=_some(repeated)) if repeated else "",
        _say("copied", refs=_some(copied)) if copied else "",
    ]
    status = "bad" if damages or refusals else "warn" if repeated or copied or unknown else "ok"
    due, overdue = _due(patient) if counts.get("promises") and not refusals else ([], [])
    hints += [
        _say("due", refs=_some(due)) if due else "",
        _say("overdue", refs=_some(overdue)) if overdue else "",
    ]
    if not total and not any(hints):
        hints = [_elsewhere(elsewhere) if elsewhere else _say("first")]
    facts = {"counts": counts, "damages": damages, "repeated": repeated, "elsewhere": [str(at) for at in elsewhere]}
    facts |= {"copied": copied, "due": due, "overdue": overdue, "unknown": unknown}
    return Check("memories", status, line, _joined(hints), facts)


def _line(damage: Damage) -> str:
    return _say("line", file=damage.path.name, line=damage.line)


def _due(patient: _Patient) -> tuple[list[str], list[str]]:
    """The refs of open promises that fall due today, and of those overdue."""
    if patient.refusal:
        return [], []
    found = outlook.promises(Mind(patient.place.mind, now=patient.now))
    return (
        [p.memory.ref for p in found if p.days == 0],
        [p.memory.ref for p in found if p.days is not None and p.days < 0],
    )


def _elsewhere(found: list[Path]) -> str:
    return _say("elsewhere", folders=_some(found), first=shlex.quote(str(found[0])))


def _meaning(patient: _Patient) -> Check:
    dense = has_numpy()
    dead = selftest.dead_routes(patient.now, dense=dense)
    wrong = selftest.wrong_assets()
    facts: dict[str, Any] = {"dead": dead, "wrong": wrong}
    if dead:
        return Check("meaning", "bad", _say("dead", routes=" ".join(dead)), _say("reinstall"), facts)
    if wrong:
        return Check("meaning", "bad", _say("asset", names=_some(wrong)), _say("reinstall"), facts)
    if not dense:
        return Check("meaning", "warn", _say("no_numpy"), messages.say("hint.numpy_missing"), facts)
    if patient.refusal:
        return Check("meaning", "warn", _say("not_counted"), patient.refusal.hint, facts)
    mind = Mind(patient.place.mind, now=patient.now)
    return _with_second(mind, _covered(mind.peek(), facts))


def _with_second(mind: Mind, check: Check) -> Check:
    """The same check with the second encoder's files looked at, where the mind has one."""
    name = mind.settings.recall.second_encoder
    if not name:
        return check
    from nebula.encoder import added

    try:
        wrong, reason = added.get(name).wrong(), ""
    except NebulaError as error:
        wrong, reason = [], error.message
    facts = {**check.facts, "second": name, "second_wrong": wrong}
    line = f"{check.line} / {_say('second', name=name)}"
    if not wrong and not reason:
        return replace(check, line=line, facts=facts)
    hint = reason or _say("second_wrong", name=name, names=_some(wrong))
    return replace(check, status="warn", line=line, hint=_joined([check.hint, hint]), facts=facts)


def _covered(seen: Built, facts: Mapping[str, Any]) -> Check:
    facts = {**facts, **{name: getattr(seen, name) for name in ("model", "dimensions", "present", "total", "bytes")}}
    said = {"model": seen.model, "dimensions": seen.dimensions, "present": seen.present, "total": seen.total}
    line = _say("meaning", size=f"{seen.bytes / 1024:.1f}KB", **said)
    missing = seen.total - seen.present
    hint = _say("missing", missing=missing, total=seen.total) if missing else ""
    return Check("meaning", "warn" if missing else "ok", line, hint, facts)


def _mood(patient: _Patient) -> Check:
    if patient.refusal:
        return Check("mood", "bad", patient.refusal.message, patient.refusal.hint)
    settings = patient.settings.mood
    read = sources.read(settings, patient.now(), None) if settings.provider != "builtin" else None
    _, unknown = spread(patient.store.config())
    hints = [
        _say("mood_stale", reason=read.reason) if read and read.stale else "",
        _say("unknown_settings", keys=_some(unknown)) if unknown else "",
    ]
    badge = read.source if read else settings.provider
    facts = {"source": badge, "stale": read is not None and read.stale, "unknown_settings": unknown}
    line = _say("mood", badge=badge)
    return Check("mood", "warn" if any(hints) else "ok", line, _joined(hints), facts)


def _map(patient: _Patient) -> Check:
    path = patient.store.local / MAP_FILE
    if path.is_file():
        return Check(
            "map", "ok", _say("map", file=MAP_FILE, size=f"{path.stat().st_size / 1024:.1f}KB"), "", {"file": str(path)}
        )
    if path.exists():
        return Check("map", "warn", _say("map_odd", file=path), _say("map_move"), {"file": str(path)})
    return Check("map", "ok", _say("map_none"), "", {"file": ""})
