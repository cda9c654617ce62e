"""One POST to a server of embeddings: bounded in reach, size and time, redirects not followed, no proxies."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import orjson

from nebula import messages, reasons
from nebula.errors import EmbeddingFailed, short
from nebula.loopback import is_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

    from urllib3.connection import HTTPConnection
    from urllib3.util import Url

SIZE_LIMIT, ERROR_SIZE_LIMIT = 64 * 1024 * 1024, 64 * 1024  # bytes: of vectors, of a refusal
DROPPED = 0  # stands for a status where the connection broke


def failed(where: str, kind: str, **facts: object) -> EmbeddingFailed:
    """The error of an address, its reason from the catalogue (`embedding.failed.…`)."""
    return EmbeddingFailed(where, messages.say(f"embedding.failed.{kind}", **facts))


def target(base_url: str) -> Url:
    """Where to POST to. One parser reads the URL for the checks and for the connection, so both see the same host.

    Raises EmbeddingFailed, as `nebula.encoder.remote.address` does.
    """
    from urllib3.exceptions import LocationParseError
    from urllib3.util import parse_url

    try:
        parsed = parse_url(base_url.strip())
    except LocationParseError:  # which repeats the URL, and with it what may be secret there
        raise failed("embedding.baseURL", "url") from None
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise failed("embedding.baseURL", "url")
    if any(part is not None for part in (parsed.auth, parsed.query, parsed.fragment)):
        raise failed(short(f"{parsed.scheme}://{parsed.host}"), "parts")
    steps = [step for step in (parsed.path or "").split("/") if step] or ["v1"]
    steps += [] if steps[-1] == "embeddings" else ["embeddings"]
    return parsed._replace(path="/" + "/".join(steps))


@dataclass(frozen=True)
class Answer:
    """What a server answered: at most one byte more than the limit of its size; `retry_after` as in its header."""

    status: int
    body: bytes = b""
    retry_after: str = ""

    @property
    def said(self) -> str:
        """The server's own message as it came, unchecked; "" for a web page."""
        text = self.body.decode("utf-8", "replace")
        try:
            found = orjson.loads(self.body)
        except orjson.JSONDecodeError:
            return "" if text.lstrip().startswith("<") else text
        for name in ("error", "message"):
            found = found.get(name, found) if isinstance(found, dict) else found
        return found if isinstance(found, str) else text


@dataclass
class _Exchange:
    """One POST that a thread of its own makes, so that its end can be waited for by the wall clock."""

    connection: HTTPConnection
    url: Url
    headers: Mapping[str, str]
    body: bytes
    only_here: bool
    abandoned: bool = False

    def hang_up(self) -> None:
        """End what the thread still waits for; what it has not sent is not sent any more."""
        self.abandoned = True
        if (opened := self.connection.sock) is not None:
            with contextlib.suppress(OSError):
                opened.shutdown(2)

    def answer(self) -> Answer:
        """Connect, ask, read. Raises EmbeddingFailed and whatever the network raises."""
        try:
            self.connection.connect()
            if self.abandoned:  # the name was looked up for so long that nobody waits any more
                raise TimeoutError
            if self.only_here and not is_loopback(self.connection.sock.getpeername()[0]):
                raise failed(self.url.url, "elsewhere", host=short(self.url.host))
            with contextlib.suppress(BrokenPipeError):  # refused before all was sent: the answer says why
                self.connection.request(
                    "POST", self.url.request_uri, self.body, self.headers, preload_content=False, decode_content=False
                )
            return self._read()
        finally:
            self.connection.close()

    def _read(self) -> Answer:
        response = self.connection.getresponse()
        with contextlib.closing(response):
            limit = SIZE_LIMIT + 1 if response.status == 200 else ERROR_SIZE_LIMIT
            body = response.read(limit)
            if len(body) < limit and response.length_remaining:  # which read() with a limit lets pass
                raise ConnectionResetError
            return Answer(response.status, body, response.headers.get("Retry-After", ""))


def post(url: Url, headers: Mapping[str, str], body: bytes, seconds: float, *, only_here: bool) -> Answer:
    """The answer, whole within `seconds` (connecting included), else DROPPED where the connection broke.

    `only_here` refuses whatever address is not this machine's, before anything is sent to it. Raises EmbeddingFailed.
    A socket's own time-out starts again with every byte: this one does not.
    """
    import contextvars
    import queue
    import threading

    exchange = _Exchange(_connection(url, seconds), url, headers, body, only_here)
    outcome: queue.SimpleQueue[Answer | Exception] = queue.SimpleQueue()

    def work() -> None:
        try:
            outcome.put(exchange.answer())
        except Exception as error:
            outcome.put(error)

    speaking = contextvars.copy_context()  # a thread's own would have another language
    threading.Thread(target=speaking.run, args=(work,), name="embedding", daemon=True).start()
    try:
        answer = outcome.get(timeout=seconds)
    except queue.Empty:
        raise failed(url.url, "late", seconds=f"{seconds:g}") from None
    finally:
        exchange.hang_up()
    return answer if isinstance(answer, Answer) else _broken(answer, url, seconds)


def _connection(url: Url, seconds: float) -> HTTPConnection:
    import ssl

    from urllib3.connection import HTTPConnection, HTTPSConnection

    host = (url.host or "").strip("[]")
    if url.scheme == "http":
        return HTTPConnection(host, url.port, timeout=seconds)
    return HTTPSConnection(host, url.port, timeout=seconds, ssl_context=ssl.create_default_context())


def _broken(error: Exception, url: Url, seconds: float) -> Answer:
    """What an exchange's exception means: DROPPED, which another try may mend, or EmbeddingFailed."""
    from http.client import HTTPException

    from urllib3.exceptions import ProtocolError

    if isinstance(error, EmbeddingFailed):
        raise error
    if isinstance(error, ConnectionError | HTTPException | ProtocolError):
        return Answer(DROPPED)
    if "Timeout" in type(error).__name__:
        raise failed(url.url, "late", seconds=f"{seconds:g}") from error
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    raise failed(url.url, "system", reason=reasons.of(cause)) from error
