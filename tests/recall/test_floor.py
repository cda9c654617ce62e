"""Honest silence: what stands out is answered, what does not is said to be unknown."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
import orjson
import pytest

from nebula import calibration
from nebula.index import parts, vectors
from nebula.mind import Mind
from nebula.recall import floor
from nebula.recall.floor import Nulls
from nebula.recall.hit import Evidence
from tests.invented import Drawn, DrawnEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NOW = datetime(2026, 12, 1, 9)
TEXTS = ("渡轮早上六点开", "答应妈妈下个月搬回青岛住，离她近一点", "灯塔看守老周退休了", "The tide gauge works again")


@pytest.fixture(scope="module")
def mind(tmp_path_factory: pytest.TempPathFactory) -> Mind:
    made = Mind(tmp_path_factory.mktemp("floor") / "mind", now=lambda: NOW)
    made.add_many([{"text": text, "at": "2026-11-30"} for text in TEXTS])
    return made


def test_evidence_is_counted_in_deviations() -> None:
    """One of the cosine counts 1, one of the share .5; deviations are .06 and .05 at least."""
    nulls = Nulls((0.40, 0.08), (0.10, 0.06))
    assert floor.evidence(Evidence(0.56, 0.22), nulls) == pytest.approx(2.0 + 0.5 * 2.0)
    assert floor.evidence(Evidence(0.46, 0.0), Nulls((0.40, 0.0), (0.0, 0.0))) == pytest.approx(1.0)
    assert floor.evidence(Evidence(0.40, 0.05), Nulls((0.40, 0.0), (0.0, 0.0))) == pytest.approx(0.5)
    second = Nulls((0.10, 0.20), (9.0, 9.0))  # a second encoder's share is the first's
    both = Evidence(0.56, 0.22, 0.50)
    assert floor.evidence(both, nulls, second, 0.25) == pytest.approx(0.75 * 2.0 + 0.25 * 2.0 + 0.5 * 2.0)
    assert floor.evidence(Evidence(0.56, 0.22, 0.90), nulls, second, 0.5) == pytest.approx(0.5 * (2.0 + 4.0) + 1.0)
    assert floor.evidence(both, nulls, None, 0.5) == floor.evidence(Evidence(0.56, 0.22), nulls) == pytest.approx(3.0)
    assert floor.in_floors(1.6, 1.6, short=False) == pytest.approx(1.0)
    assert floor.in_floors(0.96, 1.6, short=True) == pytest.approx(1.0)


def test_a_few_stock_queries_that_a_mind_can_answer_lift_nothing() -> None:
    """Median and 1.4826 x median absolute deviation: one far value in seven moves neither."""
    found = [0.40, 0.42, 0.44, 0.46, 0.48, 0.50, 0.52]
    assert list(floor.spread(found)) == pytest.approx([0.46, 1.4826 * 0.04])
    assert floor.spread([*found[:-1], 0.99]) == floor.spread(found)
    assert floor.spread([]) == (0.0, 0.0)


PHATIC = ["你好", "继续", "好的，谢谢你", "再来一个", "下一步", "嗯嗯 知道了", "？？？", "123", "xxxxxxxx", "hello",
          "OK, thanks!", "go on", "yes please continue", "🙂"]  # fmt: skip


@pytest.mark.parametrize("query", PHATIC)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_what_speaks_of_nothing_is_answered_by_nothing(tmp_path: Path, n: int, query: str) -> None:
    """In the smallest minds, where whatever is near stands out: greetings, thanks, a wish that it goes on."""
    mind = Mind(tmp_path, now=lambda: NOW)
    mind.add_many([{"text": text, "at": "2026-11-30"} for text in TEXTS[:n]])
    found = mind.recall(query, touch=False)
    assert (list(found.hits), found.abstained) == ([], True)
    assert mind.recall(query, touch=False, nearest=True).hits


def test_its_very_words_answer_it(tmp_path: Path) -> None:
    mind = Mind(tmp_path, now=lambda: NOW)
    mind.add_many([{"text": text} for text in ("谢谢你们来看我", "房间是 123 号", "渡轮早上六点开")])
    assert [mind.recall(query, touch=False).hits[0].memory.ref for query in ("谢谢", "123")] == ["n1", "n2"]


@pytest.mark.parametrize("query", ["船几点出发？", "搬家去海边城市", "渡轮", "what about the tide gauge?"])
def test_what_is_known_is_answered(mind: Mind, query: str) -> None:
    found = mind.recall(query, touch=False)
    assert not found.abstained
    assert found.evidence is not None
    assert found.evidence >= 1.0
    assert found.hits


@pytest.mark.parametrize("query", ["该剧的主题曲由谁演唱？", "股票账户", "who won the football match last night?"])
def test_what_is_not_known_is_said_to_be(mind: Mind, query: str) -> None:
    """No hits and no use counted; the nearest on request, and that is no use either."""
    found = mind.recall(query)
    assert (found.abstained, list(found.hits)) == (True, [])
    nearest = mind.recall(query, nearest=True)
    assert nearest.abstained
    assert nearest.hits
    assert not (mind.folder / "changes.jsonl").exists()


def test_a_day_is_answered_by_what_was_written_then(mind: Mind) -> None:
    """A query that is nothing but a date needs no words in common; a month in which nothing was written is silent."""
    assert len(mind.recall("昨天发生了什么？", touch=False).hits) == len(TEXTS)
    assert mind.recall("今年三月发生了什么？", touch=False).abstained


def test_the_floor_is_a_setting(mind: Mind) -> None:
    assert mind.under({"recall.floor": 0}).recall("股票账户", touch=False).hits
    assert mind.under({"profile": "original"}).recall("股票账户", touch=False).hits


def test_figures_are_kept_and_taken_anew_when_the_mind_has_grown(tmp_path: Path) -> None:
    """A derived file in the index; noise in it, or its absence, costs time alone."""
    mind = Mind(tmp_path / "mind", now=lambda: NOW)
    mind.add_many([{"text": text} for text in TEXTS])
    first = mind.recall("渡轮几点开？", touch=False).evidence
    (path,) = mind.folder.rglob(parts.FLOOR)
    kept = orjson.loads(path.read_bytes())
    assert kept["han-short"]["n"] == len(TEXTS)
    path.write_bytes(b"\x00 noise")
    assert mind.recall("渡轮几点开？", touch=False).evidence == first
    mind.add_many([{"text": f"第{number}天的潮水记录"} for number in range(4)])
    mind.recall("渡轮几点开？", touch=False)
    assert orjson.loads(path.read_bytes())["han-short"]["n"] == len(TEXTS) + 4


def test_a_build_takes_all_figures_and_an_add_leaves_them(tmp_path: Path) -> None:
    """In a mind of a million memories taking them lasts seconds: no recall after an add may pay for it again."""
    mind = Mind(tmp_path / "mind", now=lambda: NOW)
    mind.add_many([{"text": text} for text in TEXTS])
    mind.build()
    (path,) = mind.folder.rglob(parts.FLOOR)
    kept = path.read_bytes()
    assert orjson.loads(kept).keys() == set(calibration.KINDS)
    mind.add("又记了一条")
    mind.recall("渡轮几点开？", touch=False)
    assert path.read_bytes() == kept


def test_the_clearest_are_those_of_all_products() -> None:
    """Codes decide which vectors are looked at, never what is found; vectors without a row do not count."""
    draw = np.random.default_rng(4)
    made = draw.normal(size=(5000, 64)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    rows = np.arange(5000, dtype=np.int32)
    rows[::7] = -2
    queries = made[[0, 7, 11]] + np.float32(0.02)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    found = vectors.Vectors([{"vec": made, "vec_row": rows, **vectors.coded(made)}], 5000).clearest(queries)
    assert found == pytest.approx((made[rows >= 0] @ queries.T).max(axis=0), abs=1e-6)
    assert found[2] > 0.9 > found[0]


def test_what_ships_is_what_the_encoder_makes(mind: Mind) -> None:
    """The stock's vectors and terms beside the program are those of its queries."""
    recall = mind.settings.recall
    shipped = calibration.stock(mind.encoder(), recall, "han")
    made = calibration.make(calibration.queries()[:5], mind.encoder(), recall)
    assert len(shipped.kind) == len(calibration.queries())
    assert (shipped.vectors[:5].astype(float) * made.vectors).sum(axis=1) == pytest.approx(1.0, abs=1e-3)
    assert shipped.terms[: made.starts[-1]].tolist() == made.terms.tolist()


