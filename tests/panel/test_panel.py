"""The panel: who may speak to it, what it does, and that it ends with its terminal."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nebula import moods
from nebula.mind import Mind
from nebula.panel import server
from nebula.panel.guard import SESSION, SHELL
from tests.invented import DrawnEncoder

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = datetime(2026, 5, 1, 9)
TOKEN = "t" * 43
ROOT = Path(__file__).parents[2]


class Running:
    """A panel that serves a mind of its own in a thread."""

    def __init__(self, folder: Path) -> None:
        import uvicorn

        self.mind = Mind(folder, now=lambda: NOW)
        self.mind._encoder = DrawnEncoder()  # type: ignore[assignment]
        self.mind.add("灯塔看守换了望远镜", tag="出行")
        self.mind.add("</script><script>document.title='坏'</script>")
        for n in range(6):
            self.mind.add(f"望远镜的故事{n}")
        self.panel = server.Panel(self.mind, TOKEN)
        listening = socket.socket()
        listening.bind(("127.0.0.1", 0))
        self.port = listening.getsockname()[1]
        self.app: Any = server.app(self.panel, TOKEN, self.port)
        self._server = uvicorn.Server(uvicorn.Config(self.app, log_level="error"))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listening]}, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)

    @property
    def good(self) -> dict[str, str]:
        origin = f"http://127.0.0.1:{self.port}"
        return {"Host": f"127.0.0.1:{self.port}", "Origin": origin, "Sec-Fetch-Site": "same-origin",
                "Content-Type": "application/json", "Cookie": f"nebula={TOKEN}"}  # fmt: skip

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        for name, value in {**(self.good if headers is None else headers), "Content-Length": str(len(data))}.items():
            connection.putheader(name, value)
        try:
            connection.endheaders(data)
            answer = connection.getresponse()
            found = answer.status, answer.read()
        except ConnectionResetError:  # without a Host the server below hangs up by itself
            return 400, b""
        self.headers = dict(answer.getheaders())
        connection.close()
        return found

    def json(self, path: str, body: Any = None) -> Any:
        status, data = self.ask("GET" if body is None else "POST", path, body)
        assert status == 200, data
        return json.loads(data)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    found = Running(tmp_path / "mind")
    yield found
    found.stop()


def digest(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and ".index" not in path.parts)
    return hashlib.sha256(b"".join(path.name.encode() + path.read_bytes() for path in files)).hexdigest()


def routes(running: Running) -> list[tuple[str, str]]:
    """Read from the app, so that a new one can't be forgotten."""
    return [(method, route.path) for route in running.app._app.routes for method in route.methods if method != "HEAD"]


BAD_HOSTS = [
    "",
    "0.0.0.0",
    "localhost.evil.com",
    "127.0.0.1.evil.com",
    "127.0.0.1@evil.com",
    "evil.com",
    "localhost:1",
    "[::1]",
]


