"""The protocol's server with an end to what its refusals repeat: a name or a value may be as long as an agent likes."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

#: Characters of a refusal: 6 kB at most, however they are escaped.
REFUSAL = 1000


class BoundedServer(MCPServer):
    """Cuts what a refusal says."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """As there. Raises ToolError with at most `REFUSAL` characters."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if len(str(error)) > REFUSAL:
                raise ToolError(f"{str(error)[:REFUSAL]}…") from error
            raise
