"""Invented minds of any size: words fall as in jieba's dictionary, vectors are real or drawn.

A text is 8 to 30 words. Two in three come from the whole dictionary by its own frequencies; the others from one of
2,000 topics of 40 words, so that memories share keywords as people's do. One in three has one of 40 tags; times fall
evenly over three years.

Drawn vectors have 512 dimensions: 0.55 of a common direction, 0.55 of one of 2,000 centres, the rest noise of its own;
so cosines are about .30 across centres and .60 within one, as the encoder's are.
"""

from __future__ import annotations

import json
import zlib
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nebula.mind import Mind

Array = np.ndarray[Any, Any]

NOW = datetime(2026, 6, 1, 12)
DAYS = 1095
TOPICS, TOPIC_WORDS, TAGS = 2000, 40, 40
DIMENSIONS = 512
#: From this size on vectors are drawn.
DRAWN_FROM = 100_000
#: Above this size a mind is the largest built one repeated (see `repeated`).
BUILT_UP_TO = 100_000
QUERIES = ("谁在图书馆一起看书", "去年夏天在海边吃的那家面馆", "妈妈的生日要准备什么礼物", "工作上的会议改到几点了")


def dictionary() -> tuple[list[str], Array]:
    """jieba's words of Han characters, and the probability of each."""
    import jieba

    words, counts = [], []
    with (Path(jieba.__file__).parent / "dict.txt").open(encoding="utf-8") as lines:
        for line in lines:
            word, count, _ = line.split(" ")
            if all("\u4e00" <= character <= "\u9fff" for character in word):
                words.append(word)
                counts.append(int(count))
    weight = np.array(counts, np.float64)
    return words, weight / weight.sum()


def texts(count: int, seed: int = 7) -> Iterator[str]:
    """Texts as the module says, one after another; the same for the same seed."""
    words, weight = dictionary()
    draw = np.random.default_rng(seed)
    topics = draw.integers(0, len(words), (TOPICS, TOPIC_WORDS))
    for start in range(0, count, 10_000):
        some = min(10_000, count - start)
        lengths = draw.integers(8, 31, some)
        general = iter(draw.choice(len(words), int(lengths.sum()), p=weight).tolist())
        for topic, length in zip(draw.integers(0, TOPICS, some), lengths.tolist(), strict=True):
            own = draw.integers(0, TOPIC_WORDS, length).tolist()
            from_topic = (draw.random(length) < 1 / 3).tolist()
            chosen = [topics[topic, o] if t else next(general) for t, o in zip(from_topic, own, strict=True)]
            parts = [words[at] + ("，" if place % 8 == 7 else "") for place, at in enumerate(chosen)]
            yield "".join(parts).rstrip("，") + "。"


def notes(count: int, seed: int = 7) -> Iterator[dict[str, Any]]:
    """Records with `text`, `at` and perhaps `tag`, by time."""
    draw = np.random.default_rng(seed + 1)
    when = np.sort(draw.uniform(0, DAYS * 86_400, count))
    tag = draw.integers(0, 3 * TAGS, count)
    for text, second, number in zip(texts(count, seed), when.tolist(), tag.tolist(), strict=True):
        at = (NOW - timedelta(days=DAYS) + timedelta(seconds=int(second))).strftime("%Y-%m-%dT%H:%M:%S")
        yield {"text": text, "at": at, **({"tag": f"标签{number}"} if number < TAGS else {})}


class Drawn:
    """What an encoder gives, drawn; bears the real encoder's key, so that its queries may be asked."""

    def __init__(self, key: str) -> None:
        self.key = self.model = key
        self.dimensions = DIMENSIONS
        draw = np.random.default_rng(3)
        self._common = _unit(draw.normal(size=(1, DIMENSIONS)))
        self._centres = _unit(draw.normal(size=(TOPICS, DIMENSIONS)))
        self._draw = draw

    def encode(self, texts: Sequence[str]) -> Any:
        """One vector a text; its centre follows from the text."""
        from tests.invented import Drawn as Encoded

        centre = self._centres[[zlib.crc32(text.encode()) % TOPICS for text in texts]]
        noise = _unit(self._draw.normal(size=(len(texts), DIMENSIONS)))
        vectors = 0.55 * self._common + 0.55 * centre + 0.63 * noise
        return Encoded(_unit(vectors).astype(np.float32), np.arange(len(texts)))


def _unit(vectors: Array) -> Array:
    found: Array = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return found


def ledger(folder: Path, count: int) -> None:
    """Write the notes of a mind, without any index."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "notes.jsonl").open("w", encoding="utf-8") as file:
        for number, note in enumerate(notes(count), start=1):
            record = {"id": number, **note, "uid": f"{number:016x}", "via": "self"}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def drawing(folder: Path) -> Mind:
    """The mind of a folder, its vectors drawn."""
    from nebula.encoder import open_encoder
    from nebula.mind import Mind

    mind = Mind(folder, now=lambda: NOW)
    mind._encoder = Drawn(open_encoder().key)  # type: ignore[assignment]
    return mind


def mind(folder: Path, count: int) -> Path:
    """The folder of a mind of that size, made if it is not there."""
    from nebula.mind import Mind

    at = folder / f"mind-{count}"
    if not list(at.glob(".index/*/manifest.json")) and count > BUILT_UP_TO:
        from tests.bench.parts import repeated

        repeated.make(mind(folder, BUILT_UP_TO), at, count // BUILT_UP_TO, Drawn)
    elif not list(at.glob(".index/*/manifest.json")):
        ledger(at, count)
        (drawing(at) if count >= DRAWN_FROM else Mind(at, now=lambda: NOW)).build()
    return at
