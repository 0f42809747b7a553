"""Names that modules import from the module loader and from the MCP client."""
