"""doctor --repair keeps every byte and guesses nothing; doctor --verify names every line that is not as it was."""

from __future__ import annotations

import random
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nebula import amend, night, repair, verify
from nebula.mind import Mind
from nebula.mindlib import chain, files, ledger
from nebula.mindlib.store import SIDE_LEDGERS
from nebula.recall.hit import Filters
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence

NOW = datetime(2026, 5, 1, 21, 0)


def opened(folder: Path) -> Mind:
    mind = Mind(folder, now=lambda: NOW)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def laid(folder: Path, name: str, data: bytes) -> Mind:
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / name).write_bytes(data)
    (folder / name).chmod(0o600)
    return opened(folder)


def row(number: int, text: str = "潮汐表") -> bytes:
    return orjson.dumps({"id": number, "at": "2026-05-01T09:00:00", "text": text}) + b"\n"


def held(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def lines_of(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line]


# repair


def test_bad_lines_are_moved_aside_byte_for_byte(tmp_path: Path) -> None:
    bad = [b'{"id":3,"text":"cut', b"\x00" * 40, b"\xff\xfe noise", b'{"id":4,"text":"a"}{"id":5,"text":"b"}', b"[1]"]
    data = row(1) + b"\n".join(bad) + b"\n" + row(6)
    mind = laid(tmp_path / "mind", "notes.jsonl", data)
    done = repair.repair(mind)
    assert [damage.line for damage in done.moved] == [2, 3, 4, 5, 6]
    assert (tmp_path / "mind" / "notes.jsonl").read_bytes() == row(1) + row(6)
    assert (tmp_path / "mind" / "quarantine" / "notes.jsonl").read_bytes() == b"\n".join(bad) + b"\n"
    assert done.sizes["notes.jsonl"] == (len(data), len(row(1) + row(6)), len(b"\n".join(bad)) + 1)
    assert done.built is not None
    assert done.built.present == 2


def test_a_missing_newline_is_added(tmp_path: Path) -> None:
    mind = laid(tmp_path / "mind", "notes.jsonl", row(1) + row(2).rstrip(b"\n"))
    assert repair.repair(mind).newlines == ["notes.jsonl"]
    assert (tmp_path / "mind" / "notes.jsonl").read_bytes() == row(1) + row(2)


def test_lines_and_kinds_we_do_not_know_stay(tmp_path: Path) -> None:
    """A kind of change that nobody knows is no damage; nor is a blank line, a BOM at the start or CRLF."""
    data = b"\xef\xbb\xbf" + row(1).replace(b"\n", b"\r\n") + b"\n" + row(2)
    mind = laid(tmp_path / "mind", "notes.jsonl", data)
    laid(tmp_path / "mind", "changes.jsonl", b'{"at":"2026","kind":"of tomorrow"}\n')
    before = {name: (tmp_path / "mind" / name).read_bytes() for name in ("notes.jsonl", "changes.jsonl")}
    done = repair.repair(mind)
    assert (done.moved, done.newlines) == ([], [])
    assert {name: (tmp_path / "mind" / name).read_bytes() for name in before} == before


def test_refs_that_name_nothing_are_told(tmp_path: Path) -> None:
    mind = laid(tmp_path / "mind", "notes.jsonl", row(1))
    mind.add("望远镜修好了", supersedes="n1")
    mind.store.append_lines("changes.jsonl", [{"at": "2026", "hit": ["n1", "n77"]}], durable=True)
    mind.store.append_lines("captured.jsonl", [{"at": "2026", "ref": "o9", "by": "n1", "factor": 1.12}], durable=True)
    assert repair.repair(mind).dangling == [("captured.jsonl", "o9"), ("changes.jsonl", "n77")]
    assert b"n77" in (tmp_path / "mind" / "changes.jsonl").read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="modes of Unix")
def test_files_open_to_others_are_closed(tmp_path: Path) -> None:
    mind = opened(tmp_path / "mind")
    mind.add("渡轮早上六点开")
    (tmp_path / "mind" / "notes.jsonl").chmod(0o644)
    (tmp_path / "mind" / ".index").chmod(0o755)
    assert set(repair.repair(mind).closed) == {"notes.jsonl", ".index"}
    assert (tmp_path / "mind" / "notes.jsonl").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "mind" / ".index").stat().st_mode & 0o777 == 0o700


def test_killed_before_the_ledger_is_replaced_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = row(1) + b"broken\n" + row(2)
    mind = laid(tmp_path / "mind", "notes.jsonl", data)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            repair.repair(mind)
    assert (tmp_path / "mind" / "notes.jsonl").read_bytes() == data
    repair.repair(mind)
    assert b"broken\n" in (tmp_path / "mind" / "quarantine" / "notes.jsonl").read_bytes()


def test_an_empty_place_stays_empty(tmp_path: Path) -> None:
    assert repair.repair(opened(tmp_path / "mind")) == repair.Repaired()
    assert not (tmp_path / "mind").exists()


