"""A mind as one file and back: the same to the byte, refused where it was cut, and nothing derived in it."""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
import tempfile
import zipfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nebula import amend, export, longterm, moods, night, relocate, remains, repair, verify
from nebula.errors import FileUnusable, WrongUsage
from nebula.importers import exports
from nebula.mind import Mind
from nebula.mindlib import files, zips
from nebula.recall.hit import Filters
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from tests.cli.conftest import Nebula

NOW = datetime(2026, 5, 1, 21, 0)


def opened(folder: Path, hours: float = 0.0) -> Mind:
    mind = Mind(folder, now=lambda: NOW + timedelta(hours=hours))
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def lived_in(folder: Path) -> Mind:
    """Every kind of file, with a damaged line here, one in the quarantine, and bytes that no JSON writer gives."""
    mind = opened(folder)
    for text in ("渡轮早上六点开", 'a "quoted" \u2028 line', "搬家去青岛", "邮局周三休息", "灯塔的看守姓顾"):
        mind.add(text, tag="出行")
    mind.add("下月搬回去", ledger="promises", imp=0.9)
    amend.change(mind, ["n1"], {"imp": 0.9}, "set")
    moods.feel(mind, "sad", 0.5, why="下雨")
    longterm.write(mind, "# 长期\r\n住在海边。\n", "")
    longterm.write(mind, "# 长期\n住在山上。\n", "# 长期\r\n住在海边。\n")
    mind.configure("night.at", "23:00")
    mind.recall("渡轮")
    night.consolidate(opened(folder, 2))
    with (folder / "notes.jsonl").open("ab") as file:
        file.write(b"\xff\x00 noise\n")
    repair.repair(mind)
    verify.verify(mind)
    with (folder / "thoughts.jsonl").open("ab") as file:
        file.write(b'\xef\xbb\xbf{"id": 7, "at": "2026-04-01", "text": "by hand"}\r\n\n{"id": 8, "text": "cu')
    return opened(folder)


def kept(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in export.NAMES if (folder / name).is_file()}


@pytest.mark.parametrize("as_zip", [False, True])
def test_it_comes_back_the_same_to_the_byte(tmp_path: Path, *, as_zip: bool) -> None:
    mind = lived_in(tmp_path / "mind")
    packed = tmp_path / ("all.zip" if as_zip else "all.jsonl")
    packed.write_bytes(export.pack(mind, as_zip=as_zip))
    assert len(kept(tmp_path / "mind")) >= 11
    done = export.import_file(opened(tmp_path / "new" / "mind"), packed)
    assert done.records == {"notes": 5, "promises": 1, "thoughts": 1, "summaries": 1}
    assert kept(tmp_path / "new" / "mind") == kept(tmp_path / "mind")
    again = opened(tmp_path / "new" / "mind")
    assert again.settings.night.at == "23:00"
    assert verify.verify(again).ok
    assert again.recall("渡轮早上六点开").hits[0].memory.ref == "n1"


def test_nothing_derived_is_in_it(tmp_path: Path) -> None:
    packed = export.pack(lived_in(tmp_path / "mind"), as_zip=True)
    names = set(zipfile.ZipFile(io.BytesIO(packed)).namelist())
    assert names <= set(export.NAMES)
    assert not {name for name in names if ".index" in name or "lock" in name or "state" in name}


def test_the_lines_are_readable_by_anybody(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in export.pack(lived_in(tmp_path / "mind")).split(b"\n")[:-1]]
    texts = [line["line"]["text"] for line in lines if line.get("file") == "notes.jsonl"]
    assert texts[0] == "渡轮早上六点开"
    assert lines[-1]["lines"] == len(lines) - 2


