"""Convert the ONNX export of bge-small-zh-v1.5 into the files that the encoder loads.

Use: `python assets/convert_bge.py MODEL.onnx TOKENIZER.json FOLDER`. Needs `onnx`, as nothing else does here.
Writes `model.safetensors` (float16, names and [out, in] shapes as in the BERT checkpoint) and `vocab.txt`.
It prints their SHA-256: the same export gives the same bytes everywhere. `README.md` beside this file says
where the export comes from; config.json and LICENSE are kept by hand.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import numpy_helper

if TYPE_CHECKING:
    from collections.abc import Iterator

META = {"format": "pt", "model": "BAAI/bge-small-zh-v1.5", "license": "MIT"}


def parameters(graph: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Collect the float32 parameters of an ONNX graph under their names in the BERT checkpoint.

    The export kept the names of biases, norms and embeddings. A matrix lost its own and lies [in, out]: its
    name is that of the node that multiplies by it, and it is turned back to [out, in].
    """
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    found = {k: v for k, v in stored.items() if not k.startswith("onnx::") and v.dtype == np.float32}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in stored:
            name = node.name.strip("/").removesuffix("/MatMul").replace("/", ".")
            found[f"{name}.weight"] = np.ascontiguousarray(stored[node.input[1]].T)
    return dict(sorted(found.items()))


def safetensors(arrays: dict[str, np.ndarray[Any, Any]]) -> Iterator[bytes]:
    """Lay the arrays out as float16, by name; the header is padded to 8 bytes."""
    header: dict[str, Any] = {}
    offset = 0
    for name, array in arrays.items():
        end = offset + 2 * array.size
        header[name] = {"dtype": "F16", "shape": list(array.shape), "data_offsets": [offset, end]}
        offset = end
    header["__metadata__"] = META
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little") + text
    for array in arrays.values():
        yield array.astype("<f2").tobytes()


def vocabulary(tokenizer: Path) -> str:
    """List the words of a tokenizer.json in id order, a line each; raises ValueError if one is missing."""
    ids: dict[str, int] = json.loads(tokenizer.read_text(encoding="utf-8"))["model"]["vocab"]
    words = sorted(ids, key=ids.__getitem__)
    if [ids[word] for word in words] != list(range(len(words))):
        raise ValueError(f"{tokenizer}: the ids are not 0 to {len(words) - 1}")
    return "\n".join(words) + "\n"


def main() -> None:
    """Read the command line, convert, print checksums."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("model", "tokenizer", "folder"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    files = {
        "model.safetensors": b"".join(safetensors(parameters(onnx.load(given.model).graph))),
        "vocab.txt": vocabulary(given.tokenizer).encode(),
    }
    for name, data in files.items():
        (given.folder / name).write_bytes(data)
        print(hashlib.sha256(data).hexdigest(), "", name)


if __name__ == "__main__":
    main()
