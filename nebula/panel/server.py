"""The panel's server: starlette on loopback, one mind, one thing at a time."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from typing import TYPE_CHECKING, Any

from nebula import maps, messages, moods, outlook
from nebula.errors import BadValue, ExtraMissing, NebulaError
from nebula.mindlib.record import EMOTIONS
from nebula.panel.guard import COOKIE, SESSION, Guard
from nebula.settings import flatten
from nebula.starmap.page import render
from nebula.webpage import assembled

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

    from nebula.mind import Mind
    from nebula.mood.expression import Feeling

BODY_LIMIT = 64 * 1024  # bytes
HITS = 8
#: What a slider may move: (least, most, step).
SLIDERS = {
    "recall.w_lexical": (0.0, 4.0, 0.1),
    "recall.w_dense": (0.0, 2.0, 0.05),
    "recall.w_graph": (0.0, 1.0, 0.05),
    "recall.w_time": (0.0, 1.0, 0.05),
    "recall.w_speaker": (0.0, 1.0, 0.05),
    "recall.clauses": (0.0, 1.0, 0.05),
    "recall.floor": (0.0, 4.0, 0.1),
    "recall.freshness": (0.0, 1.0, 0.05),
    "recall.weight": (0.0, 0.5, 0.01),
    "recall.w_emo": (0.0, 0.2, 0.01),
    "graph.hops": (1.0, 16.0, 1.0),
    "graph.d": (0.0, 0.95, 0.05),
    "graph.min_cosine": (0.4, 0.9, 0.01),
    "forgetting.half_base": (5.0, 120.0, 1.0),
    "forgetting.half_imp": (0.0, 5.0, 0.1),
    "forgetting.hot": (0.0, 1.0, 0.01),
    "forgetting.warm": (0.0, 1.0, 0.01),
    "forgetting.deep": (0.0, 1.0, 0.01),
}
LAYERS = "recall.layer_weights"
WHOLE = {"graph.hops"}


class Panel:
    """What the routes do. `mind` is opened once; `opened` are the settings as they were then."""

    def __init__(self, mind: Mind, token: str) -> None:
        self._mind = mind
        self._token = token
        self._opened = flatten(mind.settings)
        self._turn = threading.Lock()

    def shell(self) -> bytes:
        """The page, without anything of the mind."""
        words = {key: text for key, text in messages.catalogue(messages.language()).items() if _is_shown(key)}
        data = {"words": words, "dims": list(EMOTIONS), "sliders": {**SLIDERS, LAYERS: (0.0, 2.0, 0.05)}}
        return assembled("nebula.panel", "panel", messages.language(), data)

    def admits(self, token: object) -> bool:
        """Whether a page knows the token."""
        return isinstance(token, str) and secrets.compare_digest(token.encode(), self._token.encode())

    def state(self) -> dict[str, Any]:
        """Settings, mood, layers."""
        with self._turn:
            values = flatten(self._mind.settings)
            return {
                "settings": {key: values[key] for key in (*SLIDERS, LAYERS)},
                "opened": {key: self._opened[key] for key in (*SLIDERS, LAYERS)},
                "mood": _mood(self._mind.mood()),
                "provider": self._mind.settings.mood.provider,
                "layers": outlook.stats(self._mind).layers,
                "notices": self._notices(),
            }

    def _notices(self) -> list[str]:
        """What should be known of the mind as it lies there: an erase or a move that is not over is gone on with."""
        return [messages.told(one.code, one.facts) for one in self._mind.under(self._mind.overrides).notices]

    def map(self) -> bytes:
        """The sky under the settings in force."""
        with self._turn:
            return render(maps.sky(self._mind))

    def set(self, body: dict[str, Any]) -> dict[str, Any]:
        """Set one of the settings that the panel shows, at once for every program. Raises BadValue."""
        key: Any = body.get("key")
        value: Any = body.get("value")
        if not isinstance(key, str) or (key not in SLIDERS and key != LAYERS):
            raise BadValue("key", key, " | ".join(SLIDERS))
        with self._turn:
            found = self._mind.configure(key, round(value) if key in WHOLE and _whole(value) else value)
        return {"key": key, "value": found.value}

    def recall(self, body: dict[str, Any]) -> dict[str, Any]:
        """The ranking now, and under the settings that the panel was opened with. Counts as no recall."""
        query = body.get("query")
        if not isinstance(query, str):
            raise BadValue("query", query, '"…"')
        with self._turn:
            before = self._mind.under(self._opened)
            ranks = {
                hit.memory.ref: rank for rank, hit in enumerate(before.recall(query, n=30, touch=False).hits, start=1)
            }
            hits, notices = self._mind.recall(query, n=HITS, touch=False).hits, self._notices()
        return {
            "notices": notices,
            "hits": [
                {"ref": h.memory.ref, "text": h.memory.text[:200], "label": h.label, "score": h.score,
                 "before": ranks.get(h.memory.ref), "now": rank}
                for rank, h in enumerate(hits, start=1)
            ],
        }  # fmt: skip

    def feel(self, body: dict[str, Any]) -> dict[str, Any]:
        """Something was felt. Raises BadValue."""
        dim, strength, why = body.get("dim"), body.get("strength"), body.get("why", "")
        if not isinstance(dim, str) or not isinstance(why, str):
            raise BadValue("dim", dim, " | ".join(EMOTIONS))
        if isinstance(strength, bool) or not isinstance(strength, int | float):
            raise BadValue("strength", strength, "0…1")
        with self._turn:
            return _mood(moods.feel(self._mind, dim, float(strength), why)[0])

    def source(self, body: dict[str, Any]) -> dict[str, Any]:
        """Where the mood comes from. Raises BadValue."""
        kind, place = body.get("kind"), body.get("place", "")
        if kind not in ("builtin", "file", "http") or not isinstance(place, str) or (kind != "builtin" and not place):
            raise BadValue("kind", kind, "builtin | file | http")
        with self._turn:
            return _mood(moods.choose(self._mind, str(kind), place, {}))


def _is_shown(key: str) -> bool:
    return key.startswith(("panel.", "dim.", "mood.", "map.layer"))


def _whole(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)


def _mood(felt: Feeling) -> dict[str, Any]:
    return {
        "value": felt.value,
        "label": felt.label,
        "dims": dict(felt.dims),
        "expression": dict(felt.expression),
        "levels": dict(felt.levels),
        "surface": dict(felt.surface),
        "underlying": dict(felt.underlying),
        "reason": felt.reason,
        "source": felt.source,
        "stale": felt.stale,
        "unresolved": felt.unresolved,
    }


def app(panel: Panel, token: str, port: int) -> ASGIApp:
    """The routes behind the guard."""
    from starlette.applications import Starlette
    from starlette.responses import HTMLResponse, JSONResponse
    from starlette.routing import Route

    language = messages.language()

    async def shell(_: Request) -> Response:
        return HTMLResponse(panel.shell())

    async def session(request: Request) -> Response:
        if not panel.admits((await _body(request)).get("token")):
            return JSONResponse({}, 401)
        response = JSONResponse({})
        response.set_cookie(COOKIE, token, httponly=True, samesite="strict", path="/")
        return response

    def reading(work: Callable[[], object]) -> Callable[[Request], Any]:
        async def answer(_: Request) -> Response:
            return await _worked(lambda: JSONResponse(work()), language)

        return answer

    def changing(work: Callable[[dict[str, Any]], object]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            body = await _body(request)
            return await _worked(lambda: JSONResponse(work(body)), language)

        return answer

    async def sky(_: Request) -> Response:
        return await _worked(lambda: HTMLResponse(panel.map()), language)

    bodies = {"set": panel.set, "recall": panel.recall, "feel": panel.feel, "source": panel.source}
    routes = [
        Route("/", shell, methods=["GET"]),
        Route(SESSION, session, methods=["POST"]),
        Route("/map", sky, methods=["GET"]),
        Route("/api/state", reading(panel.state), methods=["GET"]),
        *(Route(f"/api/{name}", changing(work), methods=["POST"]) for name, work in bodies.items()),
    ]
    return Guard(Starlette(routes=routes), token, port)


async def _body(request: Request) -> dict[str, Any]:
    """The JSON object that came; {} for what is none or too large."""
    import orjson

    data = b""
    async for part in request.stream():
        data += part
        if len(data) > BODY_LIMIT:
            return {}
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


async def _worked(work: Callable[[], Response], language: str) -> Response:
    """A response made in a thread; an error of ours as 400 with its sentence."""
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse

    def spoken() -> Response:
        messages.use(language)
        return work()

    try:
        return await run_in_threadpool(spoken)
    except NebulaError as error:
        return JSONResponse({"error": str(error)}, 400)


def serve(mind: Mind, shown: Callable[[str], None], port: int = 0) -> None:
    """Serve a mind on 127.0.0.1 until interrupted or until the terminal is gone; `shown` gets the address.

    Raises ExtraMissing without the packages that it takes.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise ExtraMissing("panel", "starlette uvicorn") from error
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.bind(("127.0.0.1", port))
        listening.listen()  # before the address is shown: whoever is fast waits instead of being refused
        chosen = listening.getsockname()[1]
        token = secrets.token_urlsafe(32)
        server = uvicorn.Server(
            uvicorn.Config(
                app(Panel(mind, token), token, chosen), log_level="error", access_log=False, server_header=False
            )
        )
        threading.Thread(target=_end_with, args=(os.getppid(), server), daemon=True).start()
        shown(f"http://127.0.0.1:{chosen}/#{token}")
        server.run(sockets=[listening])


def _end_with(parent: int, server: Any) -> None:
    """End the server once the process that began it is gone: a panel is not to outlive its terminal."""
    import time

    while os.getppid() == parent:
        time.sleep(0.5)
    server.should_exit = True
