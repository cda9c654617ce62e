"""Memories written per second: durable one by one against a bare append with fsync, and in one batch with its vectors.

One by one they go into an empty mind without the encoder, so that what is measured is the way to the disk and the index
that follows. The batch is of invented texts with the real encoder, against the encoder alone on the same texts.
"""

from __future__ import annotations

import json
import os
import shutil
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from tests.bench.parts import minds
from tests.bench.parts.timing import Row, in_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from nebula.encoder import Encoder

ONE_BY_ONE = 50
#: Of a batch whose encoding takes minutes one round is measured.
ROUNDS_UP_TO = 2_000


def rows(folder: Path, sizes: Sequence[int], rounds: int) -> Iterator[Row]:
    """One by one, then a batch of each size up to 10,000."""
    from nebula.encoder import open_encoder

    place = folder / "written"
    notes = list(minds.notes(ONE_BY_ONE))
    encoder = open_encoder()
    runs = {
        "append and fsync": partial(_bare, place, notes),
        "`add`, no echo guard": partial(_one_by_one, place, notes, "off"),
        "`add`": partial(_one_by_one, place, notes, "mark"),
    }
    taken = in_turn(runs, rounds)
    bare = median(taken["append and fsync"]) / ONE_BY_ONE
    for name, values in taken.items():
        each = [value / ONE_BY_ONE for value in values]
        yield Row(f"{name}, durable, one by one", each, "ms each", "append and fsync", bare)
    for size in (size for size in sizes if size <= 10_000):
        batch = list(minds.notes(size))
        both: dict[str, Callable[[], object]] = {
            "encoder alone": partial(encoder.encode, [note["text"] for note in batch]),
            "one batch": partial(_batch, place, batch, encoder),
        }
        taken = in_turn(both, rounds if size <= ROUNDS_UP_TO else 1)
        per_second = {name: [1000 * size / value for value in values] for name, values in taken.items()}
        alone = median(per_second["encoder alone"])
        for name, values in per_second.items():
            yield Row(f"{name}, {size:,} memories", values, "memories/s", "encoder alone", alone)
    shutil.rmtree(place, ignore_errors=True)


def _bare(place: Path, notes: Sequence[object]) -> None:
    place.mkdir(parents=True, exist_ok=True)
    for note in notes:
        file = os.open(place / "bare.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, json.dumps(note, ensure_ascii=False).encode() + b"\n")
        os.fsync(file)
        os.close(file)


def _one_by_one(place: Path, notes: Sequence[dict[str, str]], echo: str) -> None:
    from nebula.mind import Mind

    shutil.rmtree(place / "mind", ignore_errors=True)
    mind = Mind(place / "mind", now=lambda: minds.NOW)
    mind._encoder = minds.Drawn("drawn")  # type: ignore[assignment]
    for note in notes:
        mind.add(**note, echo=echo)


def _batch(place: Path, notes: Sequence[dict[str, str]], encoder: Encoder) -> None:
    from nebula.mind import Mind

    shutil.rmtree(place / "mind", ignore_errors=True)
    mind = Mind(place / "mind", now=lambda: minds.NOW)
    mind._encoder = encoder
    mind.add_many(notes)
