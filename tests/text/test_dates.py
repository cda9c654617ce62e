"""Dates: the golden table, dates inside sentences, what must not be taken for one, arithmetic, and any text at all."""

from __future__ import annotations

import json
import re
import time
from calendar import monthrange
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nebula.text import datewords
from nebula.text.datecalendar import Granularity, Prefer
from nebula.text.dates import Span, due_text, find, parse

GOLDEN: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "dates.json").read_text(encoding="utf-8")
)
NOW = datetime(2026, 11, 30, 10, 20, 5)  # a Monday
LAST = datetime(9999, 12, 31, 23, 59, 59, 999999)

DIRECTIONS: list[Prefer] = ["future", "past"]
PIECES = re.findall(
    r"\S+",
    "今天 明天 后天 大后天 前天 今 昨 晚 早上 下午 晚上 中午 凌晨 点 半 一刻 : 15 03 3 30 2024 0 99 9999 "
    "10000 三 十二 两 二〇二四 周 星期 礼拜 一 日 天 末 上 下 这 本 个 月 年 号 底 初 上旬 前 后 以来 内 最近 "
    "过去 未来 到 至 从 的 去年 明年 夏天 冬天 国庆 春节 元旦 上半年 last next this week weekend month year "
    "day Monday Sun May March in on at by since from to of the 3rd , ( ) days ago hours half an a 3d 2w 6h "
    "1mo am pm noon tonight tomorrow morning end summer Christmas now - / . ² ① １ İ 㐀 零 𝟜 \U0001f600",
)
anything = st.one_of(
    st.text(),
    st.lists(st.sampled_from([*PIECES, " "]), max_size=9).map("".join),
    st.lists(st.sampled_from(PIECES)).map(" ".join),
)
moments = st.one_of(
    st.datetimes(), st.sampled_from([datetime(1, 1, 1), LAST, datetime(9999, 12, 31), datetime(1, 1, 1, 0, 1)])
)


def day(text: str, now: datetime = NOW, prefer: Prefer = "future") -> str | None:
    """The first day that a text means, as ISO."""
    span = parse(text, now, prefer)
    return span.start.date().isoformat() if span else None


# The golden table


def named(row: dict[str, Any]) -> str:
    return f"{row['text']} {row['now'][:10]} {row['prefer']}"


@pytest.mark.parametrize("row", GOLDEN, ids=map(named, GOLDEN))
def test_golden(row: dict[str, Any]) -> None:
    span = parse(row["text"], datetime.fromisoformat(row["now"]), row["prefer"])
    found = (span.start.isoformat(), span.end.isoformat(), span.granularity) if span else (None, None, None)
    assert found == (row["start"], row["end"], row["granularity"])


def test_the_table_is_large_and_holds_no_row_twice() -> None:
    assert len({named(row) for row in GOLDEN}) == len(GOLDEN) >= 150
    assert {row["granularity"] for row in GOLDEN} == {*get_args(Granularity), None}
    assert sum(row["start"] is None for row in GOLDEN) >= 30


@pytest.mark.parametrize("row", [row for row in GOLDEN if row["start"]], ids=named)
def test_blanks_around_a_date_change_its_place_only(row: dict[str, Any]) -> None:
    now = datetime.fromisoformat(row["now"])
    bare, padded = parse(row["text"], now, row["prefer"]), parse(f" \t{row['text']}\u3000", now, row["prefer"])
    assert bare is not None
    assert padded is not None
    assert (padded.start, padded.end, padded.text_to) == (bare.start, bare.end, bare.text_to + 2)


@pytest.mark.parametrize("row", [row for row in GOLDEN if row["start"]], ids=named)
def test_every_date_begins_where_dates_are_looked_for(row: dict[str, Any]) -> None:
    text = row["text"].translate(datewords.SIMPLIFIED)
    assert datewords.pattern(datewords.STARTS).match(text) or not text[0].isascii()


def test_the_shapes_chosen_by_a_texts_words_leave_none_out() -> None:
    """Also of what is refused: without its shape a shorter one would stand there, wrong but confident."""
    for text in (row["text"].translate(datewords.SIMPLIFIED) for row in GOLDEN):
        chosen = datewords.shapes(text)
        for shape in datewords.SHAPES:
            assert shape in chosen or not datewords.pattern(shape.pattern).search(text), (text, shape)


