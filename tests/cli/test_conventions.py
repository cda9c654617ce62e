"""What people expect of a command line, continued: rows that take a command from one end to the other, and the list."""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nebula import export, places
from nebula.cli.app import commands
from nebula.mind import Mind
from tests.cli.test_help import walk
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import Nebula

ROOT = Path(__file__).parents[2]
ROWS = range(1, 33)
READING = [
    ("recall", "渡轮", "--no-touch"), ("list",),
    ("show", "n1"), ("show", "n1", "--history"), ("log",), ("promises",), ("forecast",),
    ("stats",), ("surface",), ("doctor",), ("config", "list"), ("config", "get", "recall.k"), ("longterm", "show"),
    ("longterm", "history"), ("mood",), ("mood", "history"), ("mood", "read", "难过"), ("consolidate", "--plan"),
    ("sky",), ("embed", "渡轮"), ("erase", "n1", "--dry-run"), ("context",),
]  # fmt: skip


def held(folder: Path) -> dict[str, bytes]:
    """Every file of a folder but what is derived."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if not name.startswith((".", "quarantine"))}


def test_every_row_has_its_test() -> None:
    """Each of the 32 is named by the docstring of a test."""
    told: set[int] = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        for said in re.findall(r'"""Rows? ([0-9, and]+)', path.read_text(encoding="utf-8")):
            told |= {int(number) for number in re.findall(r"\d+", said)}
    assert told >= set(ROWS), sorted(set(ROWS) - told)


@pytest.mark.process
def test_version_is_quick() -> None:
    """Row 3: at most six times the bare interpreter, the median of five each."""

    def took(*argv: str) -> float:
        times = []
        for _ in range(5):
            begun = time.perf_counter()
            subprocess.run([sys.executable, *argv], capture_output=True, check=True, cwd=ROOT, timeout=60)
            times.append(time.perf_counter() - begun)
        return statistics.median(times)

    assert took("-m", "nebula", "--version") <= 6 * took("-c", "pass")


def keys(value: Any) -> Iterator[str]:
    """Every key of a document."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from keys(inner)
    if isinstance(value, list):
        for inner in value:
            yield from keys(inner)


@pytest.mark.parametrize("argv", READING, ids=" ".join)
def test_json_of_every_reading_command(nebula: Nebula, argv: tuple[str, ...]) -> None:
    """Row 5: one document with the schema's number, the text as it is, keys in English, the same keys again."""
    nebula("add", "渡轮早上六点开", "--tag", "出行")
    said = nebula(*argv, "--json")
    assert said.code in (0, 1)
    document = json.loads(said.out)
    assert list(document) == ["schema", "ok", "data"]
    assert (document["schema"], document["ok"]) == (1, True)
    assert "\\u" not in said.out
    assert all(name.isascii() for name in keys(document))
    assert sorted(set(keys(document))) == sorted(set(keys(json.loads(nebula(*argv, "--json").out))))


def test_lines_of_log_and_export(nebula: Nebula) -> None:
    """Row 6: each line parses alone; as one document they are the same."""
    nebula("add", "渡轮早上六点开")
    nebula("pin", "n1")
    rows = [json.loads(line) for line in nebula("log", "--jsonl").out.splitlines()]
    assert rows == nebula("log", "--json").data["events"]
    assert [row["what"] for row in rows] == ["set", "written"]
    assert nebula("log", "--json", "--jsonl").code == 2


