"""Silence in a small everyday mind: invented memories and questions that share no word with what answers them.

    python tests/bench/quality.py everyday

`everyday/queries.tsv`: language, query, the line of the memory that answers it, 0 where none does. Written before any
rule was tried on them. Even and odd queries are told apart, so that what is chosen on one half is seen on the other.
"""

from __future__ import annotations

import csv
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebula import recalling
from nebula.mind import Mind
from tests.bench.tables import say

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parent / "everyday"
NOW = datetime(2026, 12, 1, 9)


def everyday(place: Path, encoder: Any) -> None:
    """Answered and refused by the default floor, and how often the answer stands first, silence aside."""
    say("\n## A small everyday mind\n\nQuestions without a word of the memory that answers them; default floor.\n")
    say("| mind | queries | answered | refused | answer first | answer in ten |\n|---|---|---|---|---|---|")
    lines = (FOLDER / "queries.tsv").read_text(encoding="utf-8").splitlines()
    rows = [(lang, query, int(gold)) for lang, query, gold in csv.reader(lines, delimiter="\t")]
    for lang in ("zh", "en"):
        mind = Mind(place / f"everyday-{lang}", now=lambda: NOW)
        mind._encoder = encoder
        texts = (FOLDER / f"memories_{lang}.txt").read_text(encoding="utf-8").splitlines()
        mind.add_many(
            [{"text": text, "at": f"2026-{1 + at % 11:02}-{1 + at % 28:02}"} for at, text in enumerate(texts)]
        )
        own = [_asked(mind, query, texts[gold - 1] if gold else "") for its, query, gold in rows if its == lang]
        for half in (0, 1):
            _row(f"{lang}, {'odd' if half else 'even'}", own[half::2])


def _asked(mind: Mind, query: str, answer: str) -> Mapping[str, Any]:
    found = recalling.seek(mind, recalling.Ask(query, 10, nearest=True))
    texts = [hit.memory.text for hit in found.hits]
    return {"known": bool(answer), "silent": found.abstained, "at": texts.index(answer) if answer in texts else 99}


def _row(name: str, found: list[Mapping[str, Any]]) -> None:
    known, foreign = [one for one in found if one["known"]], [one for one in found if not one["known"]]
    answered = sum(not one["silent"] for one in known) / len(known)
    refused = sum(one["silent"] for one in foreign) / len(foreign)
    first, ten = (sum(one["at"] < k for one in known) / len(known) for k in (1, 10))
    say(f"| {name} | {len(known)} + {len(foreign)} | {answered:.2f} | {refused:.2f} | {first:.2f} | {ten:.2f} |")
