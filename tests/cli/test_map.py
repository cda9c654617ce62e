"""The sky on the command line; the page itself is tested in tests/starmap."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.cli.conftest import Nebula

NOW = ("--now", "2026-05-01T09:00:00")


def test_a_map_lies_in_the_mind_or_where_one_says(nebula: Nebula, mind_dir: Path, tmp_path: Path) -> None:
    nebula("add", "灯塔", "--tag", "出行", *NOW)
    data = nebula("map", "--json", *NOW).data
    assert data["file"] == str(mind_dir / "星图.html")
    assert data["stars"] == 3  # the memory, its category, its day
    assert data["bytes"] == (mind_dir / "星图.html").stat().st_size
    assert "星图.html" in nebula("doctor").out
    out = tmp_path / "a b.html"
    assert nebula("map", "-o", str(out), *NOW).code == 0
    assert out.read_bytes() == (mind_dir / "星图.html").read_bytes()
    assert nebula("map", "-o", "-", *NOW).out.encode() == out.read_bytes()
    assert nebula("map", "-o", str(tmp_path / "no" / "where.html")).code == 3


def test_s15_a_memory_that_ends_the_pages_script(nebula: Nebula, tmp_path: Path) -> None:
    """No text changes the page's structure, and each is in it exactly."""
    texts = [
        '他发来一段：</script><script>document.title="坏"</script> 就这样',
        '<img src=x onerror=alert(1)> & "引号" `反引号`',
    ]
    nebula("add", "普通的一条")
    pages = [tmp_path / "a.html", tmp_path / "b.html"]
    nebula("map", "--out", str(pages[0]))
    for text in texts:
        nebula("add", text)
    nebula("map", "--out", str(pages[1]))
    one, other = (page.read_text(encoding="utf-8").lower() for page in pages)
    assert one.count("</script") == other.count("</script") == 2
    (block,) = re.findall('id="data">(.*?)</script>', pages[1].read_text(encoding="utf-8"), re.DOTALL)
    stars = [star["text"] for star in json.loads(block)["stars"] if star["kind"] == "notes"]
    assert stars == ["普通的一条", *texts]


def test_a_picture(nebula: Nebula, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stars stand where the formulas say, in their ledger's colour; without Pillow a line says what to install."""
    from PIL import Image

    nebula("add", "灯塔", "--ledger", "profile", *NOW)
    nebula("pin", "p1")
    path = tmp_path / "sky.png"
    assert nebula("map", "--png", str(path), *NOW).code == 0
    with Image.open(path) as picture:
        assert picture.size == (1200, 1200)
        scale = 1200 / 850
        assert picture.getpixel((round(600 + 170 * scale), 600)) == (242, 193, 78)
        assert picture.getpixel((600, 600)) == (255, 243, 208)
        assert picture.getpixel((10, 10)) == (11, 14, 26)
    first = path.read_bytes()
    nebula("map", "--png", str(path), *NOW)
    assert path.read_bytes() == first
    monkeypatch.setitem(sys.modules, "PIL", None)
    said = nebula("map", "--png", str(path), *NOW)
    assert said.code == 4
    assert "nebula-mind[png]" in said.err


def test_the_sky_in_a_terminal(nebula: Nebula) -> None:
    assert "还没有星" in nebula("sky").out
    nebula("add", "灯塔", *NOW)
    nebula("add", "你喜欢灯塔", "--ledger", "profile", *NOW)
    lines = nebula("sky", *NOW).out.splitlines()
    assert len(lines) == 37
    assert all(cell_len(line) <= 80 for line in lines)
    assert "画像 1" in lines[-1]
    assert "事实 1" in lines[-1]
    assert sum(line.count("✦") for line in lines[:-1]) == 3
    stars = nebula("sky", "--days", "365", "--json", *NOW).data["stars"]
    note = next(star for star in stars if star["ref"] == "n1")
    assert round(note["a"], 6) == round((1 + 365 / (60 / 3)) ** -0.5, 6)