def test_into_a_mind_that_has_its_own_it_is_an_import(tmp_path: Path) -> None:
    packed = tmp_path / "all.jsonl"
    packed.write_bytes(export.pack(lived_in(tmp_path / "mind")))
    mind = opened(tmp_path / "other")
    mind.add("自己的一条")
    first = export.import_file(mind, packed)
    assert first.records["notes"] == 5
    assert export.import_file(mind, packed).records == {}
    assert {m.text for m in mind.list(Filters(old=True), None).memories} >= {"自己的一条", "渡轮早上六点开"}


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    packed = tmp_path / "all.jsonl"
    packed.write_bytes(export.pack(lived_in(tmp_path / "mind")))
    assert export.import_file(opened(tmp_path / "new"), packed, dry_run=True).records["notes"] == 5
    assert not (tmp_path / "new").exists()


def test_one_with_private_passages_is_not_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mind").mkdir()
    row = {"id": 1, "at": "2026-01-01", "text": "公开<private>不公开</private>"}
    (tmp_path / "mind" / "notes.jsonl").write_bytes(orjson.dumps(row) + b"\n")
    packed = tmp_path / "all.jsonl"
    packed.write_bytes(export.pack(opened(tmp_path / "mind")))
    export.import_file(opened(tmp_path / "new"), packed)
    assert "不公开".encode() not in (tmp_path / "new" / "notes.jsonl").read_bytes()


@pytest.mark.parametrize("as_zip", [False, True])
def test_what_was_cut_or_changed_is_refused(tmp_path: Path, *, as_zip: bool) -> None:
    """Nothing is written then. A zip's own sums catch a changed byte in what it holds."""
    data = export.pack(lived_in(tmp_path / "mind"), as_zip=as_zip)
    draw = random.Random(5)
    for _ in range(40):
        at = draw.randrange(1, len(data))
        packed = tmp_path / "bad"
        packed.write_bytes(data[:at])
        with pytest.raises(FileUnusable):
            export.import_file(opened(tmp_path / "new"), packed)
        if not as_zip:
            packed.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            with pytest.raises(FileUnusable):
                export.import_file(opened(tmp_path / "new"), packed)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"{}", b"[1]\n", b"PK\x03\x04", b'{"nebula":"export","format":9}\n{"end":true}\n']
)
def test_what_is_no_export_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(FileUnusable):
        export.import_file(opened(tmp_path / "new"), tmp_path / "x")


def test_a_zip_can_not_leave_its_folder_nor_swell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that are none of a mind's are passed over; what would come out a thousand times larger is refused."""
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        row = b'{"id":1,"at":"2026-01-01","text":"a"}\n'
        for name in ("../out.jsonl", "/abs.jsonl", "quarantine/../../out", ".index/full/manifest.json", "notes.jsonl"):
            archive.writestr(name, row)
    export.import_file(opened(tmp_path / "new" / "mind"), tmp_path / "x.zip")
    assert {p.name for p in tmp_path.iterdir()} == {"x.zip", "new"}
    assert not (tmp_path / "new" / "mind" / ".index" / "full").exists()
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("notes.jsonl", b"0" * 2**23)
    monkeypatch.setattr(zips, "ALLOWED", 2**20)
    with pytest.raises(FileUnusable):
        export.import_file(opened(tmp_path / "other"), tmp_path / "bomb.zip")


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_archives_are_refused_by_name(tmp_path: Path, packing: int) -> None:
    """Bytes changed or cut anywhere, by every reader of archives: an import, a chat export, and erase's search."""
    draw, path, read = random.Random(packing), tmp_path / "x.zip", 0
    with zipfile.ZipFile(path, "w", packing) as archive:
        archive.writestr("notes.jsonl", b'{"id":1,"at":"2026-01-01","text":"a"}\n' * 40)
        archive.writestr("conversations.json", b"[]" * 40)
    whole = path.read_bytes()
    for _ in range(250):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 4)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        path.write_bytes(data[: draw.randrange(len(data))] if draw.random() < 0.2 else data)
        with contextlib.suppress(FileUnusable), export.unpacked(path):
            read += 1
        with contextlib.suppress(FileUnusable):
            list(exports._exported(path))
        assert remains._unpacked(path.name, path.read_bytes())
    assert 0 < read < 200


