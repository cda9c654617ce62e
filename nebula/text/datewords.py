"""The words of dates, Chinese and English: what each one counts, and the shapes in which they stand together.

Tables and patterns only; what a shape means is in `dates`. In a shape `<NAME>` stands for a fragment below. Guards
(characters that may not stand before or after) keep 周三郎, 三天前端课 and 5号线 from being dates.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Traditional characters that dates are written with, each as its simplified one.
SIMPLIFIED = str.maketrans(
    "週後個點號禮過內來間鐘兩時裡裏國慶聖誕節勞動兒農曆陰舊歷從這開",
    "周后个点号礼过内来间钟两时里里国庆圣诞节劳动儿农历阴旧历从这开",
)

_UNITS = "零一二三四五六七八九"
_ENGLISH_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

DAYS = {
    "大前天": -3, "前天": -2, "昨天": -1, "昨日": -1, "今天": 0, "今日": 0, "明天": 1, "明日": 1, "后天": 2,
    "大后天": 3, "昨": -1, "今": 0, "明": 1, "the day before yesterday": -2, "day before yesterday": -2,
    "yesterday": -1, "today": 0, "tomorrow": 1,
    "the day after tomorrow": 2, "day after tomorrow": 2, "last": -1, "this": 0, "": 0,
}  # fmt: skip
YEARS = {
    "大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2, "大后年": 3,
    "last year": -1, "this year": 0, "next year": 1,
}  # fmt: skip
STEPS = {
    "上上上": -3, "上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2, "下下下": 3,
    "last": -1, "this": 0, "next": 1,
}  # fmt: skip
WEEKDAYS = {
    **dict(zip("一二三四五六日", range(7), strict=True)), "天": 6,
    **dict(zip(("mon", "tue", "wed", "thu", "fri", "sat", "sun"), range(7), strict=True)),
}  # fmt: skip
MONTHS = dict(
    zip(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), range(1, 13), strict=True)
)
#: The first month of a season. Each lasts three months, so that the winter of a year ends in the next one's February.
SEASONS = {"春": 3, "夏": 6, "秋": 9, "冬": 12, "spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
#: Parts of a month: first and last day (31 for whatever is the last).
THIRDS = {
    "初": (1, 10), "上旬": (1, 10), "中旬": (11, 20), "下旬": (21, 31), "底": (21, 31), "末": (21, 31),
    "beginning": (1, 10), "start": (1, 10), "middle": (11, 20), "end": (21, 31),
}  # fmt: skip
#: Feasts with a fixed date: month, day, and by how many days people stretch the word (国庆 is a week).
HOLIDAYS = {
    "元旦": (1, 1, 2), "情人节": (2, 14, 0), "妇女节": (3, 8, 0), "劳动节": (5, 1, 4), "五一": (5, 1, 4),
    "儿童节": (6, 1, 0), "教师节": (9, 10, 0), "国庆": (10, 1, 6), "平安夜": (12, 24, 0), "圣诞": (12, 25, 1),
    "new year's day": (1, 1, 0), "valentine's day": (2, 14, 0), "halloween": (10, 31, 0), "christmas eve": (12, 24, 0),
    "christmas": (12, 25, 1), "new year's eve": (12, 31, 0),
}  # fmt: skip


class Part(NamedTuple):
    """A part of the day: the hours it spans, and the hours a clock time named with it may have (to: exclusive)."""

    start: int
    end: int
    clock_from: int
    clock_to: int


_NIGHT = Part(18, 28, 17, 25)  # a night lasts until four: 昨晚 holds what was said at one
PARTS = {
    "凌晨": Part(0, 6, 0, 6), "早晨": Part(5, 12, 4, 12), "清晨": Part(5, 12, 4, 12), "早上": Part(5, 12, 4, 12),
    "早": Part(5, 12, 4, 12), "晨": Part(5, 12, 4, 12), "上午": Part(5, 12, 5, 12), "中午": Part(11, 14, 11, 15),
    "下午": Part(12, 18, 12, 19), "傍晚": Part(17, 20, 17, 20), "晚上": _NIGHT, "晚": _NIGHT, "夜里": _NIGHT,
    "夜": _NIGHT, "深夜": Part(22, 28, 22, 25), "morning": Part(5, 12, 4, 12), "afternoon": Part(12, 18, 12, 19),
    "evening": Part(18, 24, 17, 24), "night": _NIGHT, "tonight": _NIGHT,
}  # fmt: skip


class Amount(NamedTuple):
    """What one unit of a duration counts, and how far off people mean it (hours; 两周前 is not that very day)."""

    kind: str
    size: int
    about: float


_HOUR, _WEEK, _MONTH = Amount("minutes", 60, 0.5), Amount("days", 7, 72), Amount("months", 1, 15 * 24)
_MINUTE, _DAY, _YEAR = Amount("minutes", 1, 0), Amount("days", 1, 0), Amount("months", 12, 182 * 24)
AMOUNTS = {
    "分钟": _MINUTE, "刻钟": Amount("minutes", 15, 0), "小时": _HOUR, "钟头": _HOUR, "天": _DAY, "周": _WEEK,
    "星期": _WEEK, "礼拜": _WEEK, "月": _MONTH, "年": _YEAR, "min": _MINUTE, "minute": _MINUTE, "h": _HOUR, "hr": _HOUR,
    "hour": _HOUR, "d": _DAY, "day": _DAY, "w": _WEEK,
    "week": _WEEK, "mo": _MONTH, "month": _MONTH, "y": _YEAR, "year": _YEAR,
}  # fmt: skip
HALVES = {
    "小时": Amount("minutes", 30, 0), "钟头": Amount("minutes", 30, 0), "hour": Amount("minutes", 30, 0),
    "月": Amount("days", 15, 72), "年": Amount("months", 6, 45 * 24), "year": Amount("months", 6, 45 * 24),
}  # fmt: skip


def number(text: str) -> int | None:
    """Digits, Chinese numerals up to 九十九, a year digit by digit (二〇二四), or an English word up to twelve."""
    word = text.strip().lower()
    if word.isdigit():
        return int(word)
    if word in {"a", "an"} or word in _ENGLISH_NUMBERS:
        return _ENGLISH_NUMBERS.index(word) + 1 if word in _ENGLISH_NUMBERS else 1
    word = word.replace("两", "二").replace("〇", "零")
    if len(word) == 4 and all(char in _UNITS for char in word):
        return int("".join(str(_UNITS.index(char)) for char in word))
    found = re.fullmatch("(?:([二三四五六七八九]?)(十))?([一二三四五六七八九]?)|零([零一二三四五六七八九]?)", word)
    if found is None or not word:
        return None
    tens, ten, one, after_zero = (group or "" for group in found.groups())
    high = (_UNITS.index(tens) if tens else 1) if ten else 0
    return high * 10 + (_UNITS.index(one or after_zero) if one or after_zero else 0)


def amount(count: str, unit: str) -> tuple[Amount, int] | None:
    """`半` and `年` -> six months once; `3` and `days` -> a day three times. None where there is no such measure."""
    word = unit.lower().removeprefix("个")
    word = word if word in AMOUNTS else word.removesuffix("s")
    if count == "半" or count.lower().startswith("half"):
        return (HALVES[word], 1) if word in HALVES else None
    times = number(count)
    return None if times is None else (AMOUNTS[word], times)


FRAGMENTS = {
    "NUM": "(?:[0-9]{1,4}|[零一二两三四五六七八九十]{1,4})",
    # before a number: nothing that makes it another one, an ordinal, a rate, or the end of a range
    "N": r"(?<![0-9A-Za-z.零〇一二两三四五六七八九十百千万几数第每到至~/:、—–-])",
    "NONUM": "(?![0-9零〇一二两三四五六七八九十百])",
    "YEAR": "(?:(?<![0-9〇零一二三四五六七八九第])(?<![0-9年][-~–—/、])(?:[0-9]{4}|[〇零一二三四五六七八九]{4})年"
    "|(?<![如当])今年|(?<!过)去年|(?<!大)大[前后]年|(?<![以之目大前年月周天])前年|(?<![聪光透说证大])明年|(?<![以之今然往最大后])后年)",
    # 2025下半年, 2025 3月: no 年 needed before what only a year has; 25下半年 may be anything
    "BARE": "(?<![0-9A-Za-z.:/第~–—-])(?:19|20)[0-9]{2}",
    "STEP": "(?<![上下晚早路网线以世街身手海天楼底大])(?P<step>上{1,3}|下{1,3}|[这本])一?个?",
    "WEEK": "(?:周|星期|礼拜)",
    "WD": "(?:周(?!天)|星期|礼拜)(?P<wd>[一二三四五六日天])"
    "(?![零一二两三四五六七八九十0-9](?![零一二三四五六七八九十0-9]?[点:])"
    "|[日次回遍节趟场顿篇郎围福多鸣哥姐爷妹弟历记报刊常丰年月更练休]|天(?!气)|[至到~、-][一二三四五六日天](?![月年号]))",
    # before a weekday that stands alone: neither a number nor what ties it to another time (那周三, 上上上上周三)
    "OWNWEEK": "(?<![大上下][上下])"
    "(?<![零一二两三四五六七八九十半每几0-9单双隔首圆那某另同当头个周期拜末的前后次翌色])",
    "WDAY": r"(?P<wd>Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)day\b",
    "WSHORT": r"(?P<wd>Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b\.?",
    "UNIT": "(?:分钟|刻钟|个?小时|个?钟头|天|周|个?星期|个?礼拜|个月|年)",
    "LENGTH": r"(?:(?P<n><NUM>)\s?(?P<unit><UNIT>)|(?P<n2>半)(?P<unit2>个?小时|个?钟头|个月|年))",
    "INYEAR": r"(?:(?P<y><YEAR>)的?\s?<N>|(?P<y2><BARE>)(?:\s|的|(?=[一二三四五六七八九十]))"
    r"|(?<![年历个岁那某同当的春夏秋冬)])<N>)(?P<m><NUM>)\s?",
    # 用了3月, 最近3月: three months as people write it in haste, as likely as March
    "LASTED": "(?:(?=<YEAR>)|(?<![用住花等待呆学干做忙练拖欠租休歇睡病写过]了)(?<!过去|连续|历时|只有)"
    "(?<![近满整共达期孕头剩前后用花等]))",
    "THIRD": "(?P<third>初|上旬|中旬|下旬|底|末)",
    "NOTMONTH": "(?![票薪租天花卡供刊报考嫂饼亮球桂党流经子息工龄牙色光初街革兰半]|大的|之久|有余|的?时间)",
    "EUNIT": r"(?P<unit>minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?)\b",
    "ENUM": r"(?P<n>[0-9]{1,4}|half\s+an?|an?|" + "|".join(_ENGLISH_NUMBERS) + r")\s+",
    "MON": r"(?P<mon>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?",
    # may and march are also verbs: small letters count only where the phrase ends or goes on about someone
    "NOVERB": r"(?:(?<!(?-i:may))(?<!(?-i:mar))(?<!(?-i:march))|<FOLLOW>)",
    "FOLLOW": r"(?=\s*(?:$|[^\sA-Za-z0-9'-])|\s+(?:i|we|you|he|she|they|my|our|at|and|or|did|was|were|when|with)\b)",
    "EYEAR": r"(?P<y>[12][0-9]{3}(?![0-9])|(?:last|this|next)\s+year\b)",
    "ESTEP": r"(?P<step>last|this|next)\s+",
    "NTH": r"(?:st|nd|rd|th)?(?![0-9A-Za-z%]|[.:/-][0-9])",
    "ETHIRD": "(?P<third>end|beginning|start|middle)",
    "SEASON": r"(?P<season>spring|summer|autumn|fall|winter)\b",
    "FEAST": "(?P<holiday>元旦|情人节|妇女节|劳动节|五一(?:节|劳动节)?|儿童节|教师节|国庆节?|平安夜|圣诞节?"
    "|春节|除夕|清明节?|端午节?|中秋节?)",
    "EFEAST": r"(?P<holiday>New\s+Year's\s+(?:Day|Eve)|Valentine's\s+Day|Halloween|Christmas(?:\s+(?:Eve|Day))?)\b",
    # in a sentence a feast is a date only where nothing else can be meant: not 五一路, 王国庆, 圣诞树, Christmas tree
    "ALONE": r"(?:(?<!(?u:\w))|(?<=[们在]))",
    "FESTIVE": r"(?=\s*$|\s*(?u:[^\w\s])|期间|假期|放假|小?长假|黄金周|当[天日]|那[天几]|[去回我你咱跟干做怎])",
    # 前 and 后 that begin another word are not "ago" and "later"
    "NOTFRONT": "(?![端台沿途景排夫卫锋面轮级身辈言任提程站行往天年半进方缀后])",
    "NOTBACK": "(?![端台勤卫座排面盾续宫脑期悔来辈代人天年半院门果遗缀])",
    "SUBJECT": r"(?=(?:[、和与跟及]?<NUM>号){0,12}"
    r"(?:\s*$|\s*(?u:[^\w\s])|[我你他她咱大]|上午|下午|中午|晚|早|凌晨|那天|当天|之?[前后]|交|要"
    r"|\s(?u:[^\W0-9a-z_])))",
    "PART": "凌晨|早晨|清晨|早上|上午|中午|下午|傍晚|晚上|夜里|深夜|[早晚晨夜](?![饭餐就已先些点期年])"
    r"|(?:morning|afternoon|evening|night|tonight)\b",
}


class Shape(NamedTuple):
    """One way to write a date: which reader gives its meaning, and where it counts.

    `use`: any; alone (only as the whole text or as the end of a range, since in a sentence it may be something else);
    short (only with a part of the day after it: 今 in 今晚).
    """

    reader: str
    use: str
    pattern: str


SHAPES = (
    Shape("day", "any", "(?P<day>(?<!大)大[前后]天|(?<!昨)昨天|(?<![当如的年月周])今天|(?<![聪光透说证声鲜黎])明天"
          "|(?<![以之目提日前大])前天(?![气天津空])|(?<![以之今然往最先背后大])(?<!先天)(?<!先天[和与跟或、])后天"
          "(?![气性黑亮空赋]|的?(?:努力|获得|养成|形成|习得|造成|因素)))"),
    Shape("day", "alone", "(?P<day>[今明昨]日)"),
    Shape("day", "short", "(?<![聪光透说证])(?P<day>[今明昨])(?=[早晚晨夜])"),
    Shape("day", "any", r"(?P<day>(?:the\s+)?day\s+before\s+yesterday|(?:the\s+)?day\s+after\s+tomorrow"
          r"|yesterday|today|tomorrow)\b"),
    Shape("day", "short", r"(?P<day>last(?=\s+night)|this(?=\s+(?:morning|afternoon|evening))|(?=tonight))"),
    Shape("week", "any", "<STEP><WEEK>(?P<end>末)?(?![期围边杰恩转易刊报])"),
    Shape("week", "any", "<STEP><WD>"),
    Shape("week", "any", "<STEP>周(?P<end>末)"),
    Shape("weekday", "any", "<OWNWEEK>"
          "<WD>"),
    Shape("weekend", "any", "<OWNWEEK>周(?P<end>末)"),
    Shape("month", "any", "<INYEAR>月(?:份|的?<THIRD>)<NONUM><NOTMONTH>"),
    Shape("month", "any", "<LASTED><INYEAR>月(?!<NUM>(?!月))<NOTMONTH>"),
    Shape("month", "any", r"<INYEAR>月\s?(?P<d><NUM>)\s?[日号](?![线楼])"),
    Shape("month", "any", "<STEP>月(?:份|的?<THIRD><NONUM>)?(?![亮球色光饼是经])"),
    Shape("month", "any", "<STEP>月的?(?P<d><NUM>)[日号](?![线楼])"),
    Shape("monthday", "any", "(?<![月年天日个那的前周期])<N>(?P<d><NUM>)号<SUBJECT>"),
    Shape("monthday", "alone", "<N>(?P<d><NUM>)[日号](?![线楼院店门库桌房])"),
    Shape("third", "any", "(?<![个岁年当那每次隔的])月(?P<third>[初底末])<NONUM>"),
    Shape("numbers", "any", r"(?<![0-9./:-])(?P<y>[0-9]{4})(?:-(?P<m>[0-9]{1,2})-(?P<d>[0-9]{1,2})"
          r"|/(?P<m2>[0-9]{1,2})/(?P<d2>[0-9]{1,2})|-(?P<m3>[0-9]{2}))(?![0-9/.]|-[0-9])"),
    Shape("numbers", "alone", r"(?P<y>[0-9]{4})(?:\.(?P<m>[0-9]{1,2})\.(?P<d>[0-9]{1,2})|/(?P<m2>[0-9]{1,2}))"),
    Shape("season", "any", r"(?:(?P<y><YEAR>|<BARE>)的?\s?|(?P<step>[上下这])一?个)(?P<season>[春夏秋冬])[天季]"),
    Shape("season", "alone", "(?P<season>[春夏秋冬])[天季]"),
    Shape("half", "any", r"(?:(?P<y><YEAR>|<BARE>)的?\s?|(?<![早晚年的0-9一二三四五六]))(?P<half>[上下])半年"),
    Shape("year_end", "any", "(?:(?P<y><YEAR>)年?|(?<![每岁整当那历近多万次年的前0-9])年)[底末]"),
    Shape("holiday", "any", r"(?P<y><YEAR>|<BARE>)的?\s?<FEAST>"),
    Shape("holiday", "any", "<ALONE><FEAST><FESTIVE>"),
    Shape("holiday", "alone", "<FEAST>"),
    Shape("year", "any", "(?P<y><YEAR>)(?![级代龄糕])"),
    Shape("year", "alone", "(?P<y>(?:19|20)[0-9]{2})"),
    Shape("ago", "any", "<N>(?<![个的])<LENGTH>[之以]?(?P<way>前<NOTFRONT>|后<NOTBACK>)"),
    Shape("rolling", "any", "(?P<way>最近|过去|(?<![附靠接最远将])近|未来|接下来|今后)[的这]?"
          r"\s?<LENGTH>(?:之?内|里)?(?![级制前后半多])"),
    Shape("within", "alone", "<LENGTH>[之以]?内"),
    Shape("ago", "alone", "<LENGTH>"),
    Shape("refused", "any", "(?:<YEAR>|<STEP>[周月年]|今|明)?的?(?:新年|过年|小年|大年|元宵|七夕"
          "|重阳|腊八|腊月|正月|寒食|年初|年中|[农阴旧]历|寒假|暑假|[母父]亲节|感恩节|复活节|十一(?=假|黄金周|长假))"),
    Shape("week", "any", r"<ESTEP>week(?P<end>end)?\b"),
    Shape("week", "any", r"(?:on\s+)?<WDAY>,?\s+(?:of\s+)?<ESTEP>week\b"),
    Shape("week", "any", r"<ESTEP>week(?:['\u2019]s)?\s+(?:on\s+)?<WDAY>"),
    Shape("week", "any", "(?:on\\s+)?<ESTEP>(?:<WDAY>)"),
    Shape("week", "any", "(?:on\\s+)?<ESTEP><WSHORT><FOLLOW>"),
    Shape("weekday", "any", r"(?<!the\s)(?:on\s+)?<WDAY>"),
    Shape("weekday", "any", r"on\s+<WSHORT><FOLLOW>"),
    Shape("weekday", "alone", "<WSHORT>"),
    Shape("weekend", "any", r"(?:on|over|at)\s+the\s+week(?P<end>end)\b"),
    Shape("weekend", "alone", r"(?:the\s+)?week(?P<end>end)\b"),
    Shape("month", "any", r"<ESTEP>(?P<unit>month)\b"),
    Shape("year", "any", r"(?P<y>(?:last|this|next)\s+year)\b"),
    Shape("year", "any", r"in\s+(?P<y>(?:19|20)[0-9]{2})<FOLLOW>"),
    Shape("month", "any", r"(?:on\s+)?<MON>\s+(?P<d>[0-9]{1,2})<NTH>(?:(?:,\s*|\s+)<EYEAR>)?"),
    Shape("month", "any", r"(?:on\s+)?(?:the\s+)?(?<![0-9.:/-])(?P<d>[0-9]{1,2})<NTH>\s+(?:of\s+)?(?=(?-i:[A-Z]))<MON>"
          r"(?:(?:,\s*|\s+)<EYEAR>)?"),
    Shape("month", "any", r"(?:(?:in|during)\s+)?<MON>(?:\s+of|,)?\s+<EYEAR>"),
    Shape("month", "any", r"(?P<y>(?:last|this|next)\s+year),?\s+in\s+<MON>"),
    # May-July 2025: the year at the end is both months'
    Shape("month", "any", r"(?:(?:in|during)\s+)?<MON>(?=\s*(?:[-\u2013/&]|\b(?:to|through|until|till|and)\b)\s*"
          r"<MON0>(?:\s+of|,)?\s+[12][0-9]{3}\b)"),
    Shape("month", "any", r"(?P<step>last|next|this(?=\s(?-i:[A-Z])))\s+<MON><NOVERB>(?!\s+[0-9])"),
    Shape("month", "any", r"(?:in|during)\s+<MON><NOVERB>(?!'s)"),
    Shape("month", "alone", "<MON>"),
    Shape("monthday", "alone", r"(?:on\s+)?the\s+(?P<d>[0-9]{1,2})(?:st|nd|rd|th)\b"),
    Shape("third", "any", r"(?:the\s+)?<ETHIRD>\s+of\s+(?:the\s+|this\s+)?month\b"),
    Shape("month", "any", r"(?:the\s+)?<ETHIRD>\s+of\s+(?:<ESTEP>month\b|<MON>(?:\s+<EYEAR>)?)"),
    Shape("year_end", "any", r"(?:the\s+)?end\s+of\s+(?:the\s+year\b|year\b|<EYEAR>)"),
    Shape("season", "any", "<ESTEP><SEASON>"),
    Shape("season", "any", r"(?:the\s+)?<SEASON>(?:\s+of)?,?\s+<EYEAR>"
          r"(?:\s?[-\u2013/]\s?(?P<until>(?:20)?[0-9]{2})(?![0-9]))?"),
    Shape("season", "alone", "(?:the\\s+)?<SEASON>"),
    Shape("holiday", "any", r"(?:<ESTEP><EFEAST>|<EFEAST2>,?\s+<EYEAR>)"),
    Shape("holiday", "any", r"(?:on|at|for|over|during)\s+<EFEAST><FOLLOW>"),
    Shape("holiday", "alone", "<EFEAST>"),
    Shape("ago", "any", r"(?<![.:/-])<ENUM><EUNIT>\s+(?P<way>ago|from\s+now)\b"),
    Shape("ago", "alone", r"(?P<way>in)\s+<ENUM><EUNIT>"),
    Shape("ago", "alone", r"(?P<n>[0-9]{1,4})\s?(?P<unit>d|w|h|min|mo|y)\b"),
    Shape("ago", "alone", "<ENUM><EUNIT>"),
    Shape("rolling", "any", r"(?:the\s+)?(?P<way>past|last|next|coming)\s+<ENUM><EUNIT>"),
    Shape("rolling", "any", r"(?:(?:in|over|during|within)\s+the\s+(?P<way>last|past)|the\s+(?P<way2>past))"
          r"\s+<EUNIT>"),
    Shape("within", "alone", r"within\s+<ENUM><EUNIT>"),
    Shape("refused", "any", r"the\s+(?:last|next)\s+(?:day|week|weekend|month|year|<WDAY0>)\b"
          r"|(?:Black|Good|Cyber|Ash|Palm|Easter|Holy)\s+[A-Z][a-z]*day\b"),
)  # fmt: skip

TIME = (
    r"(?:at\s+|around\s+)?(?:"
    r"(?:(?P<part><PART>)(?:的|\s+at)?\s*)?(?:(?P<h><NUM>)(?:点|时(?=[0-9]{1,2}分))(?![建意要内不原理说感问体思注心])"
    r"(?:(?P<half>半)|(?P<quarter>[一三])刻|(?P<sharp>整)|钟|(?P<m>[0-5][0-9]|零[一二三四五六七八九]|[二三四五]?十[一二三四五六七八九]?)分?"
    r"|(?P<m2><NUM>)分)?"
    r"|(?P<h2>[0-9]{1,2}):(?P<m3>[0-9]{2})(?::(?P<s>[0-9]{2}))?(?![0-9:.])(?:\s?(?P<ap>[ap])\.?m\b\.?)?"
    r"|(?P<h3>[0-9]{1,2})\s?(?P<ap2>[ap])\.?m\b\.?|(?P<h4>[0-9]{1,2})\s+o'clock\b"
    r"|(?<=at\s)(?P<h5>[0-9]{1,2})(?=\s*(?:$|[,.;!?](?![0-9]))))|(?P<noon>noon\b|正午)|(?P<part2><PART>))"
)

#: Where a date may begin: found quickly, so that the shapes are tried at few places only.
STARTS = (
    "[今明昨后前大上下这本去最近过未接周星礼月年半凌早清中傍晚深夜正零〇一二两三四五六七八九十春夏秋冬元国圣情妇劳儿教平从自寒暑新除小端"
    "七重腊母父感复农阴旧]|(?<![0-9A-Za-z])[0-9A-Za-z]"
)
#: Between a day and its time.
JOINT = r"[ ]*(?:的|,\s*|T(?=[0-9])|(?:in\s+the|at)\s+(?=(?:morning|afternoon|evening))|\s+)?(?:on\s+)?"
#: What may follow a weekday's numeral as a word: cut into words up to here.
HAN = "[\u4e00-\u9fff]{1,5}"
#: What numerals count: 上周三个人 is three people rather than a Wednesday.
COUNTED = "个本口块元条件张层楼环号台部间级位名届篇章份顿场"
LEAD = r"(?P<since>since\s+)|(?P<must>(?P<between>between\s+)|从|自从?)|(?:from|by)\s+"
RANGE = r"\s*(?:到|至|~|—{1,2}|–|-|\bto\b|\bthrough\b|\buntil\b|\btill\b)\s*"
#: Between dates of one year or month: 3月和5月, 5号6号, in May and June.
LIST = r"\s*[、和与跟及]\s*|(?=<NUM>[日号])|,?\s+and\s+(?=(?-i:[A-Z]))"
BETWEEN = r"\s+and\s+"
SINCE = "以来|至今|到现在"
#: After a date: words that make it a bound, a part of something larger, or another zone's time.
UNSURE_AFTER = (
    r"[之以]?(?:前<NOTFRONT>|后<NOTBACK>)|前后|左右|起|开始|以内|的?[半午]夜"
    r"|的?(?:那个?)?(?:[春夏秋冬][天季]|<NUM>\s?月(?:<NUM>[日号])?|<WEEK>[一二三四五六日天末])"
    r"|\s+(?:of|the|at\s+midnight|midnight|in\s+(?:<MON>|<SEASON>)|(?:on\s+)?(?:<WDAY>|today|yesterday|tomorrow)|<ENUM><EUNIT>\s+ago"
    r"|before\s+last|after\s+next|but\s+one|that\s+(?:same\s+)?(?:day|week|weekend|month|year)"
    r"|(?:before|after)\s+(?:last|next|that|<MON0>|<WDAY0>|<EFEAST0>))\b|['’]s\s+<WDAY0>|\s+on(?:wards?)?\s*(?:$|[,.;!?])"
    r"|[ ,]+[0-9]{1,4}\s*(?:BCE?|AD)\b|\s+(?:week|fortnight|[0-9]{1,2}(?:st|nd|rd|th))\b"
    r"|[到至~–—-]\s?(?:次|翌|来|第二)年|[到至~-](?:[上中下]旬|[初中底末])"
    r"|(?:\s*(?:\bto\b|\bthrough\b|\band\b|[-~–&])\s*|\s+'?)[0-9]{1,2}(?:st|nd|rd|th)?(?=\s*(?:$|[,.;!?)]))"
    r"|\s*(?:UTC|GMT|[ECMP][SD]T)\b|Z\b|\s?[+][0-9]{1,2}|\.[0-9]"
)
#: After `3年前`, `2 years ago`: what lies near that day, but who knows in which year.
AGO_AFTER = (
    r"的?\s?(?:<FEAST0>|<NUM>[日号]|[上下]半年|[年月周][初中底末]|新年|过年|[暑寒]假|十一)"
    r"|,?\s+(?:(?:on|in|at|over|during)\s+)?(?:<ESTEP0>(?:<WDAY0>|<MON0>|<SEASON0>|(?:week|month|year)\b)|<EFEAST0>)"
)
#: Before a date: words that make it a bound, a rate, the name of another day, or a day of another time (那年的, that).
UNSURE_BEFORE = (
    r"(?:[到至每隔逢]个?|截止|除了?|(?<!是)不是|并非|(?:(?<![0-9零〇一二三四五六七八九]{3})[0-9零〇一二三四五六七八九十]年|[那当同次翌隔某往历来头前后][一二三]?个?[年月周天])的?"
    r"|[A-Za-z][-–—]|(?<!\bat\s)\b(?:last|next)\s+|(?<!\bwhy\s)\bnot\s+(?:on\s+|in\s+)?"
    r"|\b(?:that|following|previous|same|except|before|after|until|till|every|each|past|or|to|than|first|second|third|fourth|midnight|spring|summer|autumn|winter|week\s+of"
    r"|(?:days?|weeks?|months?|years?)\s+from)\s+(?:the\s+|on\s+)?)$"
)
#: Before `2 months ago`: it is a part of that, or a bound.
PART_BEFORE = (
    r"(?:(?:<NUM>|半)(?:年|个?月|周|个?星期|个?礼拜|天|日|个?小时|个?钟头)[零又加和]?|超过|不止|至少|起码|不足"
    r"|<ENUM><EUNIT>,?\s+(?:and\s+)?|\b(?:over|at\s+least|under)\s+|\b(?:<MON0>|<SEASON0>|<EFEAST0>|<WDAY0>),?\s+)$"
)
WEEKDAY_BESIDE = (
    r"[ ,]*[(]?(?:(?:周(?!天)|星期|礼拜)(?P<wd>[一二三四五六日天])"
    r"|(?P<wd2>Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:s?|rs|(?:s|nes|rs|ur)?day)\b)[)]?[ ,]*"
)


_WEEKS = ("周", "星期", "礼拜")
_LENGTHS = ("分钟", "刻钟", "小时", "钟头", "天", *_WEEKS, "月", "年")
#: One of these words stands in all that a reader's Chinese shapes match: the others need not be compiled.
_CHINESE: Mapping[str, Sequence[str]] = {
    "day": ("今", "明", "昨", "前天", "后天"), "week": _WEEKS, "weekday": _WEEKS, "weekend": ("周末",),
    "month": ("月",), "monthday": ("日", "号"), "third": ("月初", "月底", "月末"),
    "season": [season + time for season in "春夏秋冬" for time in "天季"],
    "half": ("半年",), "year_end": ("年底", "年末"), "year": ("年",),
    "holiday": ("元旦", "情人节", "妇女节", "劳动节", "五一", "儿童节", "教师节", "国庆", "平安夜", "圣诞", "春节",
                "除夕", "清明", "端午", "中秋"),
    "ago": _LENGTHS, "rolling": ("近", "过去", "未来", "接下来", "今后"), "within": ("内",),
    "refused": ("新年", "过年", "小年", "大年", "元宵", "七夕", "重阳", "腊八", "腊月", "正月", "寒食", "年初", "年中",
                "农历", "阴历", "旧历", "寒假", "暑假", "母亲节", "父亲节", "感恩节", "复活节", "十一"),
}  # fmt: skip
_STEPS = ("last", "this", "next")
_DIGITS = "0123456789"
#: The same of all other shapes; small letters.
_ENGLISH: Mapping[str, Sequence[str]] = {
    "day": ("yesterday", "today", "tomorrow", "last", "this", "tonight"), "week": _STEPS,
    "weekday": [day for day in WEEKDAYS if day.isascii()], "weekend": ("weekend",), "month": ("month", *MONTHS),
    "monthday": _DIGITS, "third": ("month",), "year_end": ("end",), "year": ("year", *_DIGITS), "numbers": _DIGITS,
    "season": [name for name in SEASONS if name.isascii()], "holiday": ("new", "valentine", "halloween", "christmas"),
    "ago": ("min", "hour", "hr", "day", "week", "month", "year", *_DIGITS),
    "rolling": ("last", "past", "next", "coming"), "within": ("within",), "refused": ("last", "next", "day"),
}  # fmt: skip
_PLACE = re.compile("<([A-Z]+[0-9]?)>")


def shapes(text: str) -> tuple[Shape, ...]:
    """The shapes that can occur in a text, by its words."""
    small = text.lower()
    chinese, english = (
        frozenset(reader for reader, needed in table.items() if any(word in small for word in needed))
        for table in (_CHINESE, _ENGLISH)
    )
    return _chosen(chinese, english)


@lru_cache(maxsize=256)
def _chosen(chinese: frozenset[str], english: frozenset[str]) -> tuple[Shape, ...]:
    return tuple(shape for shape in SHAPES if shape.reader in (chinese if _is_chinese(shape) else english))


def _is_chinese(shape: Shape) -> bool:
    return not _filled(shape.pattern).isascii()


@cache
def pattern(shape: str) -> re.Pattern[str]:
    """A shape with its fragments filled in, compiled when first asked for; letters' case does not count."""
    return re.compile(_filled(shape), re.ASCII | re.IGNORECASE)


@cache
def _filled(shape: str) -> str:
    while (filled := _PLACE.sub(lambda found: _fragment(found[1]), shape)) != shape:
        shape = filled
    return shape


def _fragment(name: str) -> str:
    """A fragment; `NAME2` is NAME with its groups renamed, for shapes that hold it twice, `NAME0` without names."""
    if name in FRAGMENTS:
        return FRAGMENTS[name]
    return re.sub(r"\(\?P<(\w+)>", "(?:" if name[-1] == "0" else rf"(?P<\g<1>{name[-1]}>", FRAGMENTS[name[:-1]])