def test_another_encoder_is_asked_the_stock_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not once a kind of query, nor again for the next mind: an endpoint is paid for each."""
    monkeypatch.setattr(calibration, "_made", {})
    asked: list[str] = []

    class Counting(DrawnEncoder):
        key = "counting"

        def encode(self, texts: Sequence[str]) -> Drawn:
            asked.extend(texts)
            return super().encode(texts)

    for name in ("one", "two"):
        mind = Mind(tmp_path / name, now=lambda: NOW)
        mind._encoder = Counting()  # type: ignore[assignment]
        mind.add_many([{"text": text} for text in TEXTS])
        mind.build()
        (path,) = mind.folder.rglob(parts.FLOOR)
        assert orjson.loads(path.read_bytes()).keys() == set(calibration.KINDS)
    assert {count for text, count in Counter(asked).items() if text not in TEXTS} == {1}
    assert len(asked) == len(calibration.queries()) + 2 * len(TEXTS)


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("渡轮", "han-short"),
        ("船几点从码头出发？", "han"),
        ("the ferry", "latin-short"),
        ("when does it leave?", "latin"),
    ],
)
def test_kinds_of_query(query: str, kind: str) -> None:
    assert calibration.kind_of(query) == kind


def test_a_dialogue_is_judged_by_dialogues(mind: Mind) -> None:
    """Talk about nothing that is known stays silent, talk about what is known is answered."""
    foreign = "用户: 今天打球把脚崴了，肿得像馒头。\n助手: 先冰敷，别走动。\n用户: 下周还有比赛呢。"
    known = "用户: 妈妈又来电话了。\n助手: 她说什么？\n用户: 问我什么时候搬回青岛住，离她近一点。"
    assert calibration.kind_of(foreign) == calibration.kind_of(known) == "han-dialogue"
    assert calibration.kind_of("Tom: the ferry left\nAnn: at six?") == "latin-dialogue"
    assert mind.recall(foreign, touch=False).abstained
    assert mind.recall(known, touch=False).hits[0].memory.text == TEXTS[1]


SMALL = {
    "zh": [
        ("渡轮早上六点开", "渡轮几点开"), ("妈妈对青霉素过敏", "妈妈对什么过敏"),
        ("周三下午三点和小王开评审会", "评审会是什么时候"), ("护照在书房第二个抽屉里", "护照放在哪里"),
        ("昨天和小李吃了羊肉火锅", "和小李吃了什么"), ("房租每月2600元押一付三", "房租多少钱"),
        ("猫叫团子，怕打雷", "猫叫什么名字"), ("服务器每天凌晨两点备份", "服务器什么时候备份"),
        ("外婆住在203病房", "外婆住哪个病房"), ("女儿的钢琴课改到星期六上午", "钢琴课改到什么时候"),
    ],
    "en": [
        ("The ferry leaves at six in the morning", "when does the ferry leave"),
        ("Mum is allergic to penicillin", "what is mum allergic to"),
        ("Review with Wang on Wednesday at 3 pm", "when is the review with Wang"),
        ("The passport is in the second drawer of the study", "where is the passport"),
        ("Anna owes me 300 dollars", "how much does Anna owe me"),
        ("The wifi password is on the fridge", "where is the wifi password"),
        ("The cat is called Dumpling and fears thunder", "what is the cat called"),
        ("The server makes a backup at 2 am", "when does the server make a backup"),
        ("Grandma is in room 203", "which room is grandma in"),
        ("Piano lessons moved to Saturday", "when are the piano lessons"),
    ],
}  # fmt: skip
FOREIGN = [
    "量子色动力学的重整化群方程", "怎么给自行车换内胎", "去年欧冠决赛谁赢了", "土豆丝怎么炒才脆",
    "我上次剪头发花了多少钱", "弟弟的女朋友是做什么的", "什么是比特币", "珠穆朗玛峰有多高", "我血型是什么",
    "汽车保险什么时候到期",
    "how do I change a bicycle tube", "who won the champions league final", "what is quantum chromodynamics",
    "how high is Mount Everest", "what did I pay for the haircut", "what does my brother's girlfriend do",
    "what is my blood type", "when does the car insurance end", "name of my first teacher", "how to learn the violin",
]  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 3, 10])
@pytest.mark.parametrize("language", ["zh", "en", "mixed"])
def test_a_mind_of_a_few_memories(language: str, count: int, tmp_path: Path) -> None:
    """What it holds is answered, all of it; of what it does not hold at least four fifths are refused."""
    pool = SMALL.get(language) or [pair for pairs in zip(*SMALL.values(), strict=True) for pair in pairs]
    mind = Mind(tmp_path / "mind")
    if count:
        mind.add_many([{"text": text} for text, _ in pool[:count]])
    assert all(mind.recall(query, touch=False).hits for _, query in pool[:count])
    answered = [query for query in FOREIGN if mind.recall(query, touch=False).hits]
    assert len(answered) <= len(FOREIGN) // 5, answered
    assert count or not answered
