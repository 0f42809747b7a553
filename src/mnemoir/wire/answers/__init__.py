"""Reading what models answer, whatever its form: the one reader, and the pieces of tool calls."""
