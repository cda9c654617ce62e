"""How much of a text is said by others: exactly, by runs of tokens, whatever wraps it.

A text's *form* is its tokens: Han, kana and hangul one by one, other words whole, folded; marks and spaces play no
part. Wrappings fall off first: bullets, quotes, the score, labels, dates and refs that a list of memories puts around a
text, line by line. `cover` then lays the sources' runs over the tokens; what no run covers is new, and one new token
may change everything: figures, negations, a name put in another's place. So the answer is the tokens themselves.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from zlib import crc32

from nebula.quick import dataclass
from nebula.text import framing, normal
from nebula.text.words import RUNS, unspaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

#: Tokens of a run that is worth something, and of the grams by which sources are found.
RUN = 3
COSTLY = 100_000  # pairs of equal tokens in two texts, some 20 ms
TAIL = 80  # characters at a line's end among which a ref and a date behind a text are looked for
WINDOW = 4  # grams in a row of which one is a fingerprint
#: A part of a source counts from so many tokens on, or from half of the source.
PART = 12
#: Characters of a text that is compared; a longer one is taken as news, for the matching would cost too much.
LONGEST = 16_000
#: Tokens on either side of a part of a source among which a negation left out turns it.
EDGE = 4
#: The share of new tokens up to which a text says what its sources say.
GLUE = 0.2
#: Tokens of a line below which a word before or behind a source is no glue, unless it frames it: `小王` before a habit.
SHORT = 24

_FIGURE = re.compile(r"[0-9]|[〇零一二两三四五六七八九十百千万亿半]")
_NEGATIONS = frozenset([*"不没无未别非勿莫否", "no", "not", "never", "none", "nor", "neither", "nothing", "without"])
#: What may come or go between runs and changes nothing.
_PARTICLES = frozenset([*"的地得了呢吧啊呀嘛", "a", "an", "the"])
_DATE = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?"
_REF = r"(?<!\w)(?:[npothsNPOTHS]\d{1,16}|@\d+)(?!\w)"
_LEDGER = "事实|画像|约定|分寸|念想|小结|notes|profile|promises|tacts|thoughts|summaries"
#: A hit's labels with what stands around them: the ref of the one before, its score, the mark of an old one, its day;
#: what a list puts before a text; what a passage for a prompt does: `[n12 2026-11-13 source]`.
_LABEL = re.compile(
    rf"(?:{_REF} +)?(?:\d\.\d{{3}} )?\[(?:[^\[\]#\s]{{1,8}}#\d+ ?)+\](?: ?(?:\[旧\]|\[old\]|旧))?(?: {_DATE})?"
    rf"|{_REF} +{_DATE} +(?:{_LEDGER})(?![^\W\d_])"
    rf"|\[{_REF} (?:{_DATE}|\?) [^\[\]\s]{{1,20}}\]"
)
_MARK = r"[^\w@]"
#: A list's number: `2. `, `2、`, `（二）`, `一、`, `②`; not the start of `3.5`, `6:30` or `三、五号`.
_NUMERAL = r"[0-9〇零一二两三四五六七八九十百]"
_NUMBER = (
    rf"(?:\d{{1,3}}(?:[.．]\s|[)）、](?!{_NUMERAL})|[.．](?=[^\W\d_a-zA-Z]))|[一二三四五六七八九十]{{1,3}}(?:、(?!{_NUMERAL})|[)）])"
    r"|[①-⓿㈠-㈩❶-➓])"
)
_MARKS = re.compile(rf"(?:{_MARK}|{_NUMBER})*")
#: What a list puts before and behind a text; a date is one's own words unless a ref or a label stands beside it.
_BEFORE = re.compile(
    rf"(?:\[旧\]|\[old\]|旧(?=\s)|{_MARK}|{_NUMBER}|\d+\.\d{{2,3}}\b|{_DATE}|{_REF}|(?:{_LEDGER})(?![^\W\d_]))*"
)
_BEHIND = re.compile(rf"(?:{_MARK}|{_DATE}|{_REF})*$")
_LISTED = re.compile(rf"^{_MARK}*{_REF}|{_REF}{_MARK}*$")
#: Lines that explain a hit.
_EXPLAINS = re.compile(
    r"\s*(?:[词义图时]#\d+ \d|(?:[词义图时]|说话人|speaker|RRF) \d|图 ← |w \d[\d.]*(?:\s|$)"
    r"|内容引用 |共同关键词 |同源相邻 |语义相近 )"
)


@dataclass(frozen=True)
class Cover:
    """What sources say of a text: tokens of each source's runs, and what differs.

    `added` tokens stand in the text alone, before or behind all that a source says; `put` between its runs or in place
    of its other words, or around it in a short line; what frames it (see `framing`) counts as nothing. `dropped` are
    left out between runs, or are negations beside them. `total`: the text's tokens.
    """

    by: Mapping[int, int] = field(default_factory=dict)
    added: Sequence[str] = ()
    put: Sequence[str] = ()
    dropped: Sequence[str] = ()
    total: int = 0

    @property
    def share(self) -> float:
        """The share of tokens that differ, 0…; 1 where no source says anything of it."""
        return (len(self.added) + len(self.put) + len(self.dropped)) / self.total if self.by else 1.0

    @property
    def same(self) -> bool:
        """Whether every token is the sources'."""
        return self.share == 0.0

    @property
    def says_nothing_new(self) -> bool:
        """At most a fifth differs, none of it a figure or a negation, and between the runs nothing but particles."""
        inside = [*self.put, *self.dropped]
        return (
            self.share <= GLUE
            and not any(is_hard(token) for token in [*self.added, *inside])
            and all(token in _PARTICLES for token in inside)
        )


