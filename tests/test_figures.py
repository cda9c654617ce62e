"""The spec's own figures, sections 1 to 5 and 10: every table that is built has its values here."""

from __future__ import annotations

import math

import pytest

from nebula.errors import BadValue, SettingsUnusable, UnknownSetting
from nebula.index import kinds
from nebula.life.forgetting import half_life, layer, retention
from nebula.life.weight import weigh
from nebula.mindlib.record import is_core
from nebula.recall import lexical, modulation
from nebula.recall.fusion import fuse
from nebula.recall.modulation import Facts
from nebula.recall.ranking import Ranking
from nebula.settings import Settings, build, flatten, spread

SETTINGS = Settings()
FORGETTING = SETTINGS.forgetting


class TestWeight:
    """Section 1: base weights and w = source × (0.5 + imp) × (1 + 0.5·e) × hormones."""

    @pytest.mark.parametrize(
        ("ledger", "via", "w"),
        [
            ("notes", "他说的", 4.0),
            ("profile", "我自己想的", 2.0),
            ("promises", "工具", 1.5),
            ("tacts", "网页", 1.2),
            ("notes", "梦里", 1.5),
            ("thoughts", "他说的", 2.0),
            ("summaries", "他说的", 1.0),
        ],
    )
    def test_base(self, ledger: str, via: str, w: float) -> None:
        assert weigh(ledger, via, 0.5, 0.0).w == pytest.approx(w)

    def test_every_factor(self) -> None:
        found = weigh("notes", "他说的", 1.0, 0.8, 1.16)
        assert found.w == pytest.approx(4.0 * 1.5 * 1.4 * 1.16)
        assert found.why == "来源×4 重要×1.5 情绪×1.4 激素×1.16"

    def test_factors_of_one_are_not_named(self) -> None:
        assert weigh("summaries", "", 0.5, 0.0).why == ""


class TestForgetting:
    """Section 2: A to three decimals."""

    @pytest.mark.parametrize(("age", "a"), [(30, 0.500), (90, 0.316), (365, 0.163), (1825, 0.074)])
    def test_half_life_thirty(self, age: float, a: float) -> None:
        assert retention(age, half_life(FORGETTING, "notes", 0.0)) == pytest.approx(a, abs=5e-4)

    @pytest.mark.parametrize(
        ("age", "a"),
        [(0, 1.0), (7, 0.861), (30, 0.632), (90, 0.426), (180, 0.316), (365, 0.228), (730, 0.163), (1825, 0.104)],
    )
    def test_half_life_sixty(self, age: float, a: float) -> None:
        assert half_life(FORGETTING, "notes", 0.5) == 60
        assert retention(age, 60) == pytest.approx(a, abs=5e-4)

    @pytest.mark.parametrize("age", [-1, -10, -20, -1e6])
    def test_the_future_is_age_zero(self, age: float) -> None:
        assert retention(age, 30) == 1.0

    def test_shortest_half_life(self) -> None:
        """max(0.1, H/3) keeps a tiny H from dividing by nothing."""
        assert retention(0.1, 0.0) == pytest.approx(2**-0.5)

    def test_ledger_of_its_own(self) -> None:
        own = build({"forgetting": {"half_base_by_ledger": {"promises": 90}}}).forgetting
        assert half_life(own, "promises", 0.0) == 90
        assert half_life(own, "notes", 0.0) == 30


class TestLayers:
    """Section 3: thresholds 0.55, 0.25, 0.18, each belonging to the upper layer."""

    @pytest.mark.parametrize(
        ("a", "depth"), [(1.0, 1), (0.55, 1), (0.5499, 2), (0.25, 2), (0.2499, 3), (0.18, 3), (0.1799, 4), (0.0, 4)]
    )
    def test_boundaries(self, a: float, depth: int) -> None:
        assert layer(a, FORGETTING) == depth

    def test_core(self) -> None:
        assert layer(0.01, FORGETTING, core=True) == 0
        assert is_core("notes", "gently", pinned=True)
        assert is_core("tacts", "never", pinned=False)
        assert not is_core("notes", "never", pinned=False)