# Inside sentences


@pytest.mark.parametrize(
    ("text", "phrases", "starts"),
    [
        ("我上周三说的那件事是什么", ["上周三"], ["2026-11-25"]),
        ("去年夏天我们去了哪里旅行？", ["去年夏天"], ["2025-06-01"]),
        ("昨天下午三点的会", ["昨天下午三点"], ["2026-11-29"]),
        ("三天前聊的那本书，还有2周前那本", ["三天前", "2周前"], ["2026-11-27", "2026-11-16"]),
        ("上上周的会议 和 下下周一的安排", ["上上周", "下下周一"], ["2026-11-16", "2026-12-14"]),
        ("周三的会", ["周三"], ["2026-11-25"]),
        ("5号我们去了哪", ["5号"], ["2026-11-05"]),
        ("上个月底的账单", ["上个月底"], ["2026-10-21"]),
        ("最近三天有什么新想法", ["最近三天"], ["2026-11-27"]),
        ("３月５日的计划", ["３月５日"], ["2026-03-05"]),
        ("週三開會", ["週三"], ["2026-11-25"]),
        ("去年的三月", ["去年的三月"], ["2025-03-01"]),
        ("昨晚做的梦", ["昨晚"], ["2026-11-29"]),
        ("昨天后来怎样了", ["昨天"], ["2026-11-29"]),
        ("从周一到周五都在下雨", ["从周一到周五"], ["2026-11-23"]),
        ("3月5日到8日去的", ["3月5日到8日"], ["2026-03-05"]),
        ("今年以来的心情", ["今年以来"], ["2026-01-01"]),
        ("十年前的今天", ["十年前"], ["2016-11-30"]),
        ("去年国庆去哪了", ["去年国庆"], ["2025-10-01"]),
        ("国庆去哪了", ["国庆"], ["2026-10-01"]),
        ("我们五一期间做了什么", ["五一"], ["2026-05-01"]),
        ("五一那天的事，劳动节干什么了", ["五一", "劳动节"], ["2026-05-01", "2026-05-01"]),
        ("春节去了哪，中秋那天", ["春节", "中秋"], ["2026-02-17", "2026-09-25"]),
        ("元旦我和谁在一起？", ["元旦"], ["2026-01-01"]),
        ("國慶節去哪了", ["國慶節"], ["2026-10-01"]),
        ("在情人节那天，圣诞节怎么过", ["情人节", "圣诞节"], ["2026-02-14", "2025-12-25"]),
        ("what did I get for Christmas?", ["for Christmas"], ["2025-12-25"]),
        ("on New Year's Eve we", ["on New Year's Eve"], ["2025-12-31"]),
        ("over Christmas, at Halloween", ["over Christmas", "at Halloween"], ["2025-12-25", "2026-10-31"]),
        ("周五18点和2024-05-03 15:00", ["周五18点", "2024-05-03 15:00"], ["2026-11-27", "2024-05-03"]),
        ("what did I say last Monday?", ["last Monday"], ["2026-11-23"]),
        ("what happened in May", ["in May"], ["2026-05-01"]),
        ("in may we went", ["in may"], ["2026-05-01"]),
        ("emails from yesterday", ["yesterday"], ["2026-11-29"]),
        ("What did we do on May 3rd, 2024?", ["on May 3rd, 2024"], ["2024-05-03"]),
        ("last summer or two weeks ago", ["last summer"], ["2026-06-01"]),  # "or": perhaps the one, perhaps the other
        ("the day before yesterday, at home", ["the day before yesterday"], ["2026-11-28"]),
        ("Monday and Friday", ["Monday", "Friday"], ["2026-11-23", "2026-11-27"]),
        ("between Monday and Friday", ["between Monday and Friday"], ["2026-11-23"]),
        ("last year in May we", ["last year in May"], ["2025-05-01"]),
        ("周三、周四", ["周三", "周四"], ["2026-11-25", "2026-11-26"]),
        ("周四，3月5日下午", ["周四，3月5日下午"], ["2026-03-05"]),
        ("met a friend on 25 February, 2022", ["on 25 February, 2022"], ["2022-02-25"]),
        ("on December 1,2023 and Sun, May 3", ["on December 1,2023", "Sun, May 3"], ["2023-12-01", "2026-05-03"]),
        ("during September 2023 we", ["during September 2023"], ["2023-09-01"]),
        ("3pm tomorrow works", ["3pm tomorrow"], ["2026-12-01"]),
        ("since last May we", ["since last May"], ["2026-05-01"]),
        ("on sat. we met", ["on sat."], ["2026-11-28"]),
        ("会议在May 3, 2024上", ["May 3, 2024"], ["2024-05-03"]),
        ("\U0001f600今天", ["今天"], ["2026-11-30"]),
        ("2007年7月－2009年的节目", ["2007年7月－2009年"], ["2007-07-01"]),
        ("1994年1995年1997年", ["1994年", "1995年", "1997年"], ["1994-01-01", "1995-01-01", "1997-01-01"]),
        ("between August 11 and August 15 2023 he", ["between August 11 and August 15 2023"], ["2023-08-11"]),
        # a list shares its year and month
        ("2025年3月和5月去了哪", ["2025年3月", "5月"], ["2025-03-01", "2025-05-01"]),
        ("2025年上半年和下半年", ["2025年上半年", "下半年"], ["2025-01-01", "2025-07-01"]),
        ("去年5月5日、6日和8日", ["去年5月5日", "6日", "8日"], ["2025-05-05", "2025-05-06", "2025-05-08"]),
        ("5月5日和6日", ["5月5日", "6日"], ["2026-05-05", "2026-05-06"]),
        ("5月5日和6号楼", ["5月5日"], ["2026-05-05"]),
        ("5号6号", ["5号", "6号"], ["2026-11-05", "2026-11-06"]),
        ("3月1号到5号和8号", ["3月1号到5号", "8号"], ["2026-03-01", "2026-03-08"]),
        ("in May and June 2025 we", ["in May", "June 2025"], ["2025-05-01", "2025-06-01"]),
        ("in May, and August we", ["in May", "August"], ["2026-05-01", "2026-08-01"]),
        ("in May and may I go", ["in May"], ["2026-05-01"]),
        ("2025下半年搬到哪", ["2025下半年"], ["2025-07-01"]),
        ("是不是周三", ["周三"], ["2026-11-25"]),
        ("why not last week", ["last week"], ["2026-11-23"]),
        # the weekday's numeral begins another word
        *(
            (text, ["上周"], ["2026-11-23"])
            for text in (
                "上周一直下雨",
                "上周一共花了多少",
                "上周一家人吃饭",
                "上周一个人",
                "上周日本旅行",
                "上周日本人",
                "上周日程",
                "上周四川",
                "上周三亚旅行",
                "上周三明治",
                "上周二手车",
                "上周三个人去的",
                "上周五本书",
                "上周三四",
                "上周三次跑步",
                "上周天天加班",
                "上周三环路",
            )
        ),
        *(
            (text, [text[:3]], ["2026-11-25"])
            for text in ("上周三我去了", "上周三方案评审", "上周三开会", "上周三去哪了", "上周三和谁")
        ),
        ("上周日出去玩", ["上周日"], ["2026-11-29"]),
        ("上周三晚上，上周一早", ["上周三晚上", "上周一早"], ["2026-11-25", "2026-11-23"]),
        ("周一同学聚会、周二手术", ["周一", "周二"], ["2026-11-23", "2026-11-24"]),
    ],
)
def test_found_in_a_sentence(text: str, phrases: list[str], starts: list[str]) -> None:
    spans = find(text, NOW)
    assert [text[span.text_from : span.text_to] for span in spans] == phrases
    assert [span.start.date().isoformat() for span in spans] == starts


