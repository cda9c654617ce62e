"""Events and views, and their lines. Unknown fields are kept, blank lines skipped, a bad line costs only itself.

Private passages are in no record, whether a command brings it or a file that was written by hand.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeVar

from nebula import messages, private
from nebula.errors import AllPrivate, BadValue, EmptyText, check_unicode
from nebula.mindlib import ledger
from nebula.quick import dataclass
from nebula.reasons import because

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

T = TypeVar("T")
KINDS = ("lived", "seen", "heard", "misread", "inferred")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Event:
    """Something that was lived; `line` is its physical line in events.jsonl, from 1, 0 for one not written yet."""

    text: str
    time: str = ""
    tick: str = ""
    kind: str = ""
    origin: Mapping[str, Any] = field(default_factory=dict)  # of hearsay: {"subject", "line"}
    line: int = 0
    more: Mapping[str, Any] = field(default_factory=dict)

    def to_object(self) -> dict[str, Any]:
        """As its line holds it."""
        own = {"time": self.time, "tick": self.tick, "kind": self.kind, "from": dict(self.origin)}
        return {"text": self.text, **{key: value for key, value in own.items() if value}, **self.more}


@dataclass(frozen=True)
class View:
    """A settled view of a topic; `aliases` are other names for it, never the topic itself."""

    topic: str
    view: str
    aliases: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    def to_object(self) -> dict[str, Any]:
        """As its line holds it."""
        aliases = {"aliases": list(self.aliases)} if self.aliases else {}
        return {"topic": self.topic, **aliases, "view": self.view, **self.more}


@dataclass(frozen=True)
class Problem:
    """A line that can't be read: physical line from 1, reason."""

    line: int
    reason: str


def event(obj: Mapping[str, Any], line: int = 0) -> Event:
    """An event of an object. Raises EmptyText, BadValue naming the field."""
    known = {name: _text(obj, name) for name in ("text", "time", "tick", "kind")}
    if not known["text"].strip():
        raise AllPrivate if str(obj.get("text") or "").strip() else EmptyText
    if known["kind"] and known["kind"] not in KINDS:
        raise BadValue("kind", known["kind"], " | ".join(KINDS))
    origin = obj.get("from") or {}
    if not isinstance(origin, dict):
        raise BadValue("from", origin, '{"subject": …, "line": …}')
    more = {key: value for key, value in obj.items() if key not in {*known, "from"}}
    return Event(**known, origin=origin, line=line, more=more)


def view(obj: Mapping[str, Any]) -> View:
    """A view of an object. Raises BadValue naming the field."""
    topic, said = _text(obj, "topic").strip(), _text(obj, "view")
    if not topic:
        raise BadValue("topic", '""', messages.say("usage.text"))
    if not said.strip():
        raise BadValue("view", '""', messages.say("usage.text"))
    given = obj.get("aliases") or []
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise BadValue("aliases", given, '["…"]')
    more = {key: value for key, value in obj.items() if key not in {"topic", "view", "aliases"}}
    return View(topic, said, names(given, topic), more)


def names(given: Sequence[str], topic: str) -> tuple[str, ...]:
    """Aliases once each, without the topic. Raises BadValue for what is not Unicode."""
    for name in given:
        check_unicode("aliases", name)
    plain = (private.strip(name)[0].strip() for name in given)
    return tuple(name for name in dict.fromkeys(plain) if name and name != topic)


def _text(obj: Mapping[str, Any], name: str) -> str:
    value = obj.get(name)
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool) and name in {"tick", "time"}:
        return str(value)
    if not isinstance(value, str):
        raise BadValue(name, value, '"…"')
    check_unicode(name, value)
    return private.strip(value)[0]


def lines(data: bytes) -> list[tuple[int, bytes]]:
    """The lines that hold anything, with their physical numbers from 1."""
    numbered = enumerate(data.removeprefix(_BOM).split(b"\n"), start=1)
    return [(number, raw) for number, raw in numbered if raw.strip()]


def count(data: bytes) -> int:
    """Physical lines; a last one without a newline counts."""
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def events(data: bytes) -> tuple[list[Event], list[Problem]]:
    """All events of a file, in the story's order, and the lines that are none."""
    return _read(data, event)


def views(data: bytes) -> tuple[list[View], list[Problem]]:
    """All views of a file and the lines that are none; of two lines of one topic the first counts."""
    found, problems = _read(data, lambda obj, line: (view(obj), line))
    seen: dict[str, View] = {}
    for one, line in found:
        if one.topic in seen:
            problems.append(Problem(line, because("twice", what=f"topic {one.topic}")))
        seen.setdefault(one.topic, one)
    return list(seen.values()), sorted(problems, key=lambda problem: problem.line)


def _read(data: bytes, make: Callable[[Mapping[str, Any], int], T]) -> tuple[list[T], list[Problem]]:
    found: list[T] = []
    problems: list[Problem] = []
    for number, raw in lines(data):
        obj, why = ledger.parse(raw)
        if why is not None:
            problems.append(Problem(number, why))
            continue
        try:
            found.append(make(obj, number))
        except (BadValue, EmptyText) as error:
            problems.append(Problem(number, error.message))
    return found, problems


def dump(records: Sequence[Event | View]) -> bytes:
    """Records as whole lines. Raises BadValue for text that is not Unicode."""
    return ledger.dump([record.to_object() for record in records])
