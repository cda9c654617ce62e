"""The encoder's arithmetic, float32 and mostly in place: widening, products, GELU, layer norm, softmax.

Each function is a formula on arrays; what they add up to is `bert.py`'s business.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

#: Elements worked on at a time in element-wise chains, so that they stay in a core's cache.
BLOCK = 1 << 15
#: Multiplications up to which OpenBLAS stays on one thread. A question has many small products: on two
#: threads each waited for the other core, and on a busy machine all took 700 ms instead of 60.
ONE_THREAD = 1 << 18
#: Below this many rows BLAS is quicker with the weights as its left factor.
FEW_ROWS = 64

#: Minimax fit of q in  Phi(x) = 1 / (1 + exp(-x q(x^2)))  for |x| <= 6, lowest power first. Our own (least
#: squares on Chebyshev nodes, re-weighted until level); |error| of Phi <= 3e-8, of erf <= 6e-8, pinned by a
#: test against math.erf.
PHI = (
    1.59576988, 7.26661688e-2, -6.51894999e-5, -1.10612637e-4, 7.92954825e-6, -2.64532813e-7, 3.51256481e-9,
)  # fmt: skip
PHI_END = 36.0


def float32(stored: Array, out: Array | None = None) -> Array:
    """The stored numbers as float32 (a float32 array as it is, unless `out` is given).

    Half precision is widened by integer shifts: sign and the 15 other bits go to their places, and one
    product with 2^112 mends the exponent, exactly, subnormal numbers too. Three times as fast as numpy's own
    cast. Infinity and NaN come out as numbers of 65,536 and more, which no half can be. Raises ValueError for
    those.
    """
    if stored.dtype.itemsize != 2:
        wide = stored.astype(np.float32, copy=False) if out is None else out
        if out is not None:
            out[...] = stored
        return _bounded(wide, np.inf)
    wide = np.empty(stored.shape, np.float32) if out is None else out
    source, target = stored.reshape(-1).view(np.int16), wide.reshape(-1)
    bits = target.view(np.int32)
    for at in range(0, source.size, 2 * BLOCK):
        part = slice(at, at + 2 * BLOCK)
        block = bits[part]
        block[...] = source[part]
        block <<= 13
        block &= np.int32(-0x70002000)
        target[part] *= np.float32(2.0**112)
    return _bounded(wide, 65536.0)


def _bounded(numbers: Array, limit: float) -> Array:
    if numbers.size and not max(float(numbers.max()), -float(numbers.min())) < limit:
        raise ValueError("holds numbers that are not finite")
    return numbers


def linear(x: Array, matrices: tuple[Array, ...], bias: Array | None = None) -> Array:
    """Give x [T, in] times each matrix [out, in] transposed, side by side, plus bias: [T, all out], C order.

    A matrix may be as stored: it is then widened in small blocks that never leave the cache, which for a few
    tokens costs a third of widening it whole (the memory pages alone cost more than the arithmetic).
    """
    y = np.empty((len(x), sum(len(matrix) for matrix in matrices)), np.float32)
    at = 0
    for matrix in matrices:
        part = y[:, at : at + len(matrix)]
        if matrix.dtype == np.float32 and len(x) >= FEW_ROWS:
            np.matmul(x, matrix.T, out=part)
        else:
            _linear_by_blocks(x, matrix, part)
        at += len(matrix)
    if bias is not None:
        y += bias
    return y


def _linear_by_blocks(x: Array, matrix: Array, out: Array) -> None:
    """Put x [T, in] times matrix [out, in] transposed into out [T, out], by blocks of the matrix's rows."""
    width = matrix.shape[1]
    held = max(1, 2 * BLOCK // width)
    rows = max(8, ONE_THREAD // (width * len(x)))
    scratch = np.empty((min(held, len(matrix)), width), np.float32)
    for at in range(0, len(matrix), held):
        block = matrix[at : at + held]
        if block.dtype != np.float32:
            block = float32(block, scratch[: len(block)])
        for row in range(0, len(block), rows):
            part = block[row : row + rows]
            out[:, at + row : at + row + len(part)] = (part @ x.T).T


def gelu(x: Array) -> Array:
    """Apply x Phi(x) in place, Phi the normal distribution function; C order. Hendrycks & Gimpel 2016."""
    flat = x.reshape(-1)
    square, power = np.empty((2, min(BLOCK, flat.size)), np.float32)
    for at in range(0, flat.size, BLOCK):
        part = flat[at : at + BLOCK]
        s, p = square[: part.size], power[: part.size]
        np.multiply(part, part, out=s)
        np.minimum(s, np.float32(PHI_END), out=s)
        np.multiply(s, np.float32(-PHI[-1]), out=p)
        for factor in PHI[-2:0:-1]:
            p -= np.float32(factor)
            p *= s
        p -= np.float32(PHI[0])
        p *= part
        np.exp(p, out=p)
        p += np.float32(1.0)
        part /= p
    return x


def layer_norm(x: Array, norm: tuple[Array, Array], eps: float) -> Array:
    """(x - mean) / sqrt(variance + eps) * weight + bias a row, in place; [T, d]. Ba et al. 2016."""
    x -= x.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", x, x) / np.float32(x.shape[1])
    x *= (1.0 / np.sqrt(variance + np.float32(eps)))[:, None]
    x *= norm[0]
    x += norm[1]
    return x


def softmax_parts(scores: Array) -> tuple[Array, Array]:
    """Give exp(scores - max), in place, and its sums along the last axis; the caller divides."""
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    return scores, scores.sum(axis=-1, keepdims=True)
