"""A placeholder for the MCP client, which is not supported here. MCPO offers the same tools over HTTP."""

from typing import Any, NoReturn

from ...failures import DynamicModuleError  # noqa: TID252 - the package's full name differs between here and there


class MCPToolCallError(DynamicModuleError):
    """A tool could not be called."""


class MCPClient:
    """Placeholder for modules that import the name. The constructor raises an error that names the alternative."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise MCPToolCallError(
            "MCP servers cannot be called from Python modules here; "
            "put MCPO in front of the server and call it with the modules in modules/mcpo."
        )
