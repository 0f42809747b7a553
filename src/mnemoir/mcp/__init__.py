"""Memory as tools of the Model Context Protocol, for agents that speak it."""

from mnemoir.mcp.owner import Asks
from mnemoir.mcp.tools import tool_server

__all__ = ["Asks", "tool_server"]
