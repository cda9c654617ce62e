"""Who turns a subject's text into vectors: the bundled encoder or an endpoint; never one for the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula.encoder import BUNDLED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from nebula.encoder import Encoder
    from nebula.encoder.remote import RemoteEncoder
    from nebula.settings import Settings
    from nebula.subject.index import Embedder

DIMENSIONS = 512


class Builtin:
    """The bundled encoder, opened when the first text comes."""

    name = ("builtin", BUNDLED, DIMENSIONS)

    def __init__(self) -> None:
        self._encoder: Encoder | None = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A text of several pieces gets their mean, norm 1. Raises NumpyMissing, ModelMissing, ModelUnusable."""
        import numpy as np

        from nebula.encoder import open_encoder

        if self._encoder is None:
            self._encoder = open_encoder()
        encoded = self._encoder.encode(texts)
        found = np.zeros((len(texts), DIMENSIONS), np.float32)
        np.add.at(found, encoded.owner, encoded.vectors)
        length = np.linalg.norm(found, axis=1, keepdims=True)
        unit: NDArray[np.float32] = found / np.maximum(length, np.float32(1e-12))
        return unit


class Remote:
    """An OpenAI-compatible endpoint."""

    def __init__(self, encoder: RemoteEncoder) -> None:
        self._encoder = encoder
        self.name = ("openai-compatible", encoder.model, encoder.dimensions)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Raises EmbeddingFailed."""
        return self._encoder.encode(texts)


def embedder(settings: Settings, project: Path, folder: Path, environ: Mapping[str, str]) -> Embedder:
    """The one that the settings name. Raises EmbeddingNotSet where it is switched off or something is missing."""
    from nebula import endpoint

    found = endpoint.resolve(settings.embedding, project, folder, environ)
    if found is None:
        return Builtin()
    from nebula.encoder.remote import RemoteEncoder

    return Remote(RemoteEncoder(found))
