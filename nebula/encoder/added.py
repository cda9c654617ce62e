"""Encoders that a person added: copies of BERT-family folders, each with a record of how its texts are to be read.

`encoder.json` beside the copy is written last, so that a copy without one is none. It holds what the folder's own
files say about case, length and instructions, and each file's SHA-256.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from nebula import places, reasons
from nebula.encoder import open_encoder, weights
from nebula.errors import EncoderUnusable, ModelMissing, ModelUnusable
from nebula.mindlib import files
from nebula.quick import dataclass
from nebula.reasons import because

if TYPE_CHECKING:
    from nebula.encoder import Encoder

RECORD = "encoder.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
#: Modules of sentence-transformers that leave nothing undone here: every vector is brought to norm 1 anyway.
_MODULES = {"Transformer", "Pooling", "Normalize"}


@dataclass(frozen=True)
class Added:
    """An added encoder. `query` and `passage`: what is put before a query and before a memory, often nothing.

    `longest`: tokens of a piece. `key`: the encoder's and what else makes a memory's vectors its own.
    """

    name: str
    model: str
    dimensions: int
    lowercase: bool
    longest: int
    query: str
    passage: str
    key: str
    sha256: dict[str, str]

    @property
    def folder(self) -> Path:
        """Where the copy lies."""
        return places.encoders() / self.name

    def open(self) -> Encoder:
        """The encoder. Raises ModelMissing, ModelUnusable, NumpyMissing."""
        return open_encoder(self.folder, lowercase=self.lowercase, longest=self.longest)

    def wrong(self) -> list[str]:
        """Files that are gone or whose SHA-256 is another than when they were copied."""
        return [name for name, digest in self.sha256.items() if files.sha256(self.folder / name) != digest]


def add(source: Path, query: str | None = None) -> Added:
    """Check a folder and copy what is needed of it; again is once. `query`: an instruction instead of the folder's.

    Raises EncoderUnusable with the file and the reason, NumpyMissing, WriteFailed.
    """
    try:
        return _add(source, query)
    except ModelMissing as error:
        raise EncoderUnusable(source, because("lacks", what="config.json / vocab.txt / *.safetensors")) from error
    except ModelUnusable as error:
        raise EncoderUnusable(Path(str(error.facts["path"])), str(error.facts["reason"])) from error


def _add(source: Path, query: str | None) -> Added:
    config = _json(source / "config.json")
    kind = config.get("model_type", "bert")
    if kind != "bert":
        raise ModelUnusable(
            source / "config.json", because("value", key="model_type", value=str(kind)[:40], expected="bert")
        )
    positions = config.get("position_embedding_type", "absolute")
    if positions != "absolute":
        raise ModelUnusable(
            source / "config.json",
            reasons.odd("position_embedding_type", positions, "absolute"),
        )
    for module in _modules(source):
        if module not in _MODULES:
            raise ModelUnusable(source / "modules.json", reasons.odd("type", module, " | ".join(sorted(_MODULES))))
    tokenizer, sentence = _json(source / "tokenizer_config.json"), _json(source / "sentence_bert_config.json")
    lowercase = bool(tokenizer.get("do_lower_case", True) or sentence.get("do_lower_case"))
    if tokenizer.get("strip_accents") not in {None, lowercase}:
        raise ModelUnusable(
            source / "tokenizer_config.json",
            reasons.odd("strip_accents", tokenizer["strip_accents"], lowercase),
        )
    lengths = [config.get("max_position_embeddings"), sentence.get("max_seq_length"), tokenizer.get("model_max_length")]
    longest = min((n for n in lengths if type(n) is int and n >= weights.SHORTEST), default=512)
    opened = open_encoder(source, lowercase=lowercase, longest=longest)
    opened.encode(["a"])  # weights that are not finite are refused now
    said = _json(source / "config_sentence_transformers.json").get("prompts")
    prompts = said if isinstance(said, dict) else {}
    passage = _first(prompts, "passage", "document")
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", opened.model).strip("-._")[:60] or "encoder"
    name = f"{stem}-{opened.key.split('/')[3][:8]}"
    found = Added(
        name,
        opened.model,
        opened.dimensions,
        lowercase,
        longest,
        _first(prompts, "query") if query is None else query,
        passage,
        "/".join([opened.key, hashlib.sha256(passage.encode()).hexdigest()[:8]]) if passage else opened.key,
        _copied(source, places.encoders() / name),
    )
    files.replace(found.folder / RECORD, orjson.dumps(asdict(found), option=orjson.OPT_INDENT_2))
    return found


def _copied(source: Path, target: Path) -> dict[str, str]:
    """Copy the files that the encoder reads; their SHA-256 by name."""
    config, vocabulary, model = weights.paths(source)
    wanted = {"config.json": config, "vocab.txt": vocabulary, "model.safetensors": model}
    pooling = source / "1_Pooling" / "config.json"
    if pooling.is_file():
        wanted["1_Pooling/config.json"] = pooling
    digests = {}
    for folder in (places.encoders().parent, places.encoders(), target, target / "1_Pooling"):
        files.make_folder(folder)
    for name, path in wanted.items():
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ModelUnusable(path, reasons.of(error)) from error
        digests[name] = hashlib.sha256(data).hexdigest()
        if files.sha256(target / name) != digests[name]:
            files.replace(target / name, data)
    return digests


def get(name: str) -> Added:
    """The added encoder of a name. Raises EncoderUnusable."""
    path = places.encoders() / name / RECORD
    if not _NAME.fullmatch(name) or not path.is_file():
        raise EncoderUnusable(places.encoders() / name, because("no_encoder"))
    try:
        return Added(**{**_json(path), "name": name})
    except (TypeError, ModelUnusable) as error:
        raise EncoderUnusable(path, because("no_record")) from error


def names() -> list[str]:
    """The names of all added encoders."""
    folder = places.encoders()
    return sorted(path.parent.name for path in folder.glob(f"*/{RECORD}")) if folder.is_dir() else []


def remove(name: str) -> None:
    """Delete a copy. Raises EncoderUnusable."""
    import shutil

    folder = places.encoders() / name
    if name not in names():
        raise EncoderUnusable(folder, because("no_encoder"))
    (folder / RECORD).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _first(prompts: dict[str, Any], *keys: str) -> str:
    return next((prompts[key] for key in keys if isinstance(prompts.get(key), str)), "")


def _modules(source: Path) -> list[str]:
    """The last names of sentence-transformers' modules, in their order; none where there is no such list."""
    listed = _parsed(source / "modules.json") if (source / "modules.json").is_file() else []
    found = listed if isinstance(listed, list) else []
    return [str(one.get("type", "")).rsplit(".", 1)[-1] for one in found if isinstance(one, dict)]


def _json(path: Path) -> dict[str, Any]:
    """A small JSON object; {} where the file is absent. Raises ModelUnusable."""
    found = _parsed(path) if path.is_file() else {}
    if not isinstance(found, dict):
        raise ModelUnusable(path, because("no_object"))
    return found


def _parsed(path: Path) -> Any:
    try:
        return orjson.loads(weights.read(path, weights.CONFIG_LIMIT))
    except orjson.JSONDecodeError as error:
        raise ModelUnusable(path, reasons.of(error)) from error
