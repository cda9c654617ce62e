"""A tiny BERT folder, made here, and the bundled encoder in both modes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nebula.encoder import open_encoder
from nebula.mindlib import tensors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nebula.encoder import Encoder

SIZES = {"vocab_size": 24, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 40, "max_position_embeddings": 16, "type_vocab_size": 2}  # fmt: skip
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"海记忆星图。，", "a", "b", "##a", "##b", "ab", "abc"]
WORDS += [f"w{n}" for n in range(24 - len(WORDS))]


@pytest.fixture
def make_folder(tmp_path: Path) -> Callable[..., Path]:
    """Write a model folder; `config`, `words`, `arrays` change parts of it (None removes)."""

    def make(
        config: dict[str, Any] | None = None,
        words: list[str] | None = None,
        arrays: dict[str, Any] | None = None,
        dtype: str = "<f2",
        front: str = "",
    ) -> Path:
        folder = tmp_path / "tiny"
        folder.mkdir(exist_ok=True)
        settings = {"model": "lab/tiny", **SIZES, "layer_norm_eps": 1e-12, "pooling": "cls", **(config or {})}
        settings = {key: value for key, value in settings.items() if value is not None}
        (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
        (folder / "vocab.txt").write_bytes(("\n".join(WORDS if words is None else words) + "\n").encode())
        found = {**tiny_tensors(dtype), **(arrays or {})}
        kept = {front + name: array for name, array in found.items() if array is not None}
        tensors.write(folder / "model.safetensors", kept)
        return folder

    return make


def tiny_tensors(dtype: str = "<f2") -> dict[str, Any]:
    """Random weights of SIZES."""
    rng = np.random.default_rng(5)
    d, wide = 16, 40

    def some(*shape: int) -> Any:
        return (rng.standard_normal(shape) * 0.3).astype(dtype)

    found = {f"embeddings.{kind}_embeddings.weight": some(rows, d)
             for kind, rows in (("word", 24), ("position", 16), ("token_type", 2))}  # fmt: skip
    norms = ["embeddings.LayerNorm"]
    for layer in range(2):
        front = f"encoder.layer.{layer}."
        norms += [f"{front}attention.output.LayerNorm", f"{front}output.LayerNorm"]
        for name in (
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
        ):
            found |= {f"{front}{name}.weight": some(d, d), f"{front}{name}.bias": some(d)}
        found |= {
            f"{front}intermediate.dense.weight": some(wide, d),
            f"{front}intermediate.dense.bias": some(wide),
        }
        found |= {f"{front}output.dense.weight": some(d, wide), f"{front}output.dense.bias": some(d)}
    for norm in norms:
        found |= {f"{norm}.weight": some(d) + np.ones(d, dtype), f"{norm}.bias": some(d)}
    return found


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The bundled encoder as the program uses it."""
    return open_encoder()


@pytest.fixture(scope="session")
def cased() -> Encoder:
    """The bundled encoder with the export's own tokenizer mode."""
    return open_encoder(lowercase=False)


@pytest.fixture(autouse=True)
def one_encoder() -> None:
    """Here it is opened anew each time, and works each text out."""
