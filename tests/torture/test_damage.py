"""R7: damaged ledgers, each untouched line read; R8: repair over the same; R10: a damaged index, the same answers."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import orjson
import pytest

from nebula import repair
from nebula.mind import Mind
from nebula.mindlib import ledger
from nebula.mindlib.record import reason_unreadable
from tests.invented import DrawnEncoder, sentence
from tests.torture.harness import NEBULA, environment, full

if TYPE_CHECKING:
    from collections.abc import Callable

    Record = Callable[[str, object], None]

FILE = Path("notes.jsonl")


def whole(number: int, draw: random.Random) -> bytes:
    """A good line, with all that a text may hold and no line may be split at."""
    extra = draw.choice(["", "\u2028", "\u0085", "\u2029", "\x0b", "🐈", '"\\', "\ufeff", "\x00"])
    return orjson.dumps({"id": number, "at": "2026-05-01T09:00:00", "text": f"灯塔{number}{extra}看守"})


def hurt(line: bytes, draw: random.Random) -> bytes:
    """The line as a crash, another program or a bad disk leaves it; it may come out readable."""
    kind = draw.randrange(8)
    at = draw.randrange(len(line))
    if kind == 0:
        return bytes([*line[:at], line[at] ^ (1 << draw.randrange(8)), *line[at + 1 :]])
    if kind == 1:
        return line[:at]
    if kind == 2:
        return b"\0" * draw.randint(1, 600)
    if kind == 3:
        return line + line
    if kind == 4:
        return line[:at] + b"\xff\xfe" + line[at:]
    if kind == 5:
        return line + b"\r"
    if kind == 6:
        return draw.choice([b"[]", b"null", b"3", b'"x"', b"{}", b"[" * 3000, b'{"id":' + b"9" * 400 + b"}"])
    return draw.randbytes(draw.randint(1, 200))


def ledger_of(seed: int) -> tuple[bytes, list[bytes]]:
    """A damaged ledger and the lines in it that nobody touched."""
    draw = random.Random(seed)
    parts, good = [], []
    for number in range(1, draw.randint(2, 12)):
        line = whole(number, draw)
        if draw.random() < 0.4:
            parts.append(hurt(line, draw))
        else:
            good.append(line)
            parts.append(line)
    data = b"\n".join(parts) + draw.choice([b"\n", b"", b"\n\n", b"\r\n"])
    return draw.choice([b"", b"", b"\xef\xbb\xbf"]) + data, good


def judged(data: bytes) -> int:
    """How many physical lines can't be read, each looked at by itself."""
    count = 0
    for at, line in enumerate(data.split(b"\n")):
        bare = line.removeprefix(b"\xef\xbb\xbf") if at == 0 else line
        if bare.strip():
            try:
                count += reason_unreadable(orjson.loads(bare)) is not None
            except orjson.JSONDecodeError:
                count += 1
    return count


def missing(seed: int) -> int:
    """How many untouched lines a reader does not give; the count of bad lines is checked on the way."""
    data, good = ledger_of(seed)
    found = ledger.scan(FILE, data, reason_unreadable=reason_unreadable)
    there = [orjson.dumps(line.obj) for line in found.lines]
    assert len(found.damages) == judged(data), seed
    return sum(line not in there for line in good)


@pytest.mark.parametrize("count", [400, full(10_000)])
def test_damaged_ledgers(record_property: Record, count: int) -> None:
    """No exception, every untouched line, and the number of bad lines to the one."""
    lost = sum(missing(seed) for seed in range(count))
    record_property("damaged ledgers", f"{count}, {lost} untouched lines lost, 0 exceptions")
    assert lost == 0


def test_damaged_ledgers_read_as_text(record_property: Record) -> None:
    """The control: lines split as text are, at U+2028 and U+0085 too."""
    lost = 0
    for seed in range(200):
        data, good = ledger_of(seed)
        there = [line.encode() for line in data.decode("utf-8", "replace").splitlines()]
        lost += sum(line not in there for line in good)
    record_property("control, split as text: untouched lines lost", lost)
    assert lost > 0


