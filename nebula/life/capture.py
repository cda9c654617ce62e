"""Synaptic tagging and capture: a small memory is strengthened when one that shares its words soon follows (spec 6).

A new memory of little importance is tagged for two hours. A memory written within them that shares at least two
keywords captures it: its weight grows, and recall favours it. A tag is spent by its capture, so nothing is
strengthened twice.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

from nebula import clock
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from nebula.settings import CaptureSettings


REACH = 256  # tags that one keyword leads to


@dataclass(frozen=True)
class Tag:
    """A tagged memory: from `at` until `until` (seconds, both ends included) it can be captured by its `keys`."""

    ref: str
    at: int
    until: int
    keys: tuple[str, ...]


def is_tagged(imp: float, settings: CaptureSettings) -> bool:
    """Whether a new memory gets a tag: importance below 0.62."""
    return imp < settings.below_imp


def tag_line(ref: str, at: int, keys: Sequence[str], settings: CaptureSettings) -> dict[str, Any]:
    """The line of `tags.jsonl`: {"at", "ref", "until", "keys"}, the times as the ledgers write them."""
    end = min(at + round(settings.hours * 3600), clock.LATEST)
    times = {"at": clock.write(clock.from_seconds(at)), "until": clock.write(clock.from_seconds(end))}
    return {"at": times["at"], "ref": ref, "until": times["until"], "keys": list(keys)}


def read_tags(lines: Iterable[Mapping[str, Any]]) -> list[Tag]:
    """The tags that lines hold; a line that is none is passed over."""
    return [tag for line in lines if (tag := _tag(line)) is not None]


def _tag(line: Mapping[str, Any]) -> Tag | None:
    at, until = clock.parse(str(line.get("at", ""))), clock.parse(str(line.get("until", "")))
    ref, keys = line.get("ref"), line.get("keys")
    if at is None or until is None or not isinstance(ref, str) or not isinstance(keys, list):
        return None
    return Tag(ref, clock.seconds(at), clock.seconds(until), tuple(key for key in keys if isinstance(key, str)))


@dataclass(frozen=True)
class Arrival:
    """A memory just written: `at` in seconds, its keywords."""

    ref: str
    at: int
    imp: float
    keys: tuple[str, ...]


def captures(
    arrivals: Sequence[Arrival], tags: Iterable[Tag], spent: Collection[str], settings: CaptureSettings
) -> list[tuple[str, str]]:
    """(captured ref, by whom) for memories in the order of writing, each tagged for the ones that follow it.

    A keyword leads to the 256 latest tags that bear it, so that a large batch stays linear.
    """
    by_key: dict[str, deque[Tag]] = defaultdict(lambda: deque(maxlen=REACH))
    gone = set(spent)
    for tag in tags:
        _put_up(tag, by_key)
    found = []
    for one in arrivals:
        near = {tag.ref: tag for key in one.keys for tag in by_key.get(key, ())}
        taken = captured_by(one.at, one.keys, near.values(), gone, settings)
        gone.update(taken)
        found += [(ref, one.ref) for ref in taken]
        if is_tagged(one.imp, settings):
            _put_up(Tag(one.ref, one.at, one.at + round(settings.hours * 3600), one.keys), by_key)
    return found


def _put_up(tag: Tag, by_key: Mapping[str, deque[Tag]]) -> None:
    for key in tag.keys:
        by_key[key].append(tag)


def captured_by(
    at: int, keys: Sequence[str], tags: Iterable[Tag], spent: Collection[str], settings: CaptureSettings
) -> list[str]:
    """The refs that a memory written at `at` (seconds) with these keywords captures, at most three.

    A tag counts while it is open and not spent, and where it shares at least 2 keywords; those that share most come
    first, then the latest, then the smaller ref.
    """
    mine = set(keys)
    found = {
        tag.ref: (-len(mine & set(tag.keys)), -tag.at)
        for tag in tags
        if tag.at <= at <= tag.until and tag.ref not in spent and len(mine & set(tag.keys)) >= settings.shared
    }
    return sorted(found, key=lambda ref: (*found[ref], ref))[: settings.at_most]


def strengthened(w: float, why: str, factor: float) -> dict[str, Any]:
    """The changed fields of a captured memory: w × 1.12, and `w_why` says so."""
    return {"w": round(w * factor, 6), "w_why": f"{why} 捕获×{factor:g}".strip()}
