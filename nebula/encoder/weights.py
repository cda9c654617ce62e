"""An encoder's folder, read and checked: config.json, vocab.txt, and the weights as a memory map.

Any BERT-family folder of that layout is taken (tensor names as in the original checkpoints, with or without a
`bert.` in front). Nothing is computed here; a folder that can't work is refused with the file and the reason,
before any weight is looked at.
"""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

import orjson

from nebula import reasons
from nebula.errors import ModelMissing, ModelUnusable
from nebula.mindlib import tensors
from nebula.quick import dataclass
from nebula.reasons import because

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

#: Sizes above these are no BERT encoder but a mistake, and would be allocated.
LIMITS = {
    "vocab_size": 2_000_000, "hidden_size": 16_384, "num_hidden_layers": 200, "num_attention_heads": 512,
    "intermediate_size": 131_072, "max_position_embeddings": 65_536, "type_vocab_size": 64,
}  # fmt: skip
#: Tokens of a piece, [CLS] and [SEP] among them, below which none can be cut.
SHORTEST = 4
CONFIG_LIMIT = 1 << 20
VOCABULARY_LIMIT = 1 << 26
#: Samples of the weights that go into the fingerprint: enough to tell two trainings of one layout apart.
SAMPLES, SAMPLE_BYTES = 32, 64


@dataclass(frozen=True)
class Config:
    """What config.json says, checked: sizes count floats, tokens, layers; `pooling` is cls or mean."""

    name: str
    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int
    layer_norm_eps: float
    pooling: str


@dataclass(frozen=True)
class Weights:
    """A checked folder: config, words in id order, tensors by BERT's names, and a fingerprint of it all."""

    path: Path
    config: Config
    words: list[str]
    tensors: dict[str, np.ndarray[Any, Any]]
    fingerprint: str


def load(folder: Path) -> Weights:
    """Read and check the folder; the weights stay on the disk. Raises ModelMissing and ModelUnusable."""
    found = paths(folder)
    digest = hashlib.blake2b(digest_size=10)
    config_bytes = read(found[0], CONFIG_LIMIT)
    config = _config(found[0], config_bytes)
    vocabulary_bytes = read(found[1], VOCABULARY_LIMIT)
    words = _words(found[1], vocabulary_bytes, config)
    arrays = _tensors(found[2], config)
    for part in (config_bytes, vocabulary_bytes, _samples(found[2])):
        digest.update(len(part).to_bytes(8, "little") + part)
    return Weights(found[2], config, words, arrays, digest.hexdigest())


def paths(folder: Path) -> tuple[Path, Path, Path]:
    """config.json, vocab.txt and the one safetensors file."""
    model = folder / "model.safetensors"
    if not folder.is_dir() or not (folder / "config.json").is_file():
        raise ModelMissing(folder)
    if not model.is_file():
        others = sorted(path for path in folder.glob("*.safetensors") if path.is_file())  # a pipe would be waited for
        if len(others) != 1:
            raise (
                ModelMissing(folder) if not others else ModelUnusable(folder, because("several", what="*.safetensors"))
            )
        model = others[0]
    if not (folder / "vocab.txt").is_file():
        raise ModelMissing(folder)
    return folder / "config.json", folder / "vocab.txt", model


def read(path: Path, limit: int) -> bytes:
    """A small file's bytes. Raises ModelUnusable where it can't be read or is larger than `limit`."""
    try:
        with path.open("rb") as file:
            found = file.read(limit + 1)
    except OSError as error:
        raise ModelUnusable(path, reasons.of(error)) from error
    if len(found) > limit:
        raise ModelUnusable(path, because("larger", limit=limit))
    return found