def mutated(draw: random.Random, data: bytes) -> bytes:
    """A ledger as crashes, disks and editors leave it."""
    made = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(made) + 1)
        kind = draw.randrange(7)
        if kind == 0 and made:
            made[min(at, len(made) - 1)] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del made[at:]
        elif kind == 2:
            made[at:at] = b"\x00" * draw.randint(1, 50)
        elif kind == 3:
            made[at : at + 1] = b"\r\n"
        elif kind == 4:
            made[at:at] = bytes(draw.randrange(256) for _ in range(draw.randint(1, 9)))
        elif kind == 5:
            made[at:at] = "\u2028\ufeff".encode()
        else:
            del made[at : at + draw.randint(1, 30)]
    return bytes(made)


def accounted(seed: int) -> None:
    """R8 for one damaged ledger: ledger + quarantine = before, untouched lines stay, the second run changes nothing."""
    draw = random.Random(seed)
    whole = [row(n, "".join(draw.choices('潮汐灯塔渡轮 abc\u2028"\\', k=draw.randint(1, 30)))) for n in range(1, 8)]
    data = mutated(draw, b"".join(whole[: draw.randint(0, 7)]))
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "mind"
        mind = laid(folder, "notes.jsonl", data)
        before = [memory.text for memory in mind.list(Filters(old=True), None).memories]
        repair.repair(mind)
        after = (folder / "notes.jsonl").read_bytes()
        aside = files.read(folder / "quarantine" / "notes.jsonl")
        added = len(after) + len(aside) - len(data)
        assert 0 <= added <= 1
        assert sorted(lines_of(after) + lines_of(aside)) == sorted(lines_of(data))
        assert [memory.text for memory in opened(folder).list(Filters(old=True), None).memories] == before
        assert ledger.scan(folder / "notes.jsonl", after).damages == []
        settled = held(folder)
        assert repair.repair(opened(folder)).moved == []
        assert held(folder) == settled


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**48))
def test_every_byte_is_accounted_for(seed: int) -> None:
    accounted(seed)


@pytest.mark.torture
@pytest.mark.timeout(3600)
@settings(max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**48))
def test_every_byte_is_accounted_for_at_full_size(seed: int) -> None:
    accounted(seed)


# the chain


def chained(folder: Path, count: int = 6) -> Mind:
    mind = opened(folder)
    for number in range(count):
        mind.add(f"第{number}页航海日志，风向转南")
    assert verify.verify(mind).ok
    return mind


def with_lines(path: Path, lines: Sequence[bytes]) -> None:
    path.write_bytes(b"".join(lines))


def test_an_untouched_mind_holds_and_grows(tmp_path: Path) -> None:
    mind = chained(tmp_path / "mind")
    head = verify.verify(mind).head
    mind.add("又一条")
    found = verify.verify(mind)
    assert found.ok
    assert found.fresh["notes.jsonl"] == 1
    assert found.held["notes.jsonl"] == 7
    assert found.head != head
    assert verify.verify(mind).head == found.head, "with nothing new it stays"


@pytest.mark.parametrize(
    ("what", "line"), [("changed", 3), ("removed", 3), ("inserted", 3), ("removed", 6), ("changed", 1)]
)
def test_it_names_the_line(tmp_path: Path, what: str, line: int) -> None:
    folder = tmp_path / "mind"
    mind = chained(folder)
    path = folder / "notes.jsonl"
    lines = ledger.split(path.read_bytes())
    if what == "changed":
        lines[line - 1] = lines[line - 1].replace("风向转南".encode(), "风向转北".encode())
    elif what == "removed":
        del lines[line - 1]
    else:
        lines.insert(line - 1, row(99))
    with_lines(path, lines)
    if line < 6:  # in the place of the last one a new line can't be told from a changed one
        mind.add("后来的一条")
    found = verify.verify(mind)
    assert [(f.file, f.line, f.what) for f in found.faults] == [("notes.jsonl", line, what)]
    assert verify.verify(mind).faults == found.faults, "looking does not make it good"


def test_a_last_line_that_lost_only_its_newline_is_unchanged(tmp_path: Path) -> None:
    """Another program may end a file so; what it says is what was written, and the next line begins on its own."""
    mind = chained(tmp_path / "mind")
    path = tmp_path / "mind" / "notes.jsonl"
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    assert verify.verify(mind).ok
    mind.add("后来的一条")
    assert verify.verify(mind).ok
    path.write_bytes(path.read_bytes()[:-2])
    assert not verify.verify(mind).ok, "a byte of it is gone"


