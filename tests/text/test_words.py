"""Cutting: the same words as stock jieba, the terms of both modes, hostile text, a silent import."""

from __future__ import annotations

import importlib
import json
import logging
import os
import subprocess
import sys
import threading
from functools import cache
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nebula.text import normal, words
from nebula.text.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from nebula.text.words import Mode

ROOT = Path(__file__).parents[2]
BENCH = ROOT.parent / "shared" / "bench"

LINES = [
    "今天聊到了为什么记忆该像海不像硬盘",
    "小明硕士毕业于中国科学院计算所，后在日本京都大学深造",
    "他来到了网易杭研大厦",
    "GitHub备份脚本上传失败，换了SSH密钥",
    "events.jsonl 里的第3行坏了，见 actor-safe 的 3.14% 那一节 C++ 和 c#",
    "艾琳娜·冯·霍恩海姆在龘靐齉爩的山谷里遇见了爨底下村的老人",
    "T恤衫、卡拉OK、X光、AA制、江南style",
    "雨は夜更け過ぎに雪へと変わるだろう 서울에서 만나요",
    "",
    " \t\r\n",
]


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """jieba's own tokenizer over its own dictionary, its cache in a folder of the test."""
    words.words("海")  # imports jieba the quiet way
    jieba = importlib.import_module("jieba")
    jieba.setLogLevel(logging.ERROR)
    tokenizer = jieba.Tokenizer()
    tokenizer.tmp_dir = str(tmp_path_factory.mktemp("jieba"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenizer, "get_dict_file", lambda: Path(str(jieba.__file__)).with_name("dict.txt").open("rb"))
        tokenizer.initialize()
    return tokenizer


def bench_lines() -> list[str]:
    if not BENCH.is_dir():
        pytest.skip("the benchmark's texts are not beside the checkout")
    paths = [path for path in sorted(BENCH.glob("*/*.jsonl")) if "locomo" not in path.parent.name]
    rows = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    return [row.get("text") or row["query"] for row in rows]


def assert_same_cuts(stock: Any, lines: list[str]) -> None:
    ours = words._tokenizer()
    for line in lines:
        assert list(ours.cut(line)) == list(stock.cut(line)), line
        assert list(ours.cut_for_search(line)) == list(stock.cut_for_search(line)), line


def test_cuts_are_stock_jieba_s(stock: Any) -> None:
    """`cut` and `cut_for_search`, hidden Markov model included, on lines written for this test."""
    assert_same_cuts(stock, LINES)


def test_cuts_are_stock_jieba_s_on_the_benchmark(stock: Any) -> None:
    """The same on every line of the benchmark with Chinese in it, and more."""
    lines = bench_lines()
    assert len(lines) > 2_000
    assert_same_cuts(stock, lines[:: max(1, len(lines) // 700)])


@given(
    st.text(
        st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF) | st.sampled_from("的了a1 。-."),
        max_size=60,
    )
)
def test_cuts_are_stock_jieba_s_on_any_han(stock: Any, line: str) -> None:
    """The same on random characters, most of them unknown to the dictionary."""
    assert_same_cuts(stock, [line])


@pytest.mark.parametrize("text", LINES)
def test_mode_words_is_the_baseline_s(stock: Any, text: str) -> None:
    """Mode `words`: jieba's search words of the folded text that hold a letter or digit, query the same."""
    expected = [w for w in stock.cut_for_search(normal.fold(text)) if any(c.isalnum() for c in w)]
    assert words.tokens(text, "words") == words.query_tokens(text, "words") == expected


def test_long_text_is_cut_as_a_whole(stock: Any) -> None:
    """Cutting a text of 40,000 characters early, at punctuation, changes no word."""
    text = "，".join(LINES) * 100
    expected = [w for w in stock.cut_for_search(normal.fold(text)) if any(c.isalnum() for c in w)]
    assert words.tokens(text, "words") == expected


@cache
def baseline(name: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, list[Any]]]:
    if not (BENCH / name).is_dir():
        pytest.skip(f"{name} is not beside the checkout")
    queries, memories, rows = (
        [json.loads(line) for line in (BENCH / name / part).read_text("utf-8").splitlines()]
        for part in ("queries.jsonl", "memories.jsonl", "reference/bm25.jsonl")
    )
    return queries, memories, {row["qid"]: row["ids"] for row in rows}


@pytest.mark.parametrize("name", ["madial_zh", "madial_en", "subject_zh"])
def test_bm25_over_words_gives_the_published_rankings(name: str) -> None:
    """Spec 5's BM25 over mode `words`, a query's repeated word counted each time: the first ten are equal."""
    queries, memories, expected = baseline(name)
    for query in queries:
        mine = [memory for memory in memories if memory["subject"] == query["subject"]]
        lists = [words.tokens(memory["text"], "words") for memory in mine]
        mean = sum(map(len, lists)) / len(lists)
        scores = [0.0] * len(mine)
        for term in words.query_tokens(query["query"], "words"):
            df = sum(term in terms for terms in lists)
            idf = log(1 + (len(mine) - df + 0.5) / (df + 0.5))
            for at, terms in enumerate(lists):
                tf = terms.count(term)
                scores[at] += idf * tf * 2.5 / (tf + 1.5 * (0.25 + 0.75 * len(terms) / mean))
        order = sorted(range(len(mine)), key=lambda at: (-round(scores[at], 9), at))
        assert [mine[at]["id"] for at in order[:10]] == expected[query["qid"]][:10], query["qid"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("灯塔", ["灯塔", "灯", "塔", "灯塔"]),
        ("为什么", ["什么", "为什么", "为", "什", "么", "为什", "什么"]),
        ("GitHub备份", ["github", "git", "hub", "备份", "备", "份", "备份"]),
        ("events.jsonl", ["event", "jsonl"]),
        ("DeepSeek-V3 v2", ["deepseek", "deep", "seek", "v3", "v2"]),
        ("getUserName HTTPServer", ["getusernam", "get", "user", "nam", "httpserver", "http", "server"]),
        ("snake_case python3", ["snak", "cas", "python3", "python", "3"]),
        ("2026-11-13 18:05 3.14", ["2026", "11", "13", "18", "05", "3", "14"]),
        ("Caroline's don’t", ["carolin", "s", "don", "t"]),
        ("ＧｉｔＨｕｂ ② ｶﾅ", ["github", "git", "hub", "2", "カ", "ナ", "カ", "ナ", "カナ"]),
        ("Straße привет café", ["strass", "привет", "café"]),
        ("서울", ["서", "울", "서", "울", "서울"]),
        ("🎉 …!\x00\ud800", []),
    ],
)
def test_terms_of_mode_full(text: str, expected: list[str]) -> None:
    """Pinned: what the index holds of each kind of text. A change needs a new index format number."""
    assert words.tokens(text) == expected


def test_words_and_grams() -> None:
    """`words` keeps what stands there, folded, endings on; `grams` speaks of unspaced scripts alone."""
    assert words.words("Paintings 里的灯塔看守") == ["paintings", "里", "的", "灯塔", "看守"]
    assert words.grams("Paintings 灯塔看") == ["灯", "塔", "看", "灯塔", "塔看"]
    assert words.cut("为什么") == ["为什么"]


def test_a_query_loses_its_stop_words_but_never_all() -> None:
    """The index keeps stop words, so a text of nothing else is still found."""
    assert words.query_tokens("What did Caroline paint?") == ["carolin", "paint"]
    assert words.query_tokens("To be or not to be") == words.tokens("To be or not to be") != []
    assert words.query_tokens("你说的是什么") != []
    assert "的" in words.tokens("你的灯塔")
    assert "的" not in words.query_tokens("你的灯塔")
    assert words.query_tokens("") == []


SCENE = [
    "Worker 队列端口配错，任务没人消费",
    "GitHub备份脚本上传失败，换了SSH密钥",
    "微信读书的书架整理到一半",
]


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("队列端口", 0),
        ("端口配错", 0),
        ("docker 队列", 0),
        ("github备份", 1),
        ("ssh 密钥 上传", 1),
        ("书架 阅读偏好 推荐", 2),
    ],
)
@pytest.mark.parametrize("mode", ["full", "words"])
def test_mixed_queries_share_most_terms_with_their_note(query: str, note: int, mode: Mode) -> None:
    """Chinese, mixed and unspaced queries meet the right note first, in either mode."""
    shared = [len(set(words.query_tokens(query, mode)) & set(words.tokens(text, mode))) for text in SCENE]
    assert shared[note] == max(shared) > sorted(shared)[1]