def _config(path: Path, text: bytes) -> Config:
    """Check every value that the encoder leans on."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ModelUnusable(path, reasons.of(error)) from error
    if not isinstance(found, dict):
        raise ModelUnusable(path, because("no_object"))
    sizes = {key: _size(path, found, key) for key in LIMITS}
    if sizes["hidden_size"] % sizes["num_attention_heads"]:
        raise _odd(path, "hidden_size", sizes["hidden_size"], f"n × {sizes['num_attention_heads']}")
    if sizes["max_position_embeddings"] < SHORTEST:
        raise _odd(path, "max_position_embeddings", sizes["max_position_embeddings"], f"{SHORTEST}…")
    if found.get("hidden_act", "gelu") != "gelu":
        raise _odd(path, "hidden_act", found["hidden_act"], "gelu")
    eps = found.get("layer_norm_eps", 1e-12)
    if isinstance(eps, bool) or not isinstance(eps, (int, float)) or not math.isfinite(eps) or not 0 < eps < 1:
        raise _odd(path, "layer_norm_eps", eps, "0 < … < 1")
    return Config(name=_name(path, found), layer_norm_eps=float(eps), pooling=_pooling(path, found), **sizes)


def _odd(path: Path, key: str, value: object, expected: object) -> ModelUnusable:
    return ModelUnusable(path, reasons.odd(key, value, expected))


def _size(path: Path, found: dict[str, Any], key: str) -> int:
    """A whole number within its limits."""
    value = found.get(key, 2 if key == "type_vocab_size" else None)
    if type(value) is not int or not 1 <= value <= LIMITS[key]:
        raise _odd(path, key, value, f"1…{LIMITS[key]}")
    return value


def _name(path: Path, found: dict[str, Any]) -> str:
    """The model's own name without its owner, else the folder's."""
    for key in ("model", "_name_or_path"):
        value = found.get(key)
        if isinstance(value, str) and value.rstrip("/\\"):
            return value.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1][:80]
    return path.resolve().parent.name


def _pooling(path: Path, found: dict[str, Any]) -> str:
    """How token states become one vector, by config.json's or sentence-transformers' word.

    Guessing would rank a little worse for ever without anybody noticing, so a folder without that word is
    refused.
    """
    value = found.get("pooling")
    beside = path.parent / "1_Pooling" / "config.json"
    if value is None and beside.is_file():
        value = _pooling_beside(beside)
    if not isinstance(value, str) or value not in {"cls", "mean"}:
        raise _odd(path, "pooling", value, "cls | mean")
    return str(value)


def _pooling_beside(path: Path) -> str | None:
    """The one pooling mode that sentence-transformers' file switches on."""
    try:
        found = orjson.loads(read(path, CONFIG_LIMIT))
    except orjson.JSONDecodeError as error:
        raise ModelUnusable(path, reasons.of(error)) from error
    modes = [k for k, on in found.items() if k.startswith("pooling_mode_") and on] if isinstance(found, dict) else []
    return {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}.get("".join(modes))


def _words(path: Path, text: bytes, config: Config) -> list[str]:
    """The vocabulary in id order. Lines end in a line feed alone: other line separators are words of it."""
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelUnusable(path, reasons.of(error)) from error
    if decoded.find("\r\n", 0, 1000) >= 0:  # a checkout that turned every "\n" into "\r\n"
        decoded = decoded.replace("\r\n", "\n")
    words = decoded.removesuffix("\n").split("\n")
    if len(words) != config.vocab_size:
        raise _odd(path, "vocab_size", config.vocab_size, len(words))
    for word in ("[UNK]", "[CLS]", "[SEP]"):
        if word not in words:
            raise ModelUnusable(path, because("lacks", what=word))
    return words


def _tensors(path: Path, config: Config) -> dict[str, np.ndarray[Any, Any]]:
    """The tensors that the encoder needs, each of the expected shape and of a floating format."""
    try:
        found, _ = tensors.read(path)
    except tensors.DamagedTensors as error:
        raise ModelUnusable(path, because("tensors", part=error)) from error
    except OSError as error:
        raise ModelUnusable(path, reasons.of(error)) from error
    front = "" if "embeddings.word_embeddings.weight" in found else "bert."
    needed: dict[str, np.ndarray[Any, Any]] = {}
    for name, shape in shapes(config).items():
        array = found.get(front + name)
        if array is None:
            raise ModelUnusable(path, because("lacks", what=name))
        if array.shape != shape:
            raise _odd(path, name, list(array.shape), list(shape))
        if array.dtype.kind != "f":
            raise _odd(path, name, array.dtype, "float")
        needed[name] = array
    return needed


def shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Every tensor that a BERT encoder of these sizes has, by name; matrices are [out, in]."""
    d, wide = config.hidden_size, config.intermediate_size
    found: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (config.vocab_size, d),
        "embeddings.position_embeddings.weight": (config.max_position_embeddings, d),
        "embeddings.token_type_embeddings.weight": (config.type_vocab_size, d),
    }
    square = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
    dense = dict.fromkeys(square, (d, d)) | {"intermediate.dense": (wide, d), "output.dense": (d, wide)}
    norms = ["embeddings.LayerNorm"]
    for layer in range(config.num_hidden_layers):
        front = f"encoder.layer.{layer}."
        norms += [f"{front}attention.output.LayerNorm", f"{front}output.LayerNorm"]
        for name, shape in dense.items():
            found[f"{front}{name}.weight"] = shape
            found[f"{front}{name}.bias"] = shape[:1]
    return found | {f"{name}.{part}": (d,) for name in norms for part in ("weight", "bias")}


def _samples(path: Path) -> bytes:
    """The weights' length, header and some evenly spaced bytes: cheap, and different for another training."""
    with path.open("rb") as file:
        prefix = file.read(8)
        header = file.read(int.from_bytes(prefix, "little"))
        size = path.stat().st_size
        found = [size.to_bytes(8, "little"), header]
        for sample in range(SAMPLES):
            file.seek(8 + len(header) + (size - 8 - len(header)) * sample // SAMPLES)
            found.append(file.read(SAMPLE_BYTES))
    return b"".join(found)
