"""What the quality tables are made from: the sets' minds, filled once, an encoder that keeps what it made, features."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula import clock, recalling
from nebula.bench import metrics
from nebula.bench import recall as bench
from nebula.encoder import Encoded, open_encoder
from nebula.index import sessions
from nebula.index.hashing import h64
from nebula.recall import dense, lexical
from nebula.recall.hit import Filters
from nebula.recall.mapped import MappedSearch, hashed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from nebula.bench.recall import Query
    from nebula.encoder import Encoder
    from nebula.mind import Mind

    Array = np.ndarray[Any, Any]

DISCOUNTS = 1.0 / np.log2(np.arange(2, 12))


class KeptEncoder:
    """An encoder that makes a text's vectors once, and from run to run where it has a folder to keep them in."""

    def __init__(self, encoder: Encoder, folder: Path | None) -> None:
        self._encoder = encoder
        self._path = folder / f"{h64(encoder.key):016x}.npz" if folder else None
        self._made: dict[int, Array] = {}
        self._fresh = False
        if self._path and self._path.exists():
            kept = np.load(self._path)
            pieces = np.split(kept["vectors"], np.cumsum(kept["counts"])[:-1])
            self._made = dict(zip(kept["hashes"].tolist(), pieces, strict=True))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)

    def encode(self, texts: Sequence[str], progress: Any = None) -> Encoded:
        hashes = [h64(text) for text in texts]
        new = {one: text for one, text in zip(hashes, texts, strict=True) if one not in self._made}
        if new:
            encoded = self._encoder.encode(list(new.values()), progress)
            for at, one in enumerate(new):
                self._made[one] = encoded.vectors[encoded.owner == at]
            self._fresh = True
        found = [self._made[one] for one in hashes] or [np.zeros((0, self._encoder.dimensions), np.float32)]
        return Encoded(
            np.concatenate(found), np.repeat(np.arange(len(texts)), [len(one) for one in found][: len(texts)])
        )

    def keep(self) -> None:
        """Write what was made, if there is a folder."""
        if self._path and self._fresh:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._fresh = False
            counts = [len(one) for one in self._made.values()]
            np.savez(
                self._path,
                vectors=np.concatenate(list(self._made.values())),
                counts=counts,
                hashes=np.array(list(self._made), np.uint64),
            )


class Instructed:
    """An encoder whose texts get the model's own query instruction in front; for queries alone."""

    INSTRUCTION = "为这个句子生成表示以用于检索相关文章："

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)

    def encode(self, texts: Sequence[str], progress: Any = None) -> Encoded:
        return self._encoder.encode([self.INSTRUCTION + text for text in texts], progress)  # type: ignore[no-any-return]


def encoders(folder: Path | None) -> dict[bool, KeptEncoder]:
    """The bundled encoder, by whether it lower-cases."""
    return {lowercase: KeptEncoder(open_encoder(lowercase=lowercase), folder) for lowercase in (True, False)}


