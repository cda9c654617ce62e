"""The map in a real browser, offline: what is drawn is what the formulas say, and every control does its work."""

from __future__ import annotations

import math
import shutil
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from nebula import maps
from nebula.life.forgetting import retention
from nebula.mind import Mind
from nebula.starmap import layout
from tests.invented import DrawnEncoder
from tests.starmap.test_page import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selenium.webdriver import Chrome

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        not (shutil.which("chromium") and shutil.which("chromedriver")), reason="no chromium and chromedriver here"
    ),
]
NOW = datetime(2026, 5, 1, 9)


@pytest.fixture(scope="module")
def mind(tmp_path_factory: pytest.TempPathFactory) -> Mind:
    found = Mind(tmp_path_factory.mktemp("mind"), now=lambda: NOW)
    found._encoder = DrawnEncoder()  # type: ignore[assignment]
    for n in range(12):
        at = (NOW - timedelta(days=20 * n)).isoformat()
        found.add(f"灯塔看守第{n}天 望远镜和潮汐表", tag="出行" if n < 6 else "工作", at=at, imp=n / 12)
    found.add("别提钱", ledger="tacts", say="never", topic="钱")
    for text in HOSTILE:
        found.add(f"{text}.", ledger="thoughts")
    return found


@pytest.fixture(scope="module")
def browser(mind: Mind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1200,900",
        "--disable-dev-shm-usage",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(shutil.which("chromedriver"))))
    path = tmp_path_factory.mktemp("page") / "map.html"
    maps.draw(mind, path)
    driver.get(path.as_uri())
    yield driver
    driver.quit()


@pytest.fixture(autouse=True)
def fresh(browser: Chrome) -> None:
    browser.refresh()


def run(browser: Chrome, script: str, *arguments: object) -> Any:
    return browser.execute_script(f"return {script}", *arguments)


def drag(browser: Chrome, start: tuple[float, float], end: tuple[float, float], button: str = "left") -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    chain = ActionChains(browser)
    pointer = chain.w3c_actions.pointer_action
    pointer.move_to_location(round(start[0]), round(start[1]))  # type: ignore[no-untyped-call]
    pointer.pointer_down(button=1 if button == "middle" else 0)  # type: ignore[no-untyped-call]
    pointer.move_to_location(round(end[0]), round(end[1]))  # type: ignore[no-untyped-call]
    pointer.pointer_up(button=1 if button == "middle" else 0)  # type: ignore[no-untyped-call]
    chain.perform()


def click(browser: Chrome, css: str) -> None:
    from selenium.webdriver.common.by import By

    browser.find_element(By.CSS_SELECTOR, css).click()


def text(browser: Chrome, css: str) -> str:
    return str(run(browser, "document.querySelector(arguments[0]).textContent", css))


def centre(browser: Chrome) -> tuple[float, float]:
    return run(browser, "innerWidth / 2"), run(browser, "(innerHeight - 56) / 2")


def test_stars_stand_and_shine_as_the_formulas_say(browser: Chrome, mind: Mind) -> None:
    scale, (ox, oy) = run(browser, "sky.scale()"), centre(browser)
    for number in (1, 5, 12):
        x, y = layout.star("notes", number)
        assert run(browser, "sky.screen(arguments[0])", f"n{number}") == pytest.approx(
            [ox + scale * x, oy + scale * y], abs=0.01
        )
        r = run(browser, "sky.stars.find((s) => s.ref === arguments[0]).r", f"n{number}")
        assert r == pytest.approx(layout.radius(mind.get(f"n{number}").w), abs=1e-3)
    for ahead in (0, 100, 365):
        browser.execute_script(
            "const s = document.getElementById('ahead'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))",
            ahead,
        )
        for number in (1, 12):
            memory = mind.get(f"n{number}")
            expected = retention(20 * (number - 1) + ahead, 30 * (1 + 2 * memory.imp))
            assert run(browser, "sky.light(arguments[0])", f"n{number}") == pytest.approx(expected, abs=1e-3)
        assert run(browser, "sky.light('t1')") == 1
    assert "365" in text(browser, "#ahead-days")


def test_a_star_is_drawn_where_it_is_said_to_be(browser: Chrome) -> None:
    """The pixel in the middle of a star has the colour of its ledger."""
    pixel = run(
        browser,
        "(() => { sky.paint(); const [x, y] = sky.screen('t1').map((at) => Math.round(at * devicePixelRatio));"
        "return [...document.getElementById('sky').getContext('2d').getImageData(x, y, 1, 1).data]; })()",
    )
    assert pixel[3] > 200
    assert tuple(pixel[:3]) in {(0xFF, 0x8F, 0xA3), (0xC2, 0x25, 0x5C)}


