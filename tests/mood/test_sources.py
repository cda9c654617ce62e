"""Moods of other programs: every shape that one may have, and everything that may go wrong without costing a recall."""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from nebula.loopback import is_loopback
from nebula.mood import sources
from nebula.mood.documents import Reading
from nebula.mood.scan import guess, scan
from nebula.settings import MoodSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOW = datetime(2026, 5, 1, 9)
MAP = {"value": "$.moods.default.mood", "dims": "$.moods.default.dims"}  # spec 7


def of_file(path: Path, document: Any, paths: dict[str, str] | None = None, last: Reading | None = None) -> Reading:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    path.write_bytes(data)
    return sources.read(MoodSettings(provider="file", file=str(path), map=paths or {}), NOW, last)


class TestShape:
    def test_a_map_leads_to_the_fields(self, tmp_path: Path) -> None:
        document = {"moods": {"default": {"mood": 72, "dims": {"happy": 0.6, "开心": 0.1, "难过": 0.2, "rage": 1}}}}
        found = of_file(tmp_path / "my moods.json", document, MAP)
        assert found == Reading(
            72.0, {"happy": 0.6, "sad": 0.2}, "happy", "", "file:my moods.json", stale=False, at="2026-05-01T09:00:00"
        )

    def test_without_a_map_the_roots_own_keys(self, tmp_path: Path) -> None:
        found = of_file(tmp_path / "m.json", {"value": 20, "label": "心疼", "reason": "雨\n天"})
        assert (found.value, found.dims, found.label, found.stale) == (20.0, {}, "heartache", False)
        assert "\n" not in found.reason

    @pytest.mark.parametrize(
        ("dims", "read"),
        [
            ({"happy": 1.2, "sad": 0.5}, {"happy": 1.0, "sad": 0.5}),  # a 0…1 that overshot
            ({"happy": 30, "sad": 1}, {"happy": 0.3, "sad": 0.01}),  # hundredths
            ({"happy": -3, "sad": 250}, {"happy": 0.0, "sad": 1.0}),
            ({"happy": "0.3", "sad": True, "worry": None, "calm": 0.4}, {"calm": 0.4}),
            ({"Happy": 0.3, " SAD ": 0.2}, {"happy": 0.3, "sad": 0.2}),
        ],
    )
    def test_dimensions(self, tmp_path: Path, dims: dict[str, Any], read: dict[str, float]) -> None:
        assert of_file(tmp_path / "m.json", {"value": 50, "dims": dims}).dims == read

    @pytest.mark.parametrize(("value", "read"), [(120, 100.0), (-4, 0.0), (49.5, 49.5), (10**30, 100.0)])
    def test_values_are_clipped(self, tmp_path: Path, value: float, read: float) -> None:
        assert of_file(tmp_path / "m.json", {"value": value}).value == read

    def test_without_a_value_the_gauge_of_the_dimensions(self, tmp_path: Path) -> None:
        """50 + 50 · (0.6 - 0.2)"""
        assert of_file(tmp_path / "m.json", {"dims": {"happy": 0.6, "sad": 0.2}}).value == pytest.approx(70.0)

    def test_a_byte_order_mark_and_hostile_words(self, tmp_path: Path) -> None:
        found = of_file(tmp_path / "m.json", b'\xef\xbb\xbf{"value": 60, "label": "\\u001b[31m' + b"x" * 500 + b'"}')
        assert found.value == 60
        assert "\x1b" not in found.label
        assert len(found.label) <= 60


