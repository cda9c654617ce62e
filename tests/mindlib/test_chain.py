"""Which lines are not as they were chained: small differences exactly, large ones in proportion to their lines."""

from __future__ import annotations

import random

import pytest

from nebula.mindlib import chain
from nebula.mindlib.chain import Chain, Fault


def faults(then: list[bytes], now: list[bytes]) -> list[tuple[int, str]]:
    found = chain.faults(Chain({"f": [chain.digest(line) for line in then]}), "f", b"".join(now))
    assert all(fault == Fault("f", fault.line, fault.what) for fault in found)
    return [(fault.line, fault.what) for fault in found]


LINES = [b"%d\n" % number for number in range(2000)]


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (LINES, []),
        ([*LINES, b"since\n"], []),
        ([b"x\n", *LINES[1:]], [(1, "changed")]),
        ([*LINES[:500], *LINES[501:]], [(501, "removed")]),
        ([*LINES[:500], b"x\n", *LINES[500:]], [(501, "inserted")]),
        ([*LINES[:9], *LINES[10:900], b"x\n", *LINES[900:]], [(10, "removed"), (900, "inserted")]),
        (LINES[:-1], [(2000, "removed")]),
        ([], [(n + 1, "removed") for n in range(2000)]),
    ],
)
def test_every_line_is_named_by_its_place(now: list[bytes], told: list[tuple[int, str]]) -> None:
    assert faults(LINES, now) == told


def test_thousands_of_equal_lines_cost_no_square(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ends of 15,000 equal lines changed: those two lines are named, and no two long stretches are matched."""
    import difflib

    met = []
    plain = difflib.SequenceMatcher

    def watched(junk: None, then: list[str], now: list[str], *, autojunk: bool) -> difflib.SequenceMatcher[str]:
        met.append(max(len(then), len(now)))
        return plain(junk, then, now, autojunk=autojunk)

    monkeypatch.setattr(difflib, "SequenceMatcher", watched)
    equal = [b"same\n"] * 15_000
    assert faults(equal, [b"x\n", *equal[2:], b"y\n"]) == [(1, "changed"), (15_000, "changed")]
    assert max(met, default=0) <= chain.NEAR


@pytest.mark.parametrize("seed", range(20))
def test_what_holds_and_what_does_not_add_up(seed: int) -> None:
    """Of lines drawn from a few texts: what is told removed and inserted makes the one as long as the other."""
    draw = random.Random(seed)
    then = [draw.choice(LINES[: draw.choice([3, 900])]) for _ in range(700)]
    now = [line for line in then if draw.random() > 0.02]
    for _ in range(draw.randint(0, 9)):
        now.insert(draw.randrange(len(now)), draw.choice(LINES))
    then, now = [*then, b"end\n"], [*now, b"end\n"]
    told = faults(then, now)
    removed = sum(what == "removed" for _, what in told)
    inserted = sum(what == "inserted" for _, what in told)
    assert len(then) - removed + inserted == len(now)
    assert (told == []) == (now == then)
