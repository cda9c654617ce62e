"""Vectors that hosts lend each other: a text is embedded once for all, and what is no vector is not believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nebula.address import Address
from nebula.mind import Mind
from nebula.places import cache_of
from nebula.stores import compare, copy
from tests.invented import Drawn, DrawnEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.postgres.conftest import Server

TEXTS = ["渡轮早上六点开", "艾琳娜怕水", "码头结冰了", "一篇很长的。" * 200]


class Counting(DrawnEncoder):
    """Counts the texts that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> Drawn:
        """A long text has two pieces."""
        self.texts += texts
        pieces = [(at, piece) for at, text in enumerate(texts) for piece in {text[:600], text[600:]} if piece]
        whole = super().encode([piece for _, piece in sorted(pieces)])
        return Drawn(whole.vectors, np.array(sorted(at for at, _ in pieces)))


@pytest.fixture
def host(uri: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Gives the mind as a further host has it: with a cache of its own."""
    made: list[Mind] = []

    def another(place: object = None) -> Mind:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"host{len(made)}"))
        mind = Mind(place or Address(uri))  # type: ignore[arg-type]
        mind._encoder = Counting()  # type: ignore[assignment]
        made.append(mind)
        return mind

    return another


def embedded(mind: Mind) -> list[str]:
    """The mind's texts that it embedded; the questions that its silence is measured by are asked on every host."""
    encoder: Any = mind._encoder
    return [text for text in encoder.texts if text in {*TEXTS, "新的一条"}]


def test_a_text_is_embedded_once_for_all_hosts(host: Any) -> None:
    first = host()
    first.add_many({"text": text} for text in TEXTS)
    assert embedded(first) == TEXTS
    second = host()
    second.build()
    assert embedded(second) == []
    mine, theirs = (mind.recall("渡轮", nearest=True, touch=False).hits for mind in (first, second))
    assert [hit.memory.ref for hit in mine] == [hit.memory.ref for hit in theirs]
    assert [hit.score for hit in mine] == pytest.approx([hit.score for hit in theirs], abs=1e-6)
    second.add("新的一条")
    first.build()
    assert embedded(first) == TEXTS


def test_what_is_no_vector_is_made_again(server: Server, host: Any, uri: str) -> None:
    """Of other dimensions, of another length than 1, no number, empty."""
    first = host()
    first.add_many({"text": text} for text in TEXTS)
    database = uri.rpartition("/")[2]
    wide = first.encoder().dimensions
    rows = server.do("SELECT hash FROM nebula.vector ORDER BY hash", database)
    bad = [np.ones(wide - 1), np.ones(wide), np.full(wide, np.nan), np.zeros(0)]
    for (key,), body in zip(rows, bad, strict=True):
        raw = body.astype("<f4").tobytes().hex()
        server.do(f"UPDATE nebula.vector SET pieces = '\\x{raw}' WHERE hash = {key}", database)
    second = host()
    second.build()
    assert sorted(embedded(second)) == sorted(TEXTS)
    mine, theirs = (mind.recall("渡轮", nearest=True, touch=False).hits for mind in (second, first))
    assert [hit.score for hit in mine] == pytest.approx([hit.score for hit in theirs], abs=1e-6)


def test_who_may_only_read_embeds_for_itself(server: Server, host: Any, uri: str) -> None:
    host().add_many({"text": text} for text in TEXTS[:2])
    database = uri.rpartition("/")[2]
    server.do("REVOKE INSERT ON nebula.vector FROM agent; DELETE FROM nebula.vector", database)
    second = host()
    second.build()
    assert embedded(second) == TEXTS[:2]
    assert server.do("SELECT count(*) FROM nebula.vector", database) == [(0,)]


def test_a_copied_mind_brings_its_vectors_for_all(host: Any, tmp_path: Path, uri: str) -> None:
    """Those of texts that are there, each once, long texts in their pieces; twice is once."""
    here = host(tmp_path / "mind")
    here.add_many({"text": text} for text in [*TEXTS, TEXTS[0]])
    here.add(TEXTS[0])  # in a segment of its own
    assert host().store.share(here.encoder().key, here.store.local / ".index") == len(TEXTS)
    there = host()
    copy(here, there)
    assert there.store.share(there.encoder().key, here.store.local / ".index") == 0
    third = host()
    third.build()
    assert embedded(third) == []
    assert compare(here, third, 5).same == 5
    assert cache_of(Address(uri)) == third.store.local


def test_a_copy_cut_short_before_its_vectors_brings_them_when_it_goes_on(
    host: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = host(tmp_path / "mind"), host()
    here.add_many({"text": text} for text in TEXTS)

    def cut(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Mind, "adopt_vectors", cut)
        with pytest.raises(KeyboardInterrupt):
            copy(here, there)
    assert copy(here, there).vectors
    there.build()
    assert embedded(there) == []
    assert copy(here, there).vectors == 0
