"""The encoder's tokens per second against onnxruntime on the same float32 weights, and its matrix products alone.

Batches of some 2,000 tokens in texts of 12, 40, 128 and 512, on one thread and on two, each in a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.bench.parts.timing import Row, in_turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LENGTHS = (12, 40, 128, 512)
TOKENS = 2048
_CHILD = "import sys; from tests.bench.parts import encoder; encoder.child(int(sys.argv[1]), int(sys.argv[2]))"


def rows(folder: Path, sizes: Sequence[int], rounds: int) -> Iterator[Row]:
    """One and two threads; sizes play no part."""
    for threads in (1, 2):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        environ = {**os.environ, **dict.fromkeys(names, str(threads)), "PYTHONPATH": str(Path(__file__).parents[3])}
        command = [sys.executable, "-c", _CHILD, str(threads), str(rounds)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environ)
        ratios: dict[str, list[float]] = {"onnxruntime": [], "the products alone": []}
        for length, taken in json.loads(done.stdout.splitlines()[-1]).items():
            speed = {name: [TOKENS / v for v in values] for name, values in taken.items()}
            for name, values in speed.items():
                yield Row(f"{name}, {length} tokens, {threads} threads", values, "tokens/ms")
            for other, each in ratios.items():
                each.append(median(speed["nebula"]) / median(speed[other]))
                yield Row(f"nebula, {length} tokens, {threads} threads: speed", each[-1:], "×", other)
        for other, each in ratios.items():
            yield Row(f"nebula, mean over the lengths, {threads} threads: speed", [sum(each) / len(each)], "×", other)


def child(threads: int, rounds: int) -> None:
    """Measure in this process; print milliseconds by length and runner as JSON."""
    import onnxruntime

    from nebula.encoder import bundled_folder, weights
    from nebula.encoder.bert import Bert

    loaded = weights.load(bundled_folder())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    peer = onnxruntime.InferenceSession(model(loaded).SerializeToString(), options, ["CPUExecutionProvider"])
    mine, draw = Bert(loaded), np.random.default_rng(2)
    found = {}
    for length in LENGTHS:
        ids = draw.integers(672, 7992, (TOKENS // length, length))  # Han characters
        ids[:, 0], ids[:, -1] = 101, 102
        sequences = ids.tolist()
        vectors = peer.run(None, {"ids": ids})[0]
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        if (np.abs((vectors * in_batches(mine, sequences)).sum(axis=1) - 1) > 1e-5).any():
            raise AssertionError("the two do not compute the same")
        runs = {
            "nebula": partial(in_batches, mine, sequences),
            "onnxruntime": partial(peer.run, None, {"ids": ids}),
            "the products alone": products(*ids.shape),
        }
        found[length] = in_turn(runs, rounds)
        scale = TOKENS / ids.size
        found[length] = {name: [value * scale for value in values] for name, values in found[length].items()}
    sys.stdout.write(json.dumps(found) + "\n")


def in_batches(bert: Any, sequences: Sequence[Sequence[int]]) -> Any:
    """As `Encoder` does: some 1,024 tokens at a time."""
    from nebula.encoder import BATCH_TOKENS

    step = max(1, BATCH_TOKENS // len(sequences[0]))
    return np.concatenate([bert.embed(sequences[at : at + step]) for at in range(0, len(sequences), step)])


def products(count: int, length: int, wide: int = 512, layers: int = 3, heads: int = 8) -> Any:
    """The products of the layers that are worked out for every token, and nothing else."""
    draw = np.random.default_rng(1)
    x, broad = (draw.random((count * length, size), np.float32) for size in (wide, 4 * wide))
    shapes = [(wide, 3 * wide), (wide, wide), (wide, 4 * wide), (4 * wide, wide)]
    matrices = [draw.random(shape, np.float32) for shape in shapes]
    q = draw.random((count, heads, length, wide // heads), np.float32)

    def run() -> None:
        for _ in range(layers):
            for matrix in matrices:
                (x if len(matrix) == wide else broad) @ matrix
            (q @ q.swapaxes(-1, -2)) @ q

    return run


def model(loaded: Any) -> Any:
    """The same network as an ONNX graph in float32: ids [n, L] -> the first token's last state [n, d]."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    config = loaded.config
    d, heads = config.hidden_size, config.num_attention_heads
    stored: dict[str, Any] = {}
    nodes: list[Any] = []

    def constant(name: str, value: Any) -> str:
        stored.setdefault(name, np.asarray(value))
        return name

    def weight(name: str) -> str:
        array = loaded.tensors[name].astype(np.float32)
        matrix = array.ndim == 2 and "embeddings" not in name
        return constant(name, np.ascontiguousarray(array.T) if matrix else array)

    def node(kind: str, *inputs: str, **options: Any) -> str:
        output = f"{kind}_{len(nodes)}"
        nodes.append(helper.make_node(kind, list(inputs), [output], name=output, **options))
        return output

    def dense(x: str, name: str) -> str:
        return node("Add", node("MatMul", x, weight(f"{name}.weight")), weight(f"{name}.bias"))

    def norm(x: str, name: str) -> str:
        parts = weight(f"{name}.weight"), weight(f"{name}.bias")
        return node("LayerNormalization", x, *parts, axis=-1, epsilon=config.layer_norm_eps)

    def split(x: str, order: Mapping[str, Any]) -> str:
        return node("Transpose", node("Reshape", x, constant("heads", np.array([0, 0, heads, d // heads]))), **order)

    words = node("Gather", weight("embeddings.word_embeddings.weight"), "ids")
    length = node("Gather", node("Shape", "ids"), constant("one", np.array([1])))
    zero = constant("zero", np.array([0]))
    places = node("Slice", weight("embeddings.position_embeddings.weight"), zero, length)
    kinds = constant("kind", loaded.tensors["embeddings.token_type_embeddings.weight"][:1].astype(np.float32))
    x = norm(node("Add", words, node("Add", places, kinds)), "embeddings.LayerNorm")
    for layer in range(config.num_hidden_layers):
        front = f"encoder.layer.{layer}"
        q, v = (
            split(dense(x, f"{front}.attention.self.{part}"), {"perm": [0, 2, 1, 3]}) for part in ("query", "value")
        )
        k = split(dense(x, f"{front}.attention.self.key"), {"perm": [0, 2, 3, 1]})
        scale = constant("scale", np.float32((d // heads) ** -0.5))
        scores = node("Softmax", node("Mul", node("MatMul", q, k), scale), axis=-1)
        mixed = node("Transpose", node("MatMul", scores, v), perm=[0, 2, 1, 3])
        mixed = node("Reshape", mixed, constant("joined", np.array([0, 0, d])))
        attended = node("Add", dense(mixed, f"{front}.attention.output.dense"), x)
        x = norm(attended, f"{front}.attention.output.LayerNorm")
        wide = node("Gelu", dense(x, f"{front}.intermediate.dense"))
        x = norm(node("Add", dense(wide, f"{front}.output.dense"), x), f"{front}.output.LayerNorm")
    first = node("Gather", x, constant("first", np.int64(0)), axis=1)
    graph = helper.make_graph(
        nodes,
        "bert",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n", "L"])],
        [helper.make_tensor_value_info(first, TensorProto.FLOAT, ["n", d])],
        [numpy_helper.from_array(array, name) for name, array in stored.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.checker.check_model(made)
    return made
