"""What strangers may try (S3, S4, S7, S8, S10, S12, S13), as far as no other test shows it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nebula import webpage
from nebula.errors import BadSubjectId
from nebula.mind import Mind
from nebula.starmap.page import Sky, Star, render
from nebula.subject.ids import check_id
from tests.embedding_server import DIMENSIONS, serving
from tests.invented import DrawnEncoder
from tests.starmap.test_page import HOSTILE
from tests.torture.harness import environment, full, inside, run, works

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Record = Callable[[str, object], None]

NOW = datetime(2026, 5, 1, 9)
PAYLOADS = [
    *HOSTILE,
    *(f"<{tag} onerror=alert(1) src=x onload=alert(1)>" for tag in ("img", "svg", "body", "video", "details")),
    "<script src=//evil.example/x.js></script>", "<link rel=stylesheet href=//evil.example>",
    "<meta http-equiv=refresh content=0>",
    "</SCRIPT ><sCrIpT>alert(1)</sCrIpT>", "<a href='javascript:alert(1)'>x</a>", "<form action=//evil.example><input>",
    "\u2028</script>", "]]><script>", "<!--", "-->", "<![CDATA[", "<template><script>",
    "<object data=x>", "<math><mtext>",
    "';alert(1)//", '";alert(1)//', "`-alert(1)-`",
]  # fmt: skip


def drawn(texts: list[str]) -> bytes:
    """A page on which every field of every star holds one of the texts."""
    stars = [Star(f"n{n}", "notes", 1.0, 2.0, 3.0, t, tag=t, via=t, why=t) for n, t in enumerate(texts)]
    return render(Sky("2026-05-01T09:00:00", stars, [], tuple(texts[:1]), {"kinds": texts[0], "count": texts[0]}))


def structure(page: bytes) -> list[bytes]:
    """The page's tags and comments."""
    return re.findall(rb"<[a-z!/][^\s>]*", page, re.IGNORECASE)


def test_payloads_on_the_map(monkeypatch: pytest.MonkeyPatch, record_property: Record) -> None:
    """More than forty texts in every field leave the page's structure as it is; with the escaping off they do not."""
    assert len(PAYLOADS) >= 40
    assert structure(drawn(PAYLOADS)) == structure(drawn(["x"] * len(PAYLOADS)))
    record_property("payloads in every field of a star", len(PAYLOADS))
    monkeypatch.setattr(webpage, "_ESCAPED", {})
    assert structure(drawn(PAYLOADS)) != structure(drawn(["x"] * len(PAYLOADS)))


CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.mark.parametrize("examples", [2, full(400)])
def test_no_text_steers_a_terminal(tmp_path: Path, examples: int, record_property: Record) -> None:
    """Any text in any field, by every command that shows it: no control byte but newline and tab."""
    at = 0

    @settings(max_examples=examples, deadline=None, database=None)
    @given(st.text(st.characters(max_codepoint=0x2FF, exclude_categories=["Cs"]), min_size=1, max_size=40))
    def tried(text: str) -> None:
        nonlocal at
        at += 1
        mind = tmp_path / str(at)
        opened = Mind(mind, now=lambda: NOW)
        opened._encoder = DrawnEncoder()  # type: ignore[assignment]
        opened.store.append_lines(
            "notes.jsonl", [{"id": 1, "text": f"灯塔 {text}", "tag": text, "via": text, "w_why": text}], durable=False
        )
        opened.store.append_lines("promises.jsonl", [{"id": 1, "text": text, "due": text}], durable=False)
        opened.store.append_lines(
            "changes.jsonl", [{"ref": "n1", "at": text, "set": {"tag": text}, "why": text}], durable=False
        )
        for argv in (
            ("recall", "灯塔", "--explain"),
            ("list",),
            ("show", "n1", "--history"),
            ("log",),
            ("promises",),
            ("doctor",),
        ):
            _, out, err = inside(mind, *argv)
            assert not CONTROLS.search(out + err), (argv, text)

    tried()
    record_property("texts through six commands", examples)


@pytest.mark.parametrize("examples", [500, full(100_000)])
def test_ids(examples: int, record_property: Record) -> None:
    """Any id is refused, or one plain name."""
    kept = 0
    parts = st.sampled_from(["..", "/", "\\", ".", "con", "C:", "\0", "\n", "a", "林", "é", "-", " ", "%2e", "~"])

    @settings(max_examples=examples, deadline=None, database=None)
    @given(st.text(max_size=70) | st.lists(parts, max_size=6).map("".join))
    def tried(text: str) -> None:
        nonlocal kept
        try:
            name = check_id(text)
        except BadSubjectId:
            return
        kept += 1
        assert name not in {"", ".", ".."}
        assert not set(name) & set("/\\:\0\n")

    tried()
    record_property("random ids", f"{examples}, {kept} taken")


