"""Exit codes and refusals (ecosystem 4, rows 8, 9, 21, 22), and text that begins with a dash (case S05)."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nebula import mind as operations

if TYPE_CHECKING:
    from tests.cli.conftest import Nebula

USAGE = [
    ("add", ""),
    ("add", "一条", "--imp", "2"),
    ("add", "一条", "--imp", "many"),
    ("add", "一条", "--via", "user", "--ledger", "nowhere"),
    ("add", "一条", "--batch", "x.jsonl"),
    ("add", "\udcff"),
    ("recall", "\udcff"),
    ("recall",),
    ("recall", " "),
    ("recall", "x", "-n", "0"),
    ("recall", "x", "-n", "10001"),
    ("recall", "x", "--since", "soon"),
    ("recall", "x", "--set", "recall.k"),
    ("recall", "x", "--set", "recall.kk=1"),
    ("recall", "x", "--profile", "none"),
    ("show", "n1"),
    ("show", "../../etc/passwd"),
    ("pin", "n1"),
    ("embed",),
    ("config", "get", "recall.kk"),
    ("config", "set", "recall.k", "twelve"),
    ("config", "lst"),
    ("recal", "x"),
    ("list", "--nope"),
]


@pytest.mark.parametrize("argv", USAGE)
def test_wrong_usage_is_two(nebula: Nebula, mind_dir: Path, argv: tuple[str, ...]) -> None:
    """One line on stderr, nothing on stdout, exit 2, nothing written."""
    said = nebula(*argv)
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("nebula: ")
    assert said.err.count("\n") == 1
    assert not mind_dir.exists()


@pytest.mark.parametrize("argv", [argv for argv in USAGE if "\udcff" not in argv])
def test_refusal_in_json(nebula: Nebula, argv: tuple[str, ...]) -> None:
    """With --json the refusal is one document on stdout, and still one line on stderr."""
    said = nebula(*argv, "--json")
    document = json.loads(said.out)
    assert document["schema"] == 1
    assert document["ok"] is False
    assert set(document["error"]) == {"code", "message", "hint"}
    assert all(document["error"].values())
    assert said.err.count("\n") == 1


def test_nothing_found_is_one(nebula: Nebula) -> None:
    """Ok with no hits, exit 1, a word on stderr that --quiet leaves out."""
    said = nebula("recall", "没有的")
    assert (said.code, said.out) == (1, "")
    assert "没有想起什么" in said.err
    assert nebula("recall", "没有的", "-q").err == ""
    found = nebula("recall", "没有的", "--json")
    assert (found.code, found.data["hits"], found.err) == (1, [], "")


def test_unusable_data_is_three(nebula: Nebula, mind_dir: Path) -> None:
    """A ledger that is a folder; settings of a wrong type."""
    (mind_dir / "notes.jsonl").mkdir(parents=True)
    assert nebula("list").code == 3
    (mind_dir / "mind-config.json").write_text('{"recall": {"k": "x"}}')
    said = nebula("recall", "x")
    assert said.code == 3
    assert "recall.k" in said.err


def test_missing_setup_is_four(nebula: Nebula, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An encoder that isn't there, asked for by name."""
    from nebula.errors import ModelMissing

    def missing(_: object) -> None:
        raise ModelMissing(tmp_path)

    monkeypatch.setattr(operations.Mind, "encoder", missing)
    said = nebula("embed", "海")
    assert said.code == 4
    assert str(tmp_path) in said.err


def test_lock_held_too_long_is_75(nebula: Nebula, mind_dir: Path) -> None:
    """Another holder of the ledger's lock."""
    fcntl = pytest.importorskip("fcntl", reason="flock is POSIX")
    nebula("add", "一")
    with (mind_dir / "notes.jsonl").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        said = nebula("add", "二", "--lock-timeout", "0.05")
    assert said.code == 75
    assert "notes.jsonl" in said.err


