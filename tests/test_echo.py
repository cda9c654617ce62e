"""What the mind handed out and gets back: known again however it is wrapped, stored once, lightly, or refused."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nebula import amend, echo, messages, passage
from nebula.errors import BadValue, Echoed
from nebula.mind import Mind
from nebula.mindlib.record import ECHO
from nebula.mindlib.store import HANDED_OUT
from nebula.text import forms
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from nebula.results import Added

MUM = "答应妈妈下个月搬回青岛住，离她近一点"
FERRY = "渡轮早上六点开"
GAUGE = "The tide gauge works again: a loose wire, not the sensor"
START = datetime(2026, 5, 1, 9, 0, 0)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def time() -> Clock:
    return Clock()


@pytest.fixture
def mind(tmp_path: Path, time: Clock) -> Mind:
    """Three memories, all of them handed out."""
    made = opened(tmp_path / "mind")
    made.now = time
    hand_out(made, *made.add_many([{"text": text} for text in (MUM, FERRY, GAUGE)]).memories)
    return made


def opened(folder: Path, **overrides: Any) -> Mind:
    """A mind with drawn vectors, which cost nothing."""
    mind = Mind(folder, overrides={name.replace("__", "."): value for name, value in overrides.items()}, now=Clock())
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def hand_out(mind: Mind, *memories: Any) -> None:
    echo.handed_out(mind, memories)


def codes(added: Added) -> list[str]:
    return [notice.code for notice in added.notices]


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        (MUM, "n1"),
        (f"- {MUM}", "n1"),
        (f"  * “{MUM}”", "n1"),
        (f"2. {MUM}。", "n1"),
        (f"0.068 [词#1 义#1 图#1] 2026-05-01 {MUM}  n1", "n1"),
        (f"0.068 [词#1 图#3] [旧] 2026-05-01 {MUM}  n1", "n1"),
        (f"n1    2026-05-01 事实 ★ {MUM}", "n1"),
        (f"- [n1 · 2026-05-01 09:00] {MUM}", "n1"),
        (f"我记得{MUM}", "n1"),
        (f"根据记忆：\n- {MUM}", "n1"),
        ("答应妈妈下个月搬回青岛住，离她近一点了", "n1"),
        ("答应妈妈下个月搬回青岛住", "n1"),
        (f"{FERRY}！", "n2"),
        ("the TIDE gauge works again — a loose wire; not the sensor (n3)", "n3"),
        (f"0.068 [词#1] 2026-05-01 {MUM}  n1\n0.050 [义#2] 2026-05-01 {GAUGE}  n3", "n1"),
        (f"{MUM}；{FERRY}。{GAUGE}", "n1"),
        (json.dumps({"schema": 1, "ok": True, "data": {"query": "青岛", "hits": [{"ref": "n1", "text": MUM}]}}), "n1"),
        ("\n".join(json.dumps({"ref": ref, "text": text}) for ref, text in (("n2", FERRY), ("n1", MUM))), "n1"),
    ],
)
def test_it_is_known_however_it_is_wrapped(mind: Mind, text: str, ref: str) -> None:
    """Lists, labels, JSON, marks, case, several at once, a few words of introduction."""
    (memory,) = mind.add(text, imp=0.9, pinned=True).memories
    assert (memory.via, memory.echo_of, memory.text) == (ECHO, ref, text)
    assert memory.w == pytest.approx(0.5 * 1.4 * (1 + 0.5 * memory.e))
    assert not memory.pinned


@pytest.mark.parametrize(
    "text",
    [
        "渡轮早上七点开",
        "渡轮早上六点半开",
        "渡轮早上六点不开",
        "答应妈妈下下个月搬回青岛住，离她近一点",
        "答应爸爸下个月搬回青岛住，离她近一点",
        "没答应妈妈下个月搬回青岛住，离她近一点",
        f"{MUM}。房子在市南区，月底去看",
        "妈妈",
        "搬回青岛住",
        "The tide gauge works again: a loose wire, or the sensor",
        "2026-05-02 渡轮早上六点开",
        "...",
        "Whatever the tide gauge says, works again",
    ],
)
def test_what_says_something_new_is_no_echo(mind: Mind, text: str) -> None:
    """Another figure, name or place, a negation, more than a few words: stored with its whole weight."""
    (memory,) = mind.add(text).memories
    assert (memory.via, memory.echo_of) == ("他说的", "")
    assert memory.w >= 4.0


def test_a_negation_left_out_is_news(tmp_path: Path) -> None:
    """A part of a memory is its echo, unless what was left out turns it round."""
    mind = opened(tmp_path / "mind")
    hand_out(mind, *mind.add("她不打算去北京出差开会").memories)
    assert mind.add("打算去北京出差开会").memories[0].via == "他说的"
    assert mind.add("她不打算去北京出差").memories[0].via == ECHO


def test_the_second_echo_is_the_first(mind: Mind) -> None:
    """Nothing is written for it, and the caller gets the ref of what is there."""
    first = mind.add(MUM)
    before = mind.store.path("notes").read_bytes()
    again = mind.add(f"- {MUM}")
    assert codes(first) == ["echo"]
    assert codes(again) == ["echo_again"]
    assert [m.ref for m in again.memories] == [m.ref for m in first.memories] == ["n4"]
    assert mind.store.path("notes").read_bytes() == before


def test_an_echo_that_was_taken_back_is_no_second_one(mind: Mind) -> None:
    from nebula import amend

    mind.add(MUM)
    amend.undo(mind)
    assert [m.ref for m in mind.add(MUM).memories] == ["n5"]


def test_what_was_undone_can_be_said_anew(mind: Mind) -> None:
    """As an import that is taken back and made once more; what another memory says is an echo still."""
    rows = [{"text": "码头的猫叫阿橘，怕打雷"}, {"text": "灯塔的钥匙在抽屉里"}]
    first = mind.add_many(rows)
    echo.handed_out(mind, [*first.memories, *mind.list().memories])
    assert mind.add(rows[0]["text"]).memories[0].via == ECHO
    amend.undo(mind)
    amend.undo(mind)
    again = mind.add_many(rows)
    assert [(m.via == ECHO, m.w) for m in again.memories] == [(False, m.w) for m in first.memories]
    assert not [notice for notice in again.notices if notice.code.startswith(("echo", "duplicate"))]
    echo.handed_out(mind, again.memories)
    assert mind.add(rows[1]["text"]).memories[0].via == ECHO


def test_an_echo_neither_tags_nor_captures(mind: Mind) -> None:
    """Or the loop would strengthen what it repeats."""
    tags = mind.store.path("tags.jsonl").read_bytes()
    assert mind.add(GAUGE).memories[0].via == ECHO
    assert mind.store.path("tags.jsonl").read_bytes() == tags
    assert not mind.store.path("captured.jsonl").exists()


def test_everyday_notes_may_come_again_the_next_day(mind: Mind, time: Clock) -> None:
    """Few words are known for twelve hours, a long sentence for as long as it is held."""
    time.now = START + timedelta(hours=13)
    assert mind.add(FERRY).memories[0].via == "他说的"
    assert mind.add(MUM).memories[0].via == ECHO
    assert Mind(mind.folder, overrides={"echo.hours": 24}, now=time).add(FERRY).memories[0].via == ECHO


def test_refused_or_let_through_on_request(mind: Mind) -> None:
    """By the setting, and by the argument over it."""
    with pytest.raises(Echoed, match="n1"):
        mind.add(MUM, echo="refuse")
    strict = Mind(mind.folder, overrides={"echo.action": "refuse"}, now=mind.now)
    with pytest.raises(Echoed):
        strict.add(MUM)
    assert strict.add(MUM, echo="off").memories[0].via == "他说的"
    assert strict.add(MUM, echo="mark").memories[0].via == ECHO
    with pytest.raises(BadValue):
        mind.add(MUM, echo="perhaps")


def test_a_batch_is_looked_at_one_by_one(mind: Mind) -> None:
    """The same echo twice in it is stored once; each object has its memory in the answer."""
    added = mind.add_many([{"text": MUM}, {"text": "新买了一把蓝伞"}, {"text": f"* {MUM}"}, {"text": FERRY}])
    assert [m.ref for m in added.memories] == ["n4", "n5", "n4", "n6"]
    assert codes(added) == ["echo_many", "echo_again_many"]
    assert added.notices[0].facts == {"n": 2, "refs": "n1 n2"}
    refused = mind.add_many([{"text": GAUGE}, {"text": "锅里还有汤"}], echo="refuse")
    assert [m.text for m in refused.memories] == ["锅里还有汤"]
    assert codes(refused) == ["echo_refused_many"]


def test_what_replaces_a_memory_is_said_on_purpose(mind: Mind) -> None:
    assert mind.add(MUM, supersedes="n1").memories[0].via == "他说的"


def test_texts_that_are_no_memories(mind: Mind) -> None:
    """Long-term notes, for instance: their echo names no ref, and comes once too."""
    echo.handed_out(mind, texts=["每年五月陪妈妈回一次老家，坐早班的火车"])
    added = mind.add("每年五月陪妈妈回一次老家，坐早班的火车")
    assert (added.memories[0].via, added.memories[0].echo_of) == (ECHO, "")
    assert codes(mind.add("- 每年五月陪妈妈回一次老家，坐早班的火车")) == ["echo_again"]


def test_recall_hands_out_with_and_without_touch(tmp_path: Path) -> None:
    mind = opened(tmp_path / "mind")
    mind.add(MUM)
    mind.recall("青岛", touch=False)
    assert mind.add(MUM).memories[0].echo_of == "n1"


def test_the_file_stays_small_and_private(tmp_path: Path) -> None:
    """Past its limit it is cut to the newest; nothing but forms is in it, and only its owner reads it."""
    mind = opened(tmp_path / "mind")
    mind.add("先有一条")
    path = mind.store.path(HANDED_OUT)
    for start in range(0, 3000, 50):
        echo.handed_out(mind, texts=[f"第{n}次看见那只灰色的猫坐在北边的窗台上等人" for n in range(start, start + 50)])
        assert path.stat().st_size <= echo.LIMIT + 50 * 400
    assert path.stat().st_mode & 0o077 == 0
    held = echo.window(mind.store).handed
    assert 300 < len(held) < 2000
    assert held[-1].said.startswith("第 2999 次")


@pytest.mark.parametrize(
    "rest", [b"\xff\xfe nonsense", b'{"at": "x"}\n', b'{"at": 1, "said": 3}\n', b"[]\n", b"null\n"]
)
def test_a_damaged_file_never_stops_an_add(mind: Mind, rest: bytes) -> None:
    path = mind.store.path(HANDED_OUT)
    path.write_bytes(rest + b"\n" + path.read_bytes() + rest)
    assert mind.add(MUM).memories[0].via == ECHO


def test_handing_out_never_fails_and_creates_no_mind(tmp_path: Path, mind: Mind) -> None:
    echo.handed_out(Mind(tmp_path / "none"), texts=["x"])
    assert not (tmp_path / "none").exists()
    path = mind.store.path(HANDED_OUT)
    path.unlink()
    path.mkdir()
    echo.handed_out(mind, texts=["x"])
    assert mind.add(MUM).memories[0].via == "他说的"


def test_erasing_leaves_nothing_of_it(mind: Mind) -> None:
    from nebula import erase

    erase.erase(mind, erase.plan(mind, ["n1"]))
    assert not mind.store.path(HANDED_OUT).exists()


WRAPS: Sequence[Callable[[Any], str]] = (
    lambda hit: hit.memory.text,
    lambda hit: f"- {hit.memory.text}",
    lambda hit: f"{hit.score:.3f} {hit.label} {hit.memory.at[:10]} {hit.memory.text}  {hit.memory.ref}",
    lambda hit: f"记得：{hit.memory.text}",
    lambda hit: json.dumps({"ref": hit.memory.ref, "text": hit.memory.text, "w": 9}, ensure_ascii=False),
    lambda hit: hit.memory.text.replace("，", "；") + "！",
    lambda hit: f"用户：{hit.memory.text}",
)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@example(steps=[(0, "青岛"), (3, "青岛"), (3, "tide")])
@given(steps=st.lists(st.tuples(st.integers(0, len(WRAPS)), st.sampled_from(["青岛", "渡轮", "tide"])), max_size=12))
def test_no_loop_multiplies_a_memory(tmp_path_factory: Any, steps: list[tuple[int, str]]) -> None:
    """An agent that recalls and adds what it got, wrapped one way or another, or all of it at once.

    Each memory gains at most one echo with nothing new and one a form; all of them together weigh less than the least
    source; the memory itself grows by nothing but the capture that was open before.
    """
    mind = opened(tmp_path_factory.mktemp("loop") / "mind")
    own = {memory.ref: memory.w for memory in mind.add_many([{"text": t} for t in (MUM, FERRY, GAUGE)]).memories}
    for way, query in steps:
        hits = mind.recall(query, n=4).hits
        texts = [WRAPS[way](hit) for hit in hits] if way < len(WRAPS) else ["\n".join(WRAPS[2](hit) for hit in hits)]
        for text in texts:
            mind.add(text, imp=1.0)
    memories = mind.list(n=None).memories
    echoes = [memory for memory in memories if memory.ref not in own]
    assert all(memory.via == ECHO for memory in echoes)
    for ref, w in own.items():
        mine = [memory for memory in echoes if memory.via == ECHO and memory.echo_of == ref]
        assert sum(memory.w for memory in mine) <= 2 * 0.5 * 1.5 * 1.5
        assert mind.get(ref).w <= w * 1.12 + 1e-9
    assert len(echoes) <= 12


def test_what_retells_a_memory_is_news_once(tmp_path: Path) -> None:
    """Who else says so is news; the same again is an echo of that, in one batch or another."""
    mind = opened(tmp_path / "mind")
    mind.add(FERRY)
    for _ in range(3):
        told = f"妈妈说{mind.recall('渡轮').hits[0].memory.text}"
        mind.touch([])
        mind.add_many([{"text": told}, {"text": told}])
    retold = [memory for memory in mind.list(n=None).memories if memory.text == f"妈妈说{FERRY}"]
    assert [memory.via for memory in reversed(retold)][:2] == ["他说的", ECHO]
    assert [memory.echo_of for memory in retold if memory.via == ECHO] == ["n1"]


def test_a_loop_that_says_who_said_it_comes_to_an_end(tmp_path: Path) -> None:
    """Its first turn is news, what repeats that is an echo: twelve rounds leave no more than two."""
    mind = opened(tmp_path / "mind")
    mind.add(MUM)
    for _ in range(12):
        for hit in mind.recall("妈妈 青岛", n=8).hits:
            mind.add(f"听人说：{hit.memory.text}")
    assert [memory.via for memory in reversed(mind.list(n=None).memories)][1:] in (["他说的"], ["他说的", ECHO])


def test_the_same_loop_many_times_writes_once(tmp_path: Path) -> None:
    """Thirty rounds leave what one round left, however often it is recalled."""
    mind = opened(tmp_path / "mind")
    mind.add(MUM)
    counts = []
    for _ in range(30):
        for hit in mind.recall("妈妈 青岛", n=8).hits:
            mind.add(hit.memory.text)
        counts.append(len(mind.list(n=None).memories))
    assert counts == [2] * 30


def test_a_passage_for_a_prompt_comes_back(tmp_path: Path) -> None:
    """Line by line, promises in the words in which they were told, and the whole block at once."""
    from nebula.context import context

    mind = opened(tmp_path / "mind")
    mind.add_many(
        [
            {"text": MUM, "ledger": "promises", "due": "2026-05-03"},
            {"text": "妹妹对花生过敏，出门要带药", "ledger": "profile"},
            {"text": FERRY},
        ]
    )
    block = context(mind, "青岛").text
    items = [line for line in block.splitlines() if line.startswith("- [")]
    assert len(items) == 3
    for line in items:
        (memory,) = mind.add(line).memories
        assert memory.echo_of in line, line
    added = mind.add(block)
    assert added.memories[0].via == ECHO


def test_texts_too_long_or_too_uniform_are_news_at_once(mind: Mind) -> None:
    """What would take seconds to compare is not compared."""
    from time import perf_counter

    uniform = "哈" * 3000
    echo.handed_out(mind, texts=[f"{uniform}嘿"])
    begun = perf_counter()
    assert mind.add(f"嘿{uniform}").memories[0].via == "他说的"
    assert mind.add(MUM + "，" * 20_000).memories[0].via == "他说的"
    assert perf_counter() - begun < 5


@pytest.mark.parametrize("numpy", [True, False])
def test_recall_tells_an_echo_by_what_it_echoes(
    mind: Mind, numpy: bool, lose_numpy: Callable[[], None], time: Clock
) -> None:
    """One place for both, that of the source; where that no longer holds the echo stands for it. `why` says so."""
    if not numpy:
        lose_numpy()
    (copy,) = mind.add(FERRY).memories
    assert copy.via == ECHO
    assert [hit.memory.ref for hit in mind.recall("渡轮早上六点开", n=2).hits].count(copy.ref) == 0
    assert mind.recall("渡轮早上六点开").hits[0].memory.ref == "n2"
    why = mind.why(copy.ref, "渡轮早上六点开")
    assert [(miss.step, dict(miss.facts)) for miss in why.misses] == [("folded", {"of": "n2"})]
    time.now += timedelta(hours=1)
    mind.add("渡轮改到七点了", supersedes="n2")
    assert copy.ref in [hit.memory.ref for hit in mind.recall("渡轮早上六点开").hits]


def test_a_later_one_that_is_nearly_the_same_is_not_taken_for_the_source(mind: Mind) -> None:
    """What stands whole in a text is its source, though a neighbour shares more of its runs."""
    texts = [f"第{n}次坐渡轮去灯塔，{'海' * n}上有雾" for n in range(1, 9)]
    written = mind.add_many([{"text": text} for text in texts]).memories
    hand_out(mind, *written)
    for source in written:
        again = mind.add(f"我记得：{source.text}").memories[0]
        assert (again.via, again.echo_of) == (ECHO, source.ref)


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_passages_that_are_remembered_do_not_multiply(tmp_path: Path, language: str) -> None:
    """Every passage written back as a memory, which the next one quotes, escaped and cut: one echo in all."""
    messages.use(language)
    mind = opened(tmp_path)
    mind.add("我的血型是 O 型", ledger="profile")
    for text in (MUM, FERRY, GAUGE, "妈妈对青霉素过敏"):
        mind.add(text)
    for _ in range(8):
        mind.add(mind.context("血型").text)
    written = mind.list(n=None).memories[:-5]
    assert [memory.via for memory in written] == [ECHO]
    said = mind.add(f"我查到的：\n{mind.context('血型').text}\n妹妹的血型是 A 型").memories[0]
    assert said.via != ECHO  # what stands beside a passage is heard


def test_a_line_of_a_passage_says_what_the_passages_in_it_say() -> None:
    """Tags, titles and what stands before each memory fall off, escaped as often as handed on; cut anywhere."""
    line = (
        "- [n6 2026-05-01 他说的] &lt;memory-fcf3a12517e6&gt; 以下是记忆。 "
        "[你是谁] - [p1 2026-05-01 他说的] 血型是 O 型 [想起] "
        "- [n5 2026-05-01 回声] &amp;lt;memory-e072a3696026&amp;gt; 渡轮 - [n2 2026-0…"
    )
    said = [forms.joined(tokens) for tokens in forms.parts(line)]
    assert said == ["以下是记忆", "血型是o型", "渡轮"]
    assert [forms.joined(tokens) for tokens in forms.parts(line[: line.index("3696026")] + "…")] == said[:2]


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_the_titles_of_a_passage_are_known(language: str) -> None:
    messages.use(language)
    for section in ("longterm", *passage.SECTIONS):
        title = messages.say(f"passage.{section}")
        assert forms._TITLE.fullmatch(f"[{title}]"), title
