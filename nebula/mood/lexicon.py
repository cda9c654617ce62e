"""What a text says that is felt: words of the seven dimensions, with negation and intensifiers, Chinese and English.

At each place the longest word counts, so that one that merely holds another hides it (开心果, sweet potato). What
stands directly before it, and a few endings, change it: 很 makes it stronger, 有点 weaker, 不 turns it. A turned
`happy` is a mild sadness and a turned `calm` a mild worry; any other turned word is silence: 不难过 says nothing of
what is felt instead. Of each dimension the strongest word counts. A text is read up to its 20,000th character.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from nebula.mindlib.record import EMOTIONS
from nebula.mood.emotionwords import CHINESE, ENGLISH, FALSE_FRIENDS, TRADITIONAL
from nebula.quick import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

READ = 20_000  # characters
STRONGER, WEAKER, TURNED = 1.3, 0.6, 0.5
#: What a turned word says; of the others nothing.
OPPOSITE: Mapping[str, str] = {"happy": "sad", "calm": "worry"}

_BEFORE, _AFTER = 48, 8  # characters looked at around a word
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True)
class _Rules:
    """A language's surroundings; all but the two `after` are matched up to where the word begins.

    Compiled when a word is found: most texts have none, and it would cost every command 5 ms.
    """

    turns: re.Pattern[str]  # one negation or several in a row
    each: re.Pattern[str]
    asked: re.Pattern[str]
    very: re.Pattern[str]
    little: re.Pattern[str]
    very_after: re.Pattern[str]
    turned_after: re.Pattern[str]

    def asks(self, before: str, first: str) -> bool:
        """有没有…, 是不是…, and a word's own beginning before 不 (开不开心, 难不难过): asked, not denied."""
        return bool(self.asked.search(before)) or before.endswith(f"{first}不")


_ZH_NOT = "没人|无人|并不|毫不|从不|不要|不用|不必|并非|毫无|没有|不|(?<![埋淹出沉])没|(?<![特告分离道区性])别|未"
_ZH_VERY = (
    "非常|特别|十分|极其|极度|极为|格外|分外|无比|异常|相当|实在|真的|真是|超级|超|太|很|好|真|万分|满心|满怀|尤其|那么|这么|"
    "多么|更加|更|最|蛮|挺|巨"
)
_ZH_LINK = "什么可|什么好|什么|啥可|啥好|得|可|是|会|再|能|觉得|感到|感觉|算|够|想|让人|令人|怎么|的|有点|一点"
_EN_VERY = (
    "very|really|so|too|extremely|incredibly|deeply|terribly|truly|super|absolutely|utterly|totally|completely|such|"
    "awfully|most|much|more"
)


@cache
def _chinese() -> _Rules:
    return _Rules(
        turns=re.compile(rf"(?:(?:{_ZH_NOT})(?:{_ZH_LINK}|{_ZH_VERY})*)+$"),
        each=re.compile(_ZH_NOT),
        asked=re.compile(rf"(?:有没有|是不是|会不会|要不要|能不能|开心不|高兴不)(?:{_ZH_LINK}|{_ZH_VERY})*$"),
        very=re.compile(rf"(?:{_ZH_VERY})(?:的|地|得|是|让人|令人)?$"),
        little=re.compile(r"(?:有一?点点?儿?|一点点?|有些|稍微|略微|略|微微|些许|小小地?)(?:的|地|让人|令人)?$"),
        very_after=re.compile(r"极了|死了|坏了|疯了|透了|得不得了|得要命|得要死|得不行|得很|不已|至极|到不行|到爆"),
        turned_after=re.compile(r"不起来|不了(?!.{0,2}多)"),
    )


@cache
def _english() -> _Rules:
    return _Rules(
        turns=re.compile(
            r"(?:(?:\b(?:not|never|no|without|hardly|barely|neither|nor|cannot|nothing|(?:is|are|was|were|do|does|did|have|"
            r"had|ca|wo|ai|would|should|could)nt)|n't)\s+"
            rf"(?:(?:{_EN_VERY}|quite|particularly|overly|that|a|an|the|any|be|been|being|feel|feeling|get|getting|at|all|"
            r"longer|anymore|even|exactly|you|to|make|made|me)\s+)*)+$"
        ),
        each=re.compile(r"\b(?:not|never|no|without|hardly|barely|neither|nor|cannot|nothing)\b|n't|\w+nt\b"),
        asked=_NEVER,
        very=re.compile(rf"\b(?:{_EN_VERY})\s+(?:an?\s+)?$"),
        little=re.compile(
            r"\b(?:slightly|a (?:little|little bit|bit|tad)|somewhat|kind of|kinda|sort of|sorta|mildly)\s+$"
        ),
        very_after=re.compile(r" as can be| to death| beyond words"),
        turned_after=_NEVER,
    )