@pytest.mark.process
@pytest.mark.parametrize("size", [8_000_000, full(100_000_000)])
@pytest.mark.parametrize("cut", [False, True])
def test_a_huge_line(tmp_path: Path, record_property: Record, size: int, cut: bool) -> None:
    """One line of 100 MB, whole or cut: the next line is read, and memory stays below three times that line."""
    with (tmp_path / FILE).open("wb") as file:
        file.write(b'{"id":1,"text":"' + b"x" * size + (b"" if cut else b'"}') + b'\n{"id":2,"text":"after"}\n')
    code = (
        "import sys, resource, orjson; from pathlib import Path; from nebula.mindlib.store import Store\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "lines = Store(Path(sys.argv[1])).scan('notes').lines\n"
        "assert lines[-1].obj['text'] == 'after'\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], env=environment(tmp_path), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    grown = int(done.stdout) * 1024
    record_property(
        f"memory for a {'cut' if cut else 'whole'} line of {size // 10**6} MB", f"{grown / size:.2f} × the line"
    )
    assert grown <= 3 * size + 20_000_000 * (size < 10**8)


@pytest.mark.parametrize("count", [25, full(10_000)])
def test_repair_of_damaged_ledgers(tmp_path: Path, record_property: Record, count: int) -> None:
    """Ledger and quarantine hold every byte that the ledger held; a second run changes nothing."""
    for seed in range(count):
        data, good = ledger_of(seed)
        folder = tmp_path / str(seed)
        folder.mkdir(mode=0o700)
        (folder / FILE).write_bytes(data)
        mind = Mind(folder)
        mind._encoder = DrawnEncoder()  # type: ignore[assignment]
        with mock.patch.object(Mind, "build"):
            repair.repair(mind)
        kept = (folder / FILE).read_bytes()
        aside = folder / repair.QUARANTINE / FILE
        moved = aside.read_bytes() if aside.exists() else b""
        assert set(good) <= {line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r") for line in kept.split(b"\n")}, seed
        assert sorted(line for line in data.split(b"\n") if line) == sorted(
            line for line in (kept + moved).split(b"\n") if line
        ), seed
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        with mock.patch.object(Mind, "build"):
            repair.repair(mind)
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    record_property("repairs with every byte accounted for", count)


def drawn(folder: Path) -> Mind:
    mind = Mind(folder)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def answers(folder: Path) -> list[list[str]]:
    """The first ten for some questions."""
    mind = drawn(folder)
    return [
        [hit.memory.ref for hit in mind.recall(query, n=10, touch=False).hits]
        for query in ("灯塔看守", "妈妈 医院", "github 密钥")
    ]


@pytest.mark.parametrize("count", [6, full(150)])
def test_a_damaged_index_answers_the_same(tmp_path: Path, record_property: Record, count: int) -> None:
    """Deleted, cut, emptied or filled with noise, one file or all: the same ten as before."""
    draw = random.Random(1)
    drawn(tmp_path).add_many([{"text": sentence(draw)} for _ in range(60)])
    expected = answers(tmp_path)
    for at in range(count):
        files = [path for path in sorted((tmp_path / ".index").rglob("*")) if path.is_file() and path.name != "lock"]
        for path in draw.sample(files, draw.choice([1, len(files)])):
            kind = at % 4
            if kind == 0:
                path.unlink()
            elif kind == 1:
                path.write_bytes(path.read_bytes()[: draw.randrange(path.stat().st_size)])
            else:
                path.write_bytes(b"" if kind == 2 else draw.randbytes(300))
        assert answers(tmp_path) == expected, at
    record_property("damaged indexes with the same ten answers", count)


@pytest.mark.process
@pytest.mark.parametrize("kills", [1, full(40)])
def test_killed_while_building(tmp_path: Path, record_property: Record, kills: int) -> None:
    """SIGKILL in mid-build again and again, a reader beside it: none fails, answers as a fresh build's."""
    draw = random.Random(2)
    mind = Mind(tmp_path)
    mind.store.append_lines("notes.jsonl", [{"id": n, "text": sentence(draw)} for n in range(1, 31)], durable=False)
    for _ in range(kills):
        building = subprocess.Popen(
            [*NEBULA, "embed", "--build", "-q"], env=environment(tmp_path), stdout=subprocess.DEVNULL
        )
        time.sleep(draw.uniform(0.2, 0.9))
        assert Mind(tmp_path).recall("灯塔看守", touch=False).hits
        building.send_signal(signal.SIGKILL)
        building.wait()
        assert Mind(tmp_path).recall("灯塔看守", touch=False).hits
    Mind(tmp_path).build()
    seen = [[hit.memory.ref for hit in Mind(tmp_path).recall(q, n=10, touch=False).hits] for q in ("灯塔看守", "搬家")]
    for path in (tmp_path / ".index").rglob("*"):
        if path.is_file():
            path.unlink()
    Mind(tmp_path).build()
    fresh = [[hit.memory.ref for hit in Mind(tmp_path).recall(q, n=10, touch=False).hits] for q in ("灯塔看守", "搬家")]
    record_property("kills while building, readers that failed", f"{kills}, 0")
    assert seen == fresh


def test_a_damaged_index_that_nobody_checks(tmp_path: Path, record_property: Record) -> None:
    """The control: with the damage taken for what it is not, a reader fails."""
    from nebula.index import parts

    draw = random.Random(1)
    drawn(tmp_path).add_many([{"text": sentence(draw)} for _ in range(30)])
    for path in (tmp_path / ".index").rglob("rows-*"):
        path.write_bytes(path.read_bytes()[:100])
    with (
        mock.patch.object(parts, "_salvaged", side_effect=ValueError("not caught")),
        pytest.raises(ValueError, match="not"),
    ):
        answers(tmp_path)
    record_property("control, rebuilding off: readers that fail", 1)
