"""Slow, clear twins of the fast paths, written to be read. Each agrees to the tolerance of its test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Array = np.ndarray[Any, Any]


# --- the encoder (nebula/encoder/bert.py) ------------------------------------------------------------------


def bert_forward(
    tensors: Mapping[str, Array], ids: Sequence[int], heads: int, eps: float, pooling: str = "cls"
) -> Array:
    """One sequence through BERT in float64, straight from the paper: [L] -> [d] of length 1."""
    w = {name: np.asarray(array, np.float64) for name, array in tensors.items() if "word_emb" not in name}
    x = np.asarray(tensors["embeddings.word_embeddings.weight"][list(ids)], np.float64)
    x = x + w["embeddings.position_embeddings.weight"][: len(ids)] + w["embeddings.token_type_embeddings.weight"][0]
    x = _bert_norm(x, w, "embeddings.LayerNorm", eps)
    layers = 1 + max(int(name.split(".")[2]) for name in w if name.startswith("encoder.layer."))
    for number in range(layers):
        front = f"encoder.layer.{number}"
        mixed = _bert_attention(x, w, f"{front}.attention.self", heads)
        x = x + _bert_dense(mixed, w, f"{front}.attention.output.dense")
        x = _bert_norm(x, w, f"{front}.attention.output.LayerNorm", eps)
        wide = exact_gelu(_bert_dense(x, w, f"{front}.intermediate.dense"))
        x = _bert_norm(x + _bert_dense(wide, w, f"{front}.output.dense"), w, f"{front}.output.LayerNorm", eps)
    pooled: Array = x[0] if pooling == "cls" else x.mean(axis=0)
    unit: Array = pooled / np.linalg.norm(pooled)
    return unit


def exact_gelu(x: Array) -> Array:
    """x Phi(x) by the standard library's erfc, one number at a time."""
    return np.array([0.5 * v * math.erfc(-v / math.sqrt(2)) for v in x.ravel().tolist()]).reshape(x.shape)


def _bert_dense(x: Array, w: Mapping[str, Array], name: str) -> Array:
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def _bert_norm(x: Array, w: Mapping[str, Array], name: str, eps: float) -> Array:
    centred = x - x.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + eps)
    scaled: Array = centred / spread * w[f"{name}.weight"] + w[f"{name}.bias"]
    return scaled


def _bert_attention(x: Array, w: Mapping[str, Array], name: str, heads: int) -> Array:
    q, k, v = (_bert_dense(x, w, f"{name}.{part}") for part in ("query", "key", "value"))
    size = x.shape[1] // heads
    found = []
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        scores = q[:, part] @ k[:, part].T / math.sqrt(size)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        found.append(weights / weights.sum(axis=1, keepdims=True) @ v[:, part])
    return np.concatenate(found, axis=1)