@pytest.mark.parametrize("prefer", DIRECTIONS)
@pytest.mark.parametrize("text", """
周三郎来了|周日历|周三四|周五常来|周杰伦|上周杰伦|下周转|周三多少|每周三开会|每个周末|一周三次|两周三练|圆周三等分
那周三
三天前端课|三年前后端|三天前后|一年后来|三年级后|以前天天去|先天后天|后天性的|聪明天真|透明天窗|说明天气
晚上周围很安静|网上周边|线上周会|天下周知
一号楼|5号线|5号电池|第5号|房间305号|身份证号|我是3号选手|A5号|3月票|五月天的演唱会|在三月街|三月经期|10月革命
一月两次|月中|岁月初静好
现在几点|三点建议|10:30|比分 3:15|下午三点|那天下午三点|中午好|早上好|晚上睡不着|夏天太热|春天在哪里|那年夏天|王国庆
圣诞节礼物|五一路的店|住在五一广场|五一个|二五一去|第五一我|李国庆去哪了|国庆路|白色情人节那天|元旦晚会|国庆前|清明上河图|春节联欢晚会|中秋月饼|每年国庆去
Christmas tree|for the Christmas party|for Christmas dinner|Merry Christmas|before Christmas|the Halloween costume
几天前|十几天前|两三天前|一两天前|二三十天前|1.5小时后|一个半小时后|三个多月前|这两天|前两天|前几天|第三天|最近
附近三天|半年|过去的事
去年小年|农历八月十五|正月十五|三月初三|年初的计划|去年年初|暑假
周三之前交|三月以后|去年之前|明天之前|到周三为止|直到明天|从去年开始|今年起|2024年前|3到5天前
明天半夜|2020年左右|星期一至五|次年夏五月|揭幕的18天前
on the Sunday before|逢星期一至星期五|昭和11年(1936)3月
两年前的夏天|三年前5月|两周前的周三|去年的周末|上个月周五|第一周周三|二月兰|下个月经
two weeks ago on Monday|a week ago today|two years ago in May
the summer two years ago|yesterday Monday
2月30日下午3点|13月5日|2024-13-05|2024-02-30|03/04/2024|05/03|05-03|版本 2024.5.3|v2024-05-03|id 2024-05-03-1234
192.168.1.1|24年5月
20世纪90年代|2020年代|二年级|今年级别|下一年级|上半身|前端|后端
May I come in|I may go|march on|I will march|this may take long|there may be|last may be|in the sun|sun and sat
he sat down|3 may be enough
a second thought|second|now|3d model|h264|last but not least|next door|next time|in 3 days|summer heat|a fall
spring roll|weekend|at noon
a few days ago|a couple of days ago|two or three days ago|a week from Monday|the week before last|a week ago Monday
before last week|after May 3|until Friday|every Monday|on Mondays|the day after Monday|the first Monday|up to Friday
Black Friday deals
the last week|the first week of May|the last week of May|second Friday of May|Friday the 13th|midnight tomorrow
用了3月|住了三月就走|等了3月|过了3月|最近3月|近三月|过去三月|为期3月|怀孕3月|满三月|3月大的孩子|3月时间|七月半|烟花三月
大上周|大上周三|大下个月|大大后天|大大前年|前前天|后后天|昨昨天|后天努力|后天获得的能力|先天和后天
2024-2025年|第2024年|12月30日至次年1月2日|3月到次年5月|1年2个月前|一年零两个月前|两年三个月前|两天三小时前|超过三年前|至少三天前
44 BC|March 15, 44 BC|in May 44 BC|1 year and 2 months ago|two years, three months ago
over 3 years ago|at least 3 days ago
Friday week|Tuesday fortnight|Friday 13th|May 5 to 7|Dec 28 to 3|12 Dec 25|2nd Dec 25
tomorrow at 3pm UTC|person in May's class
周五金店|周日常聊|周三角|周一直下雨|星期四川菜|周六、日|前周三|以后周三|黑色星期五|上上上上周末|除了周三|不是周三|截止上周
三年前的春节|两年前国庆|三个月前的5号|半年前年底|那年的5月|那年的春节|那一年的国庆|当年的上半年|那年年底|如今年轻人
24年的5月|24年的国庆|25下半年|大二的国庆|第二年的3月5日|前一天周三|3月初到中旬|5月5号到次年5月
last last Wednesday|that Friday|the following Friday|the previous Wednesday|the next Friday
Friday that week|in May that year|Wednesday before last|Friday but one|on Friday before Christmas
two weeks ago yesterday|two years ago last May|May two years ago|last month's Friday|not on Tuesday
except Tuesday|mid-May 2025|non-Friday|from May 15 on|May 3rd to 5th|May 5 and 6
""".replace("\n", "|").strip("|").split("|"))  # fmt: skip
def test_not_taken_for_a_date(text: str, prefer: Prefer) -> None:
    assert find(text, NOW, prefer) == []


