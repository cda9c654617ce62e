"""How settled views change: set, alias, merge, rename, delete; each change a line of history, each past state kept.

A line of `memory.history.jsonl` says what one topic's view was and became (`old`, `new`; null for none) and how many
lines of events there were (`line`): so what was believed at any point of the story is a fold over it. Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nebula import messages
from nebula.errors import BadValue, UnknownTopic
from nebula.quick import dataclass
from nebula.subject.records import View, names, view

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

OPS = ("set", "alias", "merge", "rename", "delete")

Views = dict[str, View]  # topic -> view, in the file's order


@dataclass(frozen=True)
class Step:
    """One topic's change: `old` and `new` are None where there was or is no view."""

    op: str
    topic: str
    old: View | None
    new: View | None
    why: str = ""

    def to_object(self, at: str, line: int, tick: str = "", more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """As its line of history holds it; `line`: physical lines of events then."""
        old, new = (one.to_object() if one else None for one in (self.old, self.new))
        ticked = {"tick": tick} if tick else {}
        changed = {"op": self.op, "topic": self.topic, "old": old, "new": new, "why": self.why}
        return {"at": at, "line": line, **ticked, **changed, **(more or {})}


@dataclass(frozen=True)
class Version:
    """A view as it was held from a line of events on until, but without, another one; None: it still is."""

    view: View
    since: int
    until: int | None = None
    why: str = ""


def find(views: Views, name: str) -> View:
    """A view by its topic, else by an alias that is one's alone. Raises UnknownTopic."""
    if name in views:
        return views[name]
    found = [one for one in views.values() if name in one.aliases]
    if len(found) != 1:
        raise UnknownTopic(name, ", ".join(views))
    return found[0]


def topic_of(views: Views, name: str) -> str:
    """The topic that a name stands for; the name itself where it stands for none yet."""
    owners = [one.topic for one in views.values() if name in one.aliases]
    return name if name in views or len(owners) != 1 else owners[0]


def set_view(views: Views, topic: str, text: str, aliases: Sequence[str] | None = None, why: str = "") -> list[Step]:
    """Write a topic's view, by any of its names, or a new one's; aliases stay where none are given. Raises BadValue."""
    topic = topic_of(views, topic.strip())
    old = views.get(topic)
    kept = old.aliases if old and aliases is None else aliases or ()
    new = view({"topic": topic, "view": text, "aliases": list(kept), **(old.more if old else {})})
    for name in new.aliases:
        _check_free(views, name, new.topic)
    return [] if new == old else [Step("set", new.topic, old, new, why)]


def alias(views: Views, topic: str, added: Sequence[str], removed: Sequence[str] = (), why: str = "") -> list[Step]:
    """Give a topic further names, or take some away. Raises UnknownTopic, BadValue for another topic's name."""
    old = find(views, topic)
    for name in added:
        _check_free(views, name.strip(), old.topic)
    kept = [name for name in (*old.aliases, *added) if name not in removed]
    new = replace(old, aliases=names(kept, old.topic))
    return [] if new == old else [Step("alias", old.topic, old, new, why)]


def merge(views: Views, gone: str, into: str, text: str = "", why: str = "") -> list[Step]:
    """Two topics were one: the first's names become the second's aliases. Raises UnknownTopic, BadValue.

    Without a new text the second's view is followed by the first's, so that nothing is lost from sight.
    """
    one, other = find(views, gone), find(views, into)
    if one.topic == other.topic:
        raise BadValue("merge", gone, "A B")
    aliases = names([*other.aliases, one.topic, *one.aliases], other.topic)
    new = replace(other, view=text or f"{other.view}\n{one.view}", aliases=aliases)
    return [Step("merge", one.topic, one, None, why), Step("merge", other.topic, other, new, why)]


def rename(views: Views, topic: str, name: str, why: str = "") -> list[Step]:
    """Another name for a topic; the old one stays as an alias. Raises UnknownTopic, BadValue for a name in use."""
    old = find(views, topic)
    wanted = name.strip()
    if not wanted:
        raise BadValue("rename", '""', messages.say("usage.text"))
    if wanted in views:
        raise BadValue("rename", wanted, messages.say("subject.free_name"))
    _check_free(views, wanted, old.topic)
    new = replace(old, topic=wanted, aliases=names([*old.aliases, old.topic], wanted))
    return [Step("rename", old.topic, old, new, why)]


def delete(views: Views, topic: str, why: str = "") -> list[Step]:
    """No view of a topic any more; its history stays. Raises UnknownTopic."""
    old = find(views, topic)
    return [Step("delete", old.topic, old, None, why)]


def _check_free(views: Views, name: str, owner: str) -> None:
    for other in views.values():
        if other.topic != owner and (name == other.topic or name in other.aliases):
            raise BadValue("alias", name, messages.say("subject.free_name"))


def operate(views: Views, obj: Mapping[str, Any]) -> list[Step]:
    """One operation of a save: `{"op": "set", "topic": …, "view": …}` and so on. Raises BadValue, UnknownTopic."""
    op, topic, why = str(obj.get("op", "")), str(obj.get("topic", "")), str(obj.get("why", ""))
    if op == "set":
        found = view(obj)
        given = obj.get("aliases") is not None
        return set_view(views, found.topic, found.view, found.aliases if given else None, why)
    if op == "alias":
        return alias(views, topic, _list(obj, "add"), _list(obj, "remove"), why)
    if op == "merge":
        return merge(views, topic, str(obj.get("into", "")), str(obj.get("view", "")), why)
    if op == "rename":
        return rename(views, topic, str(obj.get("to", "")), why)
    if op == "delete":
        return delete(views, topic, why)
    raise BadValue("op", op, " | ".join(OPS))


def _list(obj: Mapping[str, Any], name: str) -> list[str]:
    value = obj.get(name, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise BadValue(name, value, '["…"]')
    return value


def apply(views: Views, steps: Iterable[Step]) -> Views:
    """The views after steps, which keep their places."""
    found = dict(views)
    for step in steps:
        if step.new is None:
            found.pop(step.topic, None)
        elif step.old is not None and step.old.topic in found:
            found = {k if k != step.topic else step.new.topic: v for k, v in found.items()}
            found[step.new.topic] = step.new
        else:
            found[step.new.topic] = step.new
    return found


def by_hand(known: Views, found: Sequence[View]) -> list[Step]:
    """What somebody changed in memory.jsonl since the history's last line, each topic a step `hand`."""
    there = {one.topic: one for one in found}
    gone = [Step("hand", topic, old, None) for topic, old in known.items() if topic not in there]
    return gone + [Step("hand", t, known.get(t), one) for t, one in there.items() if known.get(t) != one]


def read_step(obj: Mapping[str, Any]) -> tuple[int, Step] | None:
    """(line, step) of a line of history; None for one that can't be understood."""
    line, topic = obj.get("line"), obj.get("topic")
    if isinstance(line, bool) or not isinstance(line, int) or not isinstance(topic, str):
        return None
    try:
        old, new = (view(obj[k]) if isinstance(obj.get(k), dict) else None for k in ("old", "new"))
    except BadValue:
        return None
    return line, Step(str(obj.get("op", "")), topic, old, new, str(obj.get("why", "")))


def versions(steps: Iterable[tuple[int, Step]]) -> list[Version]:
    """Every view that was ever held, in the order in which they came up; those of None are held still."""
    found: list[Version] = []
    held: dict[str, int] = {}
    for line, step in steps:
        before = held.pop(step.topic, None)
        if before is not None:
            found[before] = replace(found[before], until=line)
        if step.new is not None:
            replaced = held.get(step.new.topic)
            if replaced is not None:
                found[replaced] = replace(found[replaced], until=line)
            held[step.new.topic] = len(found)
            found.append(Version(step.new, line, None, step.why))
    return found


def held(found: Iterable[Version], line: int | None = None) -> list[View]:
    """The views that were held at a line of events, None for those held now."""
    return [version.view for version in found if holds(version.since, version.until, line)]


def holds(since: int, until: int | None, line: int | None) -> bool:
    """Whether something that came at a line and went at another holds as of a third, None for now."""
    return until is None if line is None else since <= line and (until is None or line < until)
