"""A second encoder: which folders are taken, what is asked of it, and how its word is mixed in."""

from __future__ import annotations

import json
import os
import shutil
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nebula import doctor, erase, places, second
from nebula.encoder import added, bundled_folder
from nebula.errors import EncoderUnusable, WrongUsage
from nebula.index import parts
from nebula.mind import Mind
from nebula.mindlib import tensors
from nebula.recall import asking
from nebula.text.script import mainly_latin
from tests import references
from tests.cli.conftest import nebula as nebula  # noqa: PLC0414 - the fixture

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Nebula

NOW = datetime(2026, 12, 2, 9)
ENGLISH = ("the red cat sleeps", "a dog ran home", "rain fell on the old boat", "my sister plays piano", "tea at noon")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "query", ":", *sorted({w for t in ENGLISH for w in t.split()}), "Cat"]
D, WIDE = 16, 40


def tiny(folder: Path, seed: int = 1, files: dict[str, Any] | None = None, **config: Any) -> Path:
    """A BERT folder of random weights that knows the words above; `files` are further JSON files of it."""
    rng = np.random.default_rng(seed)
    sizes = {"vocab_size": len(WORDS), "hidden_size": D, "num_hidden_layers": 2, "num_attention_heads": 4,
             "intermediate_size": WIDE, "max_position_embeddings": 16}  # fmt: skip
    found = {f"embeddings.{kind}_embeddings.weight": rng.normal(size=(rows, D))
             for kind, rows in (("word", len(WORDS)), ("position", 16), ("token_type", 2))}  # fmt: skip
    norms = ["embeddings.LayerNorm"]
    for layer in ("encoder.layer.0", "encoder.layer.1"):
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
        square = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
        for name, shape in {**dict.fromkeys(square, (D, D)), "intermediate.dense": (WIDE, D),
                            "output.dense": (D, WIDE)}.items():  # fmt: skip
            found[f"{layer}.{name}.weight"] = rng.normal(size=shape) * 0.3
            found[f"{layer}.{name}.bias"] = rng.normal(size=shape[0]) * 0.1
    found |= {f"{name}.weight": np.ones(D) for name in norms} | {f"{name}.bias": np.zeros(D) for name in norms}
    (folder / "1_Pooling").mkdir(parents=True)
    tensors.write(folder / "weights.safetensors", {name: array.astype("<f4") for name, array in found.items()})
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    written = {
        "config.json": {"_name_or_path": "lab/tiny english", "model_type": "bert", **sizes, **config},
        "1_Pooling/config.json": {"pooling_mode_mean_tokens": True},
        **(files or {}),
    }
    for name, content in written.items():
        (folder / name).write_text(json.dumps(content))
    return folder


def mind_of(folder: Path, *texts: str, **overrides: object) -> Mind:
    """A mind of some texts, each an hour after the one before."""
    mind = Mind(folder, overrides={"recall.floor": 0.0, **overrides}, now=lambda: NOW)
    mind.add_many([{"text": text, "at": f"2026-11-01T{n:02}:00:00"} for n, text in enumerate(texts)])
    return mind


@pytest.mark.parametrize(
    ("text", "latin"),
    [("the cat", True), ("Straße über Łódź", True), ("met 王明 at the railway station", True), ("ＡＢＣ ok", True),
     ("用 GitHub Actions 部署服务", False), ("кошка", False), ("123 :-)", False), ("", False)],
)  # fmt: skip
def test_what_counts_as_latin(text: str, latin: bool) -> None:
    """Four letters in five; a text without letters is none."""
    assert mainly_latin(text) is latin


