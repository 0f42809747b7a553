"""Memory as tools of the Model Context Protocol, for agents that speak it."""

from mnemoir.mcp.tools import Asks, tool_server

__all__ = ["Asks", "tool_server"]
