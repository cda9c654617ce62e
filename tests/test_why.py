"""why: its figures are the recall's own, and what it says would bring a memory brings it."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nebula import moods
from nebula.bench import recall as bench
from nebula.echo import handed_out
from nebula.errors import EmptyQuery, UnknownRef
from nebula.index import has_numpy
from nebula.mind import Mind
from nebula.mindlib.record import ECHO
from nebula.recall.hit import Filters
from tests.invented import DrawnEncoder, sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nebula.recall.hit import Hit
    from nebula.recalling import Ask
    from nebula.why import Why

NOW = datetime(2026, 12, 2, 9)
SUBJECTS = Path(__file__).parent / "data" / "subject_zh"
QUERIES = ("妈妈昨天去青岛的灯塔", "Melanie 的渡轮", "开心的钢琴课", "医院")


def drawn_mind(folder: Path, seed: int, n: int = 60, **overrides: object) -> Mind:
    """A mind of invented memories of all kinds: tags, sessions, speakers, moods, ages, replaced ones."""
    draw = random.Random(seed)
    mind = Mind(folder / f"mind-{seed}", overrides=overrides, now=lambda: NOW)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    rows: list[dict[str, Any]] = [
        {
            "text": sentence(draw),
            "ledger": draw.choice(("notes", "profile", "promises", "thoughts")),
            "tag": draw.choice(("", "家", "出行")),
            "at": (NOW - timedelta(hours=draw.randint(1, 4000))).isoformat(),
            "session": draw.choice(("", "a", "b")),
            "turn": turn,
            "speaker": draw.choice(("", "妈妈", "Melanie")),
            "emo": draw.choice(("", "happy")),
            "e": draw.random(),
            "imp": draw.random(),
        }
        for turn in range(n)
    ]
    mind.add_many(rows, echo="off")
    moods.feel(mind, "happy", 0.9)
    for ref in ("n1", "n2"):
        mind.add(sentence(draw), supersedes=ref)
    return mind


def agrees(found: Why, hit: Hit) -> None:
    """Sum of the parts, product of the factors, and the hit itself are the recall's."""
    assert found.hit is not None
    assert found.hit.score == hit.score
    assert dict(found.hit.parts) == dict(hit.parts)
    assert dict(found.hit.factors) == dict(hit.factors)
    assert sum(part.added for part in found.parts) == pytest.approx(hit.fused, rel=1e-12)
    score = hit.fused
    for factor in found.hit.factors.values():
        score *= factor
    assert score == pytest.approx(hit.score, rel=1e-12)
    for part in found.parts:
        if part.weight or part.name != "graph":  # without weight recall does not walk it
            assert (part.rank is not None) == (part.name in hit.routes)
        if part.name in hit.routes:
            assert part.rank == hit.routes[part.name].rank
        if part.added and found.k is None:
            assert part.weight * part.score == pytest.approx(part.added, rel=1e-12)
        elif part.added and part.rank:
            assert found.k is not None
            assert part.weight / (found.k + part.rank) == pytest.approx(part.added, rel=1e-12)
    lexical = next(part for part in found.parts if part.name == "lexical")
    assert sum(term.share for term in found.terms.values()) <= lexical.score + 1e-9 or found.k is not None


def brings(mind: Mind, found: Why) -> int:
    """Run every change by recall itself; -> how many were run."""
    tried = [change for change in found.changes if change.place is not None]
    for change in tried:
        ask: Ask = change.ask
        under = mind.under({**mind.overrides, **change.overrides})
        under._encoder = mind._encoder
        hits = under.recall(
            ask.query, n=ask.n, filters=ask.filters, as_of=ask.as_of, nearest=ask.nearest, touch=False
        ).hits
        assert [hit.memory.ref for hit in hits].index(found.memory.ref) + 1 == change.place, change
    return len(tried)


MODES: tuple[Mapping[str, object], ...] = (
    {},
    {"recall.w_graph": 0.2},
    {"profile": "original"},
    {"recall.freshness": 0.5, "recall.weight": 0.5, "recall.floor": 0.0},
)


