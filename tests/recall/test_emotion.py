"""Emotion never selects: it only reorders what was already chosen, and only when the query feels something (spec 5)."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from nebula import moods
from nebula.mind import Mind
from nebula.mindlib.record import EMOTIONS
from tests.invented import DrawnEncoder, sentence

if TYPE_CHECKING:
    from pathlib import Path

    from nebula.results import Recalled

NOW = datetime(2026, 5, 1, 9)


def opened(folder: Path, **overrides: object) -> Mind:
    mind = Mind(folder, now=lambda: NOW, overrides=overrides)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def fill(folder: Path, draw: random.Random) -> None:
    mind = opened(folder)
    mind.add_many(
        [
            {
                "text": sentence(draw),
                "at": (NOW - timedelta(days=draw.randint(0, 60))).isoformat(),
                "emo": draw.choice([*EMOTIONS, ""]),
                "e": draw.random(),
            }
            for _ in range(40)
        ]
    )
    moods.feel(mind, draw.choice(list(EMOTIONS)), draw.choice([0.1, 0.6, 1.0]))


@pytest.mark.parametrize("seed", range(8))
def test_the_same_hits_in_perhaps_another_order(tmp_path: Path, seed: int) -> None:
    """For every n the printed refs are one set with w_emo 0 and 0.06."""
    draw = random.Random(seed)
    fill(tmp_path, draw)
    moved = 0
    for n in (1, 2, 3, 5, 8, 13, 40):
        query = f"{sentence(draw)} 我很难过"
        with_it = opened(tmp_path).recall(query, n=n, touch=False)
        without = opened(tmp_path, **{"recall.w_emo": 0.0}).recall(query, n=n, touch=False)
        assert {h.memory.ref for h in with_it.hits} == {h.memory.ref for h in without.hits}
        moved += any(h.factors["emotion"] == 1.06 for h in with_it.hits)
        for hit in with_it.hits:
            dominant = opened(tmp_path).mood().dominant
            touched = dominant and hit.memory.emo == dominant and hit.memory.e >= 0.3
            assert hit.factors["emotion"] == (1.06 if touched else 1.0)
    assert moved or not opened(tmp_path).mood().dominant


def told(found: Recalled) -> list[tuple[str, float]]:
    return [(hit.memory.ref, hit.score) for hit in found.hits]


@pytest.mark.parametrize("seed", range(4))
def test_without_an_emotion_word_nothing_changes(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    fill(tmp_path, draw)
    for _ in range(6):
        query = sentence(draw)
        plain = opened(tmp_path, **{"recall.w_emo": 0.0}).recall(query, touch=False)
        assert told(opened(tmp_path).recall(query, touch=False)) == told(plain)
