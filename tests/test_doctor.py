"""The doctor: six checks, each with its next step; it never raises and fills nothing in; broken is not unfinished."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from datetime import datetime
from pathlib import Path

import pytest

from nebula import doctor, messages, places, selftest
from nebula.cli import main
from nebula.doctor import Check, Report, examine
from nebula.encoder import Encoder
from nebula.errors import WriteFailed
from nebula.mind import Mind
from nebula.mindlib.store import Store
from nebula.recall import asking
from nebula.recall.hit import Asked

NOW = datetime(2026, 12, 1, 12)


@pytest.fixture(autouse=True)
def _chinese() -> None:
    messages.use("zh")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "心"


@pytest.fixture
def mind(folder: Path) -> Mind:
    """Two notes and a promise, with their vectors."""
    mind = Mind(folder, now=lambda: NOW)
    mind.add_many([{"text": "我对花生过敏"}, {"text": "渡轮早上六点开"}, {"text": "下周还书", "ledger": "promises"}])
    return mind


def looked_at(folder: Path) -> Report:
    return examine(places.Place(folder, "--mind"), os.environ, now=lambda: NOW)


def check(folder: Path, name: str) -> Check:
    """One check of the report; retrieval, which costs more than all others, is tried where it is the one."""
    with pytest.MonkeyPatch.context() as patch:
        if name != "meaning":
            patch.setattr(doctor, "_meaning", lambda _: Check("meaning", "ok", ""))
        return next(check for check in looked_at(folder).checks if check.name == name)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_six_checks_of_a_sound_mind(mind: Mind) -> None:
    """Spec 9: Python · folder (ledgers, rule) · memories by ledger · semantic retrieval · mood source · star map."""
    report = looked_at(mind.folder)
    assert [check.name for check in report.checks] == ["python", "folder", "memories", "meaning", "mood", "map"]
    assert [(check.status, check.hint) for check in report.checks] == [("ok", "")] * 6
    assert report.ok
    assert report.checks[1].facts["ledgers"] == 2
    assert str(mind.folder) in report.checks[1].line
    assert "--mind" in report.checks[1].line
    assert report.checks[2].line == "记忆 3 条：事实 2 · 约定 1"
    assert re.fullmatch(r"语义检索 bge-small-zh-v1\.5 / 512 维 / 向量 3/3 / 索引 [\d.]+KB", report.checks[3].line)
    assert report.checks[4].line == "心情来源 builtin"


def test_looking_changes_nothing(mind: Mind) -> None:
    """Also where vectors are missing: filling them in is `embed --build`'s, and a second look says the same."""
    shutil.rmtree(mind.folder / ".index")
    before = tree(mind.folder)
    first, second = looked_at(mind.folder), looked_at(mind.folder)
    assert tree(mind.folder) == before
    assert first == second
    assert first.checks[3].facts["present"] == 0