class Set:
    """One set: a mind a subject, filled once, and its queries."""

    def __init__(self, found: bench.BenchSet, name: str, place: Path, encoders: Mapping[bool, KeptEncoder]) -> None:
        self.name = name
        self.found = found
        self._encoders = encoders
        self._minds: dict[str, Any] = {}
        for number, subject in enumerate(dict.fromkeys(query.subject for query in found.queries)):
            mind = bench._Throwaway(place / f"{name}-{number}", {}, clock.now)
            mind._mind._encoder = encoders[True]  # type: ignore[assignment]
            mind.fill(found.memories.get(subject, ()))
            self._minds[subject] = mind

    def ranked(
        self, overrides: Mapping[str, object], *, instructed: bool = False, asked: Mapping[str, str] | None = None
    ) -> list[dict[str, list[str]]]:
        """Of every query the ids by route and fused, 20 each, under settings; `asked`: other words for a query."""
        found = []
        for subject, mind in self._minds.items():
            under = mind._mind.under({"recall.floor": 0.0, **overrides})
            encoder = self._encoders[under.settings.recall.lowercase]
            under._encoder = Instructed(encoder) if instructed else encoder
            for query in self.of(subject):
                mind._at = query.at
                under.now = mind._now
                text = (asked or {}).get(query.qid, query.text)
                got = recalling.seek(under, recalling.Ask(text, bench.DEPTH, nearest=True))
                refs = {**got.refs, bench.FUSED: [hit.memory.ref for hit in got.hits]}
                found.append({route: [mind._ids[ref] for ref in ids[: bench.DEPTH]] for route, ids in refs.items()})
        return found

    def ndcg(self, overrides: Mapping[str, object], **more: Any) -> list[float]:
        """nDCG@10 of every query."""
        return self.score([one[bench.FUSED] for one in self.ranked(overrides, **more)])

    def score(self, rankings: Sequence[Sequence[str]]) -> list[float]:
        """nDCG@10 of rankings in the order of `queries`."""
        return [metrics.ndcg(ids, query.gold, 10) for ids, query in zip(rankings, self.queries, strict=True)]

    @property
    def queries(self) -> list[Query]:
        """All, subject by subject."""
        return [query for subject in self._minds for query in self.of(subject)]

    def of(self, subject: str) -> list[Query]:
        """A subject's."""
        return [query for query in self.found.queries if query.subject == subject]

    def subjects(self) -> Iterator[tuple[str, Mind, Any]]:
        """(subject, its mind, the mind with its ids)."""
        for subject, mind in self._minds.items():
            yield subject, mind._mind, mind


class Features:
    """What the mixture is made of, for one query, over all rows of its mind; `kept` holds what its rows share."""

    def __init__(self, mind: Mind, holder: Any, query: Query, pairs: Sequence[tuple[float, float]], kept: Any) -> None:
        holder._at = query.at
        search, probe, _ = recalling.search_in(mind, query.text, Filters(), None)
        assert isinstance(search, MappedSearch)
        assert probe is not None
        question = recalling.question_of(mind, query.text, probe, 10, None)
        index = search.index
        terms, whole = hashed(question.asked)
        every = np.arange(index.table.n)
        if "w" not in kept:
            kept["beside"] = [sessions.beside(index.table, every, step) for step in (-1, 1)]
            kept["w"] = np.array(index.table.values("w", every))
            kept["order"] = np.array(index.table.order_of(every))
            kept["ids"] = np.array([holder._ids[index.ref(row)] for row in range(index.table.n)])
        self.kept = kept
        self.shares = {pair: np.array(lexical.shares(terms, index, *pair, whole)) for pair in pairs}
        self.whole, self.best = (dense.scores(probe, index, every, share) for share in (0.0, 1.0))
        search.time(question.windows, 1)
        self.inside = np.array(search._inside(every))
        self.spoken = np.array(search.spoken(sorted(question.names), every.tolist()) if question.names else 0.0)
        self.fresh = np.array([search.facts(row).a for row in every.tolist()])
        self.gold = np.isin(kept["ids"], list(query.gold))
        self._ideal = sum(1.0 / math.log2(rank + 1) for rank in range(1, min(10, len(query.gold)) + 1))

    def words(self, pair: tuple[float, float], lent: tuple[float, float]) -> Array:
        """The lexical score, neighbours' parts in it."""
        share = self.shares[pair]
        found = share.astype(np.float64)
        for part, beside in zip(lent, self.kept["beside"], strict=True):
            found = found + part * np.where(beside >= 0, share[beside], 0.0)
        return found

    def ndcg(self, score: Array) -> float:
        """nDCG@10 of the order that a score of every row gives."""
        top = np.argpartition(-score, 9)[:10] if len(score) > 10 else np.arange(len(score))
        top = top[np.lexsort((self.kept["order"][top], -score[top]))]
        return float((self.gold[top] * DISCOUNTS[: len(top)]).sum() / self._ideal)
