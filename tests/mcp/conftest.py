"""A server in a process of its own, and the protocol's own client."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp import ClientSession, StdioServerParameters, stdio_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ROOT = Path(__file__).parents[2]


def environment(mind: Path) -> dict[str, str]:
    return {**os.environ, "NEBULA_MIND": str(mind), "NEBULA_LANG": "zh", "PYTHONPATH": str(ROOT)}


@asynccontextmanager
async def connected(mind: Path, *argv: str) -> AsyncIterator[ClientSession]:
    """A session with a server on a mind; both end with the block."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "nebula", "mcp", *argv], env=environment(mind), cwd=mind.parent
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        yield session


async def ask(session: ClientSession, tool: str, **given: Any) -> Any:
    """A tool's structured answer; fails where it is a refusal."""
    result: Any = await session.call_tool(tool, given)
    assert not result.is_error, result.content
    return result.structured_content