@given(st.text(max_size=80))
def test_any_text_has_terms_that_can_be_stored(text: str) -> None:
    """No term is empty, blank or unfit for UTF-8, a query asks for nothing its own text lacks."""
    full = words.tokens(text)
    assert set(words.query_tokens(text)) <= set(full)
    for term in (*full, *words.tokens(text, "words"), *words.words(text), *words.grams(text)):
        assert term.strip()
        term.encode()


@given(st.text(max_size=80))
def test_case_and_width_do_not_matter(text: str) -> None:
    """A text and its folding have the same words and grams."""
    folded = normal.fold(text)
    if normal.fold(folded) == folded:
        assert words.words(folded) == words.words(text)
        assert words.grams(folded) == words.grams(text)


@given(st.text(max_size=40))
@settings(max_examples=300)
def test_runs_are_of_one_kind(text: str) -> None:
    """A run is all of Han, kana and hangul or has none of them."""
    for run in words.RUNS.findall(text):
        assert len({words.unspaced(character) for character in run}) == 1


@pytest.mark.parametrize("character", ["龘", "海", "a", "1", "\ud800", "\x00", "😀", "'", "ー", "%", "，", "é"])
@pytest.mark.parametrize("mode", ["full", "words"])
def test_a_long_run_of_one_character(character: str, mode: Mode) -> None:
    """A run of unknown characters costs jieba quadratic time: it gets no piece longer than PIECE, and all."""
    text = character * 1_000_000
    pieces = list(words._pieces(text))
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= words.PIECE
    assert len(words.tokens(text[:100_000], mode)) <= 200_000 + 100_000


