"""The protocol's server with bounds: names and values may be as long as an agent likes, what is said of them is not.

An argument that a tool does not have is refused, and so is a line that is no message.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ConfigDict, ValidationError

from nebula.mcp.unreadable import answering

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_types import ToolAnnotations

#: Characters of a refusal: 6 kB at most, however they are escaped.
REFUSAL = 1000


def strict(function: Callable[..., Any], name: str, hints: ToolAnnotations) -> Tool:
    """A tool that takes no argument but its function's; its schema says so, its docstring is its description."""
    tool = Tool.from_function(function, name, description=inspect.getdoc(function), annotations=hints)

    class Arguments(tool.fn_metadata.arg_model):  # type: ignore[name-defined, misc]  # made at run time
        model_config = ConfigDict(extra="forbid")

    Arguments.__name__ = f"{name}Arguments"
    tool.fn_metadata.arg_model, tool.parameters = Arguments, Arguments.model_json_schema(by_alias=True)
    return tool


def _wrong(failure: ValidationError) -> str:
    """Which arguments a tool does not take, and why; what was given stands there shortened."""
    said = [
        f"{'.'.join(str(part)[:40] for part in one['loc'])}: {one['msg']} (got {repr(one['input'])[:60]})"
        for one in failure.errors(include_url=False, include_context=False)[:5]
    ]
    return f"bad_value: {'; '.join(said)}"


class BoundedServer(MCPServer):
    """Cuts what a refusal says, and answers what is no message."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """As there. Raises ToolError with at most `REFUSAL` characters."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            wrong = error.__cause__
            told = _wrong(wrong) if isinstance(wrong, ValidationError) else str(error)
            raise ToolError(told if len(told) <= REFUSAL else f"{told[:REFUSAL]}…") from error

    async def run_stdio_async(self) -> None:
        """As there, with an answer to each line that is no message."""
        onward, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()
        async with stdio_server() as (incoming, answers), anyio.create_task_group() as tasks:
            tasks.start_soon(answering, incoming, onward, answers)
            options = self._lowlevel_server.create_initialization_options()
            await self._lowlevel_server.run(messages, answers, options)
