"""What was erased is known when it comes again, by nothing that tells anybody what it was."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nebula import amend, erase, export, longterm, merge, moods, places, seals, transfer
from nebula.importers import taking
from nebula.mind import Mind
from nebula.mindlib import files
from nebula.mindlib.record import derived_uid
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SAMPLES = Path(__file__).parent / "data" / "imports"
NOW = datetime(2026, 5, 1, 21)
AT = "2026-04-01T09:00:00"
SECRET, OTHER = "体检报告说左肺有一个小结节", "渡轮早上六点开"


def opened(folder: Path) -> Mind:
    mind = Mind(folder, now=lambda: NOW)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


@pytest.fixture
def mind(tmp_path: Path) -> Mind:
    """Two memories whose lines have no uid of their own, as the first version wrote them; the secret elsewhere too."""
    folder = tmp_path / "mind"
    folder.mkdir()
    rows = [{"id": n, "at": AT, "text": text} for n, text in enumerate((SECRET, OTHER), start=1)]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "notes.jsonl").write_text(text, encoding="utf-8")
    mind = opened(folder)
    moods.feel(mind, "worry", 0.7, why=f"因为{SECRET}")
    longterm.write(mind, f"{SECRET}\n", "")
    longterm.write(mind, f"住在海边。{SECRET}\n", f"{SECRET}\n")
    amend.change(mind, ["n2"], {"topic": f"那天{SECRET}"}, "set")
    return mind


def erased(mind: Mind, folder: Path) -> Path:
    """Erase the secret; -> a copy of the mind from before."""
    shutil.copytree(mind.folder, folder)
    assert erase.erase(mind, erase.plan(mind, ["n1"])).left == {}
    return folder


def holding(folder: Path, text: str = SECRET) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes())


def by_merge(mind: Mind, copy: Path) -> None:
    merge.merge(mind, copy)


def by_import(mind: Mind, copy: Path) -> None:
    transfer.import_folder(mind, copy)


def by_file(mind: Mind, copy: Path) -> None:
    path = copy.parent / "old.jsonl"
    path.write_bytes(export.pack(opened(copy)))
    export.import_file(mind, path)


WAYS = (by_merge, by_import, by_file)


@pytest.mark.parametrize("way", WAYS)
def test_an_old_copy_brings_nothing_back(mind: Mind, tmp_path: Path, way: Callable[[Mind, Path], None]) -> None:
    """Neither the memory nor what quoted it: a mood's reason, the long-term notes and their history, a change."""
    copy = erased(mind, tmp_path / "copy")
    assert {"notes.jsonl", "mood.jsonl", "longterm.md", "longterm.history.jsonl"} <= set(holding(copy))
    for _ in range(2):
        way(mind, copy)
        assert holding(mind.folder) == []
        assert [memory.text for memory in mind.list().memories] == [OTHER]
    longterm.write(mind, "", longterm.read(mind))
    way(mind, copy)
    assert holding(mind.folder) == []


def test_without_the_key_it_comes_back(mind: Mind, tmp_path: Path) -> None:
    """The control, and the limit: on another machine nothing is known by its seal, and that is said."""
    copy = erased(mind, tmp_path / "copy")
    places.erase_key().unlink()
    done = merge.merge(mind, copy)
    assert "notes.jsonl" in holding(mind.folder)
    assert "seals_elsewhere" in [notice.code for notice in done.notices]


@pytest.mark.parametrize(("kind", "name"), [("mcp-memory", "memory.jsonl"), ("markdown", "notes")])
def test_what_is_named_by_its_text_does_not_come_back(tmp_path: Path, kind: str, name: str) -> None:
    """An observation of the other program is known by the seal of its source; the others of its group still come."""
    mind = opened(tmp_path / "mind")
    taking.take(mind, SAMPLES / name, kind)
    every = mind.list(n=None).memories
    gone = next(memory for memory in every if re.search("#[0-9a-f]{16}$", str(memory.extra["source"])))
    erase.erase(mind, erase.plan(mind, [gone.ref]))
    went = len(every) - len(mind.list(n=None).memories)
    again = taking.take(mind, SAMPLES / name, kind)
    assert (again.added, again.newer, again.erased) == (0, 0, went)
    assert gone.text not in [memory.text for memory in mind.list(n=None).memories]
    places.erase_key().unlink()
    assert taking.take(mind, SAMPLES / name, kind).added >= 1, "the control"


def digests(*said: str) -> Iterator[str]:
    """What a guesser would try: every usual hash of what the line and its parts say."""
    makers: list[Callable[[bytes], Any]] = [
        *(getattr(hashlib, name) for name in ("md5", "sha1", "sha256", "sha512")),
        *(lambda data, n=n: hashlib.blake2b(data, digest_size=n) for n in (8, 16, 32, 64)),
    ]
    for text in said:
        for make in makers:
            yield make(text.encode()).hexdigest()[:16]


def test_no_hash_of_it_stays(mind: Mind, tmp_path: Path) -> None:
    """No file of the mind and no export holds a hash of the text, its line, its uid or its notes; before, some did."""
    uid = mind.get("n1").uid
    notes = mind.store.path("longterm.md").read_text(encoding="utf-8")
    line = mind.store.path("notes.jsonl").read_text(encoding="utf-8").splitlines()[0]
    guesses = {*digests(SECRET, line, uid, notes, f"{SECRET}\n"), uid, derived_uid("notes", AT, SECRET, 0)}
    mind.add(f"记下了：{uid}")
    assert any(guess in mind.store.path("notes.jsonl").read_text(encoding="utf-8") for guess in guesses)
    erase.erase(mind, erase.plan(mind, ["n1", "n3"]))
    held = b"".join(path.read_bytes() for path in mind.folder.rglob("*") if path.is_file()) + export.pack(mind)
    assert [guess for guess in guesses if guess.encode() in held] == []
    key = places.erase_key().read_text(encoding="ascii").strip()
    assert key.encode() not in held
    assert mind.folder not in places.erase_key().parents


def test_the_key_is_one_and_its_owner_s(tmp_path: Path) -> None:
    """Made by many at once there is one; its file is the owner's; one of another length is none."""
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: seals.key(create=True), range(16)))
    assert len(found) == 1
    assert stat.S_IMODE(places.erase_key().stat().st_mode) == 0o600
    places.erase_key().write_text("abcd\n", encoding="ascii")
    assert seals.key(create=True) == b""


def test_without_a_place_for_the_key_it_is_erased_all_the_same(mind: Mind, monkeypatch: pytest.MonkeyPatch) -> None:
    """And that it may not be known again is said."""
    blocked = mind.folder.parent / "file"
    blocked.write_bytes(b"")
    monkeypatch.setattr(places, "erase_key", lambda: blocked / "erase.key")
    done = erase.erase(mind, erase.plan(mind, ["n1"]))
    assert holding(mind.folder) == []
    assert "unsealed" in [notice.code for notice in done.notices]


def test_a_field_that_is_called_source_names_nothing(tmp_path: Path) -> None:
    """Of another program's records many may have one `source`; erasing one of them keeps none of the others away."""
    mind, other = opened(tmp_path / "mind"), opened(tmp_path / "other")
    for each, text in ((mind, SECRET), (other, OTHER)):
        files.make_folder(each.folder)
        each.store.append_lines("notes.jsonl", [{"id": 1, "at": AT, "text": text, "source": "diary"}], durable=False)
    erase.erase(mind, erase.plan(mind, ["n1"]))
    assert transfer.import_folder(mind, other.folder).records == {"notes": 1}