def test_missing_vectors_are_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S10: what was written while the dense route was off shows as 1 of 2, a warning; after the build 2 of 2."""
    mind = Mind(folder, now=lambda: NOW)
    mind.add("我对花生过敏")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "numpy", None)
        mind.add("我下个月要搬去青岛")
    found = check(folder, "meaning")
    assert found.status == "warn"
    assert "向量 1/2" in found.line
    assert "2 条里有 1 条" in found.hint
    assert "nebula embed --build" in found.hint
    assert mind.build().embedded == 1
    assert "向量 2/2" in check(folder, "meaning").line


def test_damaged_lines_by_file_and_line(mind: Mind) -> None:
    """S01: a damage costs itself only; the doctor names file and line, of side ledgers too, and fails."""
    with (mind.folder / "notes.jsonl").open("ab") as file:
        file.write('{"id":3,"at":"2026-05-01T09:10:00","text":"写到一半'.encode() + b"\n")
    (mind.folder / "changes.jsonl").write_bytes(b"{}\nnoise\n")
    found = check(mind.folder, "memories")
    assert found.status == "bad"
    assert found.line == "记忆 3 条：事实 2 · 约定 1"
    assert found.facts["damages"] == ["notes.jsonl 第 3 行", "changes.jsonl 第 2 行"]
    assert "notes.jsonl 第 3 行" in found.hint
    assert not looked_at(mind.folder).ok


def test_lines_of_a_later_version_are_no_damage(mind: Mind) -> None:
    """Whole objects of a kind unknown here: told of, by file and line; repair leaves them."""
    with (mind.folder / "notes.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"kind":"later","value":1}\n')
    found = check(mind.folder, "memories")
    assert (found.status, found.facts["damages"]) == ("warn", [])
    assert found.facts["unknown"] == ["notes.jsonl 第 3 行"]
    assert "notes.jsonl 第 3 行" in found.hint


def test_repeated_ids_are_listed(mind: Mind) -> None:
    line = {"id": 1, "at": "2026-05-01T09:00:00", "text": "同一个编号", "uid": "00000000000000ff"}
    with (mind.folder / "notes.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    found = check(mind.folder, "memories")
    assert (found.status, found.facts["repeated"]) == ("warn", ["00000000000000ff"])
    assert "00000000000000ff" in found.hint


def test_lines_with_the_uid_of_another_are_listed(mind: Mind) -> None:
    """Copied by hand with an id of its own: named, and no longer once its uid is taken out, as the hint says."""
    mind.add("渡轮早上六点开")
    path = mind.folder / "notes.jsonl"
    line = {**json.loads(path.read_bytes().splitlines()[0]), "id": 77}
    path.write_bytes(path.read_bytes() + json.dumps(line).encode() + b"\n")
    found = check(mind.folder, "memories")
    assert (found.status, found.facts["copied"]) == ("warn", ["n77"])
    assert "n77" in found.hint
    del line["uid"]
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0] + json.dumps(line).encode() + b"\n")
    assert check(mind.folder, "memories").facts["copied"] == []


def test_a_ledger_that_is_a_folder(mind: Mind) -> None:
    """The others are still counted."""
    (mind.folder / "tacts.jsonl").mkdir()
    report = looked_at(mind.folder)
    found = report.checks[2]
    assert found.status == "bad"
    assert "事实 2" in found.line
    assert "tacts.jsonl" in found.hint
    assert not report.ok


@pytest.mark.parametrize("text", ["{", "[]", '{"recall": {"k": "many"}}', '{"profile": 3}', "\x00"])
def test_unreadable_settings(mind: Mind, text: str) -> None:
    """One bad check that says what to mend; retrieval is tried all the same, and no count is made up."""
    (mind.folder / "mind-config.json").write_text(text, encoding="utf-8")
    statuses = {check.name: check.status for check in looked_at(mind.folder).checks}
    assert (statuses["mood"], statuses["meaning"], statuses["memories"]) == ("bad", "warn", "ok")
    assert "mind-config.json" in check(mind.folder, "mood").line
    assert "0/0" not in check(mind.folder, "meaning").line


def test_unknown_settings_are_named(mind: Mind) -> None:
    config = {"recall": {"k": 12, "kk": 3}, "nonsense": 1, "K": 12}
    (mind.folder / "mind-config.json").write_text(json.dumps(config), encoding="utf-8")
    (mind.folder / "mind-config.json").chmod(0o600)
    found = check(mind.folder, "mood")
    assert found.status == "warn"
    assert sorted(found.facts["unknown_settings"]) == ["nonsense", "recall.kk"]
    assert "recall.kk" in found.hint


def test_a_mood_file_that_is_not_there(mind: Mind, tmp_path: Path) -> None:
    mind.configure("mood.provider", "file")
    mind.configure("mood.file", str(tmp_path / "mood.json"))
    found = check(mind.folder, "mood")
    assert (found.status, found.line) == ("warn", "心情来源 file:mood.json")
    assert "没有这个文件" in found.hint
    (tmp_path / "mood.json").write_text('{"value": 60}')
    assert check(mind.folder, "mood").status == "ok"


def test_a_folder_that_can_not_be_written(mind: Mind, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(store: Store) -> None:
        raise WriteFailed(store.folder, "Read-only file system")

    monkeypatch.setattr(Store, "check_writable", refuse)
    found = check(mind.folder, "folder")
    assert found.status == "bad"
    assert "Read-only file system" in found.line
    assert found.hint


def test_a_file_where_the_folder_should_be(folder: Path) -> None:
    """Nothing of it works, every check still says something, and the file is as it was."""
    folder.write_text("not a folder")
    report = looked_at(folder)
    assert len(report.checks) == 6
    assert report.checks[1].status == "bad"
    assert folder.read_text() == "not a folder"


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_loose_modes(mind: Mind) -> None:
    """Design, Truth 6: 0600/0700; what others may read is named, with the command that closes it."""
    (mind.folder / "notes.jsonl").chmod(0o644)
    found = check(mind.folder, "folder")
    assert (found.status, found.facts["loose"]) == ("warn", ["notes.jsonl"])
    assert f"chmod -R go-rwx {mind.folder}" in found.hint.replace("'", "")
    mind.folder.chmod(0o755)
    assert check(mind.folder, "folder").facts["loose"] == [".", "notes.jsonl"]


@pytest.mark.parametrize(
    "name",
    [
        "notes (ana's conflicted copy 2026-05-01).jsonl",
        "notes.sync-conflict-20260501-090000-ABCDEFG.jsonl",
        "notes (1).jsonl",
        "profile (冲突).jsonl",
    ],
)
def test_conflicted_copies(mind: Mind, name: str) -> None:
    """Reliability 3.9: what a sync program left is named; it is no ledger and is not read."""
    (mind.folder / name).write_text("{}\n")
    found = check(mind.folder, "folder")
    assert (found.status, found.facts["conflicted"]) == ("warn", [name])
    assert name in found.hint


def test_an_empty_mind_names_the_others(folder: Path) -> None:
    """Spec 9: every other place where a mind lies, and the command that uses it; a mind with memories does not."""
    home = Path(os.environ["HOME"])
    assert check(folder, "memories").hint == messages.say("doctor.first")
    original = home / ".dsh" / "nebula-mind" / "memory"
    Mind(original, now=lambda: NOW).add("渡轮早上六点开")
    found = check(folder, "memories")
    assert (found.status, found.facts["elsewhere"]) == ("ok", [str(original)])
    assert f"NEBULA_MIND={original}" in found.hint
    assert not folder.exists()
    assert "NEBULA_MIND" not in check(original, "memories").hint


def test_star_map(mind: Mind) -> None:
    """Not drawn yet is no fault; a file shows; a folder under its name is odd."""
    assert (check(mind.folder, "map").status, check(mind.folder, "map").facts) == ("ok", {"file": ""})
    path = mind.folder / "星图.html"
    path.mkdir()
    assert check(mind.folder, "map").status == "warn"
    path.rmdir()
    path.write_text("<html>")
    assert "星图.html" in check(mind.folder, "map").line


class TestDeadRetrieval:
    """A dead route shows, whatever way it died: counts alone would look right."""

    def test_an_encoder_that_raises(self, mind: Mind, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: object) -> None:
            raise RuntimeError("matrix on fire")

        monkeypatch.setattr(Encoder, "encode", broken)
        found = check(mind.folder, "meaning")
        assert (found.status, found.hint) == ("bad", messages.say("doctor.reinstall"))
        assert "matrix on fire" in found.line

    def test_an_encoder_that_says_nonsense(self, mind: Mind, monkeypatch: pytest.MonkeyPatch) -> None:
        """All texts alike, and not a number."""
        for number in (512**-0.5, float("nan")):
            monkeypatch.setattr(Mind, "embed", lambda self, text, number=number: [[number] * 512])
            found = check(mind.folder, "meaning")
            assert (found.status, found.facts["dead"]) == ("bad", ["义#"])
            assert "义#" in found.line

    def test_pinned_cosines(self, mind: Mind) -> None:
        """cos .6119 for the two that mean alike, .3101 for the other (± .001)."""
        alike, same, other = (mind.embed(text)[0] for text in (selftest.ALIKE, selftest.SAME, selftest.OTHER))
        assert selftest.cosine(alike, same) == pytest.approx(0.6119, abs=5e-4)
        assert selftest.cosine(alike, other) == pytest.approx(0.3101, abs=5e-4)

    def test_a_word_route_that_finds_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(asking, "asked", lambda query, recall, now: Asked({}))
        assert "词#" in selftest.dead_routes(lambda: NOW, dense=True)

    def test_all_alive(self) -> None:
        assert selftest.dead_routes(lambda: NOW, dense=True) == []

    def test_assets_that_were_changed(self, mind: Mind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Every file of the model is hashed; one changed byte is bad."""
        copy = tmp_path / "model"
        shutil.copytree(places.asset(selftest.MODEL), copy)
        with monkeypatch.context() as patch:
            patch.setattr(places, "asset", lambda name: copy)
            patch.setattr(selftest, "SHIPPED", (selftest.MODEL,))
            assert selftest.wrong_assets() == []
            (copy / "vocab.txt").write_bytes((copy / "vocab.txt").read_bytes() + b"x")
            (copy / "config.json").unlink()
            wrong = selftest.wrong_assets()
        assert sorted(wrong) == ["config.json", "vocab.txt"]
        monkeypatch.setattr(selftest, "wrong_assets", lambda: wrong)
        found = check(mind.folder, "meaning")
        assert (found.status, found.facts["wrong"]) == ("bad", wrong)
        assert "vocab.txt" in found.line


