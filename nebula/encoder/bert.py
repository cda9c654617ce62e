"""The BERT encoder in numpy, bottom-up: token ids -> one unit vector a sequence, float32 throughout.

Devlin et al. 2018, with the original's exact GELU (erf). Sequences lie packed one after the other, [T, d]
with T tokens in all, without padding: matrix products run over all of them, attention over each group of one
length. A layer's weights become float32 when more than a question comes by. Tokenising and batching are done
elsewhere.
"""

from __future__ import annotations

from itertools import groupby, product
from typing import TYPE_CHECKING

import numpy as np

from nebula.encoder.kernels import Array, float32, gelu, layer_norm, linear, softmax_parts
from nebula.errors import ModelUnusable
from nebula.quick import dataclass
from nebula.reasons import because

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nebula.encoder.weights import Weights

#: Rows of a feed-forward block: bounds its [rows, wide] scratch.
FEED_ROWS = 512
#: Attention scores worked on at a time.
SCORES = 1 << 18
#: A layer stays as stored until this many tokens came by: a single question costs less without widened
#: copies.
NARROW_TOKENS = 64


@dataclass(frozen=True)
class Layer:
    """One encoder layer: matrices [out, in], as stored or float32; biases and norms float32.

    `qkv` holds query, key and value, as three matrices or as one above the other.
    """

    qkv: tuple[Array, ...]
    qkv_bias: Array
    query: Array
    key: Array
    value: Array
    attended: Array
    attended_bias: Array
    attended_norm: tuple[Array, Array]
    wide: Array
    wide_bias: Array
    narrow: Array
    narrow_bias: Array
    narrow_norm: tuple[Array, Array]


@dataclass(frozen=True)
class Group:
    """`count` sequences of `length` tokens each, from packed row `start` and from sequence `first` on."""

    start: int
    first: int
    count: int
    length: int

    @property
    def rows(self) -> slice:
        """The group's rows of [T, …]."""
        return slice(self.start, self.start + self.count * self.length)

    @property
    def sequences(self) -> slice:
        """The group's rows of [n, …]."""
        return slice(self.first, self.first + self.count)