@pytest.mark.parametrize(
    "text", ["", " ", "明天。", "明天去", "在明天", "明天明天", "?明天", "to tomorrow", "Mon day", "３３月"]
)
def test_only_the_whole_text_is_a_date(text: str) -> None:
    assert parse(text, NOW) is None


def test_what_stands_alone_may_be_more_than_in_a_sentence() -> None:
    for text in ("中午", "下午三点", "夏天", "3d", "in 3 days", "May", "weekend", "5日", "冬天"):
        assert parse(text, NOW) is not None, text
        assert find(text, NOW) == [], text


# Direction


@pytest.mark.parametrize("text", ["上周三", "下周三", "这周三", "last Monday", "next Monday", "this Friday", "last May",
    "下个月", "三天前", "in 3 days"])  # fmt: skip
def test_words_that_name_a_direction_decide_for_themselves(text: str) -> None:
    assert parse(text, NOW, "future") == parse(text, NOW, "past") != None  # noqa: E711


@pytest.mark.parametrize("offset", range(7))
@pytest.mark.parametrize("weekday", range(7))
def test_a_bare_weekday_is_the_coming_or_the_latest_one_and_never_today(offset: int, weekday: int) -> None:
    now = NOW + timedelta(days=offset)
    for text in (f"周{'一二三四五六日'[weekday]}", ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[weekday]):
        coming, latest = parse(text, now, "future"), parse(text, now, "past")
        assert coming is not None
        assert latest is not None
        assert 1 <= (coming.start.date() - now.date()).days <= 7
        assert 1 <= (now.date() - latest.start.date()).days <= 7
        assert coming.start.weekday() == latest.start.weekday() == weekday