@pytest.mark.parametrize("name", ["_python", "_folder", "_memories", "_meaning", "_mood", "_map"])
def test_a_check_that_fails_is_bad_and_the_rest_goes_on(mind: Mind, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def fail(_: object) -> Check:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(doctor, name, fail)
    report = looked_at(mind.folder)
    assert [check.name for check in report.checks if check.status == "bad"] == [name[1:]]
    assert len(report.checks) == 6


class TestCommand:
    def test_exit_codes_and_six_lines(self, capfd: pytest.CaptureFixture[str]) -> None:
        """0 while nothing is broken, warnings included; 1 when something is."""
        assert main(["add", "渡轮早上六点开"]) == 0
        own = Path(os.environ["NEBULA_MIND"])
        capfd.readouterr()
        assert main(["doctor"]) == 0
        assert len(capfd.readouterr().out.splitlines()) == 6
        own.chmod(0o755)
        assert main(["doctor"]) == 0
        (own / "notes.jsonl").write_bytes(b"noise\n")
        assert main(["doctor"]) == 1

    def test_json(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert main(["doctor", "--json"]) == 0
        document = json.loads(capfd.readouterr().out)
        assert document["ok"]
        assert [check["name"] for check in document["data"]["checks"]][:2] == ["python", "folder"]
        assert document["data"]["checks"][1]["facts"]["rule"] == "NEBULA_MIND"

    def test_english(self, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NEBULA_LANG", "en")
        assert main(["doctor"]) == 0
        assert "Semantic retrieval" in capfd.readouterr().out

    def test_a_wrong_now_is_refused(self) -> None:
        assert main(["doctor", "--now", "soon"]) == 2
