"""A server of embeddings as they come, good and bad: `python tests/embedding_server.py PORT MODE LOG`.

Runs in a process of its own. PORT 0 picks one; the port is printed. LOG gets one JSON object a request: path, number of
texts, model, "dimensions", the Authorization header. MODE is the rest of a method's name `mode_…`. A text's vector
counts its characters and bigrams by hash in 64 places, norm 1. Tests use `serving`.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import struct
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DIMENSIONS = 64
BATCH_LIMIT = 8

Reply = tuple[int, Any]  # status, document or bytes


def vector(text: str) -> list[float]:
    counts = [0.0] * DIMENSIONS
    for at in range(len(text)):
        for gram in (text[at], text[at : at + 2]):
            counts[int(hashlib.md5(gram.encode()).hexdigest(), 16) % DIMENSIONS] += 1
    norm = sum(count * count for count in counts) ** 0.5 or 1.0
    return [count / norm for count in counts]


def document(texts: list[str], shape: Callable[[list[float]], Any] = list) -> dict[str, Any]:
    data = [{"object": "embedding", "index": n, "embedding": shape(vector(text))} for n, text in enumerate(texts)]
    return {"object": "list", "data": data, "model": "bigrams"}


def complaint(status: int, message: str) -> Reply:
    return status, {"error": {"message": message, "type": "invalid_request_error"}}


class Server(ThreadingHTTPServer):
    mode = "good"
    log = Path()
    asked = 0


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked += 1
        told = {"path": self.path, "texts": len(request["input"]), "model": request["model"]}
        told |= {"dimensions": request.get("dimensions"), "authorization": self.headers.get("Authorization")}
        with self.server.log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(told) + "\n")
        with contextlib.suppress(ConnectionError):
            self.answer(request, request["input"])

    def answer(self, request: dict[str, Any], texts: list[str]) -> None:
        reply: Reply | None = getattr(self, function(self.server.mode))(request, texts)
        if reply is None:  # it was written there
            return
        status, content = reply
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in self.more_headers(status).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def more_headers(self, status: int) -> dict[str, str]:
        if status == 429:
            return {"Retry-After": "7" if self.server.mode == "429" else "86400"}
        return {"Location": "/elsewhere/embeddings"} if status == 302 else {}

    # -- modes ---------------------------------------------------------------------------------------------------------

    def mode_good(self, _: Any, texts: list[str]) -> Reply:
        return 200, document(texts)

    def mode_slow(self, _: Any, texts: list[str]) -> Reply:
        time.sleep(5)
        return 200, document(texts)

    def mode_429(self, _: Any, texts: list[str]) -> Reply:
        return (200, document(texts)) if self.server.asked > 2 else complaint(429, "slow down")

    def mode_429_always(self, _: Any, __: list[str]) -> Reply:
        return complaint(429, "come back tomorrow")

    def mode_500(self, _: Any, __: list[str]) -> Reply:
        return complaint(500, "out of\x1b[31m memory\n at line 3 " + "x" * 500)

    def mode_flaky(self, _: Any, texts: list[str]) -> Reply:
        return (200, document(texts)) if self.server.asked > 1 else complaint(500, "once")

    def mode_reordered(self, _: Any, texts: list[str]) -> Reply:
        found = document(texts)
        found["data"].reverse()
        return 200, found

    def mode_unnumbered(self, _: Any, texts: list[str]) -> Reply:
        return 200, {"data": [{"embedding": vector(text)} for text in texts]}

    def mode_twice(self, _: Any, texts: list[str]) -> Reply:
        return 200, {"data": [{"index": 0, "embedding": vector(text)} for text in texts]}

    def mode_short(self, _: Any, texts: list[str]) -> Reply:
        return 200, document(texts[:-1])

    def mode_wrongdim(self, _: Any, texts: list[str]) -> Reply:
        return 200, document(texts, lambda found: found[:48])

    def mode_nan(self, _: Any, texts: list[str]) -> Reply:
        return 200, document(texts, lambda found: [float("nan"), *found[1:]])

    def mode_nan64(self, _: Any, texts: list[str]) -> Reply:
        return 200, document(texts, lambda found: packed([float("nan"), *found[1:]]))

    def mode_zeros(self, _: Any, texts: list[str]) -> Reply:
        return 200, document(texts, lambda found: [0.0] * len(found))

    def mode_strings(self, _: Any, texts: list[str]) -> Reply:
        return 200, document(texts, lambda found: [str(number) for number in found])

    def mode_longer(self, _: Any, texts: list[str]) -> Reply:
        return 200, document(texts, lambda found: [number * 1e300 for number in found])

    def mode_base64(self, _: Any, texts: list[str]) -> Reply:
        return 200, document(texts, packed)

    def mode_html(self, _: Any, __: list[str]) -> Reply:
        return 200, b"<!DOCTYPE html>\n<html><body>Welcome\nto nginx</body></html>"

    def mode_garbage(self, _: Any, __: list[str]) -> Reply:
        return 200, b"\x00\xff not json"

    def mode_list(self, _: Any, __: list[str]) -> Reply:
        return 200, [1, 2]

    def mode_said200(self, _: Any, __: list[str]) -> Reply:
        return 200, {"error": {"message": "no such model"}}

    def mode_redirect(self, _: Any, __: list[str]) -> Reply:
        return 302, {}

    def mode_nothing(self, _: Any, __: list[str]) -> Reply:
        return 404, {"detail": "Not Found"}

    def mode_nodims(self, request: dict[str, Any], texts: list[str]) -> Reply:
        if "dimensions" in request:
            return complaint(400, "Unknown parameter: 'dimensions' exceeds what this batch of models takes")
        return 200, document(texts)

    def mode_refused(self, _: Any, __: list[str]) -> Reply:
        return complaint(400, "this model does not embed")

    def mode_batch(self, _: Any, texts: list[str]) -> Reply:
        return complaint(413, "Payload") if len(texts) > BATCH_LIMIT else (200, document(texts))

    def mode_batch400(self, _: Any, texts: list[str]) -> Reply:
        if len(texts) > BATCH_LIMIT:
            return complaint(400, "Value error, batch size is invalid, it should not be larger than 8")
        return 200, document(texts)

    def mode_echo_key(self, _: Any, __: list[str]) -> Reply:
        told = self.headers["Authorization"]
        key = told.removeprefix("Bearer ")
        message = f"{told} is wrong: {key[:7]}...{key[-4:]} {key.upper()} {key[:12]}\n{key[12:]} sk-***{key[-3:]}"
        return complaint(401, message)

    def mode_drip(self, _: Any, __: list[str]) -> None:
        """One byte at a time, so that no read of its own is ever late."""
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        for _ in range(200):
            self.wfile.write(b" ")
            time.sleep(0.05)

    def mode_endless(self, _: Any, __: list[str]) -> None:
        self.send_response(200)
        self.end_headers()
        while True:
            self.wfile.write(b" " * 65536)

    def mode_dropped(self, _: Any, __: list[str]) -> None:
        """The first connection ends without a word, the second amid the answer, the third is good."""
        if self.server.asked == 2:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
        if self.server.asked <= 2:
            self.close_connection = True
            return
        data = json.dumps(document(["船", "海"])).encode()
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data) + data)

    def mode_hangs_up(self, _: Any, __: list[str]) -> None:
        self.close_connection = True


def packed(numbers: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def function(mode: str) -> str:
    return f"mode_{mode.replace('-', '_')}"


@dataclass(frozen=True)
class Serving:
    """A server that runs: its address without a path, and what it was asked so far."""

    url: str
    log: Path

    @property
    def asked(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []


@contextmanager
def serving(mode: str, folder: Path) -> Iterator[Serving]:
    """The server in a mode, in a process of its own that ends with the block; its log lies in `folder`."""
    log = folder / f"{mode}.log"
    command = [sys.executable, __file__, "0", mode, str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Serving(f"http://127.0.0.1:{int(process.stdout.readline())}", log)
        finally:
            process.kill()


def main(port: int, mode: str, log: Path) -> None:
    assert hasattr(Handler, function(mode)), mode
    with Server(("127.0.0.1", port), Handler) as server:
        server.mode, server.log, server.daemon_threads = mode, log, True
        sys.stdout.write(f"{server.server_port}\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