def test_threads_share_one_tokenizer() -> None:
    """Eight first users at once get the same words."""
    words._open_tokenizer.cache_clear()
    found: list[list[str]] = []
    threads = [threading.Thread(target=lambda: found.append(words.tokens(LINES[0]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [words.tokens(LINES[0])] * 8


def fresh(code: str, tmp_path: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *flags, "-c", code],
        env=environ,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


CLEAN = """
import sys
from nebula.text import keywords, words
assert "jieba" not in sys.modules
assert words.tokens("plain English text")
assert "jieba" not in sys.modules, "English needs no jieba"
assert "灯塔" in words.tokens("灯塔看守的猫叫阿海")
assert keywords.keywords("灯塔看守的猫叫阿海")
unwanted = {"numpy", "pkg_resources", "setuptools", "jieba.posseg", "jieba.analyse", "paddle"}
unwanted &= set(sys.modules)
assert not unwanted, unwanted
import jieba
assert jieba.dt.FREQ == {} and not jieba.dt.initialized
"""


@pytest.mark.process
def test_the_import_is_silent_and_leaves_nothing(tmp_path: Path) -> None:
    """Nothing printed with all warnings on, no file left, no numpy, no pkg_resources, jieba.dt untouched."""
    (tmp_path / "jieba.cache").mkdir()
    done = fresh(CLEAN, tmp_path, "-W", "always")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path.name for path in tmp_path.iterdir()] == ["jieba.cache"]


@pytest.mark.process
def test_the_import_stands_warnings_as_errors(tmp_path: Path) -> None:
    """The escapes in jieba's source that warn on 3.12 and later are no error of ours."""
    done = fresh("from nebula.text import words; assert words.words('灯塔') == ['灯塔']", tmp_path, "-W", "error")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.process
def test_a_jieba_that_is_there_already_is_used(tmp_path: Path) -> None:
    """Another user's jieba, imported before, gives the same words."""
    code = "import warnings; warnings.simplefilter('ignore'); import jieba; from nebula.text import words\n"
    code += "assert words.words('小明在网易杭研大厦') == ['小明', '在', '网易', '杭研', '大厦']"
    done = fresh(code, tmp_path)
    assert done.returncode == 0, done.stderr


def test_stop_words_are_folded() -> None:
    """A stop word that is not as `words` gives it would never match."""
    assert all(normal.fold(word) == word and word.isalnum() for word in STOP_WORDS)
