"""The mood that an HTTP address answers: bounded in reach, size and time, redirects not followed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nebula import reasons
from nebula.errors import short
from nebula.loopback import is_loopback
from nebula.mood.documents import SIZE_LIMIT, MoodSourceFailed, bounded

if TYPE_CHECKING:
    import socket

    from urllib3.connection import HTTPConnection


@dataclass
class _Exchange:
    """One GET that a thread of its own makes, so that its end can be waited for by the wall clock."""

    connection: HTTPConnection
    target: str
    deadline: float  # of time.monotonic
    allow_remote: bool
    sockets: list[socket.socket] = field(default_factory=list)

    def hang_up(self) -> None:
        """End what the thread still waits for."""
        import contextlib

        for opened in self.sockets:
            with contextlib.suppress(OSError):
                opened.shutdown(2)

    def body(self) -> bytes:
        """Connect, ask, read. Raises MoodSourceFailed and whatever the network raises."""
        try:
            self.connection.connect()
            self.sockets.append(self.connection.sock)
            if time.monotonic() >= self.deadline:  # the name was looked up for so long that nobody waits any more
                raise TimeoutError
            if not self.allow_remote and not is_loopback(self.connection.sock.getpeername()[0]):
                raise MoodSourceFailed("elsewhere", host="localhost")
            headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
            self.connection.request("GET", self.target, headers=headers, preload_content=False, decode_content=False)
            return self._answer()
        finally:
            self.connection.close()

    def _answer(self) -> bytes:
        response = self.connection.getresponse()
        try:
            if response.status != 200:
                raise MoodSourceFailed("moved" if 300 <= response.status < 400 else "status", status=response.status)
            return bounded(response.read(SIZE_LIMIT + 1))
        finally:
            response.close()


def _exchange(url: str, seconds: float, *, allow_remote: bool) -> _Exchange:
    """One parser reads the URL for the checks and for the connection, so that both see the same host."""
    from urllib3.connection import HTTPConnection, HTTPSConnection
    from urllib3.exceptions import LocationParseError
    from urllib3.util import parse_url

    try:
        parsed = parse_url(url)
    except LocationParseError as error:
        raise MoodSourceFailed("url") from error
    host = (parsed.host or "").strip("[]")
    if parsed.scheme not in {"http", "https"} or not host:
        raise MoodSourceFailed("url")
    if parsed.auth is not None:
        raise MoodSourceFailed("credentials")
    if not allow_remote and not is_loopback(host):
        raise MoodSourceFailed("elsewhere", host=short(host))
    kind = HTTPSConnection if parsed.scheme == "https" else HTTPConnection
    connection = kind(host, parsed.port, timeout=seconds)
    return _Exchange(connection, parsed.request_uri, time.monotonic() + seconds, allow_remote)


def fetched(url: str, timeout_ms: int, *, allow_remote: bool) -> bytes:
    """The body of an answer. A socket's own time-out starts again with every byte: this one does not."""
    import contextvars
    import queue
    import threading

    exchange = _exchange(url, timeout_ms / 1000, allow_remote=allow_remote)
    outcome: queue.SimpleQueue[bytes | Exception] = queue.SimpleQueue()

    def work() -> None:
        try:
            outcome.put(exchange.body())
        except Exception as error:
            outcome.put(error)

    speaking = contextvars.copy_context()  # a thread's own would have another language
    threading.Thread(target=speaking.run, args=(work,), name="mood-source", daemon=True).start()
    try:
        answer = outcome.get(timeout=max(0.0, exchange.deadline - time.monotonic()))
    except queue.Empty:
        exchange.hang_up()
        raise MoodSourceFailed("late", limit=timeout_ms) from None
    if isinstance(answer, MoodSourceFailed):
        raise answer
    if isinstance(answer, Exception):
        raise _failed(answer, timeout_ms) from answer
    return answer


def _failed(error: Exception, timeout_ms: int) -> MoodSourceFailed:
    if "Timeout" in type(error).__name__ or isinstance(error, TimeoutError):
        return MoodSourceFailed("late", limit=timeout_ms)
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    return MoodSourceFailed("system", reason=reasons.of(cause))
