"""The mixture's constants chosen where they are not measured: on the other sources' sets, and on the other half.

The grid holds what more than one source bears on. What one source alone could choose is not chosen: the best sentence
counts as much as the whole query (dialogues stand in MADial alone), and a speaker as much as a date (LoCoMo alone).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.bench.held import Features
from tests.bench.tables import SETS, SOURCES, say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.bench.held import Set

    Array = np.ndarray[Any, Any]

GRID: Mapping[str, Sequence[Any]] = {
    "bm25": ((0.9, 0.4), (1.2, 0.5), (1.5, 0.75)),
    "w_lexical": (1.5, 2.0, 2.5),
    "lent": ((0.2, 0.1), (0.3, 0.1), (0.3, 0.2), (0.4, 0.2)),
    "w_named": (0.15, 0.2, 0.3, 0.5),
    "weight": (0.0, 0.01, 0.02, 0.05),
}
FRESHNESS = 0.1
COMBOS = list(itertools.product(*GRID.values()))
#: Where each combination stands on each axis, 0…1.
PLACES = np.array(
    [
        [axis.index(value) / (len(axis) - 1) for axis, value in zip(GRID.values(), combo, strict=True)]
        for combo in COMBOS
    ]
)


def table(one: Set) -> Array:
    """nDCG@10 of every combination for every query, [combinations, queries]."""
    columns = []
    for subject, mind, holder in one.subjects():
        kept: dict[str, Any] = {}
        columns += [_column(Features(mind, holder, query, GRID["bm25"], kept)) for query in one.of(subject)]
    return np.array(columns).T


def _column(of: Features) -> list[float]:
    meaning = 0.5 * of.whole + 0.5 * of.best
    named = of.inside + of.spoken
    words = {both: of.words(*both) for both in itertools.product(GRID["bm25"], GRID["lent"])}
    factor = {
        power: (1 - FRESHNESS + FRESHNESS * of.fresh) * np.maximum(of.kept["w"] / 2.0, 1e-6) ** power
        for power in GRID["weight"]
    }
    none, alike = not named.any(), float(np.ptp(of.kept["w"])) == 0.0
    seen: dict[tuple[Any, ...], float] = {}
    found = []
    for bm25, w_lexical, lent, w_named, power in COMBOS:
        key = (bm25, w_lexical, lent, 0 if none else w_named, 0 if alike else power)
        if key not in seen:
            seen[key] = of.ndcg((meaning + w_lexical * words[bm25, lent] + w_named * named) * factor[power])
        found.append(seen[key])
    return found


def best(tables: Sequence[Array]) -> int:
    """The combination with the best mean over sets of its mean over queries."""
    return int(np.mean([one.mean(axis=1) for one in tables], axis=0).argmax())


def smoothed(tables: Sequence[Array]) -> int:
    """The best where each point's mean is also its neighbours', one step along every axis."""
    means = np.mean([one.mean(axis=1) for one in tables], axis=0).reshape([len(axis) for axis in GRID.values()])
    for axis in range(means.ndim):
        line = np.moveaxis(means, axis, 0)
        wide = np.concatenate([line[:1], line, line[-1:]])
        means = np.moveaxis((wide[:-2] + wide[1:-1] + wide[2:]) / 3, 0, axis)
    return int(means.argmax())


def central(tables: Sequence[Array]) -> int:
    """Of those within one standard error of the best (paired over queries) the one in their middle."""
    means = np.mean([one.mean(axis=1) for one in tables], axis=0)
    top = int(means.argmax())
    variance = sum((one - one[top]).var(axis=1) / one.shape[1] for one in tables)
    near = np.flatnonzero(means >= means[top] - np.sqrt(variance) / len(tables))
    return int(near[np.abs(PLACES[near] - PLACES[near].mean(axis=0)).sum(axis=1).argmin()])


RULES: Mapping[str, Callable[[Sequence[Array]], int]] = {
    "the best": best,
    "the best of smoothed means": smoothed,
    "the middle of those within one standard error": central,
}


def blind(tables: Sequence[Array]) -> None:
    """For each source what is chosen on the other sources' sets, by the best; and the means by other rules."""
    say("\n## Constants chosen blind\n\nFor each source the grid's best on the mean of the other sources' sets.\n")
    say("| left out | " + " | ".join(GRID) + " | nDCG@10 |")
    say("|---" * (len(GRID) + 2) + "|")
    reached = {}
    for name, rule in RULES.items():
        means = []
        for at, left_out in enumerate(SETS):
            others = [one for i, one in enumerate(tables) if SOURCES[SETS[i]] != SOURCES[left_out]]
            chosen = rule(others)
            means.append(float(tables[at][chosen].mean()))
            if rule is best:
                say(f"| {left_out} | {' | '.join(map(str, COMBOS[chosen]))} | {means[-1]:.3f} |")
        reached[name] = float(np.mean(means))
    every = np.mean([one.mean(axis=1) for one in tables], axis=0)
    rules = "; ".join(f"{name}: {value:.4f}" for name, value in reached.items())
    say(
        f"\nMean over the sets, each scored blind, by the rule that chooses: {rules}. "
        f"The grid's best, seen: {every.max():.4f}; its worst: {every.min():.4f}."
    )


def halves(tables: Sequence[Array]) -> None:
    """What is chosen on every other query, measured on the others."""
    say(
        "\n## Kept-back halves\n\nConstants chosen on each set's odd queries and measured on its even ones, and back.\n"
    )
    say("| chosen on | " + " | ".join(GRID) + " | " + " | ".join(SETS) + " | mean | the best there, seen |")
    say("|---" * (len(GRID) + len(SETS) + 3) + "|")
    both = []
    for name, start in (("odd", 0), ("even", 1)):
        chosen = best([one[:, start::2] for one in tables])
        other = [one[:, 1 - start :: 2].mean(axis=1) for one in tables]
        means = [float(one[chosen]) for one in other]
        seen = float(np.mean(other, axis=0).max())
        cells = [*map(str, COMBOS[chosen]), *(f"{mean:.3f}" for mean in means)]
        say(f"| {name} | {' | '.join(cells)} | {np.mean(means):.4f} | {seen:.4f} |")
        both.append(np.mean(means))
    say(f"\nMean of both halves, each unseen: {np.mean(both):.4f}.")
