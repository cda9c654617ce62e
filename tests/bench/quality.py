"""Recall quality on the sets beside the project, one table a part; all of them where none is named.

    python tests/bench/quality.py [PART …] [--cache DIR] [--rankings DIR]          (Markdown on stdout)

- ideas: nDCG@10 of the default through the product, and each idea's paired gain (held.Set, by Mind.recall).
- against: the default against the sets' `recipe` and against the best single route, paired.
- blind, halves: the mixture's constants chosen on other sources' sets, and on the other half of each set.
- graph: the graph's weights, and the profile `original`.
- traditional: the Chinese sets asked in traditional characters (needs opencc-python-reimplemented).
- silence: answerable and foreign queries by the one rule, its floor as shipped and chosen blind.
- everyday: a small invented mind asked in other words, and what it does not hold.
- current: minds of our own in which newer memories replace older ones (minds.py), by strength of freshness and layers.

Reads the sets from ../shared/bench. `--cache` keeps vectors from run to run; `--rankings` writes SET.jsonl for
`score.py SET SET.jsonl --against SET/reference/recipe.jsonl`. Intervals: paired bootstrap over queries, 95 %.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from nebula.bench import recall as bench
from nebula.text import simplified
from tests.bench import choosing, current, everyday, silent
from tests.bench.held import Set, encoders
from tests.bench.tables import BENCH, SETS, gain, head, row, say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Name, whether the default has it, the settings that take it away (or add it).
IDEAS: Sequence[tuple[str, bool, Mapping[str, object]]] = (
    ("scores, not ranks", True, {"recall.fusion": "ranks", "recall.w_lexical": 0.4, "recall.w_dense": 0.35}),
    ("words with character uni- and bigrams, endings off", True, {"recall.tokens": "words"}),
    ("BM25 k1 .9, b .4 for 1.5, .75", True, {"recall.k1": 1.5, "recall.b": 0.75}),
    ("the best sentence beside the whole, fading", True, {"recall.clauses": 0.0}),
    ("turns before and after lend words", True, {"recall.before": 0.0, "recall.after": 0.0}),
    ("dates and times in the query, 时#", True, {"recall.w_time": 0.0}),
    ("speakers named in the query", True, {"recall.w_speaker": 0.0}),
    ("lower case before the encoder", True, {"recall.lowercase": False}),
    ("freshness β .1", True, {"recall.freshness": 0.0}),
    ("freshness β .2", False, {"recall.freshness": 0.2}),
    ("weight γ .05", False, {"recall.weight": 0.05}),
    ("layers 1, 1, .97, .95, .93", False, {"recall.layer_weights": [1, 1, 0.97, 0.95, 0.93]}),
)
GRAPH: Sequence[tuple[str, bool, Mapping[str, object]]] = (
    ("graph weight .05", False, {"recall.w_graph": 0.05}),
    ("graph weight .15", False, {"recall.w_graph": 0.15}),
    ("graph weight .3", False, {"recall.w_graph": 0.3}),
)
INSTRUCTION = "the encoder's query instruction"


class Sets:
    """The seven, filled when first asked for; `folder` keeps vectors."""

    def __init__(self, place: Path, folder: Path | None) -> None:
        self.encoders = encoders(folder)
        self.place = place

    def keep(self) -> None:
        """Write the vectors that were made."""
        for encoder in self.encoders.values():
            encoder.keep()

    @cache  # noqa: B019 -- one object a run
    def all(self) -> list[Set]:
        return [Set(bench.read_set(BENCH / name), name, self.place, self.encoders) for name in SETS]

    @cache  # noqa: B019
    def default(self) -> list[list[dict[str, list[str]]]]:
        """What the default brings, by route."""
        return [one.ranked({}) for one in self.all()]

    @cache  # noqa: B019
    def scored(self) -> list[list[float]]:
        """nDCG@10 of the default, a list a set."""
        both = zip(self.all(), self.default(), strict=True)
        return [one.score([each[bench.FUSED] for each in found]) for one, found in both]

    @cache  # noqa: B019
    def tables(self) -> list[choosing.Array]:
        """The grid's figures, a table a set."""
        return [choosing.table(one) for one in self.all()]


def _head(sets: Sets) -> None:
    head("part")
    means = [float(np.mean(values)) for values in sets.scored()]
    row("**default**", [*(f"{mean:.3f}" for mean in means), f"{np.mean(means):.4f}"])


def _idea(sets: Sets, name: str, other: Sequence[Sequence[float]], *, kept: bool) -> None:
    """A row: kept, what the default gains by it; not kept, what it would gain."""
    pairs = list(zip(sets.scored(), other, strict=True))
    cells = [gain(mine, theirs) if kept else gain(theirs, mine) for mine, theirs in pairs]
    mean = float(np.mean([np.mean(mine) - np.mean(theirs) for mine, theirs in pairs])) * (1 if kept else -1)
    row(f"{name} ({'kept' if kept else 'not kept'})", [*cells, f"{mean:+.4f}"])
    sets.keep()