def test_every_ledger_is_chained(tmp_path: Path) -> None:
    mind = chained(tmp_path / "mind")
    amend.change(mind, ["n1"], {"imp": 0.9}, "set")
    mind.recall("航海日志")
    verify.verify(mind)
    for name in ("changes.jsonl", "tags.jsonl"):
        path = tmp_path / "mind" / name
        lines = ledger.split(path.read_bytes())
        with_lines(path, lines[1:])
        assert ("removed", 1) in [(f.what, f.line) for f in verify.verify(mind).faults if f.file == name]
    assert set(SIDE_LEDGERS) <= set(repair.ledgers())


def test_a_changed_chain_shows(tmp_path: Path) -> None:
    folder = tmp_path / "mind"
    mind = chained(folder)
    mind.add("又一条")
    verify.verify(mind)
    path = folder / chain.CHAIN
    lines = ledger.split(path.read_bytes())
    with_lines(path, [*lines[:1], lines[1].replace(b"2026", b"2025"), *lines[2:]])
    assert verify.verify(mind).broken == [2]
    with_lines(path, [*lines[:1], *lines[2:]])
    assert verify.verify(mind).broken, "a line taken out of the chain"


def test_an_edit_by_hand_can_be_accepted_on_record(tmp_path: Path) -> None:
    """Also one that only puts a line in between; and nothing else is forgiven with it later."""
    folder = tmp_path / "mind"
    mind = chained(folder)
    path = folder / "notes.jsonl"
    lines = ledger.split(path.read_bytes())
    with_lines(path, [lines[0], row(99), *lines[1:]])
    assert not verify.verify(mind).ok
    found = verify.verify(mind, accept=True)
    assert found.ok
    assert [(act["why"], act["changed"]) for act in found.acts] == [("accept", {"notes.jsonl": 1})]
    with_lines(path, lines)
    assert [(f.line, f.what) for f in verify.verify(mind).faults] == [(2, "removed")]


def test_repair_leaves_the_chain_valid_and_on_record(tmp_path: Path) -> None:
    folder = tmp_path / "mind"
    mind = chained(folder)
    with (folder / "notes.jsonl").open("ab") as file:
        file.write(b'{"id": 9, "text": "cu\n')
    assert verify.verify(mind).ok, "a broken line is chained as it stands"
    repair.repair(mind)
    found = verify.verify(mind)
    assert found.ok
    assert [(act["why"], act["changed"]) for act in found.acts] == [("repair", {"notes.jsonl": 1})]


def test_repair_does_not_launder_what_was_changed_before(tmp_path: Path) -> None:
    folder = tmp_path / "mind"
    mind = chained(folder)
    path = folder / "notes.jsonl"
    lines = ledger.split(path.read_bytes())
    with_lines(path, [*lines[:1], lines[1].replace("转南".encode(), "转西".encode()), *lines[2:], b"broken\n"])
    repair.repair(mind)
    assert [(f.line, f.what) for f in verify.verify(mind).faults] == [(2, "changed")]


def test_the_night_chains_and_an_add_does_not(tmp_path: Path) -> None:
    mind = opened(tmp_path / "mind")
    mind.add("渡轮早上六点开")
    assert not (tmp_path / "mind" / chain.CHAIN).exists()
    night.consolidate(mind)
    assert chain.read(tmp_path / "mind").digests["notes.jsonl"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(0, 5), max_size=12), st.integers(0, 2**32))
def test_any_change_of_a_chained_file_is_found(kinds: list[int], seed: int) -> None:
    """A file whose chained lines were drawn anew, moved, doubled or dropped never passes; one only added to does."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        lines = [row(n, draw.choice("潮汐灯塔")) for n in range(1, 9)]
        with_lines(folder / "notes.jsonl", lines)
        chain.extend(folder, ["notes.jsonl"], "2026")
        now = list(lines)
        for kind in kinds:
            at = draw.randrange(len(now)) if now else 0
            if kind == 0 and now:
                now[at] = row(draw.randint(1, 9), draw.choice("潮汐灯塔"))
            elif kind == 1 and now:
                del now[at]
            elif kind == 2 and now:
                now.insert(draw.randrange(len(now)), now[at])
            elif kind == 3 and now:
                now.append(now.pop(at))
            elif kind >= 4:
                now.append(row(draw.randint(10, 99)))
        found = chain.faults(chain.read(folder), "notes.jsonl", b"".join(now))
        assert bool(found) == (now[: len(lines)] != lines)


def test_a_line_of_a_kind_unknown_here_stays(tmp_path: Path) -> None:
    """A later version may write objects without an id: what is whole is not moved, what is broken beside it is."""
    whole = b'{"kind":"later","value":1}\n'
    (tmp_path / "notes.jsonl").write_bytes(b'{"id":1,"text":"a"}\n' + whole + b'{"id":2,"te\n')
    done = repair.repair(Mind(tmp_path))
    assert [damage.line for damage in done.moved] == [3]
    assert (tmp_path / "notes.jsonl").read_bytes() == b'{"id":1,"text":"a"}\n' + whole
    assert not repair.repair(Mind(tmp_path)).moved
