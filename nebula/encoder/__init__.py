"""Text -> vectors, by a BERT-family encoder that runs here, in numpy: no network, no further runtime.

`open_encoder` gives the bundled one, or any folder's. Importing this package does not import numpy. An
endpoint's vectors are another kind behind other names and never stand in for these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nebula import places
from nebula.encoder import pieces as _pieces
from nebula.encoder.wordpiece import WordPiece, fold_width
from nebula.errors import NumpyMissing
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import numpy as np

    from nebula.encoder.bert import Bert
    from nebula.encoder.weights import Weights

__all__ = ["Encoded", "Encoder", "bundled_folder", "open_encoder"]

BUNDLED = "bge-small-zh-v1.5"
#: Tokens worked on at once: enough for full matrix products, little enough for small memory (about 30 kB
#: each).
BATCH_TOKENS = 1024
#: Tokens gathered before they are sorted by length, so that a batch's sequences are alike.
WINDOW_TOKENS = 16_384


@dataclass(frozen=True)
class Encoded:
    """Vectors of all texts' pieces, in the texts' order: `vectors` f32 [p, d], norm 1, `owner` i32 [p]."""

    vectors: np.ndarray[Any, Any]
    owner: np.ndarray[Any, Any]


class Encoder:
    """A loaded vocabulary and weights, with the layers used so far.

    `model` is the weights' name, `dimensions` the vectors' size. `key` also names tokenizer mode, piece rule
    and the weights' fingerprint: vectors of different keys must never be compared.
    """

    def __init__(self, weights: Weights, bert: Bert, *, lowercase: bool, longest: int | None = None) -> None:
        self.model = weights.config.name
        self.dimensions = weights.config.hidden_size
        mode = "lower" if lowercase else "cased"
        self.key = f"{self.model}/{mode}/{_pieces.RULE}/{weights.fingerprint}"
        self._longest = weights.config.max_position_embeddings
        if longest is not None and longest < self._longest:
            self._longest = longest
            self.key += f"/{longest}"
        self._wordpiece = WordPiece(weights.words, lowercase=lowercase)
        self._bert = bert

    def pieces(self, text: str) -> list[list[int]]:
        """Token ids of the text's pieces, [CLS] and [SEP] included; at least one; every token is in one."""
        folded = fold_width(text) if self._wordpiece.lowercase else text
        return _pieces.pieces(folded, self._wordpiece, self._longest)

    def count(self, text: str) -> int:
        """How many tokens of the vocabulary a text has, [CLS] and [SEP] aside."""
        folded = fold_width(text) if self._wordpiece.lowercase else text
        return len(self._wordpiece.tokens(folded))

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Encoded:
        """Give the vectors of all texts' pieces. `progress` is told how many texts are done so far.

        A text's vectors do not depend on the texts beside it (within 1e-6). Raises ModelUnusable when the
        weights turn out not to be finite.
        """
        import numpy as np

        vectors: list[np.ndarray[Any, Any]] = [np.zeros((0, self.dimensions), np.float32)]
        owner: list[int] = []
        for owners, sequences in self._windows(texts):
            vectors.append(self._encode_window(sequences))
            owner += owners
            if progress is not None:
                progress(owners[-1] + 1)
        return Encoded(np.concatenate(vectors), np.array(owner, np.int32))

    def _windows(self, texts: Sequence[str]) -> Iterator[tuple[list[int], list[list[int]]]]:
        """Whole texts' pieces with their owners, some WINDOW_TOKENS at a time."""
        owners: list[int] = []
        sequences: list[list[int]] = []
        tokens = 0
        for number, text in enumerate(texts):
            for piece in self.pieces(text):
                owners.append(number)
                sequences.append(piece)
                tokens += len(piece)
            if tokens >= WINDOW_TOKENS:
                yield owners, sequences
                owners, sequences, tokens = [], [], 0
        if owners:
            yield owners, sequences

    def _encode_window(self, sequences: list[list[int]]) -> np.ndarray[Any, Any]:
        """Give the pieces' vectors [p, d], worked out by length, in the order given."""
        import numpy as np

        found = np.empty((len(sequences), self.dimensions), np.float32)
        order = sorted(range(len(sequences)), key=lambda at: len(sequences[at]))
        for batch in _batches(order, sequences):
            found[batch] = self._bert.embed([sequences[at] for at in batch])
        return found


def _batches(order: list[int], sequences: list[list[int]]) -> Iterator[list[int]]:
    """Give runs of `order` with at most BATCH_TOKENS tokens (or one sequence)."""
    batch: list[int] = []
    tokens = 0
    for at in order:
        if batch and tokens + len(sequences[at]) > BATCH_TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(at)
        tokens += len(sequences[at])
    if batch:
        yield batch


def bundled_folder() -> Path:
    """Where the bundled weights lie: installed, beside the code; in a checkout, under `assets/`."""
    return places.asset(BUNDLED)


def open_encoder(folder: Path | None = None, *, lowercase: bool = True, longest: int | None = None) -> Encoder:
    """Open the encoder of a folder (config.json, vocab.txt, safetensors), the bundled one without a folder.

    `lowercase` folds case, accents, and full-width letters and digits, which the bundled vocabulary needs.
    `longest`: tokens of a piece at most, where the model was trained for fewer than it has positions.
    Raises NumpyMissing, ModelMissing, and ModelUnusable with the file and the reason.
    """
    try:
        import numpy as np  # noqa: F401 -- asked first, so that no later ImportError is mistaken for it
    except ImportError as error:
        raise NumpyMissing from error
    from nebula.encoder import bert, weights

    loaded = weights.load(bundled_folder() if folder is None else folder)
    return Encoder(loaded, bert.Bert(loaded), lowercase=lowercase, longest=longest)
