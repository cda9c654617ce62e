"""The mood of a mind: events appended to `mood.jsonl`, folded when asked, the state kept in `mood-state.json`.

The cache is for other programs and for speed: deleted, damaged or old it is made again from the events. With a
foreign source the mood is what that source says.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebula import clock, screen
from nebula.drafts import emotion
from nebula.errors import BadValue, LedgerUnusable, LockedTooLong, WriteFailed, check_unicode
from nebula.mindlib import files
from nebula.mood import engine, sources
from nebula.mood.expression import Feeling, feeling
from nebula.mood.scan import guess_file
from nebula.results import Notice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from nebula.mind import Mind
    from nebula.mood.engine import Event, State

EVENTS = "mood.jsonl"
STATE = "mood-state.json"
LOCK = ".mood.lock"
POINTS = 48  # of a history


def feel(mind: Mind, dim: str, strength: float, why: str = "") -> tuple[Feeling, list[Notice]]:
    """Write that something was felt; -> the mood now. Raises BadValue, WriteFailed, LockedTooLong.

    A state file that can't be written is a notice: the event is safe.
    """
    name = emotion(dim)
    if not name:
        raise BadValue("dim", dim, " | ".join(engine.HALF_LIFE))
    if not 0.0 <= strength <= 1.0:
        raise BadValue("strength", strength, "0…1")
    check_unicode("--why", why)
    said = screen.value(why, redact=mind.redacts)
    line = {
        "at": clock.write(mind.now()),
        "v": engine.VERSION,
        "dim": name,
        "strength": float(strength),
        "why": said.value,
    }
    mind.store.append_lines(EVENTS, [line], durable=True)
    felt = current(mind)
    return felt, [*said.notices(EVENTS), *remember(mind, felt)]


def current(mind: Mind, at: datetime | None = None) -> Feeling:
    """The mood now, or as of a moment: then always the built-in engine's, whose events are kept. Never raises."""
    moment = at or mind.now()
    if at is None and mind.settings.mood.provider != "builtin":
        return _foreign(mind)
    seconds, press = clock.seconds(moment), press_of(mind)
    found = feeling(_state(mind, seconds), seconds, press)
    return replace(found, at=clock.write(moment))


def history(mind: Mind, since: datetime, points: int = POINTS) -> list[Feeling]:
    """The mood at even steps from a moment until now."""
    first, last = clock.seconds(since), clock.seconds(mind.now())
    steps = [first + round((last - first) * step / max(1, points - 1)) for step in range(points)]
    events, press = sorted(_events(mind, 0), key=lambda event: event.at), press_of(mind)
    state, begun, found = engine.NEUTRAL, 0, []
    for at in steps:
        until = next((n for n in range(begun, len(events)) if events[n].at > at), len(events))
        state, begun = engine.fold(events[begun:until], state, press), until
        found.append(replace(feeling(state, at, press), at=clock.write(clock.from_seconds(at))))
    return found


def choose(mind: Mind, kind: str, place: str, paths: Mapping[str, str]) -> Feeling:
    """Set where the mood comes from; -> what it gives now. Raises BadValue, WriteFailed.

    The map of a file is guessed where none is given.
    """
    if kind == "file" and not paths:
        paths = guess_file(Path(place))
    keys: dict[str, object] = {"mood.provider": kind, "mood.map": dict(paths) or None}
    if kind != "builtin":
        keys["mood.file" if kind == "file" else "mood.url"] = place
    for key, value in keys.items():
        mind.configure(key, value)
    felt = current(mind)
    remember(mind, felt)
    return felt


def press_of(mind: Mind) -> float:
    """What an unresolved matter takes a minute; the setting counts by the hour."""
    return mind.settings.mood.press / 60.0


def remember(mind: Mind, felt: Feeling) -> list[Notice]:
    """Write the state file, for other programs and for the next command; a failure is a notice."""
    try:
        files.make_folder(mind.store.local)
        with files.job_lock(mind.store.local / LOCK, mind.store.lock_timeout):
            files.replace(mind.store.local / STATE, _dumped(mind, felt), durable=False)
    except (WriteFailed, LockedTooLong) as error:
        return [Notice("mood_not_kept", {"reason": error.message})]
    return []


def _dumped(mind: Mind, felt: Feeling) -> bytes:
    import orjson

    now = clock.seconds(mind.now())
    shown = {**asdict(felt), "label": felt.label, "expression": dict(felt.expression)}
    consumed = mind.store.stamp(EVENTS)[0]
    kept: dict[str, Any] = {"schema": 1, **shown}
    if all(event.at <= now for event in _events(mind, 0)):  # or what is still ahead would be missing from it
        state = _state(mind, now)
        kept["cache"] = {
            "consumed": consumed,
            "tail": mind.store.tail(EVENTS, consumed),
            "press": press_of(mind),
            "state": asdict(state),
        }
    return orjson.dumps(kept, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _state(mind: Mind, until: int) -> State:
    """The folded state of all events up to a moment (seconds), from the cache where it serves."""
    consumed, state = _cached(mind)
    press = press_of(mind)
    fresh = _events(mind, consumed)
    if until < state.at or any(event.at < state.at for event in fresh):
        state, fresh = engine.NEUTRAL, _events(mind, 0)
    return engine.fold([event for event in fresh if event.at <= until], state, press)


def _cached(mind: Mind) -> tuple[int, State]:
    """(bytes of the events that it holds, state); nothing where there is none that fits."""
    try:
        kept = state_file(mind)["cache"]
        consumed = int(kept["consumed"])
        serves = (
            0 < consumed <= mind.store.stamp(EVENTS)[0]
            and kept["press"] == press_of(mind)
            and mind.store.tail(EVENTS, consumed) == kept["tail"]
        )
        return (consumed, _revived(kept["state"])) if serves else (0, engine.NEUTRAL)
    except (OSError, KeyError, TypeError, ValueError):
        return 0, engine.NEUTRAL


def _revived(kept: dict[str, Any]) -> State:
    dims = {name: engine.Dimension(**kept["dims"][name]) for name in engine.HALF_LIFE}
    levels = {name: engine.Level(**kept["levels"][name]) for name in engine.NEUTRAL.levels}
    return engine.State(int(kept["at"]), dims, levels, bool(kept["unresolved"]), str(kept["why"]))


def state_file(mind: Mind) -> dict[str, Any]:
    """What `mood-state.json` holds, {} where it is absent or damaged, or may tell of what an erase will take."""
    import orjson

    if mind.store.cover() is not None:
        return {}
    try:
        found = orjson.loads(files.read(mind.store.local / STATE))
    except (LedgerUnusable, orjson.JSONDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _events(mind: Mind, start: int) -> Sequence[Event]:
    lines = mind.store.scan(EVENTS, start).lines
    return [event for line in lines if (event := engine.read_event(line.obj)) is not None]


def _foreign(mind: Mind) -> Feeling:
    """The mood of another program; where that fails the last one it gave, stale."""
    kept = state_file(mind)
    found = sources.read(mind.settings.mood, mind.now(), sources.revived(kept))
    felt = Feeling(
        found.value,
        dict(found.dims),
        reason=found.reason,
        source=found.source,
        stale=found.stale,
        at=found.at,
        word=found.label if found.label != Feeling(found.value, found.dims).dominant else "",
    )
    if not felt.stale and mind.store.local.is_dir():
        remember(mind, felt)  # or there would be no last one when it fails
    return felt
