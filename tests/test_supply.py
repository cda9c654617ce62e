"""What the project takes from others, and what it may not call: the lock, the licences, the audit's word, the lint."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nebula import places, selftest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parent.parent
LOCK = ROOT / ".ci" / "lock.txt"


def module(path: Path) -> ModuleType:
    """A script that is no part of the package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


supply: Any = module(ROOT / ".ci" / "supply.py")


# the lock


def test_every_package_is_pinned_with_hashes_and_no_address() -> None:
    found = supply.locked(LOCK.read_text(encoding="utf-8"))
    assert len(found) > 20
    assert "://" not in LOCK.read_text(encoding="utf-8")


def test_what_the_project_asks_for_is_locked() -> None:
    """Each requirement of the package and of its development, at a version that it takes; else run .ci/lock."""
    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [Requirement(line) for line in (*project["dependencies"], *project["optional-dependencies"]["dev"])]
    found = supply.locked(LOCK.read_text(encoding="utf-8"))
    wrong = [str(one) for one in wanted if not one.specifier.contains(found.get(supply.canonical(one.name), "0"))]
    assert wrong == [], "run .ci/lock, then .ci/supply.py list"


def test_nothing_else_lies_at_the_top() -> None:
    """What a try in the checkout leaves there, a mind say, is not committed by accident."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no checkout of git")
    top = {name.partition("/")[0] for name in done.stdout.split("\0") if name}
    assert top == {
        ".ci", ".gitattributes", ".gitignore", "CHANGELOG.md", "LICENSE", "README.md", "assets", "nebula",
        "pyproject.toml", "tests",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["a==1", "a>=1 \\\n    --hash=sha256:0", "-i https://x/\na==1 \\\n    --hash=sha256:0", "a @ https://x/y"]
)
def test_what_is_no_lock_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="pinned"):
        supply.locked(text)


def test_few_packages_by_default() -> None:
    assert 6 <= len(supply.default_packages()) <= supply.AT_MOST
    assert "pytest" not in supply.default_packages()


# licences


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", True),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-3.0-only", False),
        ("Proprietary", False),
        ("?", False),
        ("", False),
    ],
)
def test_licences_are_told_apart(expression: str, *, allowed: bool) -> None:
    assert supply.is_allowed(expression) is allowed


def test_every_locked_package_has_its_licence_listed() -> None:
    listed = dict(line.split("  ", 1) for line in supply.LICENCES.read_text(encoding="utf-8").splitlines())
    assert all(supply.is_allowed(said) for said in listed.values())
    assert set(supply.locked(LOCK.read_text(encoding="utf-8"))) == set(listed), "run .ci/supply.py list"


# the audit's word


WANTED = {"filelock": "3.18.0", "rich": "15.0.0"}


def report(**packages: Any) -> str:
    return json.dumps({"dependencies": [{"name": name, **found} for name, found in packages.items()]})


@pytest.mark.parametrize(
    ("text", "word", "code"),
    [
        (report(filelock={"version": "3.18.0", "vulns": []}, rich={"version": "15", "vulns": []}), "passed", 0),
        (
            report(filelock={"version": "3.18.0", "vulns": [{"id": "CVE-1"}]}, rich={"version": "15", "vulns": []}),
            "FAILED",
            1,
        ),
        (
            report(filelock={"skip_reason": "could not be found"}, rich={"version": "15", "vulns": []}),
            "NOT RUN for 1",
            0,
        ),
        (report(rich={"version": "15", "vulns": []}), "NOT RUN for 1", 0),
        (report(filelock={"skip_reason": "x"}, rich={"version": "1", "vulns": [{"id": "CVE-2"}]}), "FAILED", 1),
        (report(), "NOT RUN for 2", 0),
        ("", "NOT RUN", 0),
        ("No known vulnerabilities found", "NOT RUN", 0),
        ("[]", "NOT RUN", 0),
    ],
)
def test_only_what_was_looked_up_has_passed(text: str, word: str, code: int) -> None:
    """A package that was skipped, or a service that was not there, is never a pass."""
    said, ended = supply.verdict(text, WANTED)
    assert word in said
    assert ended == code
    assert ("passed" in said) == (word == "passed")


# banned calls


BANNED = {
    "S301": "import pickle\npickle.loads(b'')\n",
    "S302": "import marshal\nmarshal.loads(b'')\n",
    "S307": "eval('1')\n",
    "S102": "exec('1')\n",
    "S602": "import subprocess\nsubprocess.run('ls', shell=True)\n",
    "S605": "import os\nos.system('ls *')\n",
    "S506": "import yaml\nyaml.load('a')\n",
    "S324": "import hashlib\nhashlib.md5(b'')\n",
}


def test_the_linter_stops_each_banned_call(tmp_path: Path) -> None:
    """By the project's own configuration: it would not pass CI."""
    for code, text in BANNED.items():
        (tmp_path / f"{code.lower()}.py").write_text(text, encoding="utf-8")
    argv = [sys.executable, "-m", "ruff", "check", "--no-cache", "--config", str(ROOT / "pyproject.toml")]
    done = subprocess.run([*argv, "--output-format=json", str(tmp_path)], capture_output=True, check=False, timeout=60)
    found = {(Path(one["filename"]).stem, one["code"]) for one in json.loads(done.stdout)}
    assert {(code.lower(), code) for code in BANNED} <= found
    assert done.returncode == 1


def test_no_banned_call_is_let_through() -> None:
    """No line switches one of these rules off; jieba's marshal cache and paddle are never used."""
    for path in (ROOT / "nebula").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        let = {code for noqa in re.findall(r"# noqa: ([\w, ]+)", text) for code in re.findall(r"\bS\d+", noqa)}
        assert not let & BANNED.keys(), path
        assert "enable_paddle" not in text, path
        assert not re.search(r"^\s*(import|from) (pickle|marshal|shelve|dill)\b", text, re.MULTILINE), path


# what ships as data


def test_data_that_was_changed_stops_a_build_and_shows_in_doctor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("hatchling", reason="the build's own package; CI has it")
    check: Any = module(ROOT / "assets" / "check_assets.py")
    for folder in check.FOLDERS:
        assert check.differing(ROOT / "assets" / folder) == []
    for folder in check.FOLDERS:
        shutil.copytree(ROOT / "assets" / folder, tmp_path / folder)
    with (tmp_path / "words" / "words.bin").open("r+b") as file:
        file.seek(1000)
        file.write(b"\x01")
    (tmp_path / selftest.MODEL / "vocab.txt").unlink()
    assert check.differing(tmp_path / "words") == ["words/words.bin"]
    assert check.differing(tmp_path / selftest.MODEL) == [f"{selftest.MODEL}/vocab.txt"]
    monkeypatch.setattr(places, "asset", lambda name: tmp_path / name)
    assert selftest.wrong_assets() == ["vocab.txt", "words.bin"]
    assert set(check.FOLDERS) == set(selftest.SHIPPED)
    (tmp_path / "assets").mkdir()
    for folder in check.FOLDERS:
        (tmp_path / folder).rename(tmp_path / "assets" / folder)
    hook = check.CheckAssets(str(tmp_path), {}, None, None, "", "wheel")
    with pytest.raises(ValueError, match=r"words\.bin"):
        hook.initialize("standard", {})
