"""A line that is no message: the protocol's package drops it without a word, and its sender waits until it gives up.

Here it is answered as JSON-RPC says: what is not JSON with -32700, what is JSON and no message with -32600, with the
id of the request where one can be read.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

if TYPE_CHECKING:
    from anyio.abc import ObjectSendStream
    from mcp.shared._stream_protocols import ReadStream, WriteStream


def refusal(failure: Exception) -> JSONRPCError | None:
    """The answer to what could not be read; None for an empty line, which asks nothing."""
    wrong = failure.errors(include_url=False, include_context=False) if isinstance(failure, ValidationError) else []
    if wrong and wrong[0]["type"] == "json_invalid":
        line = wrong[0]["input"]
        if not line.strip():
            return None
        told = ErrorData(code=PARSE_ERROR, message=f"Parse error: {wrong[0]['msg']}")
        return JSONRPCError(jsonrpc="2.0", id=_id(_loosely(line)), error=told)
    # Of the four kinds of message each lacks what another has: the whole of it stands beside what is missing.
    whole = next((one["input"] for one in wrong if one["type"] == "missing" and len(one["loc"]) == 2), None)
    told = ErrorData(code=INVALID_REQUEST, message="Invalid request: not a JSON-RPC 2.0 message")
    return JSONRPCError(jsonrpc="2.0", id=_id(whole), error=told)


async def answering(
    incoming: ReadStream[SessionMessage | Exception],
    onward: ObjectSendStream[SessionMessage | Exception],
    answers: WriteStream[SessionMessage],
) -> None:
    """Pass the messages on and answer the rest, until the input ends."""
    async with onward:
        async for item in incoming:
            if not isinstance(item, Exception):
                await onward.send(item)
            elif (told := refusal(item)) is not None:
                await answers.send(SessionMessage(told))


def _loosely(line: str) -> Any:
    """What Python takes for JSON and the protocol does not, such as half a surrogate pair."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _id(message: Any) -> int | str | None:
    number = message.get("id") if isinstance(message, dict) else None
    if isinstance(number, str):
        return number if number.isprintable() and len(number) <= 200 else None
    return number if type(number) is int else None