def tokens(text: str) -> list[str]:
    """A text's form: single characters of scripts without spaces, and words, one apostrophe within.

    Worked figure: `渡轮，6点开! It's` -> 渡 轮 6 点 开 it's.
    """
    folded, found = normal.fold(text), list[str]()
    end = -2  # of the last word that an apostrophe may go on
    for match in RUNS.finditer(folded):
        run, goes_on = match[0], match.start() == end + 1 and folded[end] in "'’"
        if unspaced(run):
            found += run
        elif goes_on:
            found[-1] += folded[end] + run
        else:
            found.append(run)
        end = -2 if goes_on or unspaced(run) else match.end()
    return found


def is_hard(token: str) -> bool:
    """Whether a token alone turns what is said: a figure or a negation."""
    return token in _NEGATIONS or token.endswith(("n't", "n’t")) or _FIGURE.search(token) is not None


def parts(text: str) -> list[list[str]]:
    """The tokens of what a text says, line by line, wrappings fallen off; a JSON document gives its texts.

    A line that only introduces others (it ends in a colon) says nothing itself.
    """
    lines = [line.rstrip() for line in _out_of_json(text).split("\n") if not _EXPLAINS.match(line)]
    if len(lines) > 1:
        lines = [line for line in lines if not line.endswith((":", "："))]
    found = [tokens(unwrapped(line)) for line in lines]
    return [one for one in found if one]


def unwrapped(line: str) -> str:
    """A line without what a list of memories puts around a text; the line itself where nothing would be left."""
    bare = _LABEL.sub(" ", line)
    listed = bare != line or _LISTED.search(line)
    start = (_BEFORE if listed else _MARKS).match(bare)
    bare = bare[start.end() :] if start else bare
    return (bare[:-TAIL] + _BEHIND.sub("", bare[-TAIL:]) if listed else bare) or line


def _out_of_json(text: str, depth: int = 3) -> str:
    """A text with the memories' own texts in place of JSON that holds them: a whole document, or some of its lines."""
    if '"text"' not in text or not depth:
        return text
    whole = _replaced(text)
    lines = [whole] if whole != text else [_replaced(line) for line in text.split("\n")]
    found = "\n".join(lines)
    return found if found == text else _out_of_json(found, depth - 1)


def _replaced(text: str) -> str:
    """A text whose one JSON object gave way to the texts in it; itself where it holds none."""
    import orjson

    start, end = text.find("{"), text.rfind("}") + 1
    if start < 0 or end <= start:
        return text
    try:
        found = list(_texts(orjson.loads(text[start:end])))
    except ValueError:
        return text
    return text[:start] + "\n".join(found) + text[end:] if found else text


def _texts(value: Any) -> Iterator[str]:
    """The text of every memory in a JSON value: of objects that have a ref or an id beside it."""
    if isinstance(value, dict):
        if isinstance(value.get("text"), str) and ("ref" in value or "id" in value):
            yield value["text"]
            return
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)


def grams(said: Sequence[str]) -> list[int]:
    """A number for every run of three tokens, in order; 20 bits are enough to find candidates by."""
    return [
        crc32(" ".join(said[at : at + RUN]).encode("utf-8", "surrogatepass")) & 0xFFFFF
        for at in range(len(said) - RUN + 1)
    ]


def fingerprints(said: Sequence[str]) -> list[int]:
    """Of every `WINDOW` grams in a row the least, each once (winnowing, Schleimer et al. 2003).

    Whatever shares six tokens in a row with the text has one of them among its grams.
    """
    numbers = grams(said)
    return sorted(
        {min(numbers[at : at + WINDOW]) for at in range(max(1, len(numbers) - WINDOW + 1))} if numbers else ()
    )


