"""The page: the same mind the same bytes, and no text that becomes part of it (S15)."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from nebula import maps
from nebula.life.forgetting import retention
from nebula.mind import Mind
from nebula.starmap import layout
from nebula.starmap.page import Sky, Star, render
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = datetime(2026, 5, 1, 9)
HOSTILE = [
    '</script><script>document.title="坏"</script>', "<!--<script>", "--></script>", '"><img src=x onerror=alert(1)>',
    "'`\"\\", "\u2028\u2029", "\u202eabc", "&lt;b&gt;&amp;", "]]>", "<svg/onload=alert(1)>", "javascript:alert(1)",
    "\x00\x1b[31m", "${alert(1)}", "{{7*7}}", "</title><script>", "<base href=//x>", "</style>",
    "%DATA%", "%SCRIPT%", "\ufeff", "&#60;script&#62;", "<iframe srcdoc='x'>", "</canvas>", "\\u003cscript>",
]  # fmt: skip


def opened(folder: Path, now: datetime = NOW) -> Mind:
    mind = Mind(folder, now=lambda: now)
    mind._encoder = DrawnEncoder()  # type: ignore[assignment]
    return mind


def data_of(page: bytes) -> Any:
    (found,) = re.findall(rb'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found)


def test_the_same_mind_and_time_give_the_same_bytes(tmp_path: Path) -> None:
    mind = opened(tmp_path)
    for n in range(30):
        mind.add(f"第{n}件灯塔的事", tag="出行" if n % 3 else "工作", at=(NOW - timedelta(days=n)).isoformat())
    first = render(maps.sky(mind))
    assert render(maps.sky(opened(tmp_path))) == first
    assert render(maps.sky(opened(tmp_path, NOW + timedelta(days=1)))) != first
    mind.recall("灯塔")
    assert render(maps.sky(opened(tmp_path))) == first  # being recalled moves no star


def test_what_stands_in_it(tmp_path: Path) -> None:
    mind = opened(tmp_path)
    mind.add("灯塔看守换了望远镜", tag="出行", imp=0.9, at="2026-04-21T09:00:00")
    mind.add("灯塔看守有新望远镜", tag="出行", via="工具")
    mind.add("别提钱", ledger="tacts", say="never", topic="钱")
    mind.add("改过的", supersedes="n1")
    data = data_of(render(maps.sky(opened(tmp_path))))
    stars = {star["ref"]: star for star in data["stars"]}
    assert stars.keys() == {"n1", "n2", "n3", "t1", "#出行", "@2026-05-01"}
    day = stars["@2026-05-01"]
    assert (day["x"], day["y"]) == pytest.approx(layout.date_star(datetime(2026, 5, 1).toordinal()), abs=1e-3)
    assert day["text"] == "2026-05-01"
    one = stars["n1"]
    assert (one["x"], one["y"]) == (235.0, 0.0)
    assert one["half"] == pytest.approx(30 * (1 + 2 * 0.9))
    assert (one["age"], one["old"], one["tag"]) == (10.0, True, "出行")
    assert one["r"] == pytest.approx(layout.radius(mind.get("n1").w), abs=1e-3)
    assert "half" not in stars["t1"]  # a fixed star never dims
    assert retention(10.0, one["half"]) == pytest.approx((1 + 10 / (one["half"] / 3)) ** -0.5)
    edges = [tuple(data["edges"][at : at + 4]) for at in range(0, len(data["edges"]), 4)]
    numbers = {star["ref"]: number for number, star in enumerate(data["stars"])}
    assert (numbers["#出行"], -1, 2, 0.0) in edges
    assert (numbers["#出行"], numbers["n2"], 2, 0.0) in edges
    assert not [edge for edge in edges if numbers["n1"] in edge[:2]]  # what was replaced is joined to nothing


def test_without_numpy_the_same_stars_and_edges_but_of_meaning(tmp_path: Path, lose_numpy: Callable[[], None]) -> None:
    mind = opened(tmp_path)
    for n in range(40):
        mind.add(f"灯塔看守第{n}天 望远镜和潮汐表", tag="出行")
    full = maps.sky(opened(tmp_path))
    lose_numpy()
    plain = maps.sky(opened(tmp_path))
    assert plain.stars == full.stars
    assert [edge for edge in full.edges if edge[2] != 4] == list(plain.edges)


def test_what_is_not_shown_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal shows no edges and a picture explains none: no text is cut into keywords for either."""
    mind = opened(tmp_path)
    for n in range(9):
        mind.add(f"灯塔看守第{n}天 望远镜和潮汐表", tag="出行")
    whole = maps.sky(mind)
    monkeypatch.setattr(maps, "keywords", None)
    plain, drawn = maps.sky(mind, edges=False), maps.sky(mind, explained=False)
    assert plain.stars == drawn.stars == [replace(star, words=()) for star in whole.stars]
    assert (plain.edges, drawn.edges) == ([], whole.edges)
    assert any(star.words for star in whole.stars)
    assert whole.edges


def test_hostile_texts_change_nothing_of_the_page() -> None:
    def page(*texts: str) -> bytes:
        stars = [Star(f"n{n}", "notes", 1.0, 2.0, 3.0, t, tag=t, via=t, why=t) for n, t in enumerate(texts)]
        return render(Sky("2026-05-01T09:00:00", stars, [], ("a",), {"kinds": "x", "count": "n"}))

    plain, hostile = page("x"), page(*HOSTILE)
    for mark in (b"</script", b"<script", b"<!--", b"<img", b"<svg", b"<iframe"):
        assert hostile.lower().count(mark) == plain.lower().count(mark)
    assert [star["text"] for star in data_of(hostile)["stars"]] == HOSTILE
    block = hostile.split(b'id="data">')[1].split(b"</script>")[0]
    assert not re.search("[<>&\u2028\u2029]", block.decode())


def test_the_policy_names_just_this_script_and_style() -> None:
    page = render(Sky("", [], []))
    (script,) = re.findall(rb"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(rb"<style>(.*?)</style>", page, re.DOTALL)
    policy = re.search(rb'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    told = policy[1].decode()
    assert told.startswith("default-src 'none'; ")
    for kind, code in (("script", script), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(code).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in told
    for word in ("unsafe", "http:", "https:", "*"):
        assert word not in told
    assert not re.search(rb"(src|href)=.?(https?:)?//", page)


def test_a_megabyte_of_text_and_an_empty_mind(tmp_path: Path) -> None:
    assert data_of(render(maps.sky(opened(tmp_path))))["stars"] == []
    mind = opened(tmp_path)
    text = "灯塔<" * 200_000
    mind.add(text)
    assert data_of(render(maps.sky(mind)))["stars"][0]["text"] == text
