"""Recall quality on the sets beside the project: each idea with its gain, constants chosen blind, and honest silence.

    python tests/bench/quality.py [ideas] [blind] [silence]        (all three where none is named; Markdown on stdout)

- ideas: nDCG@10 of the default; of it without each part (or with what was left out), and the paired gain of the part.
- blind: the constants of the mixture chosen on all sources but one (full grid), and scored on that one.
- silence: queries of other subjects and sets in the same language against answerable ones, by the one rule.

Reads the sets from ../shared/bench. Intervals: paired bootstrap over queries, 95 %.
"""

from __future__ import annotations

import itertools
import random
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nebula import calibration, clock, recalling
from nebula.bench import metrics
from nebula.bench import recall as bench
from nebula.encoder import Encoded, open_encoder
from nebula.index import sessions
from nebula.index.hashing import h64
from nebula.recall import dense, lexical
from nebula.recall.hit import Filters
from nebula.recall.mapped import MappedSearch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nebula.bench.recall import Query
    from nebula.encoder import Encoder
    from nebula.mind import Mind

BENCH = Path(__file__).parents[3] / "shared" / "bench"
SETS = ("madial_zh", "memorybank_zh", "subject_zh", "cmrc_zh", "madial_en", "memorybank_en", "locomo_en")
#: Sets of one source are one source.
SOURCES = {name: name.rsplit("_", 1)[0] for name in SETS}
IDEAS: Sequence[tuple[str, str, Mapping[str, object]]] = (
    ("scores, not ranks", "kept", {"recall.fusion": "ranks", "recall.w_lexical": 0.4, "recall.w_dense": 0.35}),
    ("words with bigrams and endings off", "kept", {"recall.tokens": "words"}),
    ("BM25 k1 .9, b .4 for 1.5, .75", "kept", {"recall.k1": 1.5, "recall.b": 0.75}),
    ("the best sentence beside the whole; the older the less", "kept", {"recall.clauses": 0.0}),
    ("turns before and after lend words", "kept", {"recall.before": 0.0, "recall.after": 0.0}),
    ("dates in the query", "kept", {"recall.w_time": 0.0}),
    ("speakers named in the query", "kept", {"recall.w_speaker": 0.0}),
    ("lower case before the encoder", "kept", {"recall.lowercase": False}),
    ("freshness β .05", "kept", {"recall.freshness": 0.0}),
    ("weight γ .05", "kept", {"recall.weight": 0.0}),
    ("graph weight 0 for .05", "kept", {"recall.w_graph": 0.05}),
    ("graph weight 0 for .15", "kept", {"recall.w_graph": 0.15}),
    ("graph weight 0 for .3", "kept", {"recall.w_graph": 0.3}),
)
GRID: Mapping[str, Sequence[Any]] = {
    "bm25": ((0.9, 0.4), (1.2, 0.5), (1.5, 0.75)),
    "w_lexical": (1.5, 2.0, 2.5),
    "lent": ((0.2, 0.1), (0.3, 0.1), (0.3, 0.2), (0.4, 0.2)),
    "w_time": (0.15, 0.3, 0.5),
    "w_speaker": (0.1, 0.2, 0.3),
    "clauses": (0.3, 0.5, 0.7),
}
FOREIGN = 60  # queries of each other set asked of a set's subjects together


