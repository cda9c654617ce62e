"""Pairs of texts that say the same in other dress, and pairs that differ in one thing that counts: Chinese and English.

Sentences times changes, and a list by hand (tests/data/pairs.jsonl): signs, order, what is cut off. Those of the kind
`held` were written after the rules of `forms` and `likeness`, and seen once.
"""

from __future__ import annotations

import json
import random
import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nebula.text.simplified import _table

if TYPE_CHECKING:
    from collections.abc import Iterator


class Pair(NamedTuple):
    """A source, a text, and whether the text says the same; the kind of change between them."""

    kind: str
    source: str
    text: str
    same: bool


# fmt: off
CHINESE = [
    "小王说周三下午3点在会议室开评审会，记得带上次的图纸",
    "妈妈对青霉素过敏，看病的时候要先告诉医生",
    "房租每月2600元，押一付三，合同到2026年6月30日",
    "今天跑了5公里，用时28分钟，膝盖有点疼",
    "他不打算去北京出差，改成在上海线上开会",
    "项目代号叫北极星，仓库在公司内网，默认分支是main",
    "周末和小李去爬山，山顶风很大，下来吃了羊肉火锅",
    "服务器每天凌晨2点备份一次，保留最近14天",
    "女儿的钢琴课改到星期六上午十点，老师姓陈",
    "我喜欢喝不加糖的美式咖啡，早上一杯就够了",
    "张伟欠我300块钱，说好下个月15号还",
    "护照有效期到2031年4月，放在书房第二个抽屉里",
    "爷爷的生日是农历八月初六，每年都要回老家",
    "新版本修好了登录页的错误，明天发到测试环境",
    "医生让我少吃盐，血压降到130以下再停药",
    "猫叫团子，三岁，怕打雷，喜欢睡在窗台上",
    "林老师推荐了《置身事内》，说比教科书好懂",
    "搬家公司约在9月12日早上八点，一共两辆车",
    "电费这个月涨了15%，空调开得太久了",
    "我没有去过日本，但是一直想看京都的红叶",
    "大学室友阿杰在深圳做硬件，最近想换工作",
    "家里的路由器密码贴在电视柜后面，别告诉客人",
    "车停在地下二层B区，出口走东门比较近",
    "答应了小周帮她看简历，最晚星期四给意见",
    "渡轮早上六点开",
    "孩子发烧38.5度，吃了退烧药",
    "外婆住在203病房",
    "周五交报告",
]
ENGLISH = [
    "Anna said the review is on Wednesday at 3 pm in the big meeting room",
    "My mother is allergic to penicillin, tell the doctor before any treatment",
    "The rent is 2600 a month and the lease ends on June 30, 2026",
    "Ran 5 km today in 28 minutes, the left knee hurts a little",
    "He does not want to travel to Boston, the meeting will be online",
    "The project is called Polaris and its default branch is main",
    "We went hiking with Lisa on Saturday and had hotpot after it",
    "The server makes a backup at 2 am every night and keeps 14 of them",
    "Piano lessons moved to Saturday morning at ten, the teacher is Mrs. Chen",
    "I like black coffee without sugar, one cup in the morning is enough",
    "Mark owes me 300 dollars and will pay it back on the 15th",
    "The passport is valid until April 2031 and lies in the second drawer",
    "Grandpa was born in August and the family meets at his house every year",
    "The new version fixes the login page, it goes to staging tomorrow",
    "The doctor said to eat less salt until the pressure is below 130",
    "The cat is called Dumpling, she is three and afraid of thunder",
    "Bart recommended a book about towns and said it reads well",
    "The movers come on September 12 at eight in the morning with two trucks",
    "The electricity bill rose by 15% because the air conditioner ran all day",
    "I have never been to Japan but always wanted to see the maple trees",
    "My old roommate Jack builds hardware in Austin and looks for a new job",
    "The router password is behind the TV, don't tell the guests",
    "The car is on level two, zone B, take the east exit",
    "I promised Kate to read her resume before Thursday",
    "The ferry leaves at six",
    "Grandma is in room 203",
    "The report is due on Friday",
]
NAMES = {
    "小王": "小张", "妈妈": "爸爸", "小李": "小刘", "张伟": "张强", "林老师": "黄老师", "阿杰": "阿东",
    "小周": "小吴", "外婆": "外公", "女儿": "儿子", "爷爷": "奶奶", "团子": "汤圆", "陈": "沈", "北京": "南京",
    "医生": "护士", "孩子": "老人", "Anna": "Ella", "mother": "father", "Boston": "Austin", "Polaris": "Sirius",
    "Lisa": "Nina", "Chen": "Shen", "Mark": "Paul", "Grandpa": "Grandma", "Bart": "Kurt", "Jack": "Josh",
    "Kate": "Jane", "Grandma": "Grandpa", "Dumpling": "Noodle",
}
OPPOSITES = {
    "下午": "上午", "早上": "晚上", "凌晨": "中午", "少吃": "多吃", "降到": "升到", "涨了": "跌了",
    "东门": "西门", "近": "远", "喜欢": "讨厌", "后面": "前面", "左": "右", "以下": "以上", "明天": "昨天",
    "带上": "退回", "下个月": "上个月", "修好": "弄坏", "最晚": "最早", "第二个": "第五个", "今天": "昨天",
    "月": "周", "地下": "地上", "交": "收", "开评审会": "开联欢会", "before": "after", "less": "more",
    "below": "above", "rose": "fell", "east": "west", "left": "right", "like": "hate", "morning": "evening",
    "tomorrow": "yesterday", "fixes": "breaks", "second": "fifth", "behind": "above", "always": "seldom",
    "today": "yesterday", "owes": "gave", "valid": "void", "old": "new", "leaves": "returns", "due": "cancelled",
    "called": "unlike",
}
DAYS = {
    "周三": "周四", "星期六": "星期五", "星期四": "星期二", "周五": "周一", "周末": "周一",
    "Wednesday": "Thursday", "Saturday": "Sunday", "Thursday": "Tuesday", "Friday": "Monday", "June": "July",
    "April": "May", "August": "March", "September": "October",
}
UNITS = {
    "公里": "英里", "分钟": "小时", "元": "美元", "块": "毛", "天": "周", "度": "米", "km": "miles",
    "minutes": "hours", "dollars": "euros", "pm": "am", " am ": " pm ", "month": "week",
}
NUMERALS = {
    "一点": "四点", "一个": "四个", "一岁": "四岁", "一杯": "四杯", "一层": "四层", "二点": "五点",
    "二个": "五个", "二岁": "五岁", "二杯": "五杯", "二层": "五层", "两点": "三点", "两个": "三个",
    "两岁": "三岁", "两杯": "三杯", "两层": "三层", "三点": "七点", "三个": "七个", "三岁": "七岁",
    "三杯": "七杯", "三层": "七层", "六点": "九点", "六个": "九个", "六岁": "九岁", "六杯": "九杯",
    "六层": "九层", "八点": "九点", "八个": "九个", "八岁": "九岁", "八杯": "九杯", "八层": "九层",
    "十点": "九点", "十个": "九个", "十岁": "九岁", "十杯": "九杯", "十层": "九层", "six": "nine",
    "eight": "nine", "two": "five", "three": "seven", "ten": "nine", "one": "four",
}
DENIALS = [
    ("要", "不要"), ("喜欢", "不喜欢"), ("打算", "不打算"), ("不打算", "打算"), ("没有去过", "去过"),
    ("不加糖", "加糖"), ("别告诉", "告诉"), ("推荐了", "没推荐"), ("答应了", "没答应"), ("过敏", "不过敏"),
    ("说好", "没说好"), ("修好了", "没修好"), ("吃了", "没吃"), ("开", "不开"), ("会", "不会"), ("就够", "不够"),
    ("住在", "不住在"), ("是", "不是"), ("在", "不在"), ("怕", "不怕"), ("叫", "不叫"), (" is ", " is not "),
    (" is ", " isn't "), (" does not ", " does "), (" do not ", " do "), ("without", "with"), ("never ", ""),
    ("don't tell", "tell"), (" will ", " will not "), ("will", "won't"), (" said ", " never said "),
    (" are ", " aren't "), ("I like", "I don't like"), ("and will", "and cannot"), ("come", "cannot come"),
    (" was ", " was not "), ("goes", "never goes"), ("promised", "didn't promise"),
    ("recommended", "did not recommend"), ("leaves", "never leaves"), ("reads", "hardly reads"),
    ("moved", "not moved"), ("keeps", "never keeps"), ("builds", "no longer builds"),
]
# fmt: on
BY_HAND = Path(__file__).parent.parent / "data" / "pairs.jsonl"
WORD = re.compile(r"[A-Za-z]")