@dataclass(frozen=True)
class Heard:
    """What is heard in a text: dimension -> strength 0…1 in the table's order, and the words, as they stand in it."""

    dims: Mapping[str, float]
    words: tuple[str, ...]


@dataclass(frozen=True)
class _Word:
    start: int
    end: int
    dim: str  # "" for a false friend
    strength: float


def hear(text: str) -> Heard:
    """The feelings that a text speaks of."""
    read = text[:READ]
    folded = _folded(read)
    dims: dict[str, float] = {}
    words: list[str] = []
    for word in _words(folded):
        start, dim, strength = _in_place(folded, word)
        if dim:
            dims[dim] = max(dims.get(dim, 0.0), strength)
            words.append(read[start : word.end].strip())
    return Heard({name: dims[name] for name in EMOTIONS if name in dims}, tuple(dict.fromkeys(words)))


def dominant(heard: Heard) -> tuple[str, float]:
    """The strongest dimension and its strength; ties to the first in the table, ("", 0) for none."""
    name = max(heard.dims, key=lambda dim: heard.dims[dim], default="")
    return name, heard.dims.get(name, 0.0)


def feels(text: str) -> bool:
    """Whether a text has an emotion word in it that is not merely denied."""
    return bool(hear(text).dims)


def _folded(text: str) -> str:
    """One character for each, so that places stay: lower case, plain apostrophes, simplified characters."""
    folded = "".join(low if len(low := c.lower()) == 1 else c for c in text)
    return folded.replace("’", "'").replace("‘", "'").translate(TRADITIONAL)


def _words(folded: str) -> Iterator[_Word]:
    """The words of a text from left to right, at each place the longest; Latin ones whole."""
    known, lengths = _table()
    at, previous = 0, " "
    while at < len(folded):
        here, found = folded[at], ""
        if not (_latin(here) and _latin(previous)):
            cuts = (folded[at : at + length] for length in lengths.get(here, ()))
            found = next((cut for cut in cuts if cut in known and _ends(cut, folded[at + len(cut) :][:1])), "")
        if found:
            yield _Word(at, at + len(found), *known[found])
        at += len(found) or 1
        previous = folded[at - 1]


def _ends(cut: str, following: str) -> bool:
    return not (_latin(cut[-1]) and _latin(following))


def _latin(char: str) -> bool:
    return "a" <= char <= "z"


@cache
def _table() -> tuple[Mapping[str, tuple[str, float]], Mapping[str, Sequence[int]]]:
    """(word -> dimension and strength, first character -> lengths of the words that begin so, the longest first)."""
    table = {word.replace("_", " "): ("", 0.0) for word in FALSE_FRIENDS.split()}
    for language in (CHINESE, ENGLISH):
        for dim, grades in language.items():
            for strength, words in grades.items():
                table.update({word.replace("_", " "): (dim, strength) for word in words.split()})
    lengths: dict[str, set[int]] = {}
    for word in table:
        lengths.setdefault(word[0], set()).add(len(word))
    return table, {first: sorted(found, reverse=True) for first, found in lengths.items()}


def _in_place(folded: str, word: _Word) -> tuple[int, str, float]:
    """(start with what turns it, dimension, strength) of a word as its surroundings make it; "" for silence."""
    before = folded[max(0, word.start - _BEFORE) : word.start]
    after = folded[word.end : word.end + _AFTER]
    rules = _english() if folded[word.start].isascii() else _chinese()
    turned = rules.turns.search(before)
    nots = len(rules.each.findall(turned[0])) if turned and not rules.asks(before, folded[word.start]) else 0
    if rules.turned_after.match(after):
        nots += 1
    begin = word.start - len(turned[0]) if turned and nots else word.start
    while begin < word.start and begin > 0 and _latin(folded[begin - 1]):  # the whole of isn't, not its n't
        begin -= 1
    if nots % 2:
        return begin, OPPOSITE.get(word.dim, ""), round(word.strength * TURNED, 3)
    strength = word.strength
    if rules.little.search(before):
        strength *= WEAKER
    elif rules.very.search(before) or rules.very_after.match(after):
        strength *= STRONGER
    return begin, word.dim, round(min(1.0, strength), 3)
