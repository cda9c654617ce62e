"""Folders: which are taken, and how each fault of one is named before anything is computed."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nebula.encoder import open_encoder
from nebula.encoder.weights import load
from nebula.errors import ModelMissing, ModelUnusable, NumpyMissing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nebula.encoder import Encoder

    Make = Callable[..., Path]

KEY = "encoder.layer.1.attention.self.key.weight"


def reason(folder: Path) -> str:
    """Why the folder is refused."""
    with pytest.raises(ModelUnusable) as caught:
        open_encoder(folder)
    return str(caught.value.facts["reason"])


def test_the_bundled_one(encoder: Encoder, cased: Encoder) -> None:
    """Name, size, and a key that tells the tokenizer mode."""
    assert encoder.model == "bge-small-zh-v1.5"
    assert encoder.dimensions == 512
    assert encoder.key.startswith("bge-small-zh-v1.5/lower/pieces-1/")
    assert cased.key != encoder.key
    assert open_encoder().key == encoder.key


def test_another_folder(make_folder: Make) -> None:
    """Other sizes and names load; tensors may carry BERT's own prefix."""
    first = open_encoder(make_folder())
    vectors = first.encode(["海记忆", "ab" * 40]).vectors
    assert first.model == "tiny"
    assert vectors.shape[1] == first.dimensions == 16
    prefixed = open_encoder(make_folder(front="bert."))
    assert np.array_equal(prefixed.encode(["海记忆", "ab" * 40]).vectors, vectors)


def test_the_key_tells_weights_apart(make_folder: Make) -> None:
    """Another training of the same layout has another key; so has another pooling."""
    first = open_encoder(make_folder()).key
    assert open_encoder(make_folder(dtype="<f2")).key == first
    assert open_encoder(make_folder({"pooling": "mean"})).key != first
    other = np.full((24, 16), 0.5, np.float16)
    assert open_encoder(make_folder(arrays={"embeddings.word_embeddings.weight": other})).key != first


def test_sentence_transformers_pooling_is_followed(make_folder: Make) -> None:
    """Without a word in config.json, 1_Pooling/config.json decides."""
    folder = make_folder({"pooling": None})
    assert "pooling" in reason(folder)
    (folder / "1_Pooling").mkdir()
    beside = folder / "1_Pooling" / "config.json"
    for text, wanted in (
        ('{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}', "cls"),
        ('{"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}', "mean"),
    ):
        beside.write_text(text, encoding="utf-8")
        assert load(folder).config.pooling == wanted
    for text in ('{"pooling_mode_max_tokens": true}', "[]", "{"):
        beside.write_text(text, encoding="utf-8")
        assert reason(folder)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"hidden_size": None}, "hidden_size"),
        ({"hidden_size": 0}, "hidden_size"),
        ({"hidden_size": "512"}, "hidden_size"),
        ({"hidden_size": True}, "hidden_size"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers"),
        ({"num_attention_heads": 3}, "n × 3"),
        ({"max_position_embeddings": 3}, "max_position_embeddings"),
        ({"layer_norm_eps": -1.0}, "layer_norm_eps"),
        ({"layer_norm_eps": "small"}, "layer_norm_eps"),
        ({"layer_norm_eps": float("nan")}, "JSON"),
        ({"hidden_act": "relu"}, "hidden_act"),
        ({"pooling": "max"}, "pooling"),
        ({"num_hidden_layers": 3}, "encoder.layer.2"),
        ({"intermediate_size": 41}, "intermediate.dense"),
    ],
)
def test_wrong_config(make_folder: Make, change: dict[str, Any], said: str) -> None:
    """Every value that is leaned on is checked, and named."""
    assert said in reason(make_folder(change))


def test_wrong_words(make_folder: Make) -> None:
    """A vocabulary of another length, without a special word, or no text."""
    from tests.encoder.conftest import WORDS

    assert "应为 23" in reason(make_folder(words=WORDS[:-1]))
    assert "[SEP]" in reason(make_folder(words=[w if w != "[SEP]" else "sep" for w in WORDS]))
    folder = make_folder()
    (folder / "vocab.txt").write_bytes(b"\xff\xfe")
    assert "UTF-8" in reason(folder)
    (folder / "vocab.txt").write_bytes("\r\n".join([*WORDS, ""]).encode())
    assert open_encoder(folder).pieces("海") == [[2, 5, 3]]


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (None, f"缺 {KEY}"),
        (np.zeros((16, 17), np.float16), "[16, 17]，应为 [16, 16]"),
        (np.zeros((16, 16), np.int16), "int16，应为 float"),
    ],
)
def test_wrong_tensors(make_folder: Make, array: Any, said: str) -> None:
    """A missing, misshapen or whole-numbered tensor is named."""
    assert said in reason(make_folder(arrays={KEY: array}))


@pytest.mark.parametrize("dtype", ["<f2", "<f4"])
@pytest.mark.parametrize("count", [1, 60])
@pytest.mark.parametrize("name", [KEY, "encoder.layer.0.output.dense.bias", "embeddings.position_embeddings.weight"])
def test_weights_that_are_no_numbers(make_folder: Make, dtype: str, count: int, name: str) -> None:
    """NaN among the weights never becomes a vector."""
    from tests.encoder.conftest import tiny_tensors

    array = tiny_tensors(dtype)[name].copy()
    array.reshape(-1)[3] = np.nan
    encoder = open_encoder(make_folder(arrays={name: array}, dtype=dtype))
    with pytest.raises(ModelUnusable) as caught:
        encoder.encode(["海记忆星图"] * count)
    assert "不是有限数" in str(caught.value.facts["reason"])


def test_missing_and_damaged_files(make_folder: Make, tmp_path: Path) -> None:
    """No folder, a part of one, a cut or ambiguous weights file."""
    with pytest.raises(ModelMissing):
        open_encoder(tmp_path / "nowhere")
    folder = make_folder()
    model = folder / "model.safetensors"
    model.write_bytes(model.read_bytes()[:-1])
    assert "≠" in reason(folder)
    model.rename(folder / "a.safetensors")
    assert "≠" in reason(folder)
    (folder / "b.safetensors").write_bytes(b"")
    assert "不止一个" in reason(folder)
    for name in ("a.safetensors", "b.safetensors"):
        (folder / name).unlink()
    with pytest.raises(ModelMissing):
        open_encoder(folder)
    make_folder()
    (folder / "vocab.txt").unlink()
    with pytest.raises(ModelMissing):
        open_encoder(folder)
    make_folder()
    (folder / "config.json").write_bytes(b" " * (1 << 21))
    assert "超过" in reason(folder)
    (folder / "config.json").write_text("[]", encoding="utf-8")
    assert "不是 JSON 对象" in reason(folder)


def test_without_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lack of numpy has its own name."""
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(NumpyMissing):
        open_encoder()


@pytest.mark.process
def test_importing_the_package_does_not_import_numpy() -> None:
    """Who only names the encoder does not pay for it."""
    code = "import sys, nebula.encoder; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_pooling_that_is_no_word_is_refused(make_folder: Make) -> None:
    """A list or an object in its place is named, whatever can't be hashed."""
    wrongs: list[object] = [[], {}, ["cls"], 3]
    for wrong in wrongs:
        assert "pooling" in reason(make_folder({"pooling": wrong}))