def test_killed_before_the_folder_takes_its_name_there_is_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = tmp_path / "all.jsonl"
    packed.write_bytes(export.pack(lived_in(tmp_path / "mind")))

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files, "sync_folder", killed)
        with pytest.raises(KeyboardInterrupt):
            export.import_file(opened(tmp_path / "new"), packed)
    assert not (tmp_path / "new").exists()
    assert export.import_file(opened(tmp_path / "new"), packed).records["notes"] == 5


_BYTES = st.lists(
    st.one_of(
        st.binary(max_size=20),
        st.dictionaries(
            st.text(max_size=4), st.text(max_size=6) | st.integers(-9, 9) | st.floats(allow_nan=False), max_size=3
        ).map(orjson.dumps),
        st.sampled_from([b"", b"\r", b"\xef\xbb\xbf{}", b'{"a": 1}', b'{"a":1e3}', "\u2028".encode()]),
    ),
    max_size=6,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_BYTES, _BYTES, st.booleans(), st.booleans())
def test_any_bytes_come_back(ledger_lines: list[bytes], note: list[bytes], ended: bool, as_zip: bool) -> None:
    """Lines of any bytes, ended or not, in a ledger and in the notes."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "mind"
        folder.mkdir()
        data = b"\n".join(ledger_lines) + (b"\n" if ended else b"")
        (folder / "notes.jsonl").write_bytes(data)
        (folder / "longterm.md").write_bytes(b"\n".join(note))
        packed = Path(made) / "packed"
        packed.write_bytes(export.pack(opened(folder), as_zip=as_zip))
        with export.unpacked(packed) as laid:
            assert files.read(laid / "notes.jsonl") == data
            assert files.read(laid / "longterm.md") == b"\n".join(note)


# moving


def test_a_mind_moves_whole(tmp_path: Path) -> None:
    mind = lived_in(tmp_path / "mind")
    (tmp_path / "mind" / "my own file.txt").write_text("stays with it", encoding="utf-8")
    before = {p.relative_to(mind.folder): p.read_bytes() for p in mind.folder.rglob("*") if p.is_file()}
    done = relocate.move(mind, tmp_path / "deep" / "there")
    after = {p.relative_to(done.target): p.read_bytes() for p in done.target.rglob("*") if p.is_file()}
    assert {name: data for name, data in after.items() if name in before} == before
    assert not (tmp_path / "mind").exists()
    assert {p.name for p in tmp_path.iterdir()} == {"deep"}, "nothing is left beside"
    assert opened(done.target).recall("渡轮早上六点开").hits[0].memory.ref == "n1"


def test_a_copy_is_nobody_elses_from_its_first_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is 0700 before anything lies in it, whatever the old one was."""
    mind = lived_in(tmp_path / "mind")
    mind.folder.chmod(0o755)
    seen: list[int] = []

    def copy(source: Path, target: Path, **options: bool) -> object:
        seen.append(target.parent.stat().st_mode & 0o777)
        return shutil.copyfile(source, target, **options)

    monkeypatch.setattr(shutil, "copy2", copy)
    done = relocate.move(mind, tmp_path / "there")
    assert seen
    assert {*seen, done.target.stat().st_mode & 0o777} == {0o700}


def test_a_link_is_not_moved_for_what_it_points_at(tmp_path: Path) -> None:
    """Only the link would go, and two minds be left."""
    mind = lived_in(tmp_path / "mind")
    (tmp_path / "link").symlink_to(mind.folder)
    with pytest.raises(FileUnusable, match="mind"):
        relocate.move(opened(tmp_path / "link"), tmp_path / "there")
    assert (tmp_path / "link").is_symlink()
    assert not (tmp_path / "there").exists()


