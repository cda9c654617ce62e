"""Text -> vectors, by a server that speaks OpenAI's embeddings (`POST …/embeddings`).

The server is a stranger that is told a key: its answer is bounded (see `exchange`) and checked number by number, and
no error says anything of the key, even where the server repeats it.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from nebula.encoder.exchange import DROPPED, SIZE_LIMIT, Answer, failed, post, target
from nebula.loopback import is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from nebula.errors import EmbeddingFailed

SAID_LENGTH = 160  # characters of the server's own message that are quoted
TRIES = 4  # of one request
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds: before the second try; of a Retry-After
NO_KEY = "none"  # the key that says there is none
PASSING = {DROPPED, 429, 500, 502, 503, 504}  # statuses that another try may change
REFUSED = {400, 422}  # statuses of a request that is not understood
#: How servers say that a request holds too much; a message about dimensions may use the same words.
_TOO_MUCH = re.compile(
    r"batch|too many|too large|too long|array|at most|larger than|exceed|maximum|tokens|条|批|超", re.IGNORECASE
)
_DIMENSIONS = re.compile(r"dimension|维", re.IGNORECASE)
#: What Python and JavaScript write for such numbers, and what no double holds: neither is JSON for orjson.
_NOT_FINITE = re.compile(rb"[\[,]\s*-?(?:NaN|Infinity|[\d.]+[eE]\+?\d{3,})\s*[\],]")


@dataclass(frozen=True)
class Endpoint:
    """A server's embeddings and how they are asked for. `key` is sent as bearer token, "none" sends nothing."""

    base_url: str
    model: str
    dimensions: int
    key: str = field(repr=False)
    timeout: float = 30.0  # seconds for one whole answer, connecting included
    allow_http: bool = False  # whether key and texts may travel unencrypted to another machine
    batch: int = 64  # texts a request at most


def address(base_url: str) -> str:
    """The URL to POST to: the base's path and `/embeddings` once; a base that ends at the host is meant with /v1.

    Raises EmbeddingFailed for what is no http(s) URL with a host, and for a name, password, query or fragment.
    """
    return target(base_url).url


