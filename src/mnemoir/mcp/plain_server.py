"""A tool server that answers in plain sentences, also for an empty result and for a wrong argument.

The library answers a wrong argument with its validator's report, and an empty list with no text at all.
"""

from collections.abc import Mapping
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.types import CallToolResult, InputRequiredResult, TextContent
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from mnemoir.core.errors import MnemoirError

_PROBLEMS = {
    "missing": "is missing",
    "string_type": "must be a text",
    "string_too_short": "must not be empty",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "value_error": "{error}",
}


class PlainServer(MCPServer[Any]):  # Any: its lifespan yields no value
    """The MCP server. `nothing` holds a sentence for each tool whose answer may be an empty list."""

    nothing: Mapping[str, str] = {}

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """The tool's result. Raises ToolError with a sentence for the model."""
        try:
            result = await super().call_tool(name, arguments, context)
        except ToolError as exc:
            raise _in_plain_words(exc, await self._arguments_of(name)) from exc
        if isinstance(result, CallToolResult) and not result.content and name in self.nothing:
            result.content = [TextContent(type="text", text=self.nothing[name])]
        return result

    async def _arguments_of(self, name: str) -> str:
        found = [tool for tool in await self.list_tools() if tool.name == name]
        return ", ".join(f"`{argument}`" for tool in found for argument in tool.input_schema["properties"])


def resource_error(exc: MnemoirError) -> ResourceError:
    """The error of a resource, with our message."""
    return ResourceError(exc.message)


def _in_plain_words(exc: ToolError, arguments: str) -> ToolError:
    """The error with our own message or a sentence per wrong argument; unknown errors stay unchanged."""
    if isinstance(exc.__cause__, MnemoirError):
        return ToolError(exc.__cause__.message)
    if isinstance(exc.__cause__, ValidationError):
        problems = " ".join(map(_problem, exc.__cause__.errors(include_url=False)))
        return ToolError(f"{problems} Call the tool again; its arguments are {arguments}.")
    return exc


def _problem(error: ErrorDetails) -> str:
    argument = ".".join(map(str, error["loc"]))
    problem = _PROBLEMS.get(error["type"], "has a value that this tool does not take")
    return f"The argument `{argument}` {problem.format(**error.get('ctx', {}))}."
