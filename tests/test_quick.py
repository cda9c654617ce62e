"""The quick `dataclass` behaves as the library's in all that is used of it."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import field
from typing import Any

import pytest

from nebula import quick


def pair(decorate: Any) -> tuple[Any, Any]:
    """A frozen class and one that is not."""

    @decorate(frozen=True)
    class Point:
        x: int
        y: float = 0.5
        tags: dict[str, int] = field(default_factory=dict)
        name: str = field(default="", metadata={"rule": 1})

        @property
        def sum(self) -> float:
            return self.x + self.y

    @decorate
    class Box:
        items: list[int] = field(default_factory=list)

    return Point, Box


def worn() -> tuple[Any, Any]:
    """Classes that were used so often that their `__init__` is the library's."""
    point, box = pair(quick.dataclass)
    for _ in range(quick.FEW + 1):
        point(1), box()
    return point, box


MADE = [pair(dataclasses.dataclass), pair(quick.dataclass), worn()]


def each(act: Any) -> list[Any]:
    """What an act on either gives: its value, or the kind of its refusal."""
    found: list[Any] = []
    for point, box in MADE:
        try:
            found.append(act(point, box))
        except Exception as error:
            found.append(type(error))
    return found


ACTS: dict[str, Any] = {
    "positions": lambda p, b: dataclasses.asdict(p(1, 2.0, {"a": 1}, "n")),
    "names": lambda p, b: dataclasses.asdict(p(name="n", x=3)),
    "too few": lambda p, b: p(),
    "too many": lambda p, b: p(1, 2.0, {}, "", 5),
    "unknown": lambda p, b: p(1, z=2),
    "twice": lambda p, b: p(1, x=2),
    "equal": lambda p, b: (p(1) == p(1), p(1) == p(2), p(1) == (1, 0.5, {}, ""), p(1) != p(1), b([1]) == b([1])),
    "hash of a dict": lambda p, b: hash(p(1)),
    "hash": lambda p, b: len({p(1, 2.0, None), p(1, 2.0, None), p(2, 2.0, None)}),
    "hash of what can change": lambda p, b: hash(b()),
    "text": lambda p, b: str(p(1)).rpartition(".")[2],
    "set": lambda p, b: setattr(p(1), "x", 2),
    "delete": lambda p, b: delattr(p(1), "x"),
    "set a new one": lambda p, b: setattr(p(1), "other", 2),
    "what can change changes": lambda p, b: [one.items.append(4) or one.items for one in [b()]],
    "each its own default": lambda p, b: b().items is b().items,
    "replace": lambda p, b: dataclasses.asdict(dataclasses.replace(p(1), y=7.0)),
    "replace an unknown": lambda p, b: dataclasses.replace(p(1), z=7.0),
    "fields": lambda p, b: [(f.name, dict(f.metadata)) for f in dataclasses.fields(p)],
    "is one": lambda p, b: [dataclasses.is_dataclass(one) for one in (p, p(1))],
    "copy": lambda p, b: copy.deepcopy(p(1, 2.0, {"a": 1})) == p(1, 2.0, {"a": 1}),
    "property": lambda p, b: p(1).sum,
    "match": lambda p, b: p.__match_args__,
    "no pickle of a local class": lambda p, b: pickle.dumps(p(1)),
}


@pytest.mark.parametrize("name", ACTS)
def test_as_the_library_does(name: str) -> None:
    library, quickly, often = each(ACTS[name])
    assert quickly == library
    assert often == library