@pytest.mark.parametrize("offset", range(7))
def test_next_and_last_count_calendar_weeks(offset: int) -> None:
    """On any day from Monday to Sunday 下周三 is the Wednesday after that Sunday, 上周三 the one before that Monday."""
    now = NOW + timedelta(days=offset)
    assert [day(text, now) for text in ("上周三", "这周三", "下周三", "下下周三")] == [
        "2026-11-25", "2026-12-02", "2026-12-09", "2026-12-16",
    ]  # fmt: skip
    assert [day(text, now) for text in ("last Wednesday", "this Wednesday", "next Wednesday")] == [
        "2026-11-25", "2026-12-02", "2026-12-09",
    ]  # fmt: skip


# Arithmetic


@given(st.integers(1, 9999), moments)
def test_days_are_counted_as_by_timedelta(n: int, now: datetime) -> None:
    for text, shift in ((f"{n}天前", -n), (f"{n} days ago", -n), (f"{n}天后", n), (f"in {n} days", n), (f"{n}d", n)):
        try:
            expected = (now + timedelta(days=shift)).date()
        except OverflowError:
            assert parse(text, now) is None
            continue
        span = parse(text, now)
        assert span is not None
        assert span.start == datetime(expected.year, expected.month, expected.day)
        assert span.granularity == "day"


@given(st.integers(1, 9999), st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)))
def test_hours_are_counted_from_this_minute(n: int, now: datetime) -> None:
    span = parse(f"{n}小时前", now)
    assert span is not None
    assert span.start == now.replace(second=0, microsecond=0) - timedelta(hours=n)
    assert span.end - span.start == timedelta(minutes=1)


@given(st.integers(1, 99), st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)))
def test_months_keep_the_day_or_take_the_months_last(n: int, now: datetime) -> None:
    span = parse(f"{n}个月后", now)
    assert span is not None
    assert (span.start.year - now.year) * 12 + span.start.month - now.month == n
    assert span.start.day == min(now.day, monthrange(span.start.year, span.start.month)[1])


