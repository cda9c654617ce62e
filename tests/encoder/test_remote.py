"""A server's vectors: good ones in any form, every way to fail told in one line, and the key told to nobody else."""

from __future__ import annotations

import dataclasses
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from nebula import messages
from nebula.encoder import exchange, remote
from nebula.encoder.remote import Endpoint, RemoteEncoder, address, masked
from nebula.errors import EmbeddingFailed
from tests.embedding_server import BATCH_LIMIT, DIMENSIONS, serving, vector

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.embedding_server import Serving

KEY = "sk-Pq7_vW3xZ9/Kd2+LmT5"
TEXTS = ["船", "渡轮早上六点开", "a boat"]


@pytest.fixture(autouse=True)
def in_english() -> None:
    messages.use("en")


def endpoint(url: str, **more: Any) -> Endpoint:
    return dataclasses.replace(Endpoint(f"{url}/v1", "bigrams", DIMENSIONS, KEY, timeout=10.0), **more)


def encoder(url: str, pauses: list[float] | None = None, **more: Any) -> RemoteEncoder:
    return RemoteEncoder(endpoint(url, **more), sleep=([] if pauses is None else pauses).append)


def expected(texts: list[str]) -> np.ndarray[Any, Any]:
    return np.array([vector(text) for text in texts], np.float32)


def failure(mode: str, folder: Path, texts: list[str] | None = None, **more: Any) -> tuple[str, Serving]:
    """The message of the mode's failure, checked to be one line without a piece of the key."""
    with serving(mode, folder) as server:
        return refusal(lambda: encoder(server.url, **more).encode(TEXTS if texts is None else texts)), server


def refusal(what: Callable[[], object]) -> str:
    with pytest.raises(EmbeddingFailed) as caught:
        what()
    assert caught.value.exit_code == 3
    assert {"address", "reason"} == set(caught.value.facts)
    assert_keyless(f"{caught.value} {caught.value.facts} {caught.value!r} {caught.value.args}")
    return caught.value.message


def assert_keyless(text: str) -> None:
    assert "\n" not in text
    assert text.isprintable()
    assert not [part for at in range(len(KEY) - 2) if (part := KEY[at : at + 3].lower()) in text.lower()]


class TestAddress:
    @pytest.mark.parametrize(
        ("base", "url"),
        [
            ("http://h/v1", "http://h/v1/embeddings"),
            ("http://h/v1/", "http://h/v1/embeddings"),
            ("http://h//v1//", "http://h/v1/embeddings"),
            ("http://h/v1/embeddings", "http://h/v1/embeddings"),
            ("http://h/v1/embeddings/", "http://h/v1/embeddings"),
            ("https://h/api/v3", "https://h/api/v3/embeddings"),
            ("https://h/api/paas/v4/", "https://h/api/paas/v4/embeddings"),
            ("https://h/compatible-mode/v1", "https://h/compatible-mode/v1/embeddings"),
            ("http://h:11434", "http://h:11434/v1/embeddings"),
            ("http://h:11434/", "http://h:11434/v1/embeddings"),
            (" HTTPS://H.example/v1\n", "https://h.example/v1/embeddings"),
            ("http://[::1]:8080/v1", "http://[::1]:8080/v1/embeddings"),
        ],
    )
    def test_ends_in_embeddings_once(self, base: str, url: str) -> None:
        assert address(base) == url
        assert address(url) == url

    @pytest.mark.parametrize(
        "base",
        [
            "",
            "h",
            "h/v1",
            "localhost:11434",
            "ftp://h/v1",
            "file:///etc/hosts",
            "http://",
            "http:///v1",
            "http://[::1",
            "http://h:99999/v1",
            "http://a b/v1",
        ],
    )
    def test_what_is_no_web_address_is_refused(self, base: str) -> None:
        assert "no http:// or https://" in refusal(lambda: address(base))

    @pytest.mark.parametrize(
        "base",
        [
            f"https://h/v1?key={KEY}",
            f"https://{KEY.replace('/', '')}@h/v1",
            f"https://me:{KEY[:13]}@h/v1",
            "https://h/v1?",
            f"https://h/v1#{KEY}",
        ],
    )
    def test_secrets_in_it_are_refused_and_not_repeated(self, base: str) -> None:
        assert refusal(lambda: address(base)).startswith("No vectors from https://h: ")