class TestFailing:
    @pytest.mark.parametrize(
        ("document", "reason"),
        [
            (b"", "不是 JSON"),
            (b"{", "不是 JSON"),
            (b"[" * 100_000, "不是 JSON"),
            (b"\xff\xfe", "不是 JSON"),
            ([], "没有心情"),
            ({"value": "70"}, "没有心情"),
            (b'{"value": ' + b" " * 262_144 + b"1}", "超过 256 kB"),
        ],
    )
    def test_a_file(self, tmp_path: Path, document: Any, reason: str) -> None:
        found = of_file(tmp_path / "m.json", document)
        assert (found.value, found.dims, found.stale, found.source) == (50.0, {}, True, "file:m.json")
        assert reason in found.reason

    def test_absent_folder_pipe_and_nothing_set(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for path in (tmp_path / "no.json", tmp_path, tmp_path / "pipe", "/dev/zero", "a\0b", ""):
            found = sources.read(MoodSettings(provider="file", file=str(path)), NOW, None)
            assert (found.value, found.stale) == (50.0, True), path
            assert found.reason

    @pytest.mark.parametrize("path", ["$[", "moods..", "$.a[?(@.b==1)", "", "`this`.x("])
    def test_a_map_that_is_none(self, tmp_path: Path, path: str) -> None:
        found = of_file(tmp_path / "m.json", {"value": 70}, {"value": path})
        assert (found.value, found.stale) == (50.0, True)

    def test_the_last_reading_of_this_source_stays_and_is_told_stale(self, tmp_path: Path) -> None:
        good = of_file(tmp_path / "m.json", {"value": 72, "dims": {"happy": 0.6}})
        bad = of_file(tmp_path / "m.json", b"{", last=good)
        assert (bad.value, bad.dims, bad.stale, bad.at) == (72.0, {"happy": 0.6}, True, good.at)
        assert "不是 JSON" in bad.reason
        other = of_file(tmp_path / "other.json", b"{", last=good)
        assert (other.value, other.dims) == (50.0, {})

    def test_what_was_kept_comes_back_and_nothing_else(self) -> None:
        good = Reading(72.0, {"happy": 0.6}, "happy", "雨", "http", stale=False, at="2026-05-01T09:00:00")
        kept = {**vars(good), "cache": 1}
        assert sources.revived(kept) == good
        for change in ({"source": "builtin"}, {"source": 4}, {"value": None}, {"value": "x"}):
            assert sources.revived({**kept, **change}) is None
        assert sources.revived({}) is None


Answer = tuple[int, dict[str, str], bytes]


@contextmanager
def served(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def said(code: int, body: bytes, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def asked(url: str, ms: int = 2000, **settings: Any) -> Reading:
    return sources.read(MoodSettings(provider="http", url=url, timeoutMs=ms, **settings), NOW, None)


class TestHttp:
    def test_an_answer(self) -> None:
        body = json.dumps({"moods": {"default": {"mood": 30, "dims": {"sad": 0.5}}}}).encode()
        seen: list[str] = []

        def answer(handler: BaseHTTPRequestHandler) -> None:
            seen.append(handler.path)
            said(200, body)(handler)

        with served(answer) as url:
            found = asked(f"{url}/a/b?c=d#e", map=MAP)
            local = asked(url.replace("127.0.0.1", "localhost"), map=MAP)
        assert found == Reading(30.0, {"sad": 0.5}, "sad", "", "http", stale=False, at="2026-05-01T09:00:00")
        assert local.value == 30.0
        assert seen[0] == "/a/b?c=d"

    @pytest.mark.parametrize("code", [204, 301, 302, 307, 404, 500])
    def test_only_200_counts_and_no_redirect_is_followed(self, code: int) -> None:
        with served(said(200, b'{"value": 70}')) as elsewhere, served(said(code, b"", Location=elsewhere)) as url:
            found = asked(url)
        assert (found.value, found.stale) == (50.0, True)
        assert str(code) in found.reason

    def test_too_large_an_answer(self) -> None:
        with served(said(200, b'{"value": 70, "x": "' + b"x" * 262_144 + b'"}')) as url:
            assert "超过 256 kB" in asked(url).reason

    def test_an_endless_answer_ends_at_the_limit(self) -> None:
        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.end_headers()
            while True:
                handler.wfile.write(b" " * 65536)

        with served(answer) as url:
            assert asked(url, 5000).stale

    def test_the_time_out_is_of_the_whole_and_not_of_each_byte(self) -> None:
        done = threading.Event()

        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.end_headers()
            while not done.wait(0.05):
                handler.wfile.write(b" ")
                handler.wfile.flush()

        with served(answer) as url:
            begun = time.monotonic()
            found = asked(url, 400)
            took = time.monotonic() - begun
            done.set()
        assert found.stale
        assert "400 毫秒" in found.reason
        assert took < 5.0  # drips for ever: it is enough that it ends

    def test_nobody_there(self) -> None:
        with served(said(200, b"")) as url:
            pass
        found = asked(url)
        assert found.stale
        assert found.reason

    @pytest.mark.parametrize(
        "url",
        [
            "http://example.invalid/mood",
            "http://10.0.0.1/mood",
            "http://0.0.0.0:1/mood",
            "http://127.0.0.1.example.invalid/",
            "http://localhost.example.invalid/",
            "http://user:word@127.0.0.1/",
            "http://127.0.0.1@10.0.0.1/",
            "http://[::ffff:10.0.0.1]/",
            "http://2130706433/",
            "file:///etc/hosts",
            "ftp://127.0.0.1/",
            "127.0.0.1:80",
            "http://",
            "http://[::1",
            "",
        ],
    )
    def test_only_this_machine_is_asked(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        import socket

        def refused(*_: object, **__: object) -> None:
            raise AssertionError("something was connected to")

        monkeypatch.setattr(socket, "create_connection", refused)
        monkeypatch.setattr(socket.socket, "connect", refused)
        monkeypatch.setattr(socket, "getaddrinfo", refused)
        found = asked(url)
        assert found.stale
        assert "connected" not in found.reason
        assert "AssertionError" not in found.reason

    def test_another_machine_where_it_is_allowed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import urllib3.util.connection as connections

        with served(said(200, b'{"value": 70}')) as url:
            port = int(url.rpartition(":")[2])
            real = connections.create_connection

            def diverted(address: tuple[str, int], *rest: Any, **named: Any) -> Any:
                assert address[0] == "moods.example"
                return real(("127.0.0.1", port), *rest, **named)

            monkeypatch.setattr(connections, "create_connection", diverted)
            assert asked("http://moods.example/", remote=True).value == 70.0

    def test_a_name_that_only_says_localhost(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A hosts file that sends localhost elsewhere: the address that answers is looked at too."""
        from nebula.mood import fetch

        with served(said(200, b'{"value": 70}')) as url:
            monkeypatch.setattr(fetch, "is_loopback", lambda host: host == "localhost")
            assert "不是本机" in asked(url.replace("127.0.0.1", "localhost")).reason

    @pytest.mark.parametrize(
        ("host", "here"),
        [("localhost", True), ("LOCALHOST", True), ("127.0.0.1", True), ("127.8.9.1", True), ("::1", True)]
        + [(h, False) for h in ("", "::", "0.0.0.0", "128.0.0.1", "localhost.", "127.1", "::ffff:127.0.0.1")],
    )
    def test_loopback(self, host: str, here: bool) -> None:
        assert is_loopback(host) is here


class TestScan:
    @staticmethod
    def home(tmp_path: Path) -> tuple[Path, dict[str, str]]:
        home = tmp_path / "home"
        (home / ".config").mkdir(parents=True)
        return home, {"HOME": str(home), "NEBULA_MIND": str(tmp_path / "minds" / "mind")}

    def test_files_are_found_with_a_map_that_reads_them(self, tmp_path: Path) -> None:
        home, environ = self.home(tmp_path)
        good = home / ".dsh" / "sub" / "moods.json"
        good.parent.mkdir(parents=True)
        good.write_text(json.dumps({"moods": {"default": {"mood": 72, "dims": {"happy": 0.6, "sad": 0.1}}}}))
        (home / ".config" / "心情.json").write_text('{"心情": 30}', encoding="utf-8")
        (home / ".config" / "mood.json").write_text("{}")
        (home / ".config" / "moodboard.json").write_text('{"value": 70, "pins": []}')
        (home / ".config" / "other.json").write_text('{"mood": 70}')
        found = {f.path.name: f for f in scan(home, environ)}
        assert found.keys() == {"moods.json", "心情.json"}
        assert found["moods.json"].map == MAP
        assert found["心情.json"].map == {"value": "$['心情']"}
        for one in found.values():
            settings = MoodSettings(provider="file", file=str(one.path), map=one.map)
            read = sources.read(settings, NOW, None)
            assert (read.value, read.dims, read.stale) == (one.reading.value, one.reading.dims, False)
        assert not (tmp_path / "minds").exists()

    def test_links_deep_folders_and_its_own_state_are_left_alone(self, tmp_path: Path) -> None:
        home, environ = self.home(tmp_path)
        secret = tmp_path / "secret" / "mood.json"
        secret.parent.mkdir()
        secret.write_text('{"mood": 70}')
        (home / ".config" / "mood.json").symlink_to(secret)
        (home / ".config" / "folder").symlink_to(secret.parent)
        deep = home / ".config" / "a" / "b" / "c" / "d" / "mood.json"
        deep.parent.mkdir(parents=True)
        deep.write_text('{"mood": 70}')
        mind = tmp_path / "minds" / "mind"
        mind.mkdir(parents=True)
        (mind / "mood-state.json").write_text('{"value": 70, "dims": {"happy": 0.5, "sad": 0}}')
        assert scan(home, environ) == []

    @pytest.mark.parametrize(
        ("document", "paths"),
        [
            ({"dims": {"happy": 1, "sad": 2}, "value": 4}, {"value": "$.value", "dims": "$.dims"}),
            ({"value": 4}, {}),
            ({"mood": "good"}, {}),
            ({"mood": 400}, {}),
            ({"a": [{"x y": {"it's": {"mood": 4}}}]}, {"value": "$.a[0]['x y']['it\\'s'].mood"}),
            (
                {"mood": 4, "label": "sad", "reason": "rain"},
                {"value": "$.mood", "label": "$.label", "reason": "$.reason"},
            ),
            ([], {}),
            (4, {}),
        ],
    )
    def test_guesses(self, document: object, paths: dict[str, str]) -> None:
        assert guess(document) == paths
