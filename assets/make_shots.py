"""The README's pictures: an invented mind, its map, taken by headless Chromium.

    python assets/make_shots.py [OUT]

Needs chromium, chromedriver and the development extras. Writes dark, light, one-hop, year, panel-stars and panel-mood
as .webp.
"""

from __future__ import annotations

import base64
import queue
import random
import shutil
import sys
import tempfile
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from nebula import maps, moods
from nebula.mind import Mind
from nebula.panel import server

NOW = datetime(2026, 5, 1, 21)
PLACES = ["灯塔", "码头", "天文台", "老图书馆", "青岛", "电影院", "温泉", "面包店", "邮局", "海边"]
THINGS = ["望远镜", "潮汐表", "旧相册", "火车票", "自行车", "备份脚本", "雨伞", "钢琴谱", "渡轮", "菜园"]
DONE = ["借走了", "修好了", "弄丢了", "说起", "梦见", "答应去看", "拍下了", "问起", "舍不得", "整理了"]
WHO = ["妈妈", "阿苇", "小满", "祁伯", "顾北辰", "我"]
LEDGERS = {"notes": 70, "profile": 22, "promises": 12, "tacts": 8, "thoughts": 18}


def invent(mind: Mind) -> None:
    """130 memories of 200 days."""
    draw = random.Random(7)  # noqa: S311 - the same sky each time
    rows = [
        {
            "text": f"{draw.choice(WHO)}在{draw.choice(PLACES)}{draw.choice(DONE)}{draw.choice(THINGS)}",
            "ledger": ledger,
            "at": (NOW - timedelta(days=draw.expovariate(1 / 45), minutes=draw.randrange(600))).isoformat()[:19],
            "imp": round(draw.random(), 2),
            "tag": draw.choice(["", "出行", "家人", "工作", "天文"]),
        }
        for ledger, count in LEDGERS.items()
        for _ in range(count)
    ]
    mind.add_many(rows)
    mind.add("海边的家要有朝北的窗", ledger="profile", pinned=True)


def take(driver: webdriver.Chrome, path: Path) -> None:
    """What is seen now, once it is drawn."""
    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    taken = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 80})
    path.write_bytes(base64.b64decode(taken["data"]))


def panel(driver: webdriver.Chrome, mind: Mind, out: Path) -> None:
    """Both sides of the panel, after a slider was moved and something was felt."""
    moods.feel(mind, "sweet", 0.7, "妈妈说海边的房子有消息了")
    moods.feel(mind, "worry", 0.3, "妈妈说海边的房子有消息了")
    address: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=server.serve, args=(mind, address.put), daemon=True).start()
    driver.get(address.get())
    time.sleep(2)
    driver.execute_script(
        "document.getElementById('query').value = '海边的家';"
        "const s = document.querySelector('[data-key=\"recall.w_lexical\"]'); s.value = 0.1;"
        "s.dispatchEvent(new Event('input')); s.dispatchEvent(new Event('change'))"
    )
    time.sleep(3)
    take(driver, out / "panel-stars.webp")
    driver.execute_script("document.getElementById('to-mood').click()")
    time.sleep(1)
    take(driver, out / "panel-mood.webp")


def main(out: Path) -> None:
    """Take the pictures."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1100,860", "--hide-scrollbars"):
        options.add_argument(flag)
    with tempfile.TemporaryDirectory() as folder:
        mind = Mind(Path(folder) / "mind", now=lambda: NOW)
        invent(mind)
        page = Path(folder) / "map.html"
        maps.draw(mind, page)
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            driver.get(page.as_uri())
            if driver.execute_script("return document.documentElement.className") == "light":
                driver.execute_script("document.getElementById('theme').click()")
            shots = {
                "dark": "",
                "light": "document.getElementById('theme').click()",
                "one-hop": "document.getElementById('theme').click(); sky.choose('n3');"
                "document.querySelector('#hops button[data-hops=\"1\"]').click()",
                "year": "document.getElementById('close').click();"
                "const s = document.getElementById('ahead'); s.value = 365; s.dispatchEvent(new Event('input'))",
            }
            for name, script in shots.items():
                driver.execute_script(script)
                take(driver, out / f"{name}.webp")
            panel(driver, mind, out)
        finally:
            driver.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "shots")