@pytest.mark.parametrize("overrides", MODES, ids=("default", "graph", "original", "aged"))
def test_the_figures_are_those_of_recall(tmp_path: Path, overrides: Mapping[str, object]) -> None:
    """Every hit of every query, in random minds; and every memory that did not come has a change that brings it."""
    helped = 0
    for seed in (1, 2):
        mind = drawn_mind(tmp_path, seed, 30, **overrides)
        for query in QUERIES[seed - 1 :: 2]:
            hits = mind.recall(query, n=9, touch=False, nearest=True).hits
            assert len(hits) == 9
            for place, hit in enumerate(hits, start=1):
                found = mind.why(hit.memory.ref, query, n=9, nearest=True)
                assert (found.came, found.place, found.misses, found.changes) == (True, place, [], [])
                agrees(found, hit)
            came = {hit.memory.ref for hit in hits}
            every = mind.recall(query, n=1000, touch=False, nearest=True).hits
            others = [memory for memory in mind.list(n=None).memories if memory.ref not in came]
            for memory in others[:: len(others) // 2]:
                found = mind.why(memory.ref, query, n=9, nearest=True)
                assert not found.came
                assert found.misses
                helped += brings(mind, found) > 0
                mine = next((hit for hit in every if hit.memory.ref == memory.ref), None)
                assert (mine is None) == (found.hit is None)
                if mine:
                    agrees(found, mine)
    assert helped >= 6, "of 8 to 12; where drawn vectors point away nothing small may help"


def test_the_figures_are_those_of_recall_on_a_set(tmp_path: Path) -> None:
    """With the bundled encoder, on a real story: every hit of some questions, and what it missed of their answers."""
    asked = [query for query in bench.read_set(SUBJECTS).queries if query.subject == "林小满"][::4]
    memories = bench.read_set(SUBJECTS).memories["林小满"]
    mind = Mind(tmp_path / "mind", now=lambda: NOW)
    ids = {}
    added = mind.add_many([bench._as_added(memory) for memory in memories])
    ids = {str(one["id"]): memory.ref for memory, one in zip(added.memories, memories, strict=True)}
    missed = 0
    for query in asked:
        hits = mind.recall(query.text, n=2, touch=False).hits
        for hit in hits:
            agrees(mind.why(hit.memory.ref, query.text, n=2), hit)
        for gold in {ids[one] for one in query.gold} - {hit.memory.ref for hit in hits}:
            missed += 1
            assert brings(mind, mind.why(gold, query.text, n=2)) >= 1
    assert missed >= 2


def test_without_numpy(tmp_path: Path, lose_numpy: Callable[[], None]) -> None:
    """The plain search answers the same questions; the dense route says that it is off."""
    drawn_mind(tmp_path, 3)
    lose_numpy()
    assert not has_numpy()
    mind = Mind(tmp_path / "mind-3", now=lambda: NOW)
    query = "青岛的灯塔和渡轮"
    hits = mind.recall(query, n=2, touch=False).hits
    for hit in hits:
        found = mind.why(hit.memory.ref, query, n=2)
        agrees(found, hit)
        assert {part.name: part.state for part in found.parts}["dense"] == "off"
        assert sum(term.share for term in found.terms.values()) > 0
    missed = [m for m in mind.list(n=None).memories if m.ref not in {hit.memory.ref for hit in hits}][:3]
    assert sum(brings(mind, mind.why(memory.ref, query, n=2)) for memory in missed) >= 3


@pytest.fixture
def ferries(tmp_path: Path) -> Mind:
    """Two ferries, the older one replaced."""
    mind = Mind(tmp_path / "mind", now=lambda: NOW)
    mind.add("渡轮早上六点开", at="2026-11-01T10:00:00")
    mind.add("渡轮改到七点开", supersedes="n1", tag="出行", at="2026-11-20T10:00:00")
    mind.add("面包店周二不开门", tag="家", at="2026-11-21T10:00:00")
    mind.add("钢琴课改到周五晚上", at="2026-11-22T10:00:00")
    return mind


def test_what_was_replaced_and_by_what(ferries: Mind) -> None:
    found = ferries.why("n1", "渡轮几点开")
    assert [(miss.step, miss.facts["by"]) for miss in found.misses] == [("replaced", "n2")]
    assert [[step.kind for step in change.steps] for change in found.changes] == [["old"]]
    assert brings(ferries, found) == 1
    assert ferries.why("n1", "渡轮几点开", filters=Filters(old=True)).came


def test_each_filter_is_named_and_goes(ferries: Mind) -> None:
    """All that keep it out, none that does not."""
    filters = Filters(["promises"], ["家"], ["网页"], since=10**11, until=0)
    found = ferries.why("n3", "面包店哪天关门", filters=filters)
    assert [miss.step for miss in found.misses] == ["ledger", "via", "since", "until"]
    options = [step.facts["option"] for step in found.changes[0].steps]
    assert options == ["--ledger", "--via", "--since", "--until"]
    assert found.changes[0].ask.filters == Filters(tags=["家"])
    assert brings(ferries, found) == 1


def test_before_it_was_written(ferries: Mind) -> None:
    found = ferries.why("n3", "面包店哪天关门", as_of=datetime(2026, 11, 10))
    assert [miss.step for miss in found.misses] == ["unwritten"]
    assert found.changes[0].ask.as_of is None
    assert brings(ferries, found) == 1
    assert ferries.why("n1", "渡轮几点开", as_of=datetime(2026, 11, 10)).came, "what was replaced since held then"


def test_silence_has_three_ways_out(ferries: Mind) -> None:
    """--nearest, a word of the memory, a lower floor; each alone is enough, and each was run."""
    found = ferries.why("n4", "该剧的主题曲由谁演唱？")
    assert [miss.step for miss in found.misses] == ["silent"]
    kinds = [[step.kind for step in change.steps] for change in found.changes]
    assert kinds == [["nearest"], ["word"], ["setting"]]
    assert found.changes[1].steps[0].facts["words"] in {"钢琴", "钢琴课", "周五"}
    assert brings(ferries, found) == 3


def test_a_missing_vector_is_told_and_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the trial stays: the memory has no vector afterwards either."""
    monkeypatch.setattr("nebula.mind.CATCH_UP_BYTES", 0)
    mind = drawn_mind(tmp_path, 4)
    mind.build()
    mind.add("望远镜看土星，一共三句话都没有别的词")
    assert mind.peek().total - mind.peek().present == 1
    ref = mind.list(n=1).memories[0].ref
    found = mind.why(ref, "望远云", n=1)
    state = {part.name: part.state for part in found.parts}
    assert state["dense"] == "no_vector"
    embed = [change for change in found.changes if "embed" in [step.kind for step in change.steps]]
    assert embed
    assert mind.peek().total - mind.peek().present == 1
    mind.build()
    assert brings(mind, found) >= 1


def test_an_echo_names_what_it_echoes(tmp_path: Path) -> None:
    mind = Mind(tmp_path / "mind", now=lambda: NOW)
    mind.add("答应妈妈下个月搬回青岛住，离她近一点")
    mind.recall("青岛")
    echo = mind.add("答应妈妈下个月搬回青岛住，离她近一点").memories[0]
    assert mind.why(echo.ref, "搬回青岛").echo_of == "n1"
    assert mind.why("n1", "搬回青岛").echo_of == ""


def mind_with_echoes(folder: Path, seed: int, n: int = 18) -> Mind:
    """A third of the memories come back in a frame; of some the source is replaced afterwards."""
    mind = drawn_mind(folder, seed, n)
    draw = random.Random(seed)
    given = [memory for memory in mind.list(n=None).memories if memory.via != ECHO]
    handed_out(mind, given)
    for memory in draw.sample(given, n // 3):
        mind.add(f"我记得：{memory.text}", at=(NOW - timedelta(hours=draw.randint(1, 4000))).isoformat())
    notes = [memory for memory in given if memory.ledger == "notes"]
    for memory in draw.sample(notes, min(2, len(notes))):
        mind.add(sentence(draw), supersedes=memory.ref)
    return mind


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_the_least_n_is_named_where_echoes_fold(tmp_path: Path, seed: int) -> None:
    """The place that is named is the least -n that brings it: one less does not; an echo takes no place of its own."""
    mind = mind_with_echoes(tmp_path, seed)
    memories = mind.list(n=None).memories
    assert sum(memory.via == ECHO for memory in memories) >= 4
    checked = folded = 0
    query = QUERIES[0]

    def told(n: int) -> list[str]:
        return [hit.memory.ref for hit in mind.recall(query, n=n, touch=False, nearest=True).hits]

    every = told(1000)
    for memory in memories:
        found = mind.why(memory.ref, query, n=2, nearest=True)
        assert found.candidates == len(every)
        if found.came or found.place is None:
            folded += [miss.step for miss in found.misses] == ["folded"]
            assert found.came or memory.ref not in every
            continue
        checked += 1
        assert memory.ref in told(found.place)
        assert memory.ref not in told(found.place - 1)
        assert brings(mind, found) >= 1
        limits = [change.ask.n for change in found.changes if [step.kind for step in change.steps] == ["limit"]]
        assert limits == [found.place]
    assert checked >= 5
    assert folded >= 1


def test_an_echo_before_its_source_gives_it_its_place(tmp_path: Path) -> None:
    """Who brought it is named; a folded echo comes alone among echoes."""
    mind = Mind(tmp_path / "mind", overrides={"recall.freshness": 0.9}, now=lambda: NOW)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    mind.add("渡轮去灯塔要两小时", at="2020-01-01T09:00:00")
    handed_out(mind, mind.list().memories)
    mind.add("我记得：渡轮去灯塔要两小时")
    mind.add("灯塔下面有面包店", at="2026-11-01T09:00:00")
    hits = mind.recall("渡轮 灯塔", n=1, touch=False, nearest=True).hits
    assert [hit.memory.ref for hit in hits] == ["n1"]
    assert mind.why("n1", "渡轮 灯塔", n=1, nearest=True).through == "n2"
    found = mind.why("n2", "渡轮 灯塔", n=1, nearest=True)
    assert ([miss.step for miss in found.misses], found.place) == (["folded"], None)
    assert found.changes[0].ask.filters.vias == [ECHO]
    assert brings(mind, found) == 1
    assert mind.why("n3", "渡轮 灯塔", n=1, nearest=True).through == ""


@pytest.mark.parametrize("plain", [False, True], ids=("mapped", "plain"))
def test_what_neighbours_lend_is_named(tmp_path: Path, lose_numpy: Callable[[], None], *, plain: bool) -> None:
    """A memory's own words and what the turns beside it lend make its score in words."""
    drawn_mind(tmp_path, 21, 40)
    if plain:
        lose_numpy()
    mind = Mind(tmp_path / "mind-21", now=lambda: NOW)
    if not plain:
        mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    lent = 0
    for memory in mind.list(n=None).memories[::2]:
        found = mind.why(memory.ref, "青岛的灯塔和渡轮", n=100, nearest=True)
        words = next(part for part in found.parts if part.name == "lexical")
        if words.rank is None:
            continue
        own = sum(term.share for term in found.terms.values())
        assert own + sum(given for _, given in found.lent) == pytest.approx(words.score, abs=1e-6)
        for ref, _ in found.lent:
            other = mind.get(ref)
            assert (other.session, abs(other.turn - memory.turn)) == (memory.session, 1)
            lent += 1
    assert lent >= 3


def test_it_only_reads(ferries: Mind) -> None:
    """No use counted, nothing handed out, no setting changed: every file stays as a recall left it."""
    ferries.recall("渡轮")

    def files() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in sorted(ferries.folder.rglob("*")) if path.is_file()}

    before = files()
    for ref, query in (("n1", "渡轮"), ("n2", "渡轮"), ("n4", "渡轮")):
        ferries.why(ref, query, n=1)
    assert files() == before


def test_what_can_not_be_meant_is_refused(ferries: Mind) -> None:
    with pytest.raises(UnknownRef):
        ferries.why("n99", "渡轮")
    with pytest.raises(EmptyQuery):
        ferries.why("n1", "  ")
