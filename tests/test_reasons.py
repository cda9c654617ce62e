"""Reasons in both languages: none comes in a library's English, and no module makes one of its own."""

from __future__ import annotations

import ast
import errno
import json
import re
import sqlite3
import subprocess
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest

from nebula import messages, reasons
from nebula.catalogue import en, zh
from nebula.errors import BadValue, WriteFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parent.parent / "nebula"
#: What takes a reason, or a damage.
TAKERS = {
    *("BadRecord", "LedgerUnusable", "FileUnusable", "NotOurs", "SettingsUnusable", "WriteFailed", "EraseUnfinished"),
    *("AssetDamaged", "EmbeddingFailed", "StoreUnreachable", "StoreRefused", "ModelUnusable", "EncoderUnusable"),
    *("EmbeddingNotSet", "EditorFailed", "SchedulerFailed", "Problem", "Damage", "DamagedTensors"),
}
PROSE = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")


def raised(data: bytes) -> Exception:
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return error
    raise AssertionError


def undecodable() -> UnicodeDecodeError:
    return UnicodeDecodeError("utf-8", b"a\xff", 1, 2, "invalid start byte")


def closed() -> sqlite3.Error:
    try:
        sqlite3.connect("/nowhere/at/all.db")
    except sqlite3.Error as error:
        return error
    raise AssertionError


@pytest.mark.parametrize(
    ("error", "said_zh", "said_en"),
    [
        (
            FileNotFoundError(errno.ENOENT, "No such file or directory"),
            "没有这个文件或文件夹",
            "no such file or folder",
        ),
        (OSError(errno.ENOSPC, "disk full"), "磁盘满了", "the disk is full"),
        (PermissionError(errno.EACCES, "Permission denied"), "没有权限", "no permission"),
        (OSError(errno.ENOTTY, "Inappropriate ioctl"), "对方说“Inappropriate ioctl”", "it says “Inappropriate ioctl”"),
        (raised(b"x"), "第 1 个字符处不合 JSON 的写法", "no JSON at character 1"),
        (raised(b'{"a":1,\n x}'), "第 2 行第 2 个字符处不合 JSON 的写法", "no JSON at line 2, character 2"),
        (raised(b""), "是空的", "empty"),
        (raised(b"\xff"), "不是 UTF-8", "no UTF-8"),
        (raised(b"[" * 3000), "嵌套太深", "nested too deeply"),
        (undecodable(), "第 1 个字节起不是 UTF-8", "no UTF-8 from byte 1 on"),
        (zipfile.BadZipFile("File is not a zip file"), "不是完好的 zip 文件", "no sound zip file"),
        (subprocess.TimeoutExpired(["x"], 3), "等得太久没有回应", "no answer in time"),
        (closed(), "没有权限", "no permission"),
        (WriteFailed("x", "磁盘满了"), "磁盘满了", "磁盘满了"),
        (BadValue("n", "x", "1…9"), "n 不能是 x；应为：1…9。", "n can't be x; expected: 1…9."),
    ],
)
def test_a_failure_in_our_words(error: Exception, said_zh: str, said_en: str) -> None:
    assert reasons.of(error) == said_zh
    messages.use("en")
    assert reasons.of(error) == said_en


def test_of_a_server_and_of_a_program() -> None:
    """Their own sayings are quoted, one line, behind what we know of them."""
    messages.use("zh")
    assert (
        reasons.of_server("42501", "permission denied\n for table line")
        == "没有权限（“permission denied for table line”）"
    )
    assert reasons.of_server("", "odd") == "对方说“odd”"
    assert reasons.ended(3, b"") == "退出码 3"
    assert reasons.ended(3, b"no\n way") == "退出码 3，它说“no way”"


def calls() -> Iterator[tuple[str, ast.Call, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", node, name


def test_no_module_words_a_reason_itself() -> None:
    """What a failure is made of is no English sentence, no library's saying and no word of the system."""
    found = []
    for where, call, name in calls():
        if name not in TAKERS:
            continue
        for part in (one for argument in call.args[1:] or call.args for one in ast.walk(argument)):
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and PROSE.search(part.value):
                found.append((where, part.value))
            said = isinstance(part, ast.Attribute) and part.attr in {"strerror", "msg"}
            if said or (isinstance(part, ast.Call) and ast.unparse(part) == "str(error)"):
                found.append((where, ast.unparse(part)))
    assert found == []


def test_every_reason_of_the_catalogues_is_given() -> None:
    given = {
        call.args[0].value for _, call, name in calls() if name == "because" and isinstance(call.args[0], ast.Constant)
    }
    given |= {
        *reasons._SYSTEM.values(),
        *reasons._KINDS.values(),
        *reasons._SQLITE.values(),
        *reasons._SQLSTATE.values(),
    }
    for language in (zh, en):
        assert given == {key.removeprefix("because.") for key in language.SENTENCES if key.startswith("because.")}


@pytest.mark.parametrize(
    ("language", "said"), [("zh", "第 1 个字符处不合 JSON 的写法"), ("en", "no JSON at character 1")]
)
def test_a_batch_that_is_none(
    language: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The person's own language, to the last word, and in JSON too."""
    from nebula.cli import main

    monkeypatch.setenv("NEBULA_LANG", language)
    path = tmp_path / "batch.jsonl"
    path.write_text("nonsense\n", encoding="utf-8")
    assert main(["add", "--batch", str(path), "--json"]) == 3
    told = capsys.readouterr()
    assert said in told.err
    assert said in json.loads(told.out)["error"]["message"]
