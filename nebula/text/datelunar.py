"""Feasts of the Chinese calendar, day by day for the years in which the table was checked; nothing beyond them.

Days of the year (1: 1 January) from 1990 to 2049, on which lunar_python and sxtwl (an astronomical ephemeris) agree,
and lunardate too, but for 清明, which it does not tell. 除夕 is the day before 春节. Feasts that regions keep on other
days (小年) are not here.
"""

from __future__ import annotations

from datetime import date, timedelta

FIRST_YEAR = 1990
_DAYS = {
    "春节": """
        27 46 35 23 41 31 50 38 28 47 36 24 43 32 22 40 29 49 38 26 45 34 23 41 31 50 39 28 47 36 25 43 32 22 41
        29 48 37 26 44 34 23 42 31 50 39 28 46 35 24 43 32 22 41 30 48 37 26 45 33
    """,
    "清明": """
        95 95 95 95 95 95 95 95 95 95 95 95 95 95 95 95 95 95 95 94 95 95 95 94 95 95 95 94 95 95 95 94 95 95 95
        94 95 95 95 94 95 95 95 94 95 95 95 94 95 95 95 94 94 95 95 94 94 95 95 94
    """,
    "端午": """
        148 167 157 175 164 153 172 160 150 169 158 176 166 155 174 162 151 170 160 148 167 157 175 163 153 171
        161 150 169 158 177 165 154 173 162 151 170 160 149 167 156 175 164 152 171 161 151 169 158 147 166 154
        173 162 152 170 159 149 167 155
    """,
    "中秋": """
        276 265 255 273 263 252 271 259 278 267 256 274 264 254 272 261 279 268 258 276 265 255 274 262 251 270
        259 277 267 256 275 264 253 272 261 279 268 258 277 265 255 274 263 251 270 259 278 267 256 275 264 253
        271 260 279 268 258 277 266 254
    """,
}
#: Days before and after, by how many people stretch the word.
STRETCH = {"春节": 6, "除夕": 0, "清明": 1, "端午": 1, "中秋": 1}


def day(name: str, year: int) -> date:
    """The day of a feast (a key of STRETCH) in a year; ValueError where the table does not reach."""
    if name == "除夕":
        return day("春节", year) - timedelta(days=1)
    days = _DAYS[name].split()
    if not 0 <= year - FIRST_YEAR < len(days):
        raise ValueError(year)
    return date(year, 1, 1) + timedelta(days=int(days[year - FIRST_YEAR]) - 1)
