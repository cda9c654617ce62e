"""What a killed command leaves is found and cleared; what is in use, another's, or only looks alike is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import nebula
from nebula import doctor, erase, export, places, remains, repair
from nebula.mind import Mind
from nebula.mindlib import files, scratch
from tests.invented import DrawnEncoder

ROOT = Path(nebula.__file__).parent.parent
SECRET = "体检报告说左肺有一个小结节，先别告诉妈妈"
LAYING = """
import sys, time
from pathlib import Path
from nebula import export
from nebula.mindlib import files, scratch
if sys.argv[1] == "import":
    with export.unpacked(Path(sys.argv[2])) as folder:
        print(folder, flush=True); time.sleep(60)
elif sys.argv[1] == "edit":
    with scratch.folder("edit") as (folder, held):
        (folder / "text.md").write_bytes(Path(sys.argv[2]).read_bytes())
        print(folder, flush=True); time.sleep(60)
else:
    with scratch.laid_aside(Path(sys.argv[2])) as folder:
        (folder / "notes.jsonl").write_text(sys.argv[3], encoding="utf-8")
        print(folder, flush=True); time.sleep(60)
"""
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders can't be locked there")


@pytest.fixture(autouse=True)
def own_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return place


def begun(*argv: str) -> tuple[subprocess.Popen[str], Path]:
    """A process that has laid a folder out, and the folder."""
    given = [sys.executable, "-c", LAYING, *argv]
    process = subprocess.Popen(given, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def killed(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def told(folder: Path) -> Mind:
    mind = Mind(folder)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    mind.add(SECRET)
    mind.add("渡轮早上六点开")
    return mind


@pytest.mark.process
def test_a_killed_import_s_copy_goes_at_the_next_one_not_while_it_runs(tmp_path: Path) -> None:
    packed = tmp_path / "mind.zip"
    packed.write_bytes(export.pack(told(tmp_path / "mind"), as_zip=True))
    process, left = begun("import", str(packed))
    with export.unpacked(packed):
        assert (left / "notes.jsonl").is_file(), "it is in use"
    assert scratch.abandoned(tmp_path / "mind") == []
    killed(process)
    assert scratch.abandoned(tmp_path / "mind") == [left]
    with export.unpacked(packed):
        assert not left.exists()
    assert scratch.leavings() == []


@pytest.mark.process
@pytest.mark.parametrize("kind", ["import", "edit", "beside"])
def test_an_erase_looks_into_what_was_left(kind: str, tmp_path: Path) -> None:
    """In use it is named as left; left by a killed command it goes. What says nothing of it stays."""
    mind, packed, text = told(tmp_path / "mind"), tmp_path / "mind.jsonl", tmp_path / "text"
    packed.write_bytes(export.pack(mind))
    text.write_text(SECRET, encoding="utf-8")
    argv = {"import": (str(packed),), "edit": (str(text),), "beside": (str(mind.folder), SECRET)}[kind]
    process, left = begun(kind, *argv)
    assert any(name.startswith(str(left)) for name in remains.left(mind, [], [SECRET]))
    done = erase.erase(mind, erase.plan(mind, ["n1"]))
    assert [str(Path(name).parent) for name in done.left] == [str(left)]
    killed(process)
    erase.erase(mind, erase.plan(mind, ["n2"]))
    assert left.exists() == (kind != "import"), "of the ferry only the export had a word"
    mind.add(SECRET)
    assert erase.erase(mind, erase.plan(mind, ["n3"])).left == {}
    assert not left.exists()


@pytest.mark.process
def test_the_doctor_names_it_and_its_repair_clears_it(tmp_path: Path) -> None:
    mind, text = told(tmp_path / "mind"), tmp_path / "text"
    text.write_text(SECRET, encoding="utf-8")
    for process, _ in (begun("edit", str(text)), begun("beside", str(mind.folder), SECRET)):
        killed(process)
    left = [str(path) for path in scratch.abandoned(mind.folder)]
    assert len(left) == 2
    place = places.Place(mind.folder, "--mind")
    (check,) = [one for one in doctor.examine(place, {}, now=mind.now).checks if one.name == "folder"]
    assert (check.status, check.facts["abandoned"]) == ("warn", left)
    assert repair.repair(mind).cleared == left
    assert scratch.abandoned(mind.folder) == []
    assert (mind.folder / "notes.jsonl").is_file()


def test_a_draft_stays_a_day(own_temporary: Path) -> None:
    """The text that was in an editor may be all that is left of it."""
    young, old = own_temporary / "nebula-edit-aaaaaaaa", own_temporary / "nebula-bbbbbbbb"
    for path in (young, old):
        path.mkdir()
        (path / "text.md").write_text("x", encoding="utf-8")
    os.utime(old, (0, 0))
    with scratch.folder(scratch.EDIT):
        assert (young.exists(), old.exists()) == (True, False)


def test_what_is_not_ours_stays(own_temporary: Path, tmp_path: Path) -> None:
    """Other names, other contents under the old name, a link, a file; beside a mind, one that is being moved."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("nebula-import-", "nebula-import-aaaaaaaaa", "nebula-aaaaaaaa", "nebula-other-aaaaaaaa"):
        (own_temporary / name).mkdir()
    (own_temporary / "nebula-aaaaaaaa" / "work.txt").write_text("x", encoding="utf-8")
    (own_temporary / "nebula-import-bbbbbbbb").symlink_to(elsewhere)
    (own_temporary / "nebula-import-cccccccc").write_text("x", encoding="utf-8")
    mind = tmp_path / "mind"
    for name in (".mind.0123abcd.tmp", ".mind.tmp", ".mind.0123abcd.tmp2", ".other.0123abcd.tmp"):
        (tmp_path / name).mkdir()
    (tmp_path / ".mind.0123abcd.tmp" / ".moving.json").write_text("{}", encoding="utf-8")
    assert (scratch.leavings(), scratch.beside(mind)) == ([], [])
    files.make_folder(mind)
    (mind / ".moving.json").write_text("{}", encoding="utf-8")
    (tmp_path / ".mind.0123abcd.tmp" / ".moving.json").unlink()
    assert scratch.beside(mind) == []
    (mind / ".moving.json").unlink()
    assert scratch.beside(mind) == [tmp_path / ".mind.0123abcd.tmp"]