def test_its_vectors_are_those_of_a_plain_forward_pass(tmp_path: Path) -> None:
    """Mean pooling by the folder's own word, case kept, pieces no longer than trained: against the slow twin."""
    source = tiny(
        tmp_path / "cased",
        files={"tokenizer_config.json": {"do_lower_case": False}, "sentence_bert_config.json": {"max_seq_length": 6}},
    )
    found = added.add(source)
    encoder = found.open()
    assert (found.lowercase, found.longest, found.dimensions) == (False, 6, D)
    assert encoder.pieces("Cat cat") == [[2, WORDS.index("Cat"), WORDS.index("cat"), 3]]
    pieces = encoder.pieces(ENGLISH[2])
    assert [len(piece) for piece in pieces] == [6, 4]
    weights, _ = tensors.read(source / "weights.safetensors")
    for piece, vector in zip(pieces, encoder.encode([ENGLISH[2]]).vectors, strict=True):
        assert np.abs(vector - references.bert_forward(weights, piece, 4, 1e-12, "mean")).max() < 2e-6


def test_the_folder_says_how_it_is_asked(tmp_path: Path) -> None:
    """Instructions come from the folder or from whoever adds it; a passage's makes other vectors, and another key."""
    prompts = {"config_sentence_transformers.json": {"prompts": {"query": "query: ", "document": "tea "}}}
    plain, told = added.add(tiny(tmp_path / "a")), added.add(tiny(tmp_path / "b", files=prompts))
    assert (told.query, told.passage) == ("query: ", "tea ")
    assert plain.name == told.name
    assert told.key == f"{plain.key}/{told.key[-8:]}"
    assert added.add(tmp_path / "a", "home ").query == "home "
    mind = mind_of(tmp_path / "mind")
    asked = second.add(mind, tmp_path / "a", "my ")
    probe, _ = second.probe(mind, "red cat", asking.probe("red cat", mind.encoder(), mind.settings.recall))
    assert probe.second is not None
    assert np.allclose(probe.second.whole, asked.open().encode(["my red cat"]).vectors, atol=1e-6)


@pytest.mark.parametrize(
    ("config", "files", "reason"),
    [
        ({"model_type": "roberta"}, {}, "roberta"),
        ({"model_type": "distilbert"}, {}, "distilbert"),
        ({"position_embedding_type": "relative_key"}, {}, "position_embedding_type"),
        ({"hidden_act": "relu"}, {}, "relu"),
        ({}, {"1_Pooling/config.json": {"pooling_mode_max_tokens": True}}, "pooling"),
        ({}, {"modules.json": [{"type": "sentence_transformers.models.Dense"}]}, "Dense"),
        ({}, {"tokenizer_config.json": {"do_lower_case": True, "strip_accents": False}}, "strip_accents"),
    ],
)
def test_what_is_not_computed_here_is_refused(
    tmp_path: Path, config: dict[str, Any], files: dict[str, Any], reason: str
) -> None:
    """By name, and nothing is copied."""
    with pytest.raises(EncoderUnusable, match=reason):
        added.add(tiny(tmp_path / "other", files=files, **config))
    assert added.names() == []
    (tmp_path / "other" / "vocab.txt").unlink()
    with pytest.raises(EncoderUnusable):
        added.add(tmp_path / "other")


def test_the_same_encoder_twice_changes_nothing(tmp_path: Path) -> None:
    """A copy of the bundled weights says the same on the same scale: order and scores are as without it."""
    texts = (*ENGLISH, "猫在睡觉", "他喜欢 GitHub", "the boat is old", "the red cat sleeps")
    mind = mind_of(tmp_path / "mind", *texts)
    queries = ("where is the cat", "piano music", "an old boat in the rain", "猫在哪里")
    before = [mind.recall(query, touch=False).hits for query in queries]
    twin = added.add(bundled_folder())
    again = mind.under({**mind.overrides, second.SETTING: twin.name})
    for query, hits in zip(queries, before, strict=True):
        now = again.recall(query, touch=False, explain=True).hits
        assert [hit.memory.ref for hit in now] == [hit.memory.ref for hit in hits]
        assert [hit.score for hit in now] == pytest.approx([hit.score for hit in hits], abs=2e-5)
        assert all(bool(hit.encoders) == mainly_latin(hit.memory.text) for hit in now if mainly_latin(query))
        assert mainly_latin(query) or not any(hit.encoders for hit in now)


