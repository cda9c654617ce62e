"""What a drag over a large star map costs, beside drawing as many bare arcs in the same browser.

    python tests/bench/map.py [STARS] [EDGES]

Invented stars and edges (10,000 and 50,000), headless Chromium. Prints medians of interleaved frames: the sky while
it is dragged (edges wait), the whole sky at rest, bare arcs each filled alone and all in one path. Asserts nothing.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from nebula.starmap import layout
from nebula.starmap.page import Sky, Star, render

SCRIPT = """
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
const canvas = document.createElement('canvas'), n = sky.stars.length;
canvas.width = document.getElementById('sky').width; canvas.height = document.getElementById('sky').height;
const pen = canvas.getContext('2d'), real = document.getElementById('sky').getContext('2d');
const settle = (context) => context.getImageData(0, 0, 1, 1);  // what was asked for is drawn before the clock is read
const took = { drag: [], rest: [], each: [], path: [] };
const timed = (name, context, work) => { const t = performance.now(); work(); settle(context);
  took[name].push(performance.now() - t); };
const spot = (at) => [(at * 37) % canvas.width, (at * 91) % canvas.height];
for (let round = 0; round < 21; round++) {
  sky.view.turn += 0.01;
  sky.view.moving = true; timed('drag', real, sky.paint);
  sky.view.moving = false; timed('rest', real, sky.paint);
  timed('each', pen, () => { pen.clearRect(0, 0, canvas.width, canvas.height); pen.fillStyle = '#7cc4ff';
    for (let at = 0; at < n; at++) { const [x, y] = spot(at); pen.beginPath(); pen.arc(x, y, 5, 0, 7); pen.fill(); } });
  timed('path', pen, () => { pen.clearRect(0, 0, canvas.width, canvas.height); pen.beginPath();
    for (let at = 0; at < n; at++) { const [x, y] = spot(at); pen.moveTo(x + 5, y); pen.arc(x, y, 5, 0, 7); }
    pen.fill(); });
}
return Object.fromEntries(Object.entries(took).map(([name, list]) => [name, median(list)]));
"""


def main(count: int, edges: int) -> None:
    draw = random.Random(1)
    kinds = list(layout.ORBITS)
    stars = []
    for number in range(count):
        kind = draw.choice(kinds)
        x, y = layout.star(kind, number + 1)
        stars.append(Star(f"n{number}", kind, x, y, layout.radius(draw.random() * 6), "x", 60.0, draw.random() * 300))
    joined = [(draw.randrange(count), draw.randrange(count), 1, 0.0) for _ in range(edges)]
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,900"):
        options.add_argument(flag)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "map.html"
        page.write_bytes(render(Sky("2026-05-01T09:00:00", stars, joined, ("a", "b"), {"kinds": "a b"})))
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver") or ""))
        try:
            driver.get(page.as_uri())
            took = driver.execute_script(SCRIPT)
        finally:
            driver.quit()
    sys.stdout.write(
        f"{count} stars, {edges} edges: a frame of a drag {took['drag']:.1f} ms, at rest {took['rest']:.1f} ms; "
        f"bare arcs one by one {took['each']:.1f} ms (× {took['drag'] / took['each']:.2f}), in one path "
        f"{took['path']:.1f} ms (× {took['drag'] / took['path']:.2f})\n"
    )


if __name__ == "__main__":
    main(*(int(given) for given in sys.argv[1:3] or (10_000, 50_000)))