def cover(said: Sequence[str], sources: Mapping[int, Sequence[str]]) -> Cover:
    """What sources (number -> tokens, the likeliest first) say of one line. Each lays its runs over what is left."""
    for number, source in sources.items():
        if list(said) == list(source):
            return Cover({number: len(said)}, total=len(said))
    left, by = [_Piece(0, len(said))], {}
    put: list[str] = []
    dropped: list[str] = []
    for number, source in sources.items():
        for piece in left:
            runs = _runs(said[piece.start : piece.end], source)
            if not runs:
                continue
            by[number] = sum(size for _, _, size in runs)
            for (a, b, size), (next_a, next_b, _) in pairwise(runs):
                put += said[piece.start + a + size : piece.start + next_a]
                dropped += source[b + size : next_b]
            (a, b, _), (last_a, last_b, size) = runs[0], runs[-1]
            before, behind = source[:b], source[last_b + size :]
            dropped += [t for t in [*before[-EDGE:], *behind[:EDGE]] if t in _NEGATIONS or t.endswith("n't")]
            front = _Piece(piece.start, piece.start + a, piece.instead or _says(before))
            rest = _Piece(piece.start + last_a + size, piece.end, piece.instead or _says(behind))
            if rest.end == rest.start + 1 and behind and behind[0].startswith(said[rest.start]):
                rest = _Piece(rest.end, rest.end)  # a word that was cut short with the text
            left = [*(p for p in left if p != piece), *(p for p in (front, rest) if p.start < p.end)]
            break
    left = [p for p in left if not _hands_on(said[p.start : p.end], () if p.instead else sources.values())]
    weighs = bool(by) and len(said) < SHORT
    added = [token for p in left if not p.instead and not weighs for token in said[p.start : p.end]]
    put += [token for p in left if p.instead or weighs for token in said[p.start : p.end]]
    return Cover(by, added, put, dropped, len(said))


def _hands_on(said: Sequence[str], sources: Iterable[Sequence[str]]) -> bool:
    """Whether it only frames, or says once more how a source begins: `听说听说…` in a loop."""
    starts = [list(source) for source in sources]
    rest = list(said)
    for size in range(len(rest), 1, -1):
        if any(rest[-size:] == start[:size] for start in starts):
            rest = rest[:-size]
            break
    return framing.is_frame(rest)


def _says(said: Sequence[str]) -> bool:
    """Whether anything but particles is among the tokens."""
    return any(token not in _PARTICLES for token in said)


@dataclass(frozen=True)
class _Piece:
    """Tokens that no run covers yet; `instead`: they stand where a source says something else."""

    start: int
    end: int
    instead: bool = False


def _runs(said: Sequence[str], source: Sequence[str]) -> list[tuple[int, int, int]]:
    """The common runs (place in the text, in the source, length) between the first and the last that is long enough.

    None where the source says too little of it: less than `PART` tokens and less than half of itself, unless all of a
    short one is there; nor where a few tokens come so often in both that finding runs would take seconds.
    """
    import difflib

    often = Counter(source)
    if sum(often[token] for token in said) > COSTLY:
        return []
    blocks = [
        (block.a, block.b, block.size)
        for block in difflib.SequenceMatcher(None, said, source, autojunk=False).get_matching_blocks()
        if block.size
    ]
    long = [at for at, block in enumerate(blocks) if block[2] >= min(RUN, len(source))]
    if not long:
        return []
    runs = blocks[long[0] : long[-1] + 1]
    covered = sum(size for _, _, size in runs)
    enough = covered >= PART or (covered * 2 >= len(source) and covered > RUN) or covered == len(source)
    return runs if enough else []


def together(covers: Sequence[Cover]) -> Cover:
    """The covers of a text's lines as one."""
    by: dict[int, int] = {}
    for one in covers:
        for number, count in one.by.items():
            by[number] = by.get(number, 0) + count
    return Cover(
        by,
        [token for one in covers for token in one.added],
        [token for one in covers for token in one.put],
        [token for one in covers for token in one.dropped],
        sum(one.total for one in covers),
    )


def resemblance(said: Sequence[str], source: Sequence[str]) -> float:
    """The share of both texts' tokens that stand in common runs, 0…1; runs as in `cover`."""
    total = len(said) + len(source)
    return 2 * sum(size for _, _, size in _runs(said, source)) / total if total else 0.0


def likeliest(said: Sequence[str], prints: Sequence[Sequence[int]], at_most: int = 12) -> list[int]:
    """The places of those fingerprints that meet a text's grams most, best first, the latest among equals.

    A single print met is chance, unless it is a third of a short text's.
    """
    wanted = set(grams(said))
    counts = [len(wanted.intersection(one)) for one in prints]
    met = [at for at, count in enumerate(counts) if count > 1 or count * 3 >= max(1, len(prints[at]))]
    return sorted(met, key=lambda at: (-counts[at], -at))[:at_most]