class RemoteEncoder:
    """An endpoint's encoder. `key` names provider, model and dimensions: vectors of different keys never compare.

    Nothing is sent before `encode`. Raises EmbeddingFailed for an address that can't be called (see `address`), for
    http to another machine that is not allowed, and for a key that no header can hold.
    """

    def __init__(self, endpoint: Endpoint, sleep: Callable[[float], object] = time.sleep) -> None:
        self._url = target(endpoint.base_url)
        self.address = self._url.url
        self._only_here = self._url.scheme == "http" and not endpoint.allow_http
        if self._only_here and not is_loopback((self._url.host or "").strip("[]")):
            raise failed(self.address, "http")
        if not is_key(endpoint.key):
            raise failed(self.address, "key")
        self.model = endpoint.model
        self.dimensions = endpoint.dimensions
        self.key = f"openai-compatible/{self.model}/{self.dimensions}"
        self._endpoint = endpoint
        self._sleep = sleep
        self._batch = max(1, endpoint.batch)
        self._plain = False  # whether the server is asked without "dimensions"

    def encode(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> np.ndarray[Any, Any]:
        """The texts' vectors, f32 [n, dimensions], norm 1, in their order; `progress` is told how many are done.

        One request takes at most 4 tries of `timeout` seconds and 30 s between two. Raises EmbeddingFailed.
        """
        import numpy as np

        found = np.empty((len(texts), self.dimensions), np.float32)
        done = 0
        while done < len(texts):
            some = self._first(texts[done : done + self._batch])
            found[done : done + len(some)] = some
            done += len(some)
            if progress is not None:
                progress(done)
        return found

    def _first(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        """Vectors of the first of the texts, as many as the server takes at once."""
        plain = self._plain
        while (answer := self._asked(texts, plain=plain)).status != 200:
            if len(texts) > 1 and _too_much(answer):
                self._batch = len(texts) // 2
                texts = texts[: self._batch]
            elif answer.status in REFUSED and not plain:
                plain = True
            else:
                raise self._refusal(answer)
        self._plain = plain  # only now is it sure that "dimensions" was what the server did not take
        return self._vectors(answer, len(texts))

    def _asked(self, texts: Sequence[str], *, plain: bool) -> Answer:
        """The answer to one request, asked again where it failed for the moment only."""
        request = {"model": self.model, "input": list(texts)}
        body = orjson.dumps(request if plain else {**request, "dimensions": self.dimensions})
        for tried in range(TRIES - 1):
            answer = self._posted(body)
            if answer.status not in PASSING:
                return answer
            self._sleep(_pause(tried, answer.retry_after.strip()))
        return self._posted(body)

    def _posted(self, body: bytes) -> Answer:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        if self._endpoint.key != NO_KEY:
            headers["Authorization"] = f"Bearer {self._endpoint.key}"
        return post(self._url, headers, body, self._endpoint.timeout, only_here=self._only_here)

    def _refusal(self, answer: Answer) -> EmbeddingFailed:
        if answer.status == DROPPED:
            return self._failed("dropped")
        if 300 <= answer.status < 400:
            return self._failed("moved", status=answer.status)
        if answer.status == 404:
            bare = self._endpoint.base_url.strip().rstrip("/").count("/") == 2  # those before the host
            return self._failed("guessed" if bare else "nothing", said=self._quoted(answer))
        return self._failed("status", status=answer.status, said=self._quoted(answer))

    def _failed(self, kind: str, **facts: object) -> EmbeddingFailed:
        return failed(self.address, kind, **facts)

    def _quoted(self, answer: Answer) -> str:
        """The server's message as it may follow a status: `: …` on one line, nothing of the key in it, or ""."""
        printable = "".join(c for c in " ".join(answer.said[:1000].split()) if c.isprintable())
        said = masked(printable, "" if self._endpoint.key == NO_KEY else self._endpoint.key).rstrip(".。")
        return f": {said if len(said) <= SAID_LENGTH else said[: SAID_LENGTH - 1] + '…'}" if said else ""

    def _vectors(self, answer: Answer, count: int) -> np.ndarray[Any, Any]:
        """The answer's vectors, f32 [count, dimensions], norm 1, in the order of the request."""
        import numpy as np

        if len(answer.body) > SIZE_LIMIT:
            raise self._failed("large", limit=SIZE_LIMIT // 1024**2)
        return np.stack([self._unit(embedding) for embedding in self._embeddings(answer, count)])

    def _embeddings(self, answer: Answer, count: int) -> list[object]:
        """What the answer holds for each text, by its `index`; by its place where no item has one."""
        try:
            document = orjson.loads(answer.body)
        except orjson.JSONDecodeError:
            page = answer.body.lstrip()[:1] == b"<"
            raise self._failed("html" if page else "finite" if _NOT_FINITE.search(answer.body) else "json") from None
        data = document.get("data") if isinstance(document, dict) else None
        if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
            if isinstance(document, dict) and "error" in document:  # some say 200 and mean it not
                raise self._failed("status", status=200, said=self._quoted(answer))
            raise self._failed("shape", part="data")
        if len(data) != count:
            raise self._failed("count", got=len(data), asked=count)
        places = [item.get("index") for item in data]
        if any(place is not None for place in places):
            if any(type(place) is not int for place in places) or sorted(places) != list(range(count)):
                raise self._failed("order")
            data.sort(key=lambda item: item["index"])
        return [item.get("embedding") for item in data]

    def _unit(self, embedding: object) -> np.ndarray[Any, Any]:
        """One embedding, a list of numbers or base64 of little-endian f32, at norm 1."""
        import numpy as np

        vector = self._numbers(embedding)
        if len(vector) != self.dimensions:
            raise self._failed("dimensions", got=len(vector), expected=self.dimensions)
        if not np.isfinite(vector).all():
            raise self._failed("finite")
        largest = np.abs(vector).max(initial=0.0)
        if largest == 0:
            raise self._failed("zero")
        scaled = vector.astype(np.float64) / largest  # so that no square is too large or too small for a double
        unit: np.ndarray[Any, Any] = (scaled / np.linalg.norm(scaled)).astype(np.float32)
        return unit

    def _numbers(self, embedding: object) -> np.ndarray[Any, Any]:
        import base64

        import numpy as np

        if isinstance(embedding, list) and all(type(number) in {int, float} for number in embedding):
            return np.array(embedding, np.float64)
        try:
            return np.frombuffer(base64.b64decode(str(embedding), validate=True), "<f4")
        except ValueError:
            raise self._failed("shape", part="embedding") from None


def is_key(key: str) -> bool:
    """Whether a header can hold the key: printable ASCII without spaces, not empty."""
    return bool(re.fullmatch(r"[!-~]+", key))


def _too_much(answer: Answer) -> bool:
    if answer.status not in REFUSED:
        return answer.status == 413
    return bool(_TOO_MUCH.search(answer.said)) and not _DIMENSIONS.search(answer.said)


def _pause(tried: int, retry_after: str) -> float:
    """Seconds before the next try: a growing pause of its own, or the longer one that the server asks for."""
    import random

    own = FIRST_PAUSE * (1 << tried) * (1 + random.random())  # noqa: S311 - keeps clients apart, no secret
    return max(own, min(float(retry_after), LONGEST_PAUSE)) if retry_after.isdecimal() else own


def masked(text: str, key: str) -> str:
    """A line with *** for every three characters or more that stand in the key too, whatever their case."""
    width = min(3, len(key))
    parts = {re.escape(key[at : at + width]) for at in range(len(key) - width + 1)} - {""}
    if not parts:
        return text
    found = re.finditer(f"(?=(?:{'|'.join(parts)}))", text, re.IGNORECASE)
    hidden = {match.start() + offset for match in found for offset in range(width)}
    return re.sub("\0+", "***", "".join("\0" if at in hidden else c for at, c in enumerate(text)))