@pytest.mark.parametrize(
    ("now", "text", "expected"),
    [
        (datetime(2026, 1, 31), "一个月后", "2026-02-28"),
        (datetime(2024, 1, 31), "一个月后", "2024-02-29"),
        (datetime(2026, 3, 31), "1个月前", "2026-02-28"),
        (datetime(2024, 2, 29), "一年后", "2025-02-28"),
        (datetime(2026, 8, 31), "半年后", "2027-02-28"),
        (datetime(2026, 5, 31), "in a month", "2026-06-30"),
        (datetime(2026, 12, 31), "two months from now", "2027-02-28"),
    ],
)
def test_months_clamp(now: datetime, text: str, expected: str) -> None:
    assert day(text, now) == expected


@pytest.mark.parametrize(
    ("number", "n"),
    [("一", 1), ("两", 2), ("十", 10), ("十二", 12), ("二十", 20), ("三十五", 35), ("九十九", 99), ("99", 99)],
)
def test_chinese_numbers(number: str, n: int) -> None:
    assert datewords.number(number) == n
    assert day(f"{number}天后") == (NOW + timedelta(days=n)).date().isoformat()


@pytest.mark.parametrize("word", ["", "百", "三四", "十十", "一十", "二十三四", "零十", "几", "半", "many"])
def test_what_is_no_number(word: str) -> None:
    assert datewords.number(word) is None


@pytest.mark.parametrize(
    ("text", "hours"),
    [("三天前", 0), ("两周前", 72), ("a month ago", 360), ("三年前", 4368), ("半年前", 1080),
     ("2小时前", 0.5), ("去年国庆", 144), ("两周后", 0), ("2w", 0)],
)  # fmt: skip
def test_about_says_how_loosely_it_is_meant(text: str, hours: float) -> None:
    span = parse(text, NOW)
    assert span is not None
    assert span.about == timedelta(hours=hours)


# What is written in digits


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)), moments)
def test_iso_round_trip(moment: datetime, now: datetime) -> None:
    moment = moment.replace(microsecond=0)
    for text in (moment.isoformat(), moment.isoformat(" ")):
        span = parse(text, now)
        assert span is not None
        assert span.start == moment
        assert due_text(span) == moment.isoformat()
    bare = parse(moment.date().isoformat(), now)
    assert bare is not None
    assert due_text(bare) == moment.date().isoformat()
    assert parse(due_text(bare), now) == bare


@pytest.mark.parametrize(
    "text", ["2024-05-03T25:00", "2024-05-03T24:01", "2024-05-03T12:60", "2024-05-03T12:00:60",
             "2024-00-01", "0000-01-01",
             "2024-05-03T12:00Z", "2024-05-03T12:00+08:00"]
)  # fmt: skip
def test_no_such_moment_or_another_zones(text: str) -> None:
    assert parse(text, NOW) is None
    assert find(text, NOW) == []


@pytest.mark.parametrize(
    ("text", "end"), [("9999-12-31", LAST), ("9999年", LAST), ("9999年12月", LAST),
    ("0001-01-01", datetime(1, 1, 2))]
)  # fmt: skip
def test_the_calendars_ends(text: str, end: datetime) -> None:
    span = parse(text, NOW)
    assert span is not None
    assert span.end == end


# The clock face


@pytest.mark.parametrize("hour", range(1, 13))
def test_a_clock_face_counts_where_one_reading_is_awake(hour: int) -> None:
    """明天3点 is 15:00, 明天12点 noon; 5 to 11 o'clock may be morning or evening and are refused."""
    span = parse(f"明天{hour}点", NOW)
    expected = {1: 13, 2: 14, 3: 15, 4: 16, 12: 12}.get(hour)
    assert (span and span.start.hour) == expected
    written = parse(f"tomorrow at {hour}:00", NOW)
    assert (written and written.start.hour) == (hour if hour >= 10 else expected)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("早上8点", "08:00"), ("上午10点半", "10:30"), ("中午1点", "13:00"), ("中午12点", "12:00"),
        ("下午1点", "13:00"), ("下午6点一刻", "18:15"),
        ("傍晚6点", "18:00"), ("晚上7点三刻", "19:45"), ("晚上11点05分", "23:05"), ("凌晨2点", "02:00"),
        ("凌晨12点", "00:00"), ("下午15点", "15:00"),
        ("晚上20:30", "20:30"), ("下午03:05", "15:05"), ("12am", "00:00"), ("12:30pm", "12:30"), ("9 a.m.", "09:00"),
        ("09:05", "09:05"), ("0点", "00:00"),
        ("18点30", "18:30"), ("18时30分", "18:30"), ("十四点二十分", "14:20"), ("evening at 8", "20:00"),
        ("正午", "12:00"),
    ],
)  # fmt: skip
def test_times_of_a_day(text: str, time: str) -> None:
    span = parse(f"2024-05-03 {text}", NOW)
    assert span is not None
    assert span.start.isoformat() == f"2024-05-03T{time}:00"


