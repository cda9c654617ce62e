"""What is current first, without burying the old: invented minds (minds.py) under strengths of freshness and layers."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula.bench import metrics
from nebula.bench import recall as bench
from tests.bench import minds
from tests.bench.held import Set
from tests.bench.tables import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.bench.held import KeptEncoder

CATEGORIES = ("now, told alike", "now, told otherwise", "again", "old", "before")
STRENGTHS: Sequence[tuple[str, Mapping[str, object]]] = (
    ("default", {}),
    ("β 0", {"recall.freshness": 0.0}),
    ("β .05", {"recall.freshness": 0.05}),
    ("β .15", {"recall.freshness": 0.15}),
    ("β .2", {"recall.freshness": 0.2}),
    ("β .3", {"recall.freshness": 0.3}),
    ("layers .97, .95, .93", {"recall.layer_weights": [1, 1, 0.97, 0.95, 0.93]}),
    ("layers .9, .85, .8", {"recall.layer_weights": [1, 1, 0.9, 0.85, 0.8]}),
    ("`--profile original`", {"profile": "original"}),
)


def current(place: Path, encoders: Mapping[bool, KeptEncoder]) -> None:
    """A row a strength; by category nDCG@10, how often the newest came before every older one, and recall@10."""
    minds.write(place / "current", minds.make())
    one = Set(bench.read_set(place / "current"), "current", place, encoders)
    asked = {query["qid"]: query for query in minds.make().queries}
    say("\n## What is current\n\nInvented minds: nDCG@10, how often the newest came first of all (1st), recall@10.\n")
    say("| strength | " + " | ".join(CATEGORIES) + " |")
    say("|---" * (len(CATEGORIES) + 1) + "|")
    for name, overrides in STRENGTHS:
        found: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
        for query, ranked in zip(one.queries, one.ranked(overrides), strict=True):
            about, ids = asked[query.qid], ranked[bench.FUSED]
            found[about["category"]].append(
                (metrics.ndcg(ids, query.gold, 10), _first(ids, about), metrics.recall(ids, query.gold, 10))
            )
        say(f"| {name} | {' | '.join(_cell(found[category]) for category in CATEGORIES)} |")


def _first(ids: Sequence[str], about: Mapping[str, Any]) -> float:
    """1 where the newest came before all older ones; NaN where there are none."""
    if not about["stale"]:
        return np.nan
    newest = set(about["gold"]) - set(about["stale"])
    return float(next((one in newest for one in ids if one in newest or one in about["stale"]), False))


def _cell(values: Sequence[tuple[float, float, float]]) -> str:
    ndcg, recall = np.mean([value[0] for value in values]), np.mean([value[2] for value in values])
    first = [value[1] for value in values if not np.isnan(value[1])]
    return f"{ndcg:.3f}{f', 1st {np.mean(first):.2f}' if first else ''}, R {recall:.2f}"
