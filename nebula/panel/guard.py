"""Who may speak to the panel: checked before anything else, on every route (reliability 5.1).

A browser on this machine may be sent here by any page. So the Host must be ours (no rebinding of names), the request
must come from our own page (Origin, Sec-Fetch-Site), and it must bear the token that only the terminal was shown.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "nebula"
#: The empty page, and where it hands over the token: neither holds or changes anything of the mind.
SHELL, SESSION = "/", "/session"
FRAMED = "/map"
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Guard:
    """ASGI middleware, the outermost. Refuses with 4xx and no body of ours."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through or refuse it; what is no HTTP is not answered."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        status = self._refused(scope["method"], scope["path"], _headers(scope))
        if status:
            await send({"type": "http.response.start", "status": status, "headers": _raw(HEADERS)})
            await send({"type": "http.response.body", "body": b""})
            return
        framing = "'self'" if scope["path"] == FRAMED else "'none'"

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                policy = {"Content-Security-Policy": f"frame-ancestors {framing}"}
                message["headers"] = [*message.get("headers", []), *_raw({**HEADERS, **policy})]
            await send(message)

        await self._app(scope, receive, dressed)

    def _refused(self, method: str, path: str, headers: Mapping[str, str]) -> int:
        """The status that refuses a request, 0 for one that may pass."""
        host = headers.get("host", "").lower()
        if host not in self._hosts:
            return 421
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and origin.lower() != f"http://{host}":
            return 403
        if site is not None and site not in ({"same-origin", "none"} if method == "GET" else {"same-origin"}):
            return 403
        if method not in {"GET", "HEAD"}:
            if origin is None and site is None:
                return 403
            if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
                return 415
        if path in {SHELL, SESSION}:
            return 0
        return 0 if self._knows(headers.get("cookie", "")) else 401

    def _knows(self, cookie: str) -> bool:
        try:
            found = SimpleCookie(cookie).get(COOKIE)
        except CookieError:
            return False
        return found is not None and secrets.compare_digest(found.value.encode(), self._token.encode())


def _headers(scope: Scope) -> dict[str, str]:
    """By lower-case name; two of a name are joined, so that neither hides behind the other."""
    found: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]
