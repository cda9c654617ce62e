"""The bundled weights against another runtime: token ids, vectors, proof that the check can tell (S09)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nebula.encoder import bundled_folder, open_encoder
from nebula.encoder.bert import Bert
from nebula.encoder.weights import load
from nebula.encoder.wordpiece import WordPiece
from tests import references

if TYPE_CHECKING:
    from nebula.encoder import Encoder

FOLDER = Path(__file__).parent.parent / "golden" / "bge-small-zh-v1.5"
GOLDEN: list[dict[str, Any]] = json.loads((FOLDER / "golden.json").read_text(encoding="utf-8"))
VECTORS = np.load(FOLDER / "golden.npy")
MODES = ("cased", "lowercase")


def rows(mode: str) -> list[int]:
    return [at for at, row in enumerate(GOLDEN) if row["mode"] == mode]


@pytest.mark.parametrize("mode", MODES)
def test_token_ids(mode: str) -> None:
    """53 texts: BERT's own ids in both modes, cut at 512 as the reference cuts."""
    wordpiece = WordPiece(load(bundled_folder()).words, lowercase=mode == "lowercase")
    for at in rows(mode):
        ids = [wordpiece.first, *wordpiece.tokens(GOLDEN[at]["text"])[:510], wordpiece.last]
        assert ids == GOLDEN[at]["ids"], GOLDEN[at]["text"][:40]


@pytest.mark.parametrize("mode", MODES)
def test_vectors(mode: str) -> None:
    """Cosine >= 0.99999 to onnxruntime on the float32 export, length 1, for all 53 texts."""
    bert = Bert(load(bundled_folder()))
    found = bert.embed([GOLDEN[at]["ids"] for at in rows(mode)])
    assert found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert np.sum(found * VECTORS[rows(mode)], axis=1).min() >= 0.99999


@pytest.mark.parametrize("mode", MODES)
def test_the_public_way(mode: str, encoder: Encoder, cased: Encoder) -> None:
    """`encode` gives the golden vector for texts of one piece (full-width letters apart: it folds them)."""
    used = encoder if mode == "lowercase" else cased
    chosen = [at for at in rows(mode) if len(GOLDEN[at]["ids"]) < 512 and "ＡＢＣ" not in GOLDEN[at]["text"]]
    found = used.encode([GOLDEN[at]["text"] for at in chosen])
    assert found.owner.tolist() == list(range(len(chosen)))
    assert np.sum(found.vectors * VECTORS[chosen], axis=1).min() >= 0.99999


@pytest.mark.parametrize(
    "text", ["海", "今天聊到了为什么记忆该像海不像硬盘", "Hello World, DeepSeek-V3 与 iPhone 15 Pro"]
)
def test_averaged_tokens_are_clearly_another_vector(text: str) -> None:
    """S09: the reference's first-token state is ours; its averaged state is far off: the check can tell."""
    weights = load(bundled_folder())
    at = next(at for at in rows("lowercase") if GOLDEN[at]["text"] == text)
    ids = GOLDEN[at]["ids"]
    ours = Bert(weights).embed([ids])[0]
    first = references.bert_forward(weights.tensors, ids, 8, 1e-12, "cls")
    averaged = references.bert_forward(weights.tensors, ids, 8, 1e-12, "mean")
    assert ours @ first >= 0.999999
    assert VECTORS[at] @ first >= 0.99999
    assert VECTORS[at] @ averaged < 0.97


def test_s09_paragraph() -> None:
    """S09's long text and mixed widths: 512 numbers, length 1 +- 1e-4, cosine to the slow twin >= 0.99999."""
    weights = load(bundled_folder())
    encoder = open_encoder()
    for text in (
        "def f(x): return x + 1",
        "ＮＡＳＡ 的 Café 在 3 楼",
        "我们聊到海为什么记得每一条河，却不记得哪一滴水。" * 13,
    ):
        found = encoder.encode([text])
        twin = references.bert_forward(weights.tensors, encoder.pieces(text)[0], 8, 1e-12)
        assert found.vectors.shape == (1, 512)
        assert abs(np.linalg.norm(found.vectors[0]) - 1) < 1e-4
        assert found.vectors[0] @ twin >= 0.99999


def test_checksums() -> None:
    """The shipped files are the converted ones."""
    import hashlib

    for line in (bundled_folder() / "SHA256SUMS").read_text(encoding="ascii").splitlines():
        wanted, name = line.split()
        assert hashlib.sha256((bundled_folder() / name).read_bytes()).hexdigest() == wanted, name