class TestGuard:
    def test_every_route_refuses_all_but_our_own_page(self, running: Running) -> None:
        """S1: wrong Host, foreign Origin, cross-site, no and a wrong token, a form's post; nothing changes."""
        before = digest(running.mind.folder)
        found = routes(running)
        assert len(found) == 8
        for method, path in found:
            body = {
                "key": "recall.k",
                "value": 3,
                "query": "x",
                "dim": "sad",
                "strength": 1,
                "kind": "http",
                "place": "http://x",
            }
            good = running.good
            wrong = [{**good, "Host": host} for host in BAD_HOSTS]
            wrong += [{name: value for name, value in good.items() if name != "Host"}]
            wrong += [
                {**good, "Origin": origin}
                for origin in ("http://evil.com", "null", f"https://127.0.0.1:{running.port}")
            ]
            wrong += [{**good, "Sec-Fetch-Site": site} for site in ("cross-site", "same-site")]
            if path not in {SHELL, SESSION}:
                wrong += [{**good, "Cookie": cookie} for cookie in ("", "nebula=", "nebula=x", f"nebula={TOKEN}x", "a")]
            if method == "POST":
                wrong += [
                    {**good, "Content-Type": kind} for kind in ("text/plain", "application/x-www-form-urlencoded", "")
                ]
                wrong += [{name: value for name, value in good.items() if name not in {"Origin", "Sec-Fetch-Site"}}]
            for headers in wrong:
                status, data = running.ask(method, path, body, headers)
                assert 400 <= status < 500, (method, path, headers)
                assert data in {b"", b"{}"} or data.startswith(b"Invalid"), data
        assert digest(running.mind.folder) == before

    def test_the_token_becomes_a_cookie_that_scripts_and_strangers_never_see(self, running: Running) -> None:
        without = {name: value for name, value in running.good.items() if name != "Cookie"}
        wrong: Any
        for wrong in ({"token": "x"}, {"token": TOKEN + "x"}, {"token": None}, {}, [], 3):
            assert running.ask("POST", "/session", wrong, without)[0] == 401
        assert running.ask("POST", "/session", {"token": TOKEN}, without)[0] == 200
        cookie = running.headers["set-cookie"].lower()
        assert f"nebula={TOKEN}" in cookie
        for word in ("httponly", "samesite=strict", "path=/"):
            assert word in cookie

    def test_the_shell_holds_nothing_of_the_mind(self, running: Running) -> None:
        status, page = running.ask("GET", "/", None, {"Host": f"localhost:{running.port}"})
        assert status == 200
        assert "灯塔".encode() not in page
        assert TOKEN.encode() not in page
        for name, value in (
            ("cache-control", "no-store"),
            ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
        ):
            assert running.headers[name] == value
        assert running.headers["content-security-policy"] == "frame-ancestors 'none'"

    @pytest.mark.parametrize(
        "path",
        [
            "/../../etc/passwd",
            "/..%2f..%2fetc/passwd",
            "/map/../../notes.jsonl",
            "/notes.jsonl",
            "/api/",
            "//evil.com/",
        ],
    )
    def test_a_path_outside(self, running: Running, path: str) -> None:
        status, data = running.ask("GET", path)
        assert status in {401, 404}
        assert b"root:" not in data

    def test_too_large_and_broken_bodies(self, running: Running) -> None:
        for body in (b"x" * 70_000, b"{", b"[]", b"\xff"):
            assert running.ask("POST", "/api/set", body)[0] == 400


class TestWork:
    def test_settings_are_in_force_at_once_and_stay(self, running: Running) -> None:
        state = running.json("/api/state")
        assert state["settings"]["recall.w_graph"] == 0.0
        assert set(state["settings"]) == {*server.SLIDERS, server.LAYERS}
        for key, (least, most, _) in server.SLIDERS.items():
            for value in (least, most):
                assert running.json("/api/set", {"key": key, "value": value})["value"] == value or key.startswith(
                    "forgetting"
                )
            running.ask("POST", "/api/set", {"key": key, "value": state["settings"][key]})
        running.json("/api/set", {"key": "recall.layer_weights", "value": [2, 1, 1, 1, 0.5]})
        kept = json.loads((running.mind.folder / "mind-config.json").read_text(encoding="utf-8"))
        assert "layer_weights" in json.dumps(kept)
        for wrong in (
            {"key": "summarizer.command", "value": "rm"},
            {"key": "recall.k", "value": "x"},
            {"key": "mood.url", "value": "x"},
            {"key": [1]},
            {},
        ):
            status, data = running.ask("POST", "/api/set", wrong)
            assert status == 400
            assert json.loads(data)["error"]

    def test_a_recall_shows_before_and_after_and_counts_as_none(self, running: Running) -> None:
        first = running.json("/api/recall", {"query": "望远镜"})["hits"]
        assert [hit["before"] for hit in first] == [hit["now"] for hit in first]
        running.json("/api/set", {"key": "recall.w_lexical", "value": 0})
        running.json("/api/set", {"key": "recall.w_graph", "value": 0})
        after = running.json("/api/recall", {"query": "望远镜"})["hits"]
        assert all(set(hit) == {"ref", "text", "label", "score", "before", "now"} for hit in after)
        assert running.mind.get("n1").hits == 0
        assert running.ask("POST", "/api/recall", {"query": " "})[0] == 400
        assert running.ask("POST", "/api/recall", {"query": 3})[0] == 400

    def test_the_mood(self, running: Running, tmp_path: Path) -> None:
        felt = running.json("/api/feel", {"dim": "sad", "strength": 0.6, "why": "雨"})
        assert (felt["label"], felt["reason"]) == ("sad", "雨")
        assert running.json("/api/state")["mood"]["dims"]["sad"] == pytest.approx(
            moods.current(running.mind).dims["sad"]
        )
        for wrong in (
            {"dim": "rage", "strength": 1},
            {"dim": "sad", "strength": "x"},
            {"dim": "sad", "strength": 3},
            {},
        ):
            assert running.ask("POST", "/api/feel", wrong)[0] == 400
        (tmp_path / "mood.json").write_text('{"value": 80}')
        taken = running.json("/api/source", {"kind": "file", "place": str(tmp_path / "mood.json")})
        assert (taken["value"], taken["source"], taken["levels"]) == (80, "file:mood.json", {})
        assert running.json("/api/source", {"kind": "builtin"})["source"] == "builtin"
        assert sum(running.json("/api/state")["layers"]) == 8

    def test_the_map(self, running: Running) -> None:
        status, page = running.ask("GET", "/map")
        assert status == 200
        assert "灯塔".encode() in page
        assert running.headers["content-security-policy"] == "frame-ancestors 'self'"


