"""What is refused, in which words, with nothing written; and what is read as people mean it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Nebula


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "渡轮", "--due", "明天"), "promises 约定"),
        (("add", "渡轮", "--topic", "钱"), "tacts 分寸"),
        (("add", "渡轮", "--say", "never"), "tacts 分寸"),
        (("add", "x", "--emo", "rage"), "happy | calm"),
        (("add",), "没有可记的文字"),
        (("recall", "  "), "没有问什么"),
        (("recal", "x"), "是不是想用 recall？"),
        (("list", "--bogus"), "没有 --bogus 这个选项"),
        (("list", "-n", "x"), "--limit 不能是 x"),
        (("list", "-n", "0"), "--limit 不能是 0"),
        (("panel", "--port", "99999"), "--port 不能是 99999"),
        (("add", "x", "--at", "某天"), "--at 不能是 某天"),
    ],
)
def test_refused_in_one_line_and_nothing_written(nebula: Nebula, words: tuple[str, ...], said: str) -> None:
    refused = nebula(*words)
    assert refused.code == 2
    assert said in refused.err
    assert refused.err.count("\n") == 1
    assert nebula("list", "--json").data["memories"] == []


def test_a_batch_names_the_record_that_can_not_be_written(nebula: Nebula, tmp_path: Path) -> None:
    batch = tmp_path / "b.jsonl"
    batch.write_text('{"text":"a"}\n{"text":"b","imp":7}\n', encoding="utf-8")
    refused = nebula("add", "--batch", str(batch))
    assert refused.code == 2
    assert "第 2 条" in refused.err
    assert "imp" in refused.err
    assert nebula("list", "--json").data["memories"] == []


@pytest.fixture
def in_shanghai(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2026-05-01T09:00:00Z", "2026-05-01T17:00:00"),
        ("2026-05-01T23:30:00+02:00", "2026-05-02T05:30:00"),
        ("2026-05-01T09:00:00", "2026-05-01T09:00:00"),
        ("2026-05-01", "2026-05-01T00:00:00"),
        ("昨天", "2026-05-02T00:00:00"),
        ("now", "2026-05-03T12:00:00"),
    ],
)
def test_times_are_local_whatever_zone_they_came_in(nebula: Nebula, in_shanghai: None, given: str, kept: str) -> None:
    nebula("add", "渡轮", "--at", given, "--now", "2026-05-03T12:00:00")
    assert nebula("list", "--json").data["memories"][0]["at"] == kept
    assert nebula("list", "--json").data["memories"][0]["tz"] == "+08:00"


def test_a_batch_keeps_the_zone_that_it_gives(nebula: Nebula, in_shanghai: None) -> None:
    line = json.dumps({"text": "渡轮", "at": "2026-05-01T09:00:00", "tz": "-05:00"})
    nebula("add", "--batch", "-", given=line.encode())
    memory = nebula("list", "--json").data["memories"][0]
    assert (memory["at"], memory["tz"]) == ("2026-05-01T09:00:00", "-05:00")


def test_a_query_may_come_through_a_pipe(nebula: Nebula) -> None:
    nebula("add", "渡轮六点开")
    assert "n1" in nebula("recall", given="渡轮\n".encode()).out
    assert nebula("show", "n1", "--json").data["memories"][0]["hits"] == 1


def test_what_a_pipe_ends_with_is_no_text(nebula: Nebula) -> None:
    nebula("add", "-", given="两行\n文字\n".encode())
    assert nebula("show", "n1", "--json").data["memories"][0]["text"] == "两行\n文字"


def test_list_marks_the_old_and_the_pinned(nebula: Nebula) -> None:
    nebula("add", "渡轮六点开")
    nebula("add", "--supersedes", "n1", "渡轮七点开")
    nebula("pin", "n2")
    lines = nebula("list", "--all").out.splitlines()
    assert "★" in lines[0]
    assert "旧" in lines[1]
    assert [m["old"] for m in nebula("list", "--all", "--json").data["memories"]] == [False, True]


def test_explain_leaves_out_what_changes_nothing(nebula: Nebula) -> None:
    nebula("add", "渡轮六点开")
    assert "×1.0000" not in nebula("recall", "渡轮", "--explain", "--no-touch").out


def test_every_wrong_usage_says_why() -> None:
    """Each names a reason that the catalogue holds, in both languages, and no reason stands there for nothing."""
    import ast
    from pathlib import Path

    import nebula
    from nebula.catalogue import en, zh

    given = set()
    for path in Path(nebula.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "WrongUsage":
                assert len(node.args) == 2, path
                reason = node.args[1]
                assert isinstance(reason, ast.Constant), path
                assert isinstance(reason.value, str), path
                given.add(f"wrong.{reason.value}")
    for language in (en, zh):
        assert given == {key for key in language.SENTENCES if key.startswith("wrong.")}
    assert len(given) > 8


def test_a_refusal_says_what_is_wrong_and_what_to_write() -> None:
    from nebula import messages
    from nebula.errors import WrongUsage

    error = WrongUsage("tune [--apply | --reset]", "together", these="--apply --reset")
    messages.use("en")
    assert str(error) == (
        "These can't be used together: --apply --reset. "
        "Write `nebula tune [--apply | --reset]`; more in `nebula --help`."
    )
    messages.use("zh")
    assert "不能一起用" in error.message


@pytest.mark.parametrize(
    "argv",
    [
        ("recall", "渡轮", "--json", "--jsonl"),
        ("recall", "渡轮", "--json", "--null"),
        ("recall", "渡轮", "-0", "--jsonl"),
        ("list", "--json", "-0"),
        ("more", "n1", "--json", "-0"),
        ("promises", "--json", "-0"),
        ("log", "--json", "--jsonl"),
    ],
)
def test_output_has_one_form(nebula: Nebula, argv: tuple[str, ...]) -> None:
    """Two are refused, previously --null had no effect beside --json or --jsonl."""
    done = nebula(*argv)
    assert done.code == 2
    assert "不能一起用" in done.err


def test_a_time_span_that_ends_before_it_begins(nebula: Nebula) -> None:
    """Nothing could lie in it: said so, where it previously was answered with silence."""
    for command in (("recall", "渡轮"), ("list",)):
        done = nebula(*command, "--since", "2026-05-02", "--until", "2026-05-01")
        assert (done.code, "--since 2026-05-02" in done.err) == (2, True)
        assert nebula(*command, "--since", "2026-05-01", "--until", "2026-05-01").code != 2


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("mood", "nope"), ("没有 mood nope 这个命令", "There is no command mood nope")),
        (("recall", "-n"), ("-n 后面缺一个值", "-n needs a value")),
        (("recall", "x", "--json=3"), ("--json 后面不写值", "--json takes no value")),
    ],
)
def test_the_parser_speaks_both_languages(
    nebula: Nebula, argv: tuple[str, ...], said: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for language, sentence in zip(("zh", "en"), said, strict=True):
        monkeypatch.setenv("NEBULA_LANG", language)
        done = nebula(*argv)
        assert done.code == 2
        assert sentence in done.err


@pytest.mark.parametrize("argv", [("show",), ("more",), ("why",), ("yes",), ("pin",), ("erase",)])
def test_help_names_handles(nebula: Nebula, argv: tuple[str, ...]) -> None:
    assert "@1" in nebula(*argv, "--help").out