def ideas(sets: Sets) -> None:
    say("\n## Ideas\n\nnDCG@10 through the product. Kept: the default minus it without; else: with minus without.\n")
    _head(sets)
    for name, kept, overrides in IDEAS:
        _idea(sets, name, [one.ndcg(overrides) for one in sets.all()], kept=kept)
    _idea(sets, INSTRUCTION, [one.ndcg({}, instructed=True) for one in sets.all()], kept=False)


def graph(sets: Sets) -> None:
    say("\n## The graph, and the original\n\nWith it minus the default, nDCG@10.\n")
    _head(sets)
    for name, kept, overrides in GRAPH:
        _idea(sets, name, [one.ndcg(overrides) for one in sets.all()], kept=kept)
    _idea(sets, "`--profile original`", [one.ndcg({"profile": "original"}) for one in sets.all()], kept=False)


def traditional(sets: Sets) -> None:
    """Queries in traditional characters of the Chinese sets, with the folding and without it."""
    try:
        from opencc import OpenCC
    except ImportError:
        say("\n## Traditional queries\n\nNot measured: `pip install opencc-python-reimplemented` first.")
        return
    say("\n## Traditional queries\n\nThe Chinese sets' queries as OpenCC (s2twp) writes them, nDCG@10.\n")
    chinese = [(one, mine) for one, mine in zip(sets.all(), sets.scored(), strict=True) if one.name.endswith("_zh")]
    head("queries", columns=[one.name for one, _ in chinese])
    asked = {q.qid: OpenCC("s2twp").convert(q.text) for one, _ in chinese for q in one.queries}
    row("simplified", [f"{np.mean(mine):.3f}" for _, mine in chinese])
    folded = [one.ndcg({}, asked=asked) for one, _ in chinese]
    row("traditional", [f"{np.mean(values):.3f}" for values in folded])
    with mock.patch.object(simplified, "_table", dict):
        raw = [one.ndcg({}, asked=asked) for one, _ in chinese]
    row("traditional, not folded", [f"{np.mean(values):.3f}" for values in raw])
    row("gain of folding", [gain(mine, theirs) for mine, theirs in zip(folded, raw, strict=True)])


def against(sets: Sets, folder: Path | None) -> None:
    say("\n## Against the recipe and the best single route\n\nThe default minus it, nDCG@10, paired.\n")
    head("minus", columns=SETS)
    rows: dict[str, list[str]] = {"`recipe`": [], "`bm25`": [], "`bge`": [], "own best single route": []}
    for one, found, mine in zip(sets.all(), sets.default(), sets.scored(), strict=True):
        for name in ("recipe", "bm25", "bge"):
            text = (BENCH / one.name / "reference" / f"{name}.jsonl").read_text(encoding="utf-8")
            ids = {str(line["qid"]): [str(i) for i in line["ids"]] for line in map(json.loads, text.splitlines())}
            rows[f"`{name}`"].append(gain(mine, one.score([ids.get(query.qid, []) for query in one.queries])))
        routes = {route: one.score([each.get(route, []) for each in found]) for route in ("lexical", "dense")}
        best = max(routes, key=lambda route: float(np.mean(routes[route])))
        rows["own best single route"].append(f"{gain(mine, routes[best])} ({best} {np.mean(routes[best]):.3f})")
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            both = zip(one.queries, found, strict=True)
            lines = [{"qid": q.qid, "ids": [one.found.ids[i] for i in each[bench.FUSED]]} for q, each in both]
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            (folder / f"{one.name}.jsonl").write_text(text, encoding="utf-8")
    for name, cells in rows.items():
        row(name, cells)


def main() -> None:
    parts = ("ideas", "graph", "traditional", "against", "blind", "halves", "silence", "everyday", "current")
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("parts", nargs="*", choices=[*parts, []], metavar="PART")
    given.add_argument("--cache", type=Path)
    given.add_argument("--rankings", type=Path)
    args = given.parse_args()
    if not BENCH.is_dir():
        sys.exit(f"no sets at {BENCH}")
    with tempfile.TemporaryDirectory() as place:
        sets = Sets(Path(place), args.cache)
        for part in args.parts or parts:
            if part == "against":
                against(sets, args.rankings)
            elif part in {"blind", "halves"}:
                getattr(choosing, part)(sets.tables())
            elif part == "silence":
                silent.silence(sets.all())
            elif part == "everyday":
                everyday.everyday(Path(place), sets.encoders[True])
            elif part == "current":
                current.current(Path(place), sets.encoders)
            else:
                {"ideas": ideas, "graph": graph, "traditional": traditional}[part](sets)
            sets.keep()


if __name__ == "__main__":
    main()