def test_six_kinds_of_edge() -> None:
    """Section 4: names in order, and weights."""
    expected = {
        "内容引用": 1.0,
        "共同关键词": 2.0,
        "分类归属": 0.3,
        "同源相邻": 0.35,
        "语义相近": 0.5,
        "日期星": 0.55,
    }
    assert dict(zip(kinds.KIND_NAMES, kinds.WEIGHTS, strict=True)) == expected
    assert kinds.HUB_TO_CORE == 0.8
    assert (kinds.NEAR_SECONDS, kinds.DATE_STARS, kinds.SHARED, kinds.LONG) == (1200, 45, 2, 3)


class TestRecall:
    """Section 5: BM25, fusion and the factors."""

    def test_bm25_constants(self) -> None:
        """The original's are 1.5 and .75; notes are short, and the default's lean less on length."""
        original = build({"profile": "original"}).recall
        assert (original.k1, original.b) == (1.5, 0.75)
        assert (SETTINGS.recall.k1, SETTINGS.recall.b) == (0.9, 0.4)

    @pytest.mark.parametrize(("df", "n"), [(1, 1), (1, 2), (2, 4), (3, 4), (4, 4)])
    def test_idf_is_never_negative(self, df: int, n: int) -> None:
        assert lexical.idf(df, n) == pytest.approx(math.log(1 + (n - df + 0.5) / (df + 0.5)))
        assert lexical.idf(df, n) > 0

    def test_fusion(self) -> None:
        """K = 12, .40/.35/.15: first in all three is (0.40 + 0.35 + 0.15) / 13; a route that missed adds nothing."""
        weights = {"lexical": 0.40, "dense": 0.35, "graph": 0.15}
        rankings = {
            "lexical": Ranking([7, 8], [3.0, 1.0]),
            "dense": Ranking([7], [0.9]),
            "graph": Ranking([7, 9], [0.5, 0.1]),
        }
        found = fuse(rankings, weights, 12, int)
        assert found.ids == [7, 8, 9]
        assert found.scores == pytest.approx([0.9 / 13, 0.40 / 14, 0.15 / 14])

    def test_fusion_ties_go_by_order(self) -> None:
        rankings = {"lexical": Ranking([5], [1.0]), "dense": Ranking([2], [1.0])}
        assert fuse(rankings, {"lexical": 1, "dense": 1}, 12, int).ids == [2, 5]

    def test_factors_at_their_defaults(self) -> None:
        found = modulation.factors(Facts("notes", 0.5, 4.0, 1), SETTINGS)
        assert found["freshness"] == pytest.approx(0.9 + 0.1 * 0.5)
        assert found["weight"] == pytest.approx(2.0**SETTINGS.recall.weight)
        assert (found["ledger"], found["layer"], found["capture"]) == (1.0, 1.0, 1.0)

    def test_original_multiplies_by_a_itself(self) -> None:
        found = modulation.factors(Facts("notes", 0.163, 4.0, 4), build({"profile": "original"}))
        assert found["freshness"] == pytest.approx(0.163)
        assert found["weight"] == 1.0

    def test_capture(self) -> None:
        assert modulation.factors(Facts("notes", 1, 2, 1, captured=True), SETTINGS)["capture"] == 1.12

    @pytest.mark.parametrize(
        ("emo", "e", "dominant", "feels", "factor"),
        [
            ("sad", 0.3, "sad", True, 1.06),
            ("sad", 0.29, "sad", True, 1.0),
            ("sad", 0.9, "sad", False, 1.0),
            ("sad", 0.9, "happy", True, 1.0),
            ("", 0.9, "", True, 1.0),
        ],
    )
    def test_emotion_only_through_all_its_gates(
        self, emo: str, e: float, dominant: str, feels: bool, factor: float
    ) -> None:
        facts = Facts("notes", 1, 2, 1, emo=emo, e=e)
        assert modulation.emotion(facts, SETTINGS.recall, dominant=dominant, query_feels=feels) == factor