@pytest.mark.parametrize(
    "text", ["早上3点", "上午12点", "下午8点", "晚上2点", "晚上12点半钟点", "0pm", "13am", "24点半", "凌晨8点"]
)
def test_times_that_contradict_their_part_of_the_day(text: str) -> None:
    assert parse(f"2024-05-03 {text}", NOW) is None


def test_midnight_closes_the_evening() -> None:
    for text in ("明天晚上12点", "明晚12点", "明天24点", "后天0点"):
        assert day(text) == "2026-12-02", text


# Due dates


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("明天", "2026-12-01"), ("下周", "2026-12-13"), ("周末", "2026-12-06"), ("下个月", "2026-12-31"),
        ("月底", "2026-11-30"), ("明年", "2027-12-31"),
        ("这个冬天", "2027-02-28"), ("三天内", "2026-12-03"), ("明天下午", "2026-12-01"), ("今晚", "2026-11-30"),
        ("下午3点", "2026-11-30T15:00:00"),
        ("明天 15:30", "2026-12-01T15:30:00"), ("半小时后", "2026-11-30T10:50:00"), ("3d", "2026-12-03"),
        ("6h", "2026-11-30T16:20:00"),
        ("下午3点到5点", "2026-11-30"), ("9999-12-31", "9999-12-31"), ("0001-01-01", "0001-01-01"),
        ("0999-03-05 07:08", "0999-03-05T07:08:00"),
    ],
)  # fmt: skip
def test_how_a_due_date_is_stored(text: str, due: str) -> None:
    span = parse(text, NOW)
    assert span is not None
    assert due_text(span) == due


# Any text


def sound(span: Span, text: str) -> None:
    assert 0 <= span.text_from < span.text_to <= len(text)
    assert span.start < span.end
    assert span.start.tzinfo is span.end.tzinfo is None
    assert span.granularity in get_args(Granularity)
    assert parse(due_text(span), NOW) is not None


@given(anything, moments, st.sampled_from(DIRECTIONS))
@example("十" * 50 + "天前", NOW, "past")
@example("1" * 50 + "天前", NOW, "past")
@example("二〇二四年" * 9, NOW, "past")
def test_no_text_raises(text: str, now: datetime, prefer: Prefer) -> None:
    whole = parse(text, now, prefer)
    if whole:
        sound(whole, text)
    last = 0
    for span in find(text, now, prefer):
        sound(span, text)
        assert span.text_from >= last
        last = span.text_to


@given(st.sampled_from([row for row in GOLDEN if row["start"]]), moments)
def test_no_moment_raises(row: dict[str, Any], now: datetime) -> None:
    span = parse(row["text"], now, row["prefer"])
    if span:
        sound(span, row["text"])


def test_a_zone_on_now_is_left_out() -> None:
    assert parse("明天", NOW.astimezone()) == parse("明天", NOW)


@pytest.mark.parametrize(
    "unit",
    [
        "一",
        "1",
        "周",
        "上",
        "个月",
        "今",
        "last ",
        "3:",
        "2024-",
        "周三到",
        "5号6号",
        "3月和",
        "上周一直",
        "the ",
        "半",
        " ",
        "去年的",
    ],
)
def test_long_text_takes_no_long_time(unit: str) -> None:
    begun = time.perf_counter()
    find(unit * 3000, NOW)
    assert time.perf_counter() - begun < 5