class Remembering:
    """An encoder that keeps what it made: the same queries are asked again and again."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._made: dict[tuple[str, ...], Encoded] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)

    def encode(self, texts: Sequence[str], progress: Any = None) -> Encoded:
        if progress is not None or len(texts) > 32:
            return self._encoder.encode(texts, progress)
        key = tuple(texts)
        if key not in self._made:
            self._made[key] = self._encoder.encode(texts)
        return self._made[key]


class Set:
    """One set: a mind a subject, filled once, and its queries."""

    def __init__(self, name: str, place: Path, encoders: Mapping[bool, Remembering]) -> None:
        self.name = name
        self._encoders = encoders
        self.found = bench.read_set(BENCH / name)
        self._minds: dict[str, Any] = {}
        for number, subject in enumerate(dict.fromkeys(query.subject for query in self.found.queries)):
            mind = bench._Throwaway(place / f"{name}-{number}", {}, clock.now)
            mind._mind._encoder = encoders[True]  # type: ignore[assignment]
            mind.fill(self.found.memories.get(subject, ()))
            self._minds[subject] = mind

    def ndcg(self, overrides: Mapping[str, object]) -> list[float]:
        """nDCG@10 of every query under settings."""
        values = []
        for subject, mind in self._minds.items():
            under = mind._mind.under(overrides)
            under._encoder = self._encoders[under.settings.recall.lowercase]
            for query in self.of(subject):
                ids = [mind._ids[ref] for ref in self.ranked(under, query, mind)]
                values.append(metrics.ndcg(ids, query.gold, 10))
        return values

    def ranked(self, under: Mind, query: Query, mind: Any) -> list[str]:
        mind._at = query.at
        under.now = mind._now
        return [hit.memory.ref for hit in under.recall(query.text, n=10, touch=False, nearest=True).hits]

    def of(self, subject: str) -> list[Query]:
        return [query for query in self.found.queries if query.subject == subject]

    def subjects(self) -> Iterator[tuple[str, Mind, Any]]:
        """(subject, its mind, the mind with its ids)."""
        for subject, mind in self._minds.items():
            yield subject, mind._mind, mind


def gain(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """`+.012 [+.003,+.021]`: the mean paired difference and its interval."""
    figure = metrics.figures([[a - b for a, b in zip(ours, theirs, strict=True)]])[0]
    return f"{figure.mean:+.3f} [{figure.low:+.3f},{figure.high:+.3f}]"


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def row(name: str, cells: Sequence[str]) -> None:
    say(f"| {name} | {' | '.join(cells)} |")


def head(first: str, last: str = "mean") -> None:
    row(first, [*SETS, last])
    say("|---" * (len(SETS) + 2) + "|")


def ideas(sets: Sequence[Set]) -> None:
    say("\n## Ideas\n\nGain of each part beside all others (default minus default without it), nDCG@10.\n")
    head("part")
    default = [one.ndcg({}) for one in sets]
    means = [float(np.mean(values)) for values in default]
    row("**default**", [*(f"{m:.3f}" for m in means), f"{np.mean(means):.4f}"])
    for name, verdict, overrides in IDEAS:
        other = [one.ndcg(overrides) for one in sets]
        cells = [gain(mine, theirs) for mine, theirs in zip(default, other, strict=True)]
        mean = np.mean(means) - np.mean([np.mean(values) for values in other])
        row(f"{name} ({verdict})", [*cells, f"{mean:+.4f}"])
    original = [one.ndcg({"profile": "original"}) for one in sets]
    row(
        "`--profile original`",
        [*(f"{np.mean(v):.3f}" for v in original), f"{np.mean([np.mean(v) for v in original]):.4f}"],
    )


class Features:
    """What the mixture is made of, for one query, over all rows of its mind."""

    def __init__(self, mind: Mind, holder: Any, query: Query) -> None:
        holder._at = query.at
        search, probe, _ = recalling.search_in(mind, query.text, Filters(), None)
        assert isinstance(search, MappedSearch)
        assert probe is not None
        question = recalling.question_of(mind, query.text, probe, 10, None)
        index = search.index
        asked = {h64(term): count for term, count in question.terms.items()}
        self.shares = {pair: lexical.shares(asked, index, *pair) for pair in GRID["bm25"]}
        every = np.arange(index.table.n)
        self.whole, self.best = (dense.scores(probe, index, every, share) for share in (0.0, 1.0))
        self.beside = [sessions.beside(index.table, every, step) for step in (-1, 1)]
        search.time(question.windows, 1)
        self.inside = search._inside(every)
        self.spoken = np.array(search.spoken(sorted(question.names), every.tolist()) if question.names else 0.0)
        self.ids = [holder._ids[index.ref(row)] for row in range(index.table.n)]
        self.gold = query.gold

    def ndcg(self, bm25: Any, w_lexical: float, lent: Any, w_time: float, w_speaker: float, clauses: float) -> float:
        share = self.shares[bm25]
        words = share.copy()
        for part, beside in zip(lent, self.beside, strict=True):
            words += part * np.where(beside >= 0, share[beside], 0.0)
        meaning = (1 - clauses) * self.whole + clauses * self.best
        score = meaning + w_lexical * words + w_time * self.inside + w_speaker * self.spoken
        return metrics.ndcg([self.ids[i] for i in np.argsort(-score, kind="stable")[:10]], self.gold, 10)


def blind(sets: Sequence[Set]) -> None:
    say("\n## Constants chosen blind\n\nFor each source the grid's best on the mean of the other sources' sets.\n")
    combos = list(itertools.product(*GRID.values()))
    table = np.zeros((len(combos), len(sets)))
    for at, one in enumerate(sets):
        features = [
            Features(mind, holder, query) for subject, mind, holder in one.subjects() for query in one.of(subject)
        ]
        for number, combo in enumerate(combos):
            table[number, at] = np.mean([f.ndcg(*combo) for f in features])
    say("| left out | " + " | ".join(GRID) + " | nDCG@10 |")
    say("|---" * (len(GRID) + 2) + "|")
    reached = {}
    for source in dict.fromkeys(SOURCES.values()):
        inside = [at for at, one in enumerate(sets) if SOURCES[one.name] != source]
        best = int(np.argmax(table[:, inside].mean(axis=1)))
        for at, one in enumerate(sets):
            if SOURCES[one.name] == source:
                reached[one.name] = table[best, at]
                say(f"| {one.name} | {' | '.join(map(str, combos[best]))} | {table[best, at]:.3f} |")
    say(
        f"\nMean over the sets, each scored blind: {np.mean(list(reached.values())):.4f}; the grid's best, seen: "
        f"{table.mean(axis=1).max():.4f}; its worst: {table.mean(axis=1).min():.4f}"
    )


def silence(sets: Sequence[Set]) -> None:
    say("\n## Honest silence\n\nAnswerable queries answered and foreign ones refused by the default floor.\n")
    draw = random.Random(5)
    say("| set | answered | refused | refused, by where the query is from |")
    say("|---|---|---|---|")
    answered, refused, every = [], [], []
    for one in sets:
        own = [_evidence(m, h, q) for subject, m, h in one.subjects() for q in one.of(subject)]
        foreign: dict[str, list[float]] = {}
        subjects = list(one.subjects())
        share = max(4, FOREIGN // len(subjects))
        for subject, mind, holder in subjects:
            for other in sets:
                if other.name[-2:] != one.name[-2:]:
                    continue
                asked = [q for q in other.found.queries if other is not one or q.subject != subject]
                for query in draw.sample(asked, min(share, len(asked))):
                    foreign.setdefault(other.name, []).append(_evidence(mind, holder, query))
        ours = [value >= 1.0 for value in own]
        theirs = {name: [value < 1.0 for value in values] for name, values in foreign.items()}
        answered.append(np.mean(ours))
        every += ours
        refused.append(np.mean([value for values in theirs.values() for value in values]))
        parts = ", ".join(f"{name} {np.mean(values):.2f}" for name, values in theirs.items())
        say(f"| {one.name} | {answered[-1]:.3f} | {refused[-1]:.3f} | {parts} |")
    say(f"| mean of the sets | {np.mean(answered):.3f} | {np.mean(refused):.3f} | all: {np.mean(every):.3f} |")


def _evidence(mind: Mind, holder: Any, query: Query) -> float:
    """As Mind.recall weighs it; the floor's exemption of mere dates is left out."""
    holder._at = query.at
    search, probe, _ = recalling.search_in(mind, query.text, Filters(), None)
    question = recalling.question_of(mind, query.text, probe, 10, None)
    assert isinstance(search, MappedSearch)
    assert probe is not None
    search.lexical(question.terms, 10)
    search.dense(probe, 10)
    found = search.evidence()
    assert found is not None
    folder = mind.cache().folder
    return calibration.judge(query.text, found, search.index, mind.encoder(), mind.settings.recall, folder)


def main(words: Sequence[str]) -> None:
    if not BENCH.is_dir():
        sys.exit(f"no sets at {BENCH}")
    encoders = {lowercase: Remembering(open_encoder(lowercase=lowercase)) for lowercase in (True, False)}
    with tempfile.TemporaryDirectory() as place:
        sets = [Set(name, Path(place), encoders) for name in SETS]
        for part in words or ("ideas", "blind", "silence"):
            {"ideas": ideas, "blind": blind, "silence": silence}[part](sets)


if __name__ == "__main__":
    main(sys.argv[1:])