def test_drag_turns_wheel_zooms_middle_resets(browser: Chrome) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

    (ox, oy), before = centre(browser), run(browser, "sky.screen('n1')")
    drag(browser, (ox + 100, oy), (ox, oy + 100))
    assert run(browser, "sky.view.turn") == pytest.approx(math.pi / 2, abs=0.02)
    x, y = run(browser, "sky.screen('n1')")
    assert (x - ox, y - oy) == (pytest.approx(0, abs=4), pytest.approx(before[0] - ox, abs=4))
    ActionChains(browser).scroll_from_origin(ScrollOrigin.from_viewport(round(ox), round(oy)), 0, -400).perform()
    assert run(browser, "sky.view.zoom") == pytest.approx(math.exp(0.6), rel=0.02)
    drag(browser, (ox, oy), (ox, oy), "middle")
    assert run(browser, "sky.screen('n1')") == pytest.approx(before)


def test_a_click_shows_a_memory_its_why_and_the_reason_of_each_edge(browser: Chrome, mind: Mind) -> None:
    x, y = run(browser, "sky.screen('n2')")
    drag(browser, (x, y), (x, y))
    assert text(browser, "#card-ref") == "n2"
    assert text(browser, "#card-text") == mind.get("n2").text
    assert mind.get("n2").w_why in text(browser, "#card-why")
    assert "出行" in text(browser, "#card-facts")
    reasons = run(browser, "[...document.querySelectorAll('#card-edges li')].map((li) => li.textContent)")
    assert any(reason.startswith("分类归属 出行 →") for reason in reasons)
    assert any(reason.startswith("共同关键词 ") and "→ n1 " in reason for reason in reasons)
    click(browser, "#hops button[data-hops='1']")
    one = run(browser, "sky.lit()")
    assert "n2" in one
    assert "n1" in one
    assert "t1" not in one
    click(browser, "#hops button[data-hops='2']")
    assert set(one) <= set(run(browser, "sky.lit()"))
    click(browser, "#hops button[data-hops='0']")
    assert run(browser, "sky.lit()") is None
    click(browser, "#close")
    assert run(browser, "document.getElementById('card').hidden")


def test_search_and_keys(browser: Chrome) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    field = browser.find_element(By.ID, "search")
    field.send_keys("别提钱", Keys.ENTER)
    assert text(browser, "#card-ref") == "t1"
    field.send_keys(Keys.ESCAPE)
    body = browser.find_element(By.ID, "sky")
    body.send_keys("n", "p", "+", Keys.ARROW_RIGHT)
    assert run(browser, "sky.view.zoom") == pytest.approx(1.2)
    assert run(browser, "sky.view.turn") == pytest.approx(0.1)
    body.send_keys("0", Keys.ESCAPE)
    assert run(browser, "[sky.view.zoom, sky.view.chosen]") == [1, -1]


def test_light_and_dark(browser: Chrome) -> None:
    before = run(browser, "getComputedStyle(document.body).backgroundColor")
    click(browser, "#theme")
    assert run(browser, "getComputedStyle(document.body).backgroundColor") != before


def test_hostile_texts_show_as_they_are_and_do_nothing(browser: Chrome, mind: Mind) -> None:
    assert browser.title == "记忆星图 · nebula"
    for number in range(1, len(HOSTILE) + 1):
        browser.execute_script("sky.choose(arguments[0])", f"h{number}")
        assert text(browser, "#card-text") == mind.get(f"h{number}").text
    assert run(browser, "document.querySelectorAll('img, iframe, svg, base').length") == 0
    assert run(browser, "document.scripts.length") == 2


def test_nothing_is_asked_of_the_network_and_nothing_goes_wrong(browser: Chrome) -> None:
    import json

    browser.refresh()
    run(browser, "sky.paint()")
    log: Any = browser.get_log
    assert [entry for entry in log("browser") if entry["level"] != "INFO"] == []
    asked = [json.loads(entry["message"])["message"] for entry in log("performance")]
    urls = {m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"}
    assert all(url.startswith(("file:", "data:")) for url in urls)


def test_a_dense_sky_is_sharp_on_a_dense_screen(browser: Chrome) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 800, "height": 600, "deviceScaleFactor": 2, "mobile": False}
    )
    try:
        browser.refresh()
        assert run(browser, "[document.getElementById('sky').width, document.getElementById('sky').height]") == [
            1600,
            1200,
        ]
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
