"""The form of a text: what it says, by which it is known again however it is written or wrapped.

A form is a list of tokens: Han, kana and hangul one by one, other words whole, folded. Spaces, invisible characters and
marks play no part, but for signs that turn what is said: `-5`, `3.5`, `15%`, `$40`, `> 30`, `C++`, a question, a cross.
Wrappings fall off first: bullets, quotes, the score, labels, dates and refs that a list of memories puts around a text.
"""

from __future__ import annotations

import re
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Any

from nebula.text import datablock, normal
from nebula.text.words import RUNS, unspaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

TAIL = 80  # characters at a line's end among which a ref and a date behind a text are looked for

#: Characters that nobody sees: soft hyphens, zero widths, directions, variants of an emoji.
_UNSEEN = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_POINT = "ꞏ"  # a letter that nobody writes: a figure stays one word
_CURRENCIES = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yuan", "₩": "won", "₹": "rupee"}
#: Signs that turn what is said become words (signs, pattern, word); others fall away. A pattern is compiled when one of
#: its signs is met: all at once cost every command that shows a memory 3 ms.
_SPOKEN: Sequence[tuple[str, str, str | Callable[[re.Match[str]], str]]] = (
    (",", r"(?<=\d),(?=\d{3}(?!\d))", ""),  # 12,000
    (".", r"(?<![\d.])(\d+)\.(?=\d+(?!\d|\.\d))", rf"\1{_POINT}"),  # 3.5, not 1.2.3
    # -5, 气温-5; not 3-5, 1月-3月, covid-19
    ("-−–", r"(?:(?<![-\w])(?<!\d\s)|(?<=[^\W\d_a-zß-ÿ])(?<!\d[^\W\d_a-zß-ÿ]))[-−–](?=\d)", " minus"),
    ("-−–", r"(?<![a-z])(a|b|c|d|o|ab)[-−–](?![-\w])", r"\1minus "),  # 成绩A-, type O-
    ("+#", r"(?<=[a-z])(\+\+|[+#](?![a-z\d]))", lambda sign: "sharp" if sign[0] == "#" else "plus" * len(sign[0])),
    ("%‰", r"(?<=\d)\s*[%‰]", "percent "),
    ("$€£¥₩₹", r"[$€£¥₩₹](?=\s?\d)|(?<=\d)\s?[$€£¥₩₹]", lambda sign: f" {_CURRENCIES[sign[0].strip()]} "),
    ("<≤", r"(?<![-=])(?:<=?|≤)(?=\s*[-−]?\d)", " below "),
    (">≥", r"(?<![-=])(?:>=?|≥)(?=\s*[-−]?\d)", " above "),
    ("!≠", r"(?:!=|≠)", " unequal "),
    ("+", r"(?<=\d)\s*\+", " plus "),  # 3+4, 18+
    ("*×", r"(?<=\d)\s*[*×](?=\s*\d)", " times "),
    ("?", r"吗?\s*\?[?!]*", "吗"),
    ("❌✗✘✖👎💔🚫", r"[❌✗✘✖👎💔🚫]", "否"),
    ("☑☒", r"[☑☒]", "done "),
)

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
#: No sign, nothing of a word: what may stand around a text.
_MARK = r"(?:(?![-−–－]\d)[^\w@?？%％$€£¥￥₩₹❌✗✘✖👎💔🚫☑☒])"
#: A list's number: `2. `, `2、`, `（二）`, `一、`, `②`; not the start of `3.5`, `6:30` or `三、五号`.
_NUMERAL = r"[0-9〇零一二两三四五六七八九十百]"
_NUMBER = (
    rf"(?:\d{{1,3}}(?:[.．]\s|[)）、](?!{_NUMERAL})|[.．](?=[^\W\d_a-zA-Z]))|[一二三四五六七八九十]{{1,3}}(?:、(?!{_NUMERAL})|[)）])"
    r"|[①-⓿㈠-㈩❶-➓])"
)
#: Who speaks in a dialogue with an agent: `user:`, `助手：`, `[system]`; a name is one's own words.
_ROLE = r"(?i:(?:user|human|assistant|ai|system|bot|用户|人类|助手|助理|系统|机器人)\s*(?:[:：]|[\]>】]))"
_MARKS = re.compile(rf"(?:{_ROLE}|{_MARK}|{_NUMBER})*")
#: What a list puts before and behind a text; a date is one's own words unless a ref or a label stands beside it.
_BEFORE = re.compile(
    rf"(?:\[旧\]|\[old\]|旧(?=\s)|{_ROLE}|{_MARK}|{_NUMBER}|\d+\.\d{{2,3}}\b|{_DATE}|{_REF}|(?:{_LEDGER})(?![^\W\d_]))*"
)
_BEHIND = re.compile(rf"(?:{_MARK}|{_DATE}|{_REF})*$")
_LISTED = re.compile(rf"^{_MARK}*{_REF}|{_REF}{_MARK}*$")
#: The tags of a passage for a prompt (see `text.datablock`), one of them perhaps cut, and the titles in it.
_TAG = re.compile(r"</?memory-[0-9a-f]{1,12}(?:>|(?=[…&\s]|$))")
_TITLE = re.compile(
    r"\[(?:长期笔记|我是谁|你是谁|最近|到期的约定|分寸|想起|浮起"
    r"|Long-term notes|Who I am|Who you are|Lately|Promises due|Tact|Comes to mind|Came up by itself)\]"
)
#: What stands before a memory in it, which may be all that the cut left of the last one.
_ITEM = re.compile(rf"(?:^|\s)-\s\[{_REF}(?: (?:{_DATE}|\?) [^\[\]\s]{{1,20}}\]|[^\[\]\n]*…)", re.MULTILINE)
_CUT = re.compile(r"\S*…$", re.MULTILINE)  # a word that the cut may have gone through
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
PASSAGE = "passageꞏ"  # a word that nobody writes
NESTED = 16  # passages within a passage that are looked into
#: Lines that explain a hit.
_EXPLAINS = re.compile(
    r"\s*(?:[词义图时]#\d+ \d|(?:[词义图时]|说话人|speaker|RRF) \d|图 ← |w \d[\d.]*(?:\s|$)"
    r"|内容引用 |共同关键词 |同源相邻 |语义相近 )"
)