def test_the_mixture_is_the_one_written_down(tmp_path: Path) -> None:
    """Each part against NumPy on the encoders' own vectors; Han memories keep the first's score whole."""
    mind = mind_of(tmp_path / "mind", *ENGLISH, "猫在睡觉", **{"recall.second_share": 0.3, "recall.clauses": 0.0})
    one = second.add(mind, tiny(tmp_path / "tiny"))
    hits = {hit.memory.text: hit for hit in mind.recall("the red dog", touch=False).hits}

    def cosines(encoder: Any) -> Any:
        return encoder.encode(ENGLISH).vectors @ encoder.encode(["the red dog"]).vectors[0]

    first, other = cosines(mind.encoder()), cosines(one.open())
    placed = first.mean() + first.std() * (other - other.mean()) / other.std()
    for text, mine, theirs in zip(ENGLISH, 0.7 * first, 0.3 * placed, strict=True):
        assert hits[text].parts["dense"] == pytest.approx(mine, abs=1e-5)
        assert hits[text].parts["second"] == pytest.approx(theirs, abs=1e-5)
        assert sum(hits[text].parts.values()) == pytest.approx(hits[text].fused, abs=1e-6)
        assert hits[text].encoders == {"dense": "bge-small-zh-v1.5", "second": one.name}
        assert hits[text].routes["dense"].score == pytest.approx(mine + theirs, abs=1e-5)
    han = hits["猫在睡觉"]
    whole = float(mind.encoder().encode(["猫在睡觉"]).vectors[0] @ mind.encoder().encode(["the red dog"]).vectors[0])
    assert han.parts["dense"] == pytest.approx(whole, abs=1e-5)
    assert not han.encoders
    told = mind.why("n1", "the red dog")
    assert sum(part.added for part in told.parts) == pytest.approx(told.hit.fused if told.hit else 0.0, abs=1e-5)
    assert [part.name for part in told.parts][-2:] == ["second", "speaker"]


def test_silence_asks_both(tmp_path: Path) -> None:
    """A copy of the bundled weights finds the same as they do; stock figures of its own are kept beside its vectors."""
    mind = mind_of(tmp_path / "mind", *ENGLISH, "猫在睡觉", **{"recall.floor": 1.1})
    queries = ("where is the red cat sleeping", "who plays the piano", "what does the stock market say", "猫在哪里")
    before = [mind.recall(query, touch=False).evidence for query in queries]
    twin = added.add(bundled_folder())
    again = mind.under({**mind.overrides, second.SETTING: twin.name})
    again.build()
    kept = again.cache().folder.with_name(f"{again.cache().folder.name}-second") / parts.FLOOR
    assert json.loads(kept.read_bytes()).keys() == {"latin", "latin-short", "latin-dialogue"}
    after = [again.recall(query, touch=False).evidence for query in queries]
    assert after == pytest.approx(before, abs=0.02)
    other = mind.under({**mind.overrides, second.SETTING: added.add(tiny(tmp_path / "tiny")).name})
    assert other.recall(queries[0], touch=False).evidence != pytest.approx(before[0], abs=0.02)
    assert other.recall(queries[3], touch=False).evidence == pytest.approx(before[3])  # Han asks the first alone


def test_its_vectors_lie_apart_and_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of their own, under the encoder's key, of Latin texts alone; equal texts share one, as-of works too."""
    mind = mind_of(tmp_path / "mind", *ENGLISH, ENGLISH[0], "猫在睡觉")
    one = second.add(mind, tiny(tmp_path / "tiny"))
    mind.build()
    folder = mind.cache().folder
    found = parts.load(folder.with_name(f"{folder.name}-second"))
    assert found.manifest.model == one.key != parts.load(folder).manifest.model
    assert sum(len(arrays["vec"]) for _, arrays in found.vectors) == len(ENGLISH)
    assert len(found.state["passed"]) == 1
    index = second.over(mind, mind.index(), None)
    assert index.second is not None
    assert index.second.present.tolist() == [True] * 6 + [False]
    with monkeypatch.context() as patched:
        patched.setattr(added.Added, "open", lambda _: pytest.fail("nothing is left to embed"))
        assert second.over(mind, mind.index(), None).second_waiting == 0
    past = mind.recall(ENGLISH[1], as_of=datetime(2026, 11, 1, 2, 30)).hits
    assert {hit.memory.ref for hit in past if hit.encoders} == {"n1", "n2", "n3"}
    other = mind_of(tmp_path / "other", *ENGLISH[:2], **{second.SETTING: one.name})
    shutil.rmtree(other.folder / ".index")
    assert other.adopt_vectors(mind.store) > 2 * len(ENGLISH)
    erase.erase(mind, erase.plan(mind, ["n2"]))
    found = parts.load(folder.with_name(f"{folder.name}-second"))
    assert sum(len(arrays["vec"]) for _, arrays in found.vectors) == len(ENGLISH) - 1


