"""Servers of tools that speak MCP itself: not to be reached from here. MCPO offers the same tools over HTTP."""

from typing import Any, NoReturn

from ...failures import DynamicModuleError  # noqa: TID252 - the package's full name differs between here and there


class MCPToolCallError(DynamicModuleError):
    """A tool could not be called."""


class MCPClient:
    """For modules that import the name; one that makes a client learns what to use instead."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise MCPToolCallError(
            "MCP servers cannot be called from Python modules here; "
            "put MCPO in front of the server and call it with the modules in modules/mcpo."
        )
