"""Memory of discussions: making and reading chunk summaries, the rolling summary and records."""