def test_without_one_nothing_of_it_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither on disk nor in the answer; and a gone or damaged one costs a notice, not the recall."""
    mind = mind_of(tmp_path / "mind", *ENGLISH)
    with monkeypatch.context() as patched:
        patched.setattr(second, "probe", lambda *_: pytest.fail("asked"))
        hits = mind.recall("red cat").hits
    assert not any("second" in hit.parts or hit.encoders for hit in hits)
    assert [path.name for path in (mind.folder / ".index").iterdir()] == ["full-lower"]
    one = second.add(mind, tiny(tmp_path / "tiny"))
    (one.folder / "vocab.txt").write_text("[UNK]\n")
    assert added.get(one.name).wrong() == ["vocab.txt"]
    report = {
        check.name: check for check in doctor.examine(places.Place(mind.folder, "--mind"), {}, now=lambda: NOW).checks
    }
    assert report["meaning"].status == "warn"
    assert "vocab.txt" in report["meaning"].hint
    found = mind.recall("red cat")
    assert found.hits
    assert [notice.code for notice in found.notices] == ["second_broken"]
    assert second.remove(mind, "") == one.name
    assert mind.settings.recall.second_encoder == ""
    assert added.names() == []
    with pytest.raises(WrongUsage):
        second.remove(mind, "")
    with pytest.raises(EncoderUnusable):
        second.remove(mind, "../..")


def test_the_commands(tmp_path: Path, nebula: Nebula) -> None:
    """Add, list, explain, remove, as a person types them."""
    for text in ENGLISH:
        nebula("add", text)
    said = nebula("encoder", "add", str(tiny(tmp_path / "tiny")), "--instruction", "tea ", "--json").data
    assert said["query"] == "tea "
    assert nebula("encoder", "list", "--json").data["encoders"][0]["used"] is True
    assert said["name"] in nebula("recall", "red cat", "--nearest", "--explain").out
    hit = nebula("recall", "red cat", "--nearest", "--json").data["hits"][0]
    assert hit["encoders"] == {"dense": "bge-small-zh-v1.5", "second": said["name"]}
    assert said["name"] in nebula("encoder", "list").out
    assert nebula("encoder", "remove").code == 0
    assert nebula("encoder", "remove").code == 2
    assert nebula("encoder", "add", str(tmp_path)).code == 4


def test_a_pipe_in_the_place_of_the_weights_is_refused(tmp_path: Path) -> None:
    """It would be waited for without end."""
    folder = tiny(tmp_path / "e")
    (folder / "weights.safetensors").unlink()
    os.mkfifo(folder / "weights.safetensors")
    with pytest.raises(EncoderUnusable):
        added.add(folder)


def test_a_record_that_cannot_be_read_is_listed_and_removed(tmp_path: Path) -> None:
    """Previously nothing at all was listed, and the copy could not be removed by its name."""
    mind = mind_of(tmp_path / "mind")
    found = second.add(mind, tiny(tmp_path / "e"))
    other = added.add(tiny(tmp_path / "f", seed=2))
    (found.folder / added.RECORD).write_text("{")
    listed = {one.encoder.name: one.wrong for one in second.listed(mind)}
    assert listed == {found.name: [added.RECORD], other.name: []}
    mind.configure(second.SETTING, None)
    assert second.remove(mind, found.name) == found.name
    assert added.names() == [other.name]
    with pytest.raises(EncoderUnusable):
        second.remove(mind, "..")
