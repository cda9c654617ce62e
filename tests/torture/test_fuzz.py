"""Input that no sane program writes: one clear error or a result, never a traceback, a hang or growth without bound."""

from __future__ import annotations

import json
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nebula.encoder import open_encoder
from nebula.encoder.exchange import Answer
from nebula.encoder.remote import Endpoint, RemoteEncoder
from nebula.errors import NebulaError
from nebula.mind import Mind
from nebula.mindlib import tensors
from nebula.settings import RULES
from nebula.subject import cast, recall, saving
from nebula.subject.leaktest import Drawn
from nebula.subject.project import Project
from tests.encoder.conftest import SIZES, WORDS, tiny_tensors
from tests.invented import DrawnEncoder
from tests.torture.harness import inside

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = datetime(2026, 5, 1, 9)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from(
    ["id", "at", "text", "via", "tag", "w", "imp", "e", "emo", "depth", "pinned", "hits", "valid_to", "mood",
     "due", "uid", "ref", "set", "hit", "undo", "run", "until", "keys", "factor", "by", "dim", "strength", "v",
     "covers", "supersedes", "session", "night", "surfaced", "taken", "why"]
)  # fmt: skip
ROWS = st.dictionaries(
    FIELDS, JSON | st.sampled_from(["n1", "2026-05-01", "sad", 1, 0.5, ["n1"], {"w": 2.0}]), max_size=9
)
LINES = (
    st.builds(lambda row: json.dumps(row).encode(), ROWS)
    | st.builds(lambda row, text: json.dumps({**row, "id": 1, "text": text}).encode(), ROWS, st.text(max_size=20))
    | st.binary(max_size=60)
)
LEDGERS = ["notes", "profile", "promises", "tacts", "thoughts", "summaries", "changes", "mood", "tags", "captured"]


def fuzz(short: int, full: int) -> Callable[[Any], Any]:
    """The same test twice: a short form, and the full one with `-m torture`."""

    def wrap(body: Any) -> Any:
        return pytest.mark.parametrize(
            "examples", [short, pytest.param(full, marks=[pytest.mark.torture, pytest.mark.timeout(1800)])]
        )(body)

    return wrap


def tried(examples: int) -> settings:
    return settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@fuzz(3, 600)
