"""The forward pass: each formula against its slow twin, batches change nothing, memory stays small."""

from __future__ import annotations

import math
import tracemalloc
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nebula.encoder import bundled_folder, kernels, open_encoder
from nebula.encoder.bert import NARROW_TOKENS, Bert
from nebula.encoder.weights import load
from tests import references

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt

    from nebula.encoder import Encoder


def test_gelu_is_the_exact_one() -> None:
    """Phi to 1e-7, but for the last bit of the float32 result; the tanh form would miss by 1e-4."""
    x = np.concatenate([np.linspace(-12, 12, 400_001), [-1e30, -1e4, -60, 60, 1e4, 1e30, 0]]).astype(np.float32)
    exact = references.exact_gelu(x.astype(np.float64))
    with np.errstate(over="ignore", under="ignore"):
        found = kernels.gelu(x.copy())
    error = np.abs(found - exact)
    assert np.all(error <= 1e-7 * np.maximum(1, np.abs(x)) + np.spacing(np.abs(found)))
    assert not np.isnan(found).any()


def test_the_fit_of_phi() -> None:
    """The documented error of the fit itself, in double precision: erf to 6e-8."""
    for x in np.linspace(-6, 6, 5001).tolist():
        logit = x * sum(factor * (x * x) ** power for power, factor in enumerate(kernels.PHI))
        erf = 2 / (1 + math.exp(-logit)) - 1
        assert abs(erf - math.erf(x / math.sqrt(2))) <= 6e-8


def test_widening_every_half() -> None:
    """All 63,488 finite halves widen exactly, subnormal ones and both zeros too; the others are refused."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    halves = bits.view(np.float16)
    finite = halves[np.isfinite(halves)]
    assert finite.size == 63_488
    assert np.array_equal(kernels.float32(finite).view(np.int32), finite.astype(np.float32).view(np.int32))
    for wrong in halves[~np.isfinite(halves)][::64]:
        with pytest.raises(ValueError, match="not finite"):
            kernels.float32(np.array([1, wrong], np.float16))
    for wrong in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match="not finite"):
            kernels.float32(np.array([wrong], np.float32))


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8"])
@pytest.mark.parametrize("count", [1, 40])
def test_agrees_with_the_slow_twin(make_folder: Callable[..., Path], pooling: str, dtype: str, count: int) -> None:
    """Other sizes, both poolings, all formats; few tokens (weights as stored) and many (widened): to 2e-6."""
    weights = load(make_folder({"pooling": pooling, "layer_norm_eps": 1e-5}, dtype=dtype))
    rng = np.random.default_rng(1)
    sequences = [[2, *rng.integers(5, 24, n % 9).tolist(), 3] for n in range(count)]
    assert (sum(map(len, sequences)) > NARROW_TOKENS) == (count > 1)
    found = Bert(weights).embed(sequences)
    for sequence, vector in zip(sequences, found, strict=True):
        twin = references.bert_forward(weights.tensors, sequence, 4, 1e-5, pooling)
        assert np.abs(vector - twin).max() < 2e-6


def test_stored_and_widened_layers_agree() -> None:
    """The same sequence before and after the layers were widened."""
    bert = Bert(load(bundled_folder()))
    first = bert.embed([[101, 3862, 102]])
    bert.embed([[101, *[3862] * 100, 102]])
    assert np.abs(bert.embed([[101, 3862, 102]]) - first).max() < 1e-6


TEXTS = [
    "海",
    "",
    "记忆为什么像海",
    "hello world",
    "下周三下午 3:30 去医院复查，别忘了带医保卡",
    "海" * 400,
    "很长的话。" * 150,
]


@cache
def each_alone() -> tuple[Encoder, list[npt.NDArray[np.float32]]]:
    encoder = open_encoder()
    return encoder, [encoder.encode([text]).vectors for text in TEXTS]


@given(st.permutations(range(len(TEXTS))), st.integers(1, len(TEXTS)))
@settings(max_examples=5, deadline=None)
def test_order_and_company_change_nothing(order: list[int], size: int) -> None:
    """Vectors do not depend on batch order or size: within 1e-6."""
    encoder, alone = each_alone()
    for at in range(0, len(order), size):
        batch = order[at : at + size]
        found = encoder.encode([TEXTS[n] for n in batch])
        for place, n in enumerate(batch):
            assert np.abs(found.vectors[found.owner == place] - alone[n]).max() <= 1e-6


def test_nothing_to_encode(encoder: Encoder) -> None:
    """No texts give no vectors; an empty text gives one."""
    nothing = encoder.encode([])
    assert nothing.vectors.shape == (0, 512)
    assert nothing.owner.dtype == np.int32
    assert encoder.encode(["", "\ud800\x00"]).vectors.shape == (2, 512)


def test_progress_counts_texts(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    """It rises and ends at the number of texts."""
    monkeypatch.setattr("nebula.encoder.WINDOW_TOKENS", 20)
    told: list[int] = []
    encoder.encode(["记忆为什么像海"] * 7, told.append)
    assert told == sorted(told)
    assert told[-1] == 7
    assert len(told) > 2


def test_memory_does_not_grow_with_the_number_of_texts(encoder: Encoder) -> None:
    """Twice as many tokens need little more: batches are bounded by tokens."""
    encoder.encode(["海" * 100])
    peaks = []
    for count in (12, 24):
        tracemalloc.start()
        encoder.encode(["海" * 100] * count)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.2
    assert peaks[1] < 60e6