def test_exit_codes(nebula: Nebula, mind_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row 8: as the README has them; 75 and 130 stand in test_failures."""
    monkeypatch.setenv("PATH", "")
    table = [
        (0, ("add", "渡轮早上六点开")),
        (0, ("list",)),
        (1, ("recall", "渡轮", "--tag", "无")),
        (1, ("surface",)),
        (2, ("nosuch",)),
        (2, ("list", "--nosuch")),
        (2, ("show", "n99")),
        (2, ("add", "x", "--imp", "7")),
        (2, ("config", "set", "nosuch", "1")),
        (3, ("import", str(mind_dir / "none"))),
        (4, ("schedule", "install", "--system", "cron")),
    ]
    for code, argv in table:
        assert (argv, nebula(*argv).code) == (argv, code)
    (mind_dir / "mind-config.json").write_text("{", encoding="utf-8")
    assert nebula("list").code == 3
    assert nebula("doctor").code == 1


def test_quiet_and_debug(nebula: Nebula, mind_dir: Path) -> None:
    """Row 9: quiet is data and errors alone; debug is the traceback, and how long it took."""
    nebula("add", "渡轮早上六点开")
    with (mind_dir / "notes.jsonl").open("ab") as file:
        file.write(b'{"id": 2, "te\n')
    assert "notes.jsonl:2" in nebula("list").err
    quiet = nebula("list", "-q")
    assert (quiet.out, quiet.err) == (nebula("list").out, "")
    assert "n9" in nebula("show", "n9", "-q").err
    assert re.fullmatch(r"\d+\.\d{3} s", nebula("list", "--debug", "-q").err.strip())
    assert "Traceback" in nebula("show", "n9", "--debug").err


def test_no_secret_is_a_word_of_a_command(nebula: Nebula, own_environment: Path) -> None:
    """Row 16: a key comes by variable, file or standard input, and is never told again."""
    for path, command in walk(commands("zh")):
        for parameter in command.params:
            if {"key", "token", "password", "secret"} & set(re.split(r"\W+|_", " ".join(parameter.opts))):
                told = parameter.param_type_name == "option" and not parameter.is_flag
                assert not told or parameter.type.name == "path", path
    key = "sk-test-0123456789abcdef0123456789abcdef"
    url = ("--url", "http://127.0.0.1:9/v1", "--model", "m", "--dims", "8")
    assert nebula("subject", "endpoint", "set", *url, "--key-stdin", given=key.encode()).code == 0
    for argv in (("subject", "endpoint", "show"), ("config", "list", "--explain"), ("doctor",), ("log",), ("stats",)):
        for said in (nebula(*argv), nebula(*argv, "--json")):
            assert key not in said.out + said.err, argv
    keeping = [path for path in own_environment.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert [path.stat().st_mode & 0o077 for path in keeping] == [0]


def test_danger_asks_and_never_where_nobody_sits(nebula: Nebula, mind_dir: Path, tmp_path: Path) -> None:
    """Row 17: without --yes, off a terminal: exit 2, not a byte changed; --dry-run likewise changes nothing."""
    nebula("add", "渡轮早上六点开")
    story = tmp_path / "story"
    nebula("subject", "init", "艾琳娜", "--project", str(story))
    minds, stories = held(mind_dir), held(story)
    assert nebula("erase", "n1").code == 2
    assert nebula("erase", "n1", "--dry-run").code == 0
    assert nebula("import", str(ROOT / "tests/data/original"), "--dry-run").code == 0
    assert nebula("consolidate", "--plan").code == 0
    assert nebula("subject", "rm", "艾琳娜", "--project", str(story)).code == 2
    assert "艾琳娜" in nebula("subject", "rm", "艾琳娜", "--dry-run", "--project", str(story)).out
    assert (held(mind_dir), held(story)) == (minds, stories)
    assert nebula("subject", "rm", "艾琳娜", "--yes", "--project", str(story)).code == 0
    assert nebula("erase", "n1", "--yes").code == 0


def test_repair_loses_nothing(nebula: Nebula, mind_dir: Path) -> None:
    """Row 17: what needs no question is what can be taken back: damaged bytes are moved, never thrown away."""
    nebula("add", "渡轮早上六点开")
    with (mind_dir / "notes.jsonl").open("ab") as file:
        file.write(b'{"id": 2, "te\n')
    assert nebula("doctor", "--repair").code == 0
    assert any(b'{"id": 2, "te' in path.read_bytes() for path in (mind_dir / "quarantine").iterdir())
    assert "渡轮早上六点开" in nebula("list").out


def test_undo_is_one_more_line(nebula: Nebula, mind_dir: Path) -> None:
    """Row 18: what was there is a prefix of what is there."""
    nebula("add", "渡轮早上六点开")
    for argv in (("pin", "n1"), ("edit", "n1", "渡轮七点开"), ("tag", "n2", "海"), ("add", "又一条")):
        shown = nebula("list", "--all", "--json").data
        assert nebula(*argv).code == 0
        before = {name: data for name, data in held(mind_dir).items() if name.endswith(".jsonl")}
        said = nebula("undo")
        assert (said.code, said.out.splitlines()[0]) == (0, "已撤销。")
        assert not any(line.rstrip().endswith(("：", "-")) for line in said.out.splitlines()), said.out
        after = held(mind_dir)
        assert all(after[name].startswith(data) for name, data in before.items()), argv
        living = [row["text"] for row in nebula("list", "--json").data["memories"]]
        assert living == [row["text"] for row in shown["memories"] if not row["old"]], argv
        nebula(*argv)


def test_undo_of_many_names_the_first(nebula: Nebula) -> None:
    """An import may have been thousands; --json has them all."""
    batch = "".join(f'{{"text": "第{n}件事"}}\n' for n in range(30)).encode()
    nebula("add", "--batch", "-", "-q", given=batch)
    said = nebula("undo").out
    assert "n1 n2 n3" in said
    assert "n20 … (30)" in said
    nebula("add", "--batch", "-", "-q", given=batch.replace("件".encode(), "桩".encode()))
    assert len(nebula("undo", "--json").data["written"]) == 30


def test_a_subject_that_was_mistyped(nebula: Nebula, tmp_path: Path) -> None:
    """Row 21: the nearest id is named."""
    nebula("subject", "init", "艾琳娜", "--project", str(tmp_path))
    said = nebula("subject", "show", "艾琳那", "--project", str(tmp_path))
    assert said.code == 2
    assert "艾琳娜" in said.err


def test_installed_by_one_line_and_gone_by_one(mind_dir: Path, nebula: Nebula) -> None:
    """Row 26: two names for one command, which lays nothing outside its package and the mind; data is not its part."""
    installed = {point.name: point.value for point in entry_points(group="console_scripts")}
    assert installed["nebula"] == installed["xin"] == "nebula.cli:run"
    nebula("add", "渡轮早上六点开")
    home = Path(os.environ["HOME"])
    assert {path.relative_to(home).parts[0] for path in home.rglob("*")} == {"mind"}
    assert places.decide(os.environ, None).folder == mind_dir


@pytest.mark.torture
@pytest.mark.timeout(900)
def test_installed_and_removed_in_a_fresh_venv(tmp_path: Path) -> None:
    """Row 26: pip install, a memory, pip uninstall; the memory is where it was, and nothing of the program is left."""
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("nebula", "assets"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True, timeout=300)
    bin_dir = tmp_path / "venv" / "bin"
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    env |= {"NEBULA_MIND": str(tmp_path / "mind"), "HOME": str(tmp_path)}
    pip = [str(bin_dir / "python"), "-m", "pip"]
    subprocess.run([*pip, "install", "-q", str(source)], check=True, timeout=500, env=env)
    subprocess.run([str(bin_dir / "xin"), "add", "渡轮早上六点开"], check=True, timeout=60, env=env)
    before = held(tmp_path / "mind")
    subprocess.run([*pip, "uninstall", "-q", "-y", "nebula-mind"], check=True, timeout=60, env=env)
    assert held(tmp_path / "mind") == before
    assert not (bin_dir / "nebula").exists()
    assert not list((tmp_path / "venv" / "lib").rglob("nebula/*.py"))


def test_setting_up_twice(nebula: Nebula, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row 27: a cast and a schedule, made again, are as they were."""
    monkeypatch.setattr(sys, "platform", "linux")
    program = tmp_path / "bin" / "crontab"
    program.parent.mkdir()
    table = tmp_path / "table"
    table.write_bytes(b"")
    keep = f'cat > "{table}.new" && mv "{table}.new" "{table}"'
    program.write_text(f'#!/bin/sh\nif [ "$1" = -l ]; then cat "{table}"; else {keep}; fi\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    init = ("subject", "init", "艾琳娜", "--event", "在码头等船。", "--project", str(tmp_path / "story"))
    for argv in (("schedule", "install"), ("schedule", "remove"), init):
        assert nebula(*argv).code == 0
        before = {path: path.read_bytes() for path in (table, *(tmp_path / "story").rglob("*.*")) if path.is_file()}
        again = nebula(*argv)
        assert again.code in ((0,) if argv[0] == "schedule" else (0, 2)), again.err
        after = {path: path.read_bytes() for path in (table, *(tmp_path / "story").rglob("*.*")) if path.is_file()}
        assert after == before, argv


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00<"), min_size=1, max_size=40)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
def test_lines_in_lines_out(tmp_path_factory: pytest.TempPathFactory, told: list[tuple[str, str]]) -> None:
    """Row 31: what goes in as JSON lines comes out, and into an empty place again, byte for byte."""
    folder = tmp_path_factory.mktemp("round")
    mind, other = Mind(folder / "one"), Mind(folder / "other")
    for each in (mind, other):
        each._encoder = DrawnEncoder()  # type: ignore[assignment]
    objects = [{"text": text, "tag": tag} for text, tag in told if text.strip()]
    if not objects:
        return
    mind.add_many(objects)
    packed = folder / "packed.jsonl"
    packed.write_bytes(export.pack(mind))
    assert all(isinstance(json.loads(line), dict) for line in packed.read_bytes().splitlines())
    export.import_file(other, packed)
    assert held(folder / "other") == held(folder / "one")
    kept = [(memory.text, memory.tag) for memory in other.store.read_all().memories]
    assert kept == [(one["text"], one["tag"]) for one in objects]


@pytest.mark.parametrize("words", [(), ("recall",), ("subject", "memory"), ("mood",)])
def test_help_by_its_name(nebula: Nebula, words: tuple[str, ...]) -> None:
    """Row 32: `nebula help TOPIC` is the help of that command; of a command that is not there, what is meant."""
    assert nebula("help", *words).out == nebula(*words, "--help").out
    assert nebula("help", *words).code == 0
    assert "recall" in nebula("help", "recal").err