def test_ledgers(examples: int, record_property: Callable[[str, object], None]) -> None:
    """Any bytes in any ledger: recall, list, mood, the night's plan and the map give an answer."""
    from nebula import maps, night

    @tried(examples)
    @given(st.dictionaries(st.sampled_from(LEDGERS), st.lists(LINES, max_size=5), max_size=4))
    def run(files: dict[str, list[bytes]]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name, lines in files.items():
                (Path(folder) / f"{name}.jsonl").write_bytes(b"\n".join(lines))
            mind = Mind(Path(folder), now=lambda: NOW)
            mind._encoder = DrawnEncoder()  # type: ignore[assignment]
            mind.recall("灯塔看守", n=5)
            mind.list(n=None)
            mind.mood()
            night.plan(mind)
            maps.sky(mind)
            for argv in (("log",), ("show", "n1", "--history"), ("surface",), ("doctor",)):
                code, _, said = inside(Path(folder), *argv, "--now", "2026-05-01")
                assert code in (0, 1, 2), said
                assert "Traceback" not in said
            mind.add("之后又一条")
            assert "之后又一条" in [memory.text for memory in mind.store.read_all().memories]

    run()
    record_property("ledgers of any bytes", examples)


@fuzz(150, 20_000)
def test_settings(examples: int, record_property: Callable[[str, object], None]) -> None:
    """Any settings file: taken, or refused by our own error; kept byte for byte."""
    keys = st.sampled_from([*RULES, "K", "w_vec", "recall", "mood", "x"]) | st.text(max_size=6)
    nested = st.dictionaries(
        keys,
        JSON | st.dictionaries(st.sampled_from([key.split(".")[-1] for key in RULES]), JSON, max_size=3),
        max_size=4,
    )

    @tried(examples)
    @given(st.builds(lambda obj: json.dumps(obj).encode(), nested) | st.binary(max_size=40))
    def run(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "mind-config.json"
            path.write_bytes(data)
            try:
                Mind(Path(folder)).config()
            except NebulaError as refusal:
                code = refusal.exit_code
            else:
                code = 3
            assert code == 3
            assert path.read_bytes() == data

    run()
    record_property("settings files", examples)


@fuzz(30, 3_000)
def test_weights(examples: int, record_property: Callable[[str, object], None]) -> None:
    """A folder of weights, words and sizes with any bytes changed: refused or loaded, within a second."""
    with tempfile.TemporaryDirectory() as made:
        tensors.write(Path(made) / "model.safetensors", tiny_tensors())
        good = (Path(made) / "model.safetensors").read_bytes()
    config = {"model": "tiny", **SIZES, "layer_norm_eps": 1e-12, "pooling": "cls"}
    words = "\n".join(WORDS).encode()

    @tried(examples)
    @given(
        st.lists(st.tuples(st.integers(0, len(good) - 1) | st.integers(0, 400), st.integers(0, 255)), max_size=4),
        st.integers(0, len(good)) | st.just(len(good)),
        st.dictionaries(st.sampled_from(sorted(config)), JSON, max_size=2),
        st.just(words) | st.binary(max_size=80) | st.builds(lambda at: words[:at], st.integers(0, len(words))),
    )
    def run(flips: list[tuple[int, int]], cut: int, other: dict[str, Any], vocabulary: bytes) -> None:
        data = bytearray(good)
        for at, value in flips:
            data[at] = value
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "model.safetensors").write_bytes(bytes(data[:cut]))
            (Path(folder) / "config.json").write_text(json.dumps({**config, **other}), encoding="utf-8")
            (Path(folder) / "vocab.txt").write_bytes(vocabulary)
            begun = time.monotonic()
            try:
                open_encoder(Path(folder)).encode(["海记忆星图"])
            except NebulaError as refusal:
                code = refusal.exit_code
            else:
                code = 3
            assert code in (3, 4)
            assert time.monotonic() - begun < 1

    run()
    record_property("folders of weights", examples)


@fuzz(15, 800)
def test_subject_files(examples: int, record_property: Callable[[str, object], None]) -> None:
    """Any bytes in a character's events, views, history and pending save: a search and a save work, or one error."""
    rows = st.dictionaries(
        st.sampled_from(["text", "tick", "time", "kind", "topic", "view", "aliases", "op", "old", "save"]),
        JSON,
        max_size=6,
    )
    content = st.lists(st.builds(lambda row: json.dumps(row).encode(), rows) | st.binary(max_size=40), max_size=4)

    @tried(examples)
    @given(
        content,
        content,
        content,
        st.none() | st.binary(max_size=40) | st.builds(lambda x: json.dumps(x).encode(), JSON),
    )
    def run(events: list[bytes], views: list[bytes], history: list[bytes], pending: bytes | None) -> None:
        with tempfile.TemporaryDirectory() as place:
            project = Project(Path(place) / "p")
            cast.init(project, [cast.Part("a")], NOW)
            for name, lines in (("events.jsonl", events), ("memory.jsonl", views), ("memory.history.jsonl", history)):
                (project.folder("a") / name).write_bytes(b"\n".join(lines))
            if pending is not None:
                (project.own / "pending").mkdir(parents=True, exist_ok=True)
                (project.own / "pending" / "a.json").write_bytes(pending)
            recall.find(recall.Asker(project, "a", Drawn(), NOW), "灯塔")
            with saving.held(project, "a", NOW) as actor:
                saving.write(actor, saving.read_save({"events": [{"text": "之后"}]}))
                assert "之后" in [event.text for event in actor.lived().events]

    run()
    record_property("subjects of any bytes", examples)


@fuzz(150, 20_000)
def test_embeddings_answers(examples: int, record_property: Callable[[str, object], None]) -> None:
    """Any answer of an embeddings server: unit vectors of the right size, or our own error."""
    encoder = RemoteEncoder(Endpoint("http://127.0.0.1:1/v1", "m", 3, "sk-test"))
    number = st.floats(width=32) | st.integers(-(2**63), 2**64) | st.just(1e308)
    embedding = st.lists(number, min_size=2, max_size=4) | st.text(max_size=20) | st.just("AACAPwAAgD8AAIA/") | JSON
    item = st.fixed_dictionaries(
        {}, optional={"embedding": embedding, "index": st.integers(-1, 3) | JSON, "object": JSON}
    )
    document = st.fixed_dictionaries({}, optional={"data": st.lists(item, max_size=3) | JSON, "error": JSON}) | JSON

    @tried(examples)
    @given(st.builds(lambda obj: json.dumps(obj).encode(), document) | st.binary(max_size=60))
    def run(body: bytes) -> None:
        try:
            found = encoder._vectors(Answer(200, body), 2)
        except NebulaError as refusal:
            code, said = refusal.exit_code, refusal.message
        else:
            code, said = 3, ""
        assert code == 3
        assert "\n" not in said
        if said:
            return
        assert found.shape == (2, 3)
        assert abs((found**2).sum(axis=1) - 1).max() < 1e-5

    run()
    record_property("answers of a server", examples)


def test_deep_nesting_is_an_error_of_ours(tmp_path: Path) -> None:
    """A settings file and a ledger line nested a hundred thousand deep."""
    deep = b"[" * 100_000 + b"]" * 100_000
    (tmp_path / "notes.jsonl").write_bytes(
        b'{"id":1,"text":"x","a":' + deep + b"}\n" + orjson.dumps({"id": 2, "text": "y"}) + b"\n"
    )
    assert [memory.text for memory in Mind(tmp_path).store.read("notes").memories] == ["y"]
    (tmp_path / "mind-config.json").write_bytes(deep)
    with pytest.raises(NebulaError):
        Mind(tmp_path)