def tokens(text: str) -> list[str]:
    """A text's form: single characters of scripts without spaces, words, and signs that turn what is said as words.

    Worked figures: `渡轮，6点开! It's` -> 渡 轮 6 点 开 it's; `跌了-1,200元？` -> 跌 了 minus1200 元 吗.
    """
    folded, found = _spoken(normal.fold(text)), list[str]()
    end = -2  # of the last word that an apostrophe may go on
    for match in RUNS.finditer(folded):
        run, goes_on = match[0], match.start() == end + 1 and folded[end] == "'"
        if unspaced(run):
            found += run
        elif goes_on:
            found[-1] += folded[end] + run
        else:
            found.append(run)
        end = -2 if goes_on or unspaced(run) else match.end()
    return found


def joined(said: Sequence[str]) -> str:
    """Tokens as one text: a space between two that are words."""
    spaces = ("" if unspaced(one[0]) or unspaced(other[0]) else " " for one, other in pairwise(said))
    return "".join(token + space for token, space in zip_longest(said, spaces, fillvalue=""))


def _spoken(folded: str) -> str:
    """A folded text without what nobody sees, and with words for the signs that turn what is said."""
    if not folded.isascii():
        folded = _UNSEEN.sub("", folded).replace("’", "'")
    for signs, pattern, word in _SPOKEN:
        if any(sign in folded for sign in signs):
            folded = re.sub(pattern, word, folded)
    return folded


def parts(text: str) -> list[list[str]]:
    """The tokens of what a text says, line by line, wrappings fallen off; a JSON document gives its texts.

    A line that only introduces others (it ends in a colon) says nothing itself. A whole passage for a prompt counts as
    the mere word for one: whatever it holds was said, and the next one holds it, too.
    """
    text, whole = datablock.without_blocks(text), text
    lines = [line.rstrip() for line in _out_of_passage(_out_of_json(text)).split("\n") if not _EXPLAINS.match(line)]
    if len(lines) > 1:
        lines = [line for line in lines if not line.endswith((":", "："))]
    found = [tokens(unwrapped(line)) for line in lines]
    return [one for one in found if one] or ([] if text == whole else [[PASSAGE]])


def unwrapped(line: str) -> str:
    """A line without what a list of memories puts around a text; the line itself where nothing would be left."""
    bare = _LABEL.sub(" ", line)
    listed = bare != line or _LISTED.search(line)
    start = (_BEFORE if listed else _MARKS).match(bare)
    bare = bare[start.end() :] if start else bare
    return (bare[:-TAIL] + _BEHIND.sub("", bare[-TAIL:]) if listed else bare) or line


def _out_of_passage(text: str) -> str:
    """A text with the lines of a passage for a prompt on lines of their own, also of one that stands in it escaped."""
    if "memory-" not in text:
        return text
    plain = text
    for _ in range(NESTED):
        before = plain
        for entity, character in _ENTITIES:
            plain = plain.replace(entity, character)
        if plain == before:
            break
    if not _TAG.search(plain):
        return text
    return _CUT.sub("", _ITEM.sub("\n", _TITLE.sub("\n", _TAG.sub("\n", plain))))


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