class TestSettings:
    """Section 10: every default, the original's names, refusals by key."""

    def test_defaults(self) -> None:
        flat = flatten(Settings())
        expected = {
            "recall.k": 12.0,
            "recall.fusion": "scores",
            "recall.w_lexical": 2.0,
            "recall.w_dense": 1.0,
            "recall.w_graph": 0.0,
            "recall.w_time": 0.3,
            "recall.w_speaker": 0.3,
            "recall.clauses": 0.5,
            "recall.before": 0.3,
            "recall.after": 0.2,
            "recall.floor": 1.1,
            "recall.w_emo": 0.06,
            "recall.freshness": 0.1,
            "recall.layer_weights": (1.0,) * 5,
            "graph.hops": 8,
            "graph.d": 0.5,
            "graph.min_cosine": 0.62,
            "forgetting.half_base": 30.0,
            "forgetting.half_imp": 2.0,
            "forgetting.hot": 0.55,
            "forgetting.warm": 0.25,
            "forgetting.deep": 0.18,
            "capture.below_imp": 0.62,
            "capture.factor": 1.12,
            "surface.relevance": 0.75,
            "night.at": "22:05",
            "you.names": ("你", "您", "you"),
            "mood.provider": "builtin",
            "summarizer.command": "",
        }
        assert {key: flat[key] for key in expected} == expected

    def test_the_specs_own_ranking_stays_a_profile(self) -> None:
        """Spec 5: RRF of three, K 12, .40 .35 .15, times A; none of what came later."""
        recall = build({"profile": "original"}).recall
        assert (recall.fusion, recall.k) == ("ranks", 12.0)
        assert (recall.w_lexical, recall.w_dense, recall.w_graph) == (0.40, 0.35, 0.15)
        assert (recall.w_time, recall.w_speaker, recall.clauses, recall.before, recall.after) == (0, 0, 0, 0, 0)
        assert (recall.freshness, recall.weight, recall.floor) == (1.0, 0.0, 0.0)

    def test_original_names(self) -> None:
        raw = {"w_bm25": 0.5, "w_vec": 0.3, "w_graph": 0.2, "K": 60, "A_hot": 0.6, "A_warm": 0.3, "A_deep": 0.2}
        found = build(raw)
        assert (found.recall.w_lexical, found.recall.w_dense, found.recall.w_graph, found.recall.k) == (
            0.5,
            0.3,
            0.2,
            60,
        )
        assert (found.forgetting.hot, found.forgetting.warm, found.forgetting.deep) == (0.6, 0.3, 0.2)

    def test_own_name_wins_over_the_old_one(self) -> None:
        assert build({"recall": {"k": 20}, "K": 60}).recall.k == 20

    def test_flag_wins_over_file_over_profile(self) -> None:
        raw = {"profile": "original", "recall": {"k": 20}}
        assert build(raw).recall.freshness == 1.0
        assert build(raw).recall.k == 20
        assert build(raw, {"recall.k": 30}).recall.k == 30

    def test_unknown_keys_are_told(self) -> None:
        assert spread({"recall": {"kk": 1}, "colour": 1})[1] == ["recall.kk", "colour"]

    @pytest.mark.parametrize(
        ("raw", "key"),
        [({"recall": {"k": "x"}}, "recall.k"), ({"graph": {"hops": 0}}, "graph.hops"), ({"graph": 1}, "graph")],
    )
    def test_wrong_values_in_the_file(self, raw: dict[str, object], key: str) -> None:
        with pytest.raises(SettingsUnusable) as caught:
            build(raw)
        assert caught.value.facts["key"] == key

    def test_wrong_flags(self) -> None:
        with pytest.raises(BadValue):
            build({}, {"recall.k": float("nan")})
        with pytest.raises(UnknownSetting) as caught:
            build({}, {"recal.k": 1})
        assert "recall.k" in str(caught.value.facts["nearest"])