def drawn(seed: int = 1) -> list[Pair]:
    """All pairs, each once, none of a text with itself."""
    draw = random.Random(seed)
    found = [Pair(**json.loads(line)) for line in BY_HAND.read_text(encoding="utf-8").splitlines()]
    for source in [*CHINESE, *ENGLISH]:
        found += [Pair(kind, source, text, True) for kind, text in _dressed(source, draw)]
        found += [Pair(kind, source, text, False) for kind, text in _turned(source, draw)]
    return [one for one in dict.fromkeys(found) if one.text != one.source]


def _dressed(source: str, draw: random.Random) -> Iterator[tuple[str, str]]:
    """The same in other marks, widths, characters, spaces, wrappings."""
    chinese = source in CHINESE
    traditional: dict[str, str] = {}
    for one, other in _table().items():
        traditional.setdefault(other, one)
    for mark in ("。", "!!", "…", " 🎉", "👨\u200d👩\u200d👧", "了" if chinese else "."):
        yield "mark behind", source + mark
    for comma in ("；", " — ", " ", ",", "\n", "，☕️"):
        yield "comma", re.sub(r"[，,] ?", comma, source)
    yield "width", re.sub(r"[!-~]", lambda sign: chr(ord(sign[0]) + 0xFEE0), source)
    yield "traditional", "".join(traditional.get(sign, sign) for sign in source)
    yield "case", source.upper()
    yield "spaces", re.sub(r"(?<=[㐀-鿿])(?=\w)|(?<=\w)(?=[㐀-鿿])| ", "  ", source)
    yield "lines", f"  {source.replace(' ', chr(10), 2)}\t\n"
    yield "decomposed", unicodedata.normalize("NFD", source)
    at = draw.choice([at for at in range(1, len(source)) if source[at - 1 : at + 1].isalpha()])
    for unseen in ("\u00ad", "\u2060", "\u200b"):
        yield "unseen", source[:at] + unseen + source[at:]
    yield "apostrophe", source.replace("'", "’")
    yield "quoted", f"“{source}”"
    yield "bullet", f"- {source}"
    yield "number", f"2. {source}"
    yield "bold", f"**{source}**"
    yield "framed", f"我记得：{source}" if chinese else f"I remember that {source}"