def test_places_a_mind_can_not_move_to(tmp_path: Path) -> None:
    mind = lived_in(tmp_path / "mind")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    for target, kind in (
        (tmp_path / "mind", WrongUsage),
        (tmp_path / "mind" / "in", WrongUsage),
        (tmp_path, WrongUsage),
        (tmp_path / "full", FileUnusable),
        (tmp_path / "full" / "x", FileUnusable),
    ):
        with pytest.raises(kind):
            relocate.move(mind, target)
    with pytest.raises(FileUnusable):
        relocate.move(opened(tmp_path / "absent"), tmp_path / "y")
    assert mind.get("n1").text == "渡轮早上六点开"
    relocate.move(mind, tmp_path / "empty")


def test_a_copy_that_differs_leaves_all_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    mind = lived_in(tmp_path / "mind")
    true_copy = shutil.copytree

    def spoiled(source: Path, target: Path, **more: object) -> None:
        true_copy(source, target, **more)  # type: ignore[arg-type]
        (target / "notes.jsonl").write_bytes(b"")

    monkeypatch.setattr(shutil, "copytree", spoiled)
    with pytest.raises(Exception, match="differs"):
        relocate.move(mind, tmp_path / "there")
    assert not (tmp_path / "there").exists()
    assert mind.get("n1").text == "渡轮早上六点开"


# the commands


def test_by_the_command_line(nebula: Nebula, tmp_path: Path) -> None:
    nebula("add", "渡轮早上六点开")
    assert nebula("export", str(tmp_path / "all.zip")).code == 0
    assert (tmp_path / "all.zip").stat().st_mode & 0o077 == 0
    assert nebula("import", str(tmp_path / "all.zip"), "--mind", str(tmp_path / "one")).code == 0
    assert nebula("list", "--mind", str(tmp_path / "one")).out.startswith("n1")
    data = nebula("mind", "move", str(tmp_path / "two"), "--mind", str(tmp_path / "one"), "--json").data
    assert data["to"] == str(tmp_path / "two")
    assert nebula("merge", str(tmp_path / "all.zip"), "--mind", str(tmp_path / "two"), "--json").data["here"] == 1
    assert nebula("import", str(tmp_path / "nowhere")).code == 3


@pytest.mark.parametrize(
    "command",
    [["export", "{}/out.jsonl"], ["export", "-"], ["map", "-o", "{}/sky.html"], ["map", "--png", "{}/sky.png"]],
)
def test_nothing_is_said_to_be_nothing(
    nebula: Nebula, mind_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    """As after `mind move`, while NEBULA_MIND still names the old place; it is done, and the place is named."""
    nebula("add", "渡轮改到七点开", "-q")
    full = [part.format(tmp_path) for part in command]
    assert "这里没有记忆" not in nebula(*full).err
    nebula("mind", "move", str(tmp_path / "moved"))
    said = nebula(*full)
    assert (said.code, f"这里没有记忆：{mind_dir}；" in said.err) == (0, True)


@pytest.mark.parametrize("command", ["import", "merge"])
@pytest.mark.parametrize("name", ["nothing.jsonl", "nothing.zip"])
def test_an_export_of_nothing_is_a_mind_without_memories(
    nebula: Nebula, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, name: str
) -> None:
    """It is read, and said to hold none; no passing folder is named."""
    nebula("export", str(tmp_path / name))
    nebula("add", "渡轮改到七点开", "-q")
    said = nebula(command, str(tmp_path / name))
    assert (said.code, f"那里没有记忆：{tmp_path / name}" in said.err) == (0, True)
    assert nebula("list", "--json").data["total"] == 1


def test_notes_without_a_memory_are_said_to_hold_none(nebula: Nebula, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    said = nebula("import", str(tmp_path / "notes"), "--from", "markdown")
    assert (said.code, f"那里没有记忆：{tmp_path / 'notes'}" in said.err) == (0, True)
