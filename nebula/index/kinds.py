"""The six kinds of edge: names, weights, and the rules that read one text or one pair (spec 4). Needs no numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nebula.text import normal, words

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from nebula.mindlib.record import Memory

KIND_NAMES = ("内容引用", "共同关键词", "分类归属", "同源相邻", "语义相近", "日期星")
CONTENT, KEYWORDS, CATEGORY, SOURCE, MEANING, DATE = range(6)
WEIGHTS = (1.0, 2.0, 0.3, 0.35, 0.5, 0.55)
HUB_TO_CORE = 0.8
NEAR_SECONDS = 20 * 60
DATE_STARS = 45  # days, today included
#: Below this many memories no word counts as everybody's: in a handful every shared word would be.
COMMON_FROM = 16
#: A keyword joins a memory to this many of the latest that bear it.
REACH = 256
SHARED = 2  # keywords that make an edge by words, of either kind
LONG = 3  # characters of a keyword that counts as a reference
LONGEST = 16  # characters of a Han keyword that is looked for inside a run


def is_long(keyword: str) -> bool:
    """Whether its standing in a text counts as a reference."""
    return len(keyword) >= LONG


def unspaced_runs(text: str) -> list[str]:
    """A text's runs of Han, kana and hangul characters, folded."""
    return [run for run in words.RUNS.findall(normal.fold(text)) if words.unspaced(run)]


def mentioned(text: str, heads: Container[str] | None = None) -> Iterator[str]:
    """Every stretch of a text that could be a long keyword of another; `heads`: first three characters worth a look."""
    for run in words.RUNS.findall(normal.fold(text)):
        if not words.unspaced(run):
            if len(run) >= LONG:
                yield run
            continue
        for start in range(len(run) - LONG + 1):
            if heads is None or run[start : start + LONG] in heads:
                for end in range(start + LONG, min(len(run), start + LONGEST) + 1):
                    yield run[start:end]


def stands_in(keyword: str, text: str) -> bool:
    """Whether a long keyword stands in a text as `mentioned` finds it; the clear form, for one pair."""
    runs = words.RUNS.findall(normal.fold(text))
    if words.unspaced(keyword):
        return any(keyword in run for run in runs)
    return keyword in runs


def reason(kind: int, a: Memory, b: Memory, keywords_of: Mapping[str, tuple[str, ...]], cosine: float = 0.0) -> str:
    """Why two memories are joined, e.g. `共同关键词 灯塔·看守`; `keywords_of` maps ref to keywords."""
    name = KIND_NAMES[kind]
    mine, theirs = keywords_of[a.ref], keywords_of[b.ref]
    if kind == KEYWORDS:
        return f"{name} {'·'.join(k for k in mine if k in theirs)}"
    if kind == CONTENT:
        said = [k for k in theirs if is_long(k) and stands_in(k, a.text)]
        answered = [k for k in mine if is_long(k) and stands_in(k, b.text)]
        return f"{name} {'·'.join(said if len(said) >= len(answered) else answered)}"
    if kind == MEANING:
        return f"{name} {cosine:.2f}"
    if kind == SOURCE:
        return f"{name} {a.via} {abs(a.seconds - b.seconds) // 60} min"
    return f"{name} {a.tag if kind == CATEGORY else a.at[:10]}"