def attend(qkv: Array, groups: Sequence[Group], heads: int) -> Array:
    """Self-attention within each sequence: qkv [T, 3 d] -> [T, d]. Vaswani et al. 2017, equation 1."""
    d = qkv.shape[1] // 3
    qkv[:, :d] *= np.float32((d // heads) ** -0.5)
    mixed = np.empty((len(qkv), d), np.float32)
    for group in groups:
        shape = (group.count, group.length, 3, heads, d // heads)
        q, k, v = qkv[group.rows].reshape(shape).transpose(2, 0, 3, 1, 4)  # each [n, h, L, d/h]
        into = mixed[group.rows].reshape(group.count, group.length, heads, d // heads).transpose(0, 2, 1, 3)
        some = max(1, SCORES // group.length**2)
        step, part = max(1, some // heads), min(some, heads)
        for n, h in product(range(0, group.count, step), range(0, heads, part)):
            at = (slice(n, n + step), slice(h, h + part))
            scores, sums = softmax_parts(q[at] @ k[at].swapaxes(-1, -2))
            np.divide(scores @ v[at], sums, out=into[at])
    return mixed


def attend_first(x: Array, layer: Layer, groups: Sequence[Group], heads: int) -> Array:
    """The first token's attention output alone: x [T, d] -> [n, d], without keys or values of the others.

    With q the first token's query, the scores are  q (Wk x) = (q Wk) x,  and the output  Wv (sum p x);  the
    key bias adds the same to every score, and the weights p add up to 1, so the value bias is added once.
    What would be two [T, d] products becomes two [n, d] ones.
    """
    d = x.shape[1]
    starts = first_rows(groups)
    query = linear(x[starts], (layer.query,), layer.qkv_bias[:d])  # [n, d]
    query *= np.float32((d // heads) ** -0.5)
    by_head = (heads, d // heads, d)
    query = query.reshape(-1, heads, d // heads).swapaxes(0, 1) @ widened(layer.key).reshape(by_head)  # [h, n, d]
    mixed = np.empty((heads, len(starts), d), np.float32)
    for group in groups:
        tokens = x[group.rows].reshape(group.count, group.length, d)
        asked = query[:, group.sequences].swapaxes(0, 1)  # [n, h, d]
        scores, sums = softmax_parts(asked @ tokens.swapaxes(1, 2))  # [n, h, L]
        mixed[:, group.sequences] = ((scores @ tokens) / sums).swapaxes(0, 1)
    values = mixed @ widened(layer.value).reshape(by_head).swapaxes(1, 2)  # [h, n, d/h]
    return values.swapaxes(0, 1).reshape(-1, d) + layer.qkv_bias[2 * d :]


def widened(matrix: Array) -> Array:
    """The matrix in float32."""
    return matrix if matrix.dtype == np.float32 else float32(matrix)


def first_rows(groups: Sequence[Group]) -> Array:
    """The row of each sequence's first token, [n]."""
    return np.concatenate([np.arange(g.start, g.start + g.count * g.length, g.length) for g in groups])


def feed_forward(x: Array, layer: Layer, eps: float) -> Array:
    """Add narrow(gelu(wide(x))) to x [T, d] and normalise, in place."""
    for at in range(0, len(x), FEED_ROWS):
        rows = x[at : at + FEED_ROWS]
        rows += linear(gelu(linear(rows, (layer.wide,), layer.wide_bias)), (layer.narrow,), layer.narrow_bias)
        layer_norm(rows, layer.narrow_norm, eps)
    return x


def grouped(lengths: Sequence[int]) -> list[Group]:
    """Neighbouring sequences of one length, as groups."""
    groups: list[Group] = []
    start = first = 0
    for length, same in groupby(lengths):
        group = Group(start, first, sum(1 for _ in same), length)
        groups.append(group)
        start, first = group.rows.stop, group.sequences.stop
    return groups


class Bert:
    """The encoder of one folder, with the layers that have been used so far in float32."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._layers: dict[int, Layer] = {}
        self._tokens = 0
        self._wide = False

    def embed(self, sequences: Sequence[Sequence[int]]) -> Array:
        """One unit vector a sequence of token ids ([CLS] and [SEP] among them): [n, d] float32.

        All sequences are worked on at once: memory is about 30 kB a token. Neighbours of equal length are the
        quickest. Raises ModelUnusable when a weight, or what comes out, is not finite.
        """
        groups = grouped([len(sequence) for sequence in sequences])
        self._choose(groups[-1].rows.stop)
        # exp may overflow to infinity in gelu, where x / (1 + inf) is the right 0
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            x = self._embeddings(sequences, groups)
            try:
                vectors = self._pooled(x, groups)
            except ValueError as error:
                raise ModelUnusable(self._weights.path, because("not_finite")) from error
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
        if not np.isfinite(vectors).all():
            raise ModelUnusable(self._weights.path, because("not_finite"))
        return vectors

    def _embeddings(self, sequences: Sequence[Sequence[int]], groups: Sequence[Group]) -> Array:
        """Word, position and type embeddings, normalised: [T, d]; only the rows that occur are read."""
        ids = np.fromiter((token for sequence in sequences for token in sequence), np.int64)
        x = self._f32("embeddings.word_embeddings.weight", ids)
        longest = max(group.length for group in groups)
        places = self._f32("embeddings.position_embeddings.weight", slice(0, longest))
        places = places + self._f32("embeddings.token_type_embeddings.weight", slice(0, 1))
        for group in groups:
            rows = x[group.rows].reshape(group.count, group.length, -1)
            rows += places[: group.length]
        return layer_norm(x, self._norm("embeddings.LayerNorm"), self._weights.config.layer_norm_eps)

    def _pooled(self, x: Array, groups: Sequence[Group]) -> Array:
        """All layers, then one state a sequence: [T, d] -> [n, d]."""
        last = self._weights.config.num_hidden_layers - 1
        for number in range(last):
            x = self._full_layer(x, self._layer(number), groups)
        if self._weights.config.pooling == "cls":
            return self._first_states(x, self._layer(last), groups)
        return means(self._full_layer(x, self._layer(last), groups), groups)

    def _full_layer(self, x: Array, layer: Layer, groups: Sequence[Group]) -> Array:
        """One layer for every token: [T, d] -> [T, d]."""
        config = self._weights.config
        mixed = attend(linear(x, layer.qkv, layer.qkv_bias), groups, config.num_attention_heads)
        x += linear(mixed, (layer.attended,), layer.attended_bias)
        layer_norm(x, layer.attended_norm, config.layer_norm_eps)
        return feed_forward(x, layer, config.layer_norm_eps)

    def _first_states(self, x: Array, layer: Layer, groups: Sequence[Group]) -> Array:
        """The last layer, for the first tokens alone: [T, d] -> [n, d]."""
        config = self._weights.config
        mixed = attend_first(x, layer, groups, config.num_attention_heads)
        first = x[first_rows(groups)] + linear(mixed, (layer.attended,), layer.attended_bias)
        layer_norm(first, layer.attended_norm, config.layer_norm_eps)
        return feed_forward(first, layer, config.layer_norm_eps)

    def _choose(self, tokens: int) -> None:
        """Widen layers from now on once NARROW_TOKENS have come by; layers at hand as stored are let go."""
        self._tokens += tokens
        if not self._wide and self._tokens > NARROW_TOKENS:
            self._wide = True
            self._layers.clear()

    def _layer(self, number: int) -> Layer:
        """The layer, prepared when it is first asked for."""
        found = self._layers.get(number)
        if found is None:
            found = self._layers[number] = self._prepared(f"encoder.layer.{number}.")
        return found

    def _prepared(self, front: str) -> Layer:
        d = self._weights.config.hidden_size
        parts = [f"{front}attention.self.{part}" for part in ("query", "key", "value")]
        if self._wide:
            whole = np.empty((3 * d, d), np.float32)
            query, key, value = (self._f32(f"{p}.weight", out=whole[n * d : n * d + d]) for n, p in enumerate(parts))
            qkv: tuple[Array, ...] = (whole,)
        else:
            qkv = query, key, value = tuple(self._weights.tensors[f"{part}.weight"] for part in parts)
        qkv_bias = np.concatenate([self._f32(f"{part}.bias") for part in parts])
        attended, wide, narrow = (
            f"{front}{n}" for n in ("attention.output.dense", "intermediate.dense", "output.dense")
        )
        return Layer(
            qkv=qkv,
            qkv_bias=qkv_bias,
            query=query,
            key=key,
            value=value,
            attended=self._matrix(attended),
            attended_bias=self._f32(f"{attended}.bias"),
            attended_norm=self._norm(f"{front}attention.output.LayerNorm"),
            wide=self._matrix(wide),
            wide_bias=self._f32(f"{wide}.bias"),
            narrow=self._matrix(narrow),
            narrow_bias=self._f32(f"{narrow}.bias"),
            narrow_norm=self._norm(f"{front}output.LayerNorm"),
        )

    def _matrix(self, name: str) -> Array:
        """A weight matrix, as stored or in float32."""
        return self._f32(f"{name}.weight") if self._wide else self._weights.tensors[f"{name}.weight"]

    def _norm(self, name: str) -> tuple[Array, Array]:
        return self._f32(f"{name}.weight"), self._f32(f"{name}.bias")

    def _f32(self, name: str, rows: Array | slice = slice(None), out: Array | None = None) -> Array:
        """Rows of one tensor as float32; names the tensor when they are no numbers."""
        try:
            return float32(self._weights.tensors[name][rows], out)
        except ValueError as error:
            raise ModelUnusable(self._weights.path, f"{name}: {because('not_finite')}") from error


def means(x: Array, groups: Sequence[Group]) -> Array:
    """The mean of each sequence's token states: [T, d] -> [n, d]."""
    parts = [x[g.rows].reshape(g.count, g.length, -1).mean(axis=1, dtype=np.float32) for g in groups]
    return np.concatenate(parts)
