"""Bytes -> lines and damages, objects -> bytes: a bad line costs itself alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from nebula.errors import BadValue
from nebula.mindlib import ledger
from nebula.mindlib.ledger import dump, scan

PATH = Path("notes.jsonl")
GOOD = b'{"id":1}'


def read(data: bytes) -> tuple[list[int], list[int]]:
    """-> (ids read, numbers of damaged lines)."""
    found = scan(PATH, data)
    return [line.obj["id"] for line in found.lines], [damage.line for damage in found.damages]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", ([], [])),
        (GOOD + b"\n", ([1], [])),
        (GOOD, ([1], [])),
        (GOOD + b'\r\n{"id":2}\r\n', ([1, 2], [])),
        (b"\xef\xbb\xbf" + GOOD + b"\n", ([1], [])),
        (b"\n  \n" + GOOD + b"\n", ([1], [])),
        (GOOD + b"\n" + b"\0" * 64 + b'\n{"id":2}\n', ([1, 2], [2])),
        (GOOD + b'{"id":2}\n{"id":3}\n', ([3], [1])),
        (GOOD + b'\n[1]\n"x"\n\xff\xfe\n{"id":2}\n', ([1, 2], [2, 3, 4])),
        (GOOD + b'\n{"id":2,"te', ([1], [2])),
    ],
)
def test_what_a_bad_line_costs(data: bytes, expected: tuple[list[int], list[int]]) -> None:
    """CRLF, BOM, blank lines, NUL runs, glued lines, no object, no UTF-8, a torn end."""
    assert read(data) == expected


def test_only_newlines_end_lines() -> None:
    """U+2028, U+2029 and U+0085 are characters of a text."""
    obj = {"id": 1, "text": "灯\u2028塔\u2029看\u0085守"}
    data = dump([obj])
    assert data.count(b"\n") == 1
    assert [line.obj for line in scan(PATH, data).lines] == [obj]


def test_a_torn_end_stays_unconsumed() -> None:
    """What may still be growing is read again; a whole last line counts, newline or not."""
    torn = scan(PATH, GOOD + b'\n{"id":2,')
    assert torn.consumed == len(GOOD) + 1
    assert scan(PATH, GOOD).consumed == len(GOOD)
    rest = scan(PATH, b'{"id":2}\n', base=torn.consumed, first_line=2)
    assert [(line.offset, line.length) for line in rest.lines] == [(9, 8)]


@pytest.mark.parametrize("value", ["\ud800", 2**70])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    """A lone surrogate and a number beyond 64 bits raise BadValue: nothing half-readable is written."""
    with pytest.raises(BadValue):
        dump([{"id": 1, "text": value}])


@pytest.mark.parametrize("depth", [ledger.DEEPEST, ledger.DEEPEST + 1, 900, 5000])
@pytest.mark.parametrize("kind", ["[", '{"a":'])
def test_what_is_nested_too_deeply_is_no_line(depth: int, kind: str) -> None:
    """Beyond a hundred it is a damage for every reader, and no writer writes it; brackets in a text are none."""
    close = "]" if kind == "[" else "}"
    deep = kind * (depth - 1) + "1" + close * (depth - 1)
    raw = f'{{"id":1,"text":"{"[" * 5000}","a":{deep}}}\n'.encode()
    fits = depth <= ledger.DEEPEST
    assert len(ledger.scan(Path("x"), raw).lines) == fits
    assert (ledger.objects(raw)[0][1] is not None) == fits
    value: object = 1
    for _ in range(depth - 1):
        value = [value] if kind == "[" else {"a": value}
    if fits:
        assert ledger.dump([{"a": value, "text": "[" * 5000}])
    else:
        with pytest.raises(BadValue):
            ledger.dump([{"a": value}])
