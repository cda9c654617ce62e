"""Honest silence: answerable queries answered and foreign ones refused, by one floor, as shipped and chosen blind.

Foreign: queries of the other subjects of a set, and of the other sets in its language, asked of each of its minds.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula import recalling
from tests.bench.tables import SETS, SOURCES, say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nebula.bench.recall import Query
    from nebula.mind import Mind
    from tests.bench.held import Set

    Array = np.ndarray[Any, Any]

FOREIGN = 60  # queries of each other set asked of a set's subjects together
ANSWERED = 0.95


def silence(sets: Sequence[Set]) -> None:
    """Both tables."""
    draw = random.Random(5)
    own, foreign = {}, {}
    for one in sets:
        own[one.name] = np.array([_evidence(m, h, q) for subject, m, h in one.subjects() for q in one.of(subject)])
        foreign[one.name] = _foreign(one, sets, draw)
    floor = next(sets[0].subjects())[1].settings.recall.floor
    say(f"\n## Honest silence\n\nAnswered and refused by the default floor, {floor:g}.\n")
    say("| set | answered | refused | refused, by where the query is from |\n|---|---|---|---|")
    for name, values in own.items():
        parts = ", ".join(f"{other} {np.mean(found < 1.0):.2f}" for other, found in foreign[name].items())
        theirs = np.concatenate(list(foreign[name].values()))
        say(f"| {name} | {np.mean(values >= 1.0):.3f} | {np.mean(theirs < 1.0):.3f} | {parts} |")
    say(_mean(own, foreign, dict.fromkeys(SETS, 1.0)))
    say(
        f"\nThe floor chosen blind: the highest that answers {ANSWERED:.0%} of the other sources' answerable queries, "
        "in their mean over sets and all together.\n"
    )
    say("| left out | floor | answered | refused |\n|---|---|---|---|")
    chosen = {}
    for name in SETS:
        chosen[name] = _highest([own[other] for other in SETS if SOURCES[other] != SOURCES[name]])
        theirs = np.concatenate(list(foreign[name].values()))
        answered, refused = np.mean(own[name] >= chosen[name]), np.mean(theirs < chosen[name])
        say(f"| {name} | {chosen[name] * floor:.2f} | {answered:.3f} | {refused:.3f} |")
    say(_mean(own, foreign, chosen))


def _mean(own: Mapping[str, Array], foreign: Mapping[str, Mapping[str, Array]], floors: Mapping[str, float]) -> str:
    answered = {name: own[name] >= floors[name] for name in SETS}
    refused = [np.mean(np.concatenate(list(foreign[name].values())) < floors[name]) for name in SETS]
    every = np.concatenate(list(answered.values())).mean()
    mean = np.mean([values.mean() for values in answered.values()])
    return (
        f"\nMean of the sets: answered {mean:.3f}, refused {np.mean(refused):.3f}, least {min(refused):.3f}; "
        f"all answerable queries: answered {every:.3f}."
    )


def _highest(own: Sequence[Array]) -> float:
    """The highest floor that answers enough, in the mean over sets and of all queries."""
    every = np.concatenate(own)
    fits = [
        floor
        for floor in every.tolist()
        if (every >= floor).mean() >= ANSWERED and np.mean([(one >= floor).mean() for one in own]) >= ANSWERED
    ]
    return float(max(fits))


def _foreign(one: Set, sets: Sequence[Set], draw: random.Random) -> dict[str, Array]:
    """Evidence of foreign queries, by the set they are from."""
    found: dict[str, list[float]] = {}
    subjects = list(one.subjects())
    share = max(4, FOREIGN // len(subjects))
    for subject, mind, holder in subjects:
        for other in sets:
            if other.name[-2:] == one.name[-2:]:
                asked = [query for query in other.found.queries if other is not one or query.subject != subject]
                drawn = draw.sample(asked, min(share, len(asked)))
                found.setdefault(other.name, []).extend(_evidence(mind, holder, query) for query in drawn)
    return {name: np.array(values) for name, values in found.items() if values}


def _evidence(mind: Mind, holder: Any, query: Query) -> float:
    """As recall weighs it, in floors; a query that the floor does not judge (a mere date) is answered."""
    holder._at = query.at
    found = recalling.seek(mind, recalling.Ask(query.text)).evidence
    return math.inf if found is None else found