def test_interrupt_is_130(nebula: Nebula, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row 23: Ctrl-C ends at once, without a word."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(operations.Mind, "list", interrupted)
    said = nebula("list")
    assert said.code == 130
    assert "Traceback" not in said.err


def test_the_unexpected_leaves_a_report(nebula: Nebula, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Row 22: short text, exit 3, the traceback in a file; --debug shows it at once."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(operations.Mind, "list", broken)
    said = nebula("list")
    assert said.code == 3
    assert "Traceback" not in said.err
    report = next(tmp_path.glob("nebula-report-*.txt"))
    assert str(report) in said.err
    assert sys.platform == "win32" or report.stat().st_mode & 0o777 == 0o600
    assert report.name != f"nebula-report-{os.getpid()}.txt"  # nobody can lay a link there beforehand
    assert "ZeroDivisionError: by zero" in report.read_text(encoding="utf-8")
    assert "Traceback" in nebula("list", "--debug").err


@pytest.mark.parametrize(("typed", "meant"), [("recal", "recall"), ("ad", "add"), ("docter", "doctor")])
def test_did_you_mean(nebula: Nebula, typed: str, meant: str) -> None:
    """Row 21."""
    assert f"是不是想用 {meant}？" in nebula(typed, "x").err


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("subject", "serch", "x"), "没有 subject serch 这个命令。 是不是想用 search？ 用法见 `nebula subject --help`"),
        (("config", "st", "a", "b"), "没有 config st 这个命令。 是不是想用 set？"),
        (("hooks", "zzz"), "没有 hooks zzz 这个命令。 用法见"),
        (("list", "--limt", "3"), "没有 --limt 这个选项。 是不是想用 --limit？"),
        (("list", "--zzz"), "没有 --zzz 这个选项。 用法见"),
    ],
)
def test_what_was_meant_within_a_group(nebula: Nebula, typed: tuple[str, ...], said: str) -> None:
    """Row 21: below a command and among options too, in the language in use."""
    heard = nebula(*typed)
    assert heard.code == 2
    assert said in heard.err
    assert "No such" not in heard.err


@pytest.mark.parametrize("text", ["-5 度，码头结冰了", "--help 这个词写在便条上", "--json", "-", "- a"])
def test_after_two_dashes_all_is_text(nebula: Nebula, mind_dir: Path, text: str) -> None:
    """S05: stored byte for byte (`-` alone is standard input)."""
    said = nebula("add", "--", text, given=b"- [ ] x")
    assert (said.code, said.out) == (0, "n1\n")
    row = json.loads((mind_dir / "notes.jsonl").read_text(encoding="utf-8"))
    assert row["text"] == ("- [ ] x" if text == "-" else text)


@pytest.mark.parametrize("text", ["- 没有双横线的列表", "-5 度", "--help 这个词", "--jsonx"])
def test_without_two_dashes_it_is_refused_whole(nebula: Nebula, mind_dir: Path, text: str) -> None:
    """S05: refused, saying to use `--`; never a part stored."""
    said = nebula("add", text)
    assert said.code == 2
    assert "`--`" in said.err
    assert not mind_dir.exists()


def test_query_with_a_dash(nebula: Nebula) -> None:
    """S05: `recall --json -- "-5 度"` finds the note; a flag after `--` is part of the text, in errors too."""
    nebula("add", "--", "-5 度，码头结冰了")
    assert nebula("recall", "--json", "--", "-5 度").data["hits"][0]["text"] == "-5 度，码头结冰了"
    assert nebula("show", "--", "--json").out == ""


def test_file_names_may_be_any_bytes(nebula: Nebula, tmp_path: Path) -> None:
    """Only text must be UTF-8; a folder's name is the system's."""
    folder = Path(f"{tmp_path}/\udcff")
    try:
        folder.mkdir()
    except (OSError, UnicodeError):
        pytest.skip("this file system takes UTF-8 names alone")
    assert nebula("add", "一", "--mind", str(folder)).code == 0
    assert nebula("doctor", "--json", "--mind", str(folder)).data["ok"] is True