def _turned(source: str, draw: random.Random) -> Iterator[tuple[str, str]]:
    """Another figure, day, name, unit or direction, a denial, a clause more, a question."""
    chinese = source in CHINESE
    for match in re.finditer(r"\d+", source):
        for figure in (str(int(match[0]) + draw.choice([1, 2, 3, 10])), f"{match[0]}0"):
            yield "figure", source[: match.start()] + figure + source[match.end() :]
    for kind, table in (
        ("name", NAMES), ("opposite", OPPOSITES), ("day", DAYS), ("unit", UNITS), ("numeral", NUMERALS),
    ):  # fmt: skip
        for one, other in table.items():
            if re.search(rf"\b{one.strip()}\b" if WORD.search(one) else one, source):
                yield kind, source.replace(one, other, 1)
    for one, other in DENIALS:
        yield "denial", source.replace(one, other, 1)
    if chinese:
        yield "clause", f"{source}，{draw.choice(['后来取消了', '地点待定', '小赵也来', '其实是误会', '但他反悔了'])}"
        yield "clause", f"{draw.choice(['妈妈说', '如果下雨，', '上个月的事：', '假的：', '计划'])}{source}"
        yield "doubt", f"{source}（待确认）"
        yield "question", f"{source}吗？"
    else:
        yield "clause", f"{source}, {draw.choice(['but it was cancelled', 'Tom comes too', 'a mistake'])}"
        yield "clause", f"{draw.choice(['Perhaps ', 'Mum says ', 'If it rains, ', 'Last year: ', 'Wrong: '])}{source}"
        yield "doubt", f"{source} (unconfirmed)"
        yield "question", f"{source}?"