def started(folder: Path, *before: str) -> tuple[subprocess.Popen[str], str]:
    env = {**os.environ, "NEBULA_MIND": str(folder), "PYTHONPATH": str(ROOT), "NEBULA_LANG": "zh"}
    command = [*before, sys.executable, "-m", "nebula", "panel"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)
    assert process.stdout
    return process, process.stdout.readline().strip()


def closed(process: subprocess.Popen[str]) -> None:
    assert process.stdout
    process.stdout.close()


@pytest.mark.process
class TestProcess:
    def test_it_listens_on_loopback_only_and_ends_when_interrupted(self, tmp_path: Path) -> None:
        process, address = started(tmp_path / "mind")
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#([\w-]{43})", address)
        assert found
        lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        port = f"{int(found[1]):04X}"
        assert {line[1] for line in lines if line[1].endswith(f":{port}") and line[3] == "0A"} == {f"0100007F:{port}"}
        process.send_signal(signal.SIGINT)
        assert process.wait(10) in {0, 130}
        closed(process)

    def test_it_ends_with_its_terminal(self, tmp_path: Path) -> None:
        """The shell that began it is killed; the panel goes too."""
        shell = "import subprocess, sys; subprocess.run(sys.argv[1:])"
        process, address = started(tmp_path / "mind", sys.executable, "-c", shell)
        port = int(re.findall(r":(\d+)/", address)[0])
        process.kill()
        process.wait(10)
        closed(process)
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline:
            with socket.socket() as knocking:
                if knocking.connect_ex(("127.0.0.1", port)):
                    return
            time.sleep(0.2)
        raise AssertionError("still there")


@pytest.mark.process
@pytest.mark.skipif(not (shutil.which("chromium") and shutil.which("chromedriver")), reason="no chromium here")
def test_in_a_browser(running: Running) -> None:
    """Opened by its address: sliders change settings, the recall box shows ranks, the mood is felt."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,900"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver: Any = webdriver.Chrome(options=options, service=Service(str(shutil.which("chromedriver"))))
    try:
        wait = WebDriverWait(driver, 15)
        driver.get(f"http://127.0.0.1:{running.port}/#{TOKEN}")
        wait.until(lambda d: d.find_elements(By.CSS_SELECTOR, ".slider"))
        assert TOKEN not in driver.current_url
        assert driver.execute_script("return document.cookie") == ""
        assert len(driver.find_elements(By.CSS_SELECTOR, ".slider")) == len(server.SLIDERS) + 5
        driver.find_element(By.ID, "query").send_keys("望远镜")
        wait.until(lambda d: d.find_elements(By.CSS_SELECTOR, "#hits li"))
        driver.execute_script(
            "const s = document.querySelector('[data-key=\"recall.w_graph\"]'); s.value = 0.5;"
            "s.dispatchEvent(new Event('input')); s.dispatchEvent(new Event('change'))"
        )
        wait.until(lambda _: Mind(running.mind.folder).settings.recall.w_graph == 0.5)
        frame = driver.find_element(By.ID, "map")
        wait.until(lambda d: "/map" in (frame.get_attribute("src") or ""))
        driver.switch_to.frame(frame)
        wait.until(lambda d: d.execute_script("return window.sky && sky.stars.length") > 0)
        driver.switch_to.default_content()
        assert driver.title == "记忆星图 · nebula"
        driver.find_element(By.ID, "to-mood").click()
        driver.execute_script(
            "document.getElementById('dim').value = 'happy'; document.getElementById('strength').value = 0.8"
        )
        driver.find_element(By.ID, "felt").click()
        wait.until(lambda d: "开心" in d.find_element(By.ID, "gauge").text)
        felt = moods.current(running.mind).dims["happy"]
        petal = driver.execute_script("return document.querySelector('[data-dim=happy]').dataset.length")
        assert float(petal) == pytest.approx(8 + 82 * felt)
        assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
        driver.get(f"http://127.0.0.1:{running.port}/#wrong")
        wait.until(lambda d: d.find_elements(By.CSS_SELECTOR, ".slider"))  # the cookie is still good
    finally:
        driver.quit()
