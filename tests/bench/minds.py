"""A time-aware set of our own: invented minds in which newer memories replace or repeat older ones.

    python tests/bench/minds.py FOLDER          (writes memories.jsonl and queries.jsonl, the same for the same seed)

Every mind has slots whose value changes (city, job, phone …; two to four versions over two years, none marked as
replaced, so that ranking alone must tell), habits that are told again and again, facts told once long ago and never
again, other people's news in the same words, and daily life. Wording is drawn apart from time: no template belongs
to a newest version. Queries are of these categories:

- now: gold is the newest version, told in the words of the older ones or in others; `stale` holds the older ones.
- again: gold is every telling of a habit; `stale` the tellings but the newest.
- old: gold is the fact of long ago.
- before: asks for a value that was replaced; gold is the last but one version.

Texts and values are made up here.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench.phrases import EN, ZH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SEED = 11
MINDS = 6  # a language
NOW = datetime(2026, 5, 1, 9)
DAYS = 720  # a mind's age
OLD_FROM = 500  # days ago that a fact of long ago is at least
OTHERS = 24  # news of other people
DAILY = 60


@dataclass(frozen=True)
class Made:
    """Objects as they stand in the two files."""

    memories: Sequence[Mapping[str, Any]]
    queries: Sequence[Mapping[str, Any]]


def make(seed: int = SEED) -> Made:
    """All minds of both languages."""
    memories: list[Mapping[str, Any]] = []
    queries: list[Mapping[str, Any]] = []
    for language, phrases in (("zh", ZH), ("en", EN)):
        for number in range(MINDS):
            mind = _Mind(random.Random(f"{seed} {language} {number}"), f"{language}{number}", phrases)
            memories += mind.memories()
            queries += mind.queries
    return Made(memories, queries)


class _Mind:
    """One mind while it is being made up."""

    def __init__(self, draw: random.Random, name: str, phrases: Mapping[str, Any]) -> None:
        self._draw = draw
        self._name = name
        self._told: list[tuple[float, str, str]] = []  # days ago, id, text
        self.queries: list[Mapping[str, Any]] = []
        for slot in phrases["slots"]:
            self._slot(slot)
        for habit in phrases["habits"]:
            self._habit(habit)
        for fact in phrases["facts"]:
            self._fact(fact)
        for _ in range(OTHERS):
            slot = draw.choice(phrases["slots"])
            text = draw.choice(slot["others"]).format(draw.choice(slot["values"]), who=draw.choice(phrases["people"]))
            self._tell(draw.uniform(0, DAYS), text)
        for text in draw.sample(phrases["daily"], len(phrases["daily"])) * (1 + DAILY // len(phrases["daily"])):
            if len(self._told) < 400:
                filled = text.format(who=draw.choice(phrases["people"]), food=draw.choice(phrases["foods"]))
                self._tell(draw.uniform(0, DAYS), filled)

    def memories(self) -> list[Mapping[str, Any]]:
        """In the order of time."""
        return [
            {
                "id": one,
                "at": (NOW - timedelta(days=ago)).strftime("%Y-%m-%dT%H:%M:%S"),
                "text": text,
                "subject": self._name,
            }
            for ago, one, text in sorted(self._told, reverse=True)
        ]

    def _tell(self, ago: float, text: str) -> str:
        name = f"{self._name}-{len(self._told)}"
        self._told.append((ago, name, text))
        return name

    def _ask(self, category: str, text: str, gold: Sequence[str], stale: Sequence[str] = ()) -> None:
        self.queries.append(
            {
                "qid": f"{self._name}-q{len(self.queries)}",
                "query": text,
                "gold": list(gold),
                "stale": list(stale),
                "category": category,
                "subject": self._name,
                "at": NOW.strftime("%Y-%m-%dT%H:%M:%S"),
            }
        )

    def _slot(self, slot: Mapping[str, Any]) -> None:
        versions = self._draw.randint(2, 4)
        alike = self._draw.random() < 0.5
        texts = [self._draw.choice(slot["told"])] * versions if alike else self._draw.sample(slot["told"], versions)
        values = self._draw.sample(slot["values"], versions)
        agos = sorted(self._draw.sample(range(3, DAYS, 15), versions), reverse=True)
        told = [
            self._tell(ago + self._draw.random(), text.format(value))
            for ago, text, value in zip(agos, texts, values, strict=True)
        ]
        category = "now, told alike" if alike else "now, told otherwise"
        self._ask(category, self._draw.choice(slot["now"]), told[-1:], told[:-1])
        self._ask("before", self._draw.choice(slot["before"]).format(values[-1]), told[-2:-1])

    def _habit(self, habit: Mapping[str, Any]) -> None:
        texts = self._draw.sample(habit["told"], self._draw.randint(2, len(habit["told"])))
        agos = sorted(self._draw.sample(range(3, DAYS, 15), len(texts)), reverse=True)
        told = [self._tell(ago, text) for ago, text in zip(agos, texts, strict=True)]
        self._ask("again", self._draw.choice(habit["asked"]), told, told[:-1])

    def _fact(self, fact: Mapping[str, Any]) -> None:
        value = self._draw.choice(fact["values"])
        told = self._tell(self._draw.uniform(OLD_FROM, DAYS), self._draw.choice(fact["told"]).format(value))
        self._ask("old", self._draw.choice(fact["asked"]), [told])


def write(folder: Path, made: Made) -> None:
    """As the bench reads a set."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, objects in (("memories", made.memories), ("queries", made.queries)):
        lines = "".join(json.dumps(obj, ensure_ascii=False) + "\n" for obj in objects)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]), make())