@pytest.mark.parametrize("examples", [60, full(10_000)])
def test_any_query(tmp_path: Path, examples: int, record_property: Record) -> None:
    """Any question to a mind and to a subject's index: an answer, no error of a database."""
    from nebula.subject import cast, recall, records
    from nebula.subject.leaktest import Drawn
    from nebula.subject.project import Project

    mind = Mind(tmp_path / "mind", now=lambda: NOW)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    mind.add_many([{"text": text} for text in ("灯塔看守", "NOT a OR b", "渡轮 * \" '", "x NEAR y")])
    project = Project(tmp_path / "p")
    cast.init(project, [cast.Part("a", events=[records.event({"text": "灯塔"})])], NOW)
    hard = st.sampled_from(
        ['"', "'", "*", "NEAR(", "AND", "OR", "NOT", "^", ":", "-", ";--", "%", "\0", "灯塔", "(", ")", "{", "x"]
    )

    @settings(max_examples=examples, deadline=None, database=None)
    @given(st.text(min_size=1, max_size=40) | st.lists(hard, min_size=1, max_size=6).map(" ".join))
    def tried(query: str) -> None:
        if query.strip():
            mind.recall(query, touch=False)
            recall.find(recall.Asker(project, "a", Drawn(), NOW), query)

    tried()
    record_property("questions", examples)


COMMANDS: tuple[tuple[str, ...], ...] = (
    ("add", "渡轮早上六点开"), ("add", "答应搬回青岛", "--ledger", "promises"), ("recall", "渡轮"),
    ("list",), ("show", "n1"), ("pin", "n1"), ("tag", "n1", "海"), ("edit", "n1", "渡轮改到七点"),
    ("log",), ("stats",), ("forecast",), ("promises",), ("mood", "feel", "sad", "0.4"), ("mood",),
    ("config", "set", "recall.k", "13"), ("consolidate",), ("surface",), ("map",), ("sky",), ("doctor",),
    ("embed", "--build"),
)  # fmt: skip


def test_files_are_for_their_owner(tmp_path: Path, record_property: Record) -> None:
    """With umask 000, after every command: folders 0700, files 0600."""
    before = os.umask(0)
    try:
        for argv in COMMANDS:
            assert inside(tmp_path / "mind", *argv)[0] in (0, 1), argv
            loose = [
                path for path in [tmp_path / "mind", *(tmp_path / "mind").rglob("*")] if path.stat().st_mode & 0o077
            ]
            assert loose == [], argv
    finally:
        os.umask(before)
    record_property("commands under umask 000", len(COMMANDS))


@pytest.mark.process
@pytest.mark.skipif(not works(["unshare", "-n", "true"]), reason="no network namespaces here")
@pytest.mark.parametrize("commands", [COMMANDS[:1], full(COMMANDS)])
def test_without_a_network(tmp_path: Path, commands: tuple[tuple[str, ...], ...], record_property: Record) -> None:
    """In a namespace without an interface all works."""
    for argv in commands:
        done = run(tmp_path / "mind", *argv, before=["unshare", "-n"])
        assert done.returncode in (0, 1), (argv, done.stderr.decode())
    record_property("commands without a network", len(commands))


KEY = "sk-canary-93f1c7e2"


def test_the_key_is_in_its_file_alone(tmp_path: Path, record_property: Record) -> None:
    """A key given to a project's endpoint: in no output, and no file but its own."""
    mind, home = tmp_path / "mind", tmp_path / "home"
    home.mkdir()
    own: dict[str, Any] = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_STATE_HOME": str(home / "state"),
    }
    said = ""
    project = ("--project", str(tmp_path / "p"))
    with serving("good", tmp_path) as server:
        words = ("subject", "endpoint", "set", "--url", f"{server.url}/v1", "--model", "m", "--dims", str(DIMENSIONS))
        assert inside(mind, *words, **own)[0] == 0
        for argv in (
            ("subject", "init", "a", "--event", "开学了", *project),
            ("subject", "search", "a", "开学", *project, "--json"),
            ("subject", "endpoint", "show"), ("subject", "endpoint", "show", "--json"),
            ("subject", "endpoint", "test", "--debug"),
            ("config", "list"), ("doctor", "--json"), ("subject", "index", "status", *project),
        ):  # fmt: skip
            _, out, err = inside(mind, *argv, NEBULA_EMBED_KEY=KEY, **own)
            assert "Traceback" not in err
            said += out + err
    with serving("echo-key", tmp_path) as server:
        inside(mind, "subject", "endpoint", "set", "--url", f"{server.url}/v1", **own)
        done = inside(mind, "subject", "search", "a", "渡轮", *project, "--debug", NEBULA_EMBED_KEY=KEY, **own)
        assert done[0] > 1
        said += done[1] + done[2]
    assert KEY not in said
    holding = [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert [path for path in holding if "asked" not in path.name and path.parent != tmp_path] == []
    record_property("commands that never show the key", 9)


def test_the_search_for_the_key_can_find_it(tmp_path: Path) -> None:
    """The control: what a careless command prints is found by the same look."""
    code = "import os; print(os.environ['NEBULA_EMBED_KEY'])"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(tmp_path, NEBULA_EMBED_KEY=KEY), capture_output=True, check=False
    )
    assert KEY.encode() in done.stdout
