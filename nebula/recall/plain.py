"""The lexical and the graph route on plain records, for a Python without numpy: slow, clear, never touching the index.

The same rules as the mapped routes, so it also serves as their twin in the tests; edges of meaning need vectors and
are missing here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from nebula import clock
from nebula.index import kinds
from nebula.mindlib.record import LEDGER_CODE, is_core
from nebula.recall import lexical
from nebula.recall.filtering import admits
from nebula.recall.graph import Step
from nebula.recall.lexical import Term
from nebula.recall.modulation import Facts
from nebula.recall.ranking import Ranking
from nebula.text import dialogue, words
from nebula.text.keywords import keywords

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence

    from nebula.mindlib.record import Memory
    from nebula.recall.hit import Asked, Filters
    from nebula.recall.modulation import Ageing
    from nebula.settings import Settings

    #: (node, node, weight, kind); rows are ints, hubs and stars are tuples
    Edge = tuple[Hashable, Hashable, float, int]


class PlainSearch:
    """The memories of one mind at `now` (seconds), under filters; a row is a position in the list."""

    walks = True

    def __init__(
        self,
        memories: Sequence[Memory],
        settings: Settings,
        now: int,
        filters: Filters,
        ageing: Ageing,
        replaced: Collection[str] = (),
    ) -> None:
        self.memories = sorted(memories, key=lambda m: (m.seconds, LEDGER_CODE[m.ledger]))
        self.settings = settings
        self.now = now
        self.filters = filters
        self.ageing = ageing
        self.replaced = replaced
        self._p: dict[Hashable, float] = {}
        self._share: dict[int, float] = {}
        self._lexical: dict[int, float] = {}
        self._inside: dict[int, float] = {}

    @cached_property
    def alive(self) -> list[bool]:
        """Rows that hold at `now`, or all where old ones are asked for."""
        return [self.filters.old or not self._gone(row) for row in range(len(self.memories))]

    def _gone(self, row: int) -> bool:
        return self.memories[row].is_old(self.now)

    @cached_property
    def eligible(self) -> list[bool]:
        """Rows that may be hits."""
        return [alive and admits(self.filters, m) for alive, m in zip(self.alive, self.memories, strict=True)]

    @cached_property
    def counts(self) -> list[Counter[str]]:
        """Every row's tokens."""
        mode = self.settings.recall.tokens
        return [Counter(words.tokens(memory.searchable(mode), mode)) for memory in self.memories]

    def _top(self, scores: dict[int, float], k: int) -> Ranking:
        rows = [row for row, score in scores.items() if score > 0 and self.eligible[row]]
        rows = sorted(rows, key=lambda row: (-scores[row], self.order(row)))[:k]
        return Ranking(rows, [scores[row] for row in rows])

    def lexical(self, asked: Asked, k: int) -> Ranking:
        """Shares as in `recall.lexical`, and what the turns beside lend."""
        scores: dict[int, float] = defaultdict(float)
        highest = 0.0
        for token in asked.terms:
            weight, gained = self._gains(token, asked)
            highest += weight
            for row, gain in gained.items():
                scores[row] += gain
        self._share = {row: score / highest for row, score in scores.items() if self.alive[row]}
        self._lexical = dict(self._share)
        for row in range(len(self.memories)):
            for _, given in self.lent(row):
                self._lexical[row] = self._lexical.get(row, 0.0) + given
        return self._top(self._lexical, k)

    def lent(self, row: int) -> Sequence[tuple[int, float]]:
        """The rows beside a row that lend it words, and what each gives to its score."""
        recall = self.settings.recall
        beside = [(self._beside(row, step), part) for step, part in ((-1, recall.before), (1, recall.after))]
        found = [(other, part * self._share.get(other, 0.0)) for other, part in beside]
        return [(other, given) for other, given in found if given]

    @cached_property
    def _norms(self) -> list[float]:
        """Every row's k1 · (1 - b + b · dl / avgdl)."""
        recall = self.settings.recall
        lengths = [counter.total() for counter in self.counts]
        mean = max(1e-9, sum(lengths) / len(lengths)) if lengths else 1.0
        return [recall.k1 * (1 - recall.b + recall.b * length / mean) for length in lengths]

    def _gains(self, token: str, asked: Asked) -> tuple[float, dict[int, float]]:
        """The most that a term could give, and what it gives to each row that holds it, before they are shares."""
        rows = [row for row, counter in enumerate(self.counts) if token in counter]
        weight = asked.terms[token] * lexical.idf(len(rows), len(self.counts))
        if groups := asked.whole.get(token):
            rows = [row for row in rows if any(group <= self.counts[row].keys() for group in groups)]
        counts = {row: self.counts[row][token] for row in rows}
        return weight, {row: weight * tf / (tf + self._norms[row]) for row, tf in counts.items()}

    @cached_property
    def _turns(self) -> dict[tuple[str, int], int]:
        return {(memory.session, memory.turn): row for row, memory in enumerate(self.memories) if memory.session}

    def _beside(self, row: int, step: int) -> int:
        memory = self.memories[row]
        return self._turns.get((memory.session, memory.turn + step), -1)

    def dense(self, probe: Any, k: int) -> Ranking:
        """No vectors without numpy."""
        return Ranking()

    def time(self, windows: Sequence[tuple[int, int]], k: int) -> Ranking:
        """The rows written in one of the windows; score 1."""
        self._inside = {
            row: 1.0
            for row, memory in enumerate(self.memories)
            if any(first <= memory.seconds < end for first, end in windows)
        }
        return self._top(self._inside, k)

    def scores(self, route: str, rows: Sequence[int]) -> Sequence[float]:
        """Of any rows, 0 where the route finds nothing."""
        if route == "graph":
            most = max(self._p.values(), default=1.0) or 1.0
            return [self._p.get(row, 0.0) / most for row in rows]
        found = {"lexical": self._lexical, "time": self._inside}.get(route, {})
        return [found.get(row, 0.0) for row in rows]

    def spoken(self, names: Sequence[str], rows: Sequence[int]) -> Sequence[float]:
        """1 for each row that one of the names speaks, else 0."""
        spoken = [dialogue.spoken_by(self.memories[r].speaker, self.memories[r].text) for r in rows]
        return [float(speaker in names) if speaker else 0.0 for speaker in spoken]

    def evidence(self) -> None:
        """Words alone don't say that a thing is not remembered."""
        return

    @cached_property
    def edges(self) -> list[Edge]:
        """All edges among the rows that hold, but those of meaning."""
        rows = [row for row, alive in enumerate(self.alive) if alive]
        return [*self._by_keywords(rows), *self._by_content(rows), *self._by_source(rows), *self._by_hubs(rows)]

    @cached_property
    def keywords(self) -> list[tuple[str, ...]]:
        """Every row's keywords."""
        return [keywords(memory.text) for memory in self.memories]

    def _bearers(self, *, long: bool) -> dict[str, list[int]]:
        bearers: dict[str, list[int]] = defaultdict(list)
        for row, own in enumerate(self.keywords):
            for keyword in own:
                if not long or kinds.is_long(keyword):
                    bearers[keyword].append(row)
        return bearers

    @cached_property
    def common(self) -> set[str]:
        """Keywords that more than half of the mind shares: they join nothing."""
        n = len(self.memories)
        bearers = self._bearers(long=False)
        return {k for k, rows in bearers.items() if n >= kinds.COMMON_FROM and len(rows) * 2 > n}

    def _by_keywords(self, rows: Sequence[int]) -> Iterator[Edge]:
        alive = set(rows)
        pairs: Counter[tuple[int, int]] = Counter()
        for keyword, bearers in self._bearers(long=False).items():
            if keyword in self.common:
                continue
            for at, row in enumerate(bearers):
                pairs.update((before, row) for before in bearers[max(0, at - kinds.REACH) : at])
        for (a, b), shared in pairs.items():
            if shared >= kinds.SHARED and a in alive and b in alive:
                yield a, b, kinds.WEIGHTS[kinds.KEYWORDS], kinds.KEYWORDS

    def _by_content(self, rows: Sequence[int]) -> Iterator[Edge]:
        bearers = self._bearers(long=True)
        heads = {keyword[: kinds.LONG] for keyword in bearers}
        found = set()
        for a in rows:
            spoken: Counter[int] = Counter()
            for keyword in set(kinds.mentioned(self.memories[a].text, heads)) - self.common:
                spoken.update(bearers.get(keyword, [])[-kinds.REACH :])
            found |= {(min(a, b), max(a, b)) for b, n in spoken.items() if n >= kinds.SHARED and b != a}
        for a, b in sorted(found):
            if self.alive[a] and self.alive[b]:
                yield a, b, kinds.WEIGHTS[kinds.CONTENT], kinds.CONTENT

    def _by_source(self, rows: Sequence[int]) -> Iterator[Edge]:
        def place(row: int) -> tuple[str, int, int]:
            return self.memories[row].via, self.memories[row].seconds, self.order(row)

        for a, b in pairwise(sorted(rows, key=place)):
            mine, theirs = self.memories[a], self.memories[b]
            if mine.via == theirs.via and theirs.seconds - mine.seconds <= kinds.NEAR_SECONDS:
                yield a, b, kinds.WEIGHTS[kinds.SOURCE], kinds.SOURCE

    def _by_hubs(self, rows: Sequence[int]) -> Iterator[Edge]:
        today = clock.day(self.now)
        for tag in sorted({self.memories[row].tag for row in rows} - {""}):
            yield ("tag", tag), ("core",), kinds.HUB_TO_CORE, kinds.CATEGORY
        for row in rows:
            memory = self.memories[row]
            if memory.tag:
                yield ("tag", memory.tag), row, kinds.WEIGHTS[kinds.CATEGORY], kinds.CATEGORY
            day = clock.day(memory.seconds)
            if today - kinds.DATE_STARS < day <= today:
                yield ("day", day), row, kinds.WEIGHTS[kinds.DATE], kinds.DATE

    def graph(self, seeds: Ranking, k: int) -> Ranking:
        """Personalized PageRank as in `recall.graph`."""
        total = sum(seeds.scores)
        if not total:
            return Ranking()
        reset: dict[Hashable, float] = {row: score / total for row, score in zip(seeds.ids, seeds.scores, strict=True)}
        degree: dict[Hashable, float] = defaultdict(float)
        for a, b, weight, _ in self.edges:
            degree[a] += weight
            degree[b] += weight
        d, p = self.settings.graph.d, dict(reset)
        for _ in range(self.settings.graph.hops):
            moved: dict[Hashable, float] = defaultdict(float)
            for a, b, weight, _ in self.edges:
                moved[b] += p.get(a, 0.0) * weight / degree[a]
                moved[a] += p.get(b, 0.0) * weight / degree[b]
            p = {node: d * moved[node] + (1 - d) * reset.get(node, 0.0) for node in {*moved, *reset}}
        self._p = p
        self._degree = degree
        return self._top({node: score for node, score in p.items() if isinstance(node, int)}, k)

    def order(self, row: int) -> int:
        """Ledger, then id; repeated ids behind."""
        memory = self.memories[row]
        return LEDGER_CODE[memory.ledger] << 56 | memory.repeated << 55 | memory.id

    def facts(self, row: int) -> Facts:
        """What the factors look at, A and layer as of `now`."""
        memory = self.memories[row]
        core = is_core(memory.ledger, memory.say, pinned=memory.pinned)
        a, layer = self.ageing(memory.ledger, memory.imp, memory.seconds, core)
        return Facts(memory.ledger, a, memory.w, layer, memory.emo, memory.e, memory.captured)

    def ref(self, row: int) -> str:
        """What a person types for it."""
        return self.memories[row].ref

    def memory(self, row: int) -> Memory | None:
        """The memory."""
        return self.memories[row]

    def is_old(self, row: int) -> bool:
        """Whether it was replaced by `now`, or is known to have been since."""
        return self._gone(row) or self.ref(row) in self.replaced

    def row(self, ref: str) -> int:
        """The row that a ref names; -1 where none does."""
        return next((row for row, memory in enumerate(self.memories) if memory.ref == ref), -1)

    def in_meaning(self, row: int) -> bool:
        """No vectors without numpy."""
        return False

    def words(self, asked: Asked, row: int) -> Mapping[str, Term]:
        """What each term gives to a row's share, and how many memories hold it."""
        gains = {token: self._gains(token, asked) for token in asked.terms}
        highest = sum(weight for weight, _ in gains.values())
        return {token: Term(gained.get(row, 0.0) / highest, len(gained)) for token, (_, gained) in gains.items()}

    def strongest_edge(self, row: int) -> str:
        """The edge over which the last walk brought most to a row; "" where none did."""
        return next((step.words for step in self.edges_to(row, 1)), "")

    def edges_to(self, row: int, k: int) -> Sequence[Step]:
        """The k edges over which the last walk brought most to a row, that first."""
        flows = [
            (self._p.get(other, 0.0) * weight / self._degree[other], kind, other)
            for a, b, weight, kind in self.edges
            for mine, other in ((a, b), (b, a))
            if mine == row and self._p
        ]
        return [self._step(row, *flow) for flow in sorted(flows, key=lambda flow: -flow[0])[:k]]

    def _step(self, row: int, flow: float, kind: int, other: Hashable) -> Step:
        memory = self.memories[row]
        if not isinstance(other, int):
            return Step("", kinds.reason(kind, memory, memory, {memory.ref: ()}), flow)
        theirs = self.memories[other]
        own = {memory.ref: self.keywords[row], theirs.ref: self.keywords[other]}
        return Step(theirs.ref, kinds.reason(kind, memory, theirs, own), flow)