class TestReach:
    @pytest.mark.parametrize(
        "base",
        [
            "http://example.com/v1",
            "http://10.0.0.1/v1",
            "http://0.0.0.0:1",
            "http://localhost.example.com/v1",
            "http://127.0.0.1.example.com",
            "http://2130706433/v1",
            "http://[::ffff:127.0.0.1]/v1",
        ],
    )
    def test_in_the_clear_only_this_machine_hears_the_key(self, base: str) -> None:
        assert "https" in refusal(lambda: encoder("", base_url=base))
        encoder("", base_url=base, allow_http=True)
        encoder("", base_url=base.replace("http:", "https:"))

    @pytest.mark.parametrize("base", ["http://localhost:1", "http://127.9.9.9/v1", "http://[::1]:1/v1"])
    def test_this_machine(self, base: str) -> None:
        encoder("", base_url=base)

    def test_a_name_that_only_says_localhost(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A hosts file that sends localhost elsewhere: the address that answers is looked at before the key is sent."""
        monkeypatch.setattr(exchange, "is_loopback", lambda host: host == "localhost")
        with serving("good", tmp_path) as server:
            local = server.url.replace("127.0.0.1", "localhost")
            assert "does not lead to this machine" in refusal(lambda: encoder(local).encode(TEXTS))
            assert server.asked == []
            assert len(encoder(local, allow_http=True).encode(TEXTS)) == 3

    def test_no_proxy_of_the_environment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        with serving("good", tmp_path) as server:
            assert len(encoder(server.url).encode(TEXTS)) == 3

    def test_no_redirect_is_followed(self, tmp_path: Path) -> None:
        said, server = failure("redirect", tmp_path)
        assert "HTTP 302, redirects are not followed" in said
        assert [asked["path"] for asked in server.asked] == ["/v1/embeddings"]

    def test_encryption_is_checked(self, tmp_path: Path) -> None:
        """A server without a certificate hears nothing."""
        with serving("good", tmp_path) as server:
            refusal(lambda: encoder(server.url.replace("http:", "https:")).encode(TEXTS))
            assert server.asked == []


class TestVectors:
    @pytest.mark.parametrize("mode", ["good", "reordered", "unnumbered", "base64", "longer", "flaky", "nodims"])
    def test_every_form_comes_to_the_same(self, mode: str, tmp_path: Path) -> None:
        with serving(mode, tmp_path) as server:
            found = encoder(server.url).encode(TEXTS)
        assert (found.dtype, found.shape) == (np.float32, (3, DIMENSIONS))
        assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
        assert np.allclose(found, expected(TEXTS), atol=1e-6)

    def test_what_is_asked(self, tmp_path: Path) -> None:
        with serving("good", tmp_path) as server:
            mine = encoder(server.url)
            assert mine.encode([]).shape == (0, DIMENSIONS)
            assert server.asked == []
            mine.encode(TEXTS)
            encoder(server.url, key="none").encode(TEXTS)
            first, second = server.asked
        assert first == {"path": "/v1/embeddings", "texts": 3, "model": "bigrams", "dimensions": DIMENSIONS,
                         "authorization": f"Bearer {KEY}"}  # fmt: skip
        assert second["authorization"] is None

    def test_names(self) -> None:
        mine = encoder("http://127.0.0.1:1")
        assert (mine.model, mine.dimensions) == ("bigrams", DIMENSIONS)
        assert mine.key == f"openai-compatible/bigrams/{DIMENSIONS}"
        assert_keyless(f"{mine.key} {mine!r} {endpoint('http://127.0.0.1:1')!r}")

    def test_batches_and_progress(self, tmp_path: Path) -> None:
        texts = [f"第{n}条记忆" for n in range(25)]
        done: list[int] = []
        with serving("good", tmp_path) as server:
            found = encoder(server.url, batch=10).encode(texts, done.append)
            assert [asked["texts"] for asked in server.asked] == [10, 10, 5]
        assert done == [10, 20, 25]
        assert np.allclose(found, expected(texts), atol=1e-6)

    @pytest.mark.parametrize("mode", ["batch", "batch400"])
    def test_a_batch_too_large_is_halved(self, mode: str, tmp_path: Path) -> None:
        """And stays so; dimensions are still asked for."""
        texts = [f"第{n}条记忆" for n in range(40)]
        with serving(mode, tmp_path) as server:
            found = encoder(server.url, batch=30).encode(texts)
            assert [asked["texts"] for asked in server.asked] == [30, 15, 7, 7, 7, 7, 7, 5]
            assert {asked["dimensions"] for asked in server.asked} == {DIMENSIONS}
        assert BATCH_LIMIT == 8
        assert np.allclose(found, expected(texts), atol=1e-6)

    def test_a_server_without_dimensions_is_asked_without_from_then_on(self, tmp_path: Path) -> None:
        with serving("nodims", tmp_path) as server:
            mine = encoder(server.url, batch=2)
            mine.encode(TEXTS)
            mine.encode(TEXTS[:1])
            assert [(asked["texts"], asked["dimensions"]) for asked in server.asked] == [
                *[(2, DIMENSIONS), (2, None), (1, None), (1, None)]
            ]

    def test_a_refusal_for_another_reason(self, tmp_path: Path) -> None:
        """Asked once more without dimensions; later with them again, as they were not the reason."""
        with serving("refused", tmp_path) as server:
            mine = encoder(server.url)
            for _ in range(2):
                assert "HTTP 400: this model does not embed" in refusal(lambda: mine.encode(TEXTS))
            assert [asked["dimensions"] for asked in server.asked] == [DIMENSIONS, None] * 2


class TestRetries:
    def test_busy_twice(self, tmp_path: Path) -> None:
        """Retry-After is honoured."""
        pauses: list[float] = []
        with serving("429", tmp_path) as server:
            assert len(encoder(server.url, pauses).encode(TEXTS)) == 3
        assert pauses == [7.0, 7.0]

    def test_no_pause_is_longer_than_we_wait(self, tmp_path: Path) -> None:
        pauses: list[float] = []
        with serving("429-always", tmp_path) as server:
            said = refusal(lambda: encoder(server.url, pauses).encode(TEXTS))
        assert pauses == [remote.LONGEST_PAUSE] * 3
        assert "HTTP 429: come back tomorrow" in said

    def test_always_broken(self, tmp_path: Path) -> None:
        """Four tries, pauses that grow and vary; its message on one short line."""
        pauses: list[float] = []
        with serving("500", tmp_path) as server:
            said = refusal(lambda: encoder(server.url, pauses).encode(TEXTS))
            assert len(server.asked) == 4
        assert [low <= pause <= 2 * low for pause, low in zip(pauses, (0.5, 1.0, 2.0), strict=True)] == [True] * 3
        assert "HTTP 500: out of[31m memory at line 3 xxx" in said
        assert len(said) < 160 + 80

    def test_dropped_connections(self, tmp_path: Path) -> None:
        """Without a word, and amid the answer."""
        pauses: list[float] = []
        with serving("dropped", tmp_path) as server:
            assert np.allclose(encoder(server.url, pauses).encode(["船", "海"]), expected(["船", "海"]), atol=1e-6)
        assert len(pauses) == 2

    def test_always_dropped(self, tmp_path: Path) -> None:
        said, server = failure("hangs-up", tmp_path)
        assert "dropped" in said
        assert len(server.asked) == 4

    @pytest.mark.parametrize("mode", ["html", "nothing", "echo-key", "wrongdim", "redirect"])
    def test_what_no_try_mends_is_asked_once(self, mode: str, tmp_path: Path) -> None:
        assert len(failure(mode, tmp_path)[1].asked) == 1

    def test_nobody_listens(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}"
        pauses: list[float] = []
        assert "nothing answers" in refusal(lambda: encoder(url, pauses).encode(TEXTS))
        assert pauses == []


class TestBounds:
    @pytest.mark.parametrize("mode", ["slow", "drip"])
    def test_time_is_the_wall_clocks(self, mode: str, tmp_path: Path) -> None:
        """A server that sends a byte now and then is late all the same, and no thread is left behind."""
        start = time.monotonic()
        said, _ = failure(mode, tmp_path, timeout=0.7)
        assert "no whole answer within 0.7 s" in said
        assert time.monotonic() - start < 4
        for thread in threading.enumerate():
            if thread.name == "embedding":
                thread.join(2)
                assert not thread.is_alive()

    def test_size(self, tmp_path: Path) -> None:
        assert "larger than 64 MB" in failure("endless", tmp_path, timeout=60.0)[0]


@pytest.mark.parametrize(
    ("mode", "part"),
    [
        ("short", "2 vectors for 3 texts"),
        ("twice", "index"),
        ("wrongdim", f"48 dimensions, embedding.dimensions is {DIMENSIONS}"),
        ("nan", "not finite"),
        ("nan64", "not finite"),
        ("zeros", "all zeros"),
        ("strings", "(embedding)"),
        ("html", "a web page"),
        ("garbage", "not JSON"),
        ("list", "(data)"),
        ("said200", "no such model"),
        ("nothing", '/v1/embeddings: HTTP 404, there is nothing at this address: {"detail": "Not Found"}'),
    ],
)
def test_what_is_wrong_is_said(mode: str, part: str, tmp_path: Path) -> None:
    """In either language, with the address."""
    said, server = failure(mode, tmp_path)
    assert part in said
    assert f"{server.url}/v1/embeddings" in said
    messages.use("zh")
    with serving(mode, tmp_path) as again:
        assert "没有给出向量" in refusal(lambda: encoder(again.url).encode(TEXTS))


def test_not_found_where_v1_was_guessed(tmp_path: Path) -> None:
    with serving("nothing", tmp_path) as server:
        said = refusal(lambda: encoder("", base_url=f"{server.url}/").encode(TEXTS))
        assert f"{server.url}/v1/embeddings" in said
        assert "/v1 was guessed" in said
        assert "guessed" not in refusal(lambda: encoder("", base_url=f"{server.url}/api/v3").encode(TEXTS))


class TestKey:
    def test_a_server_that_repeats_it(self, tmp_path: Path) -> None:
        """Whole, in upper case, over two lines, and its first and last characters alone."""
        said, server = failure("echo-key", tmp_path)
        assert server.asked[0]["authorization"] == f"Bearer {KEY}"
        assert "HTTP 401: Bearer *** is wrong: ***" in said

    @pytest.mark.parametrize("key", ["", f"{KEY}\n", f"{KEY} {KEY}", f"密{KEY}", f"{KEY}\x00", f"{KEY}\r\nX: y"])
    def test_one_that_no_header_holds(self, key: str) -> None:
        """Refused before http.client would show it in its own error."""
        assert "the key is not" in refusal(lambda: encoder("http://127.0.0.1:1", key=key))

    def test_masking(self) -> None:
        assert masked("key abcdef and xABCy, ab", "abcdef") == "key *** and x***y, ab"
        assert masked("cdefab", "abcdef") == "***ab"
        assert masked("a.c", "a.c") == "***"
        assert masked("abc", "a.c") == "abc"
        assert masked("İ abc", "abc") == "İ ***"
        assert masked("nothing", "") == "nothing"
        assert masked("x ab", "ab") == "x ***"
