"""Memory of discussions: chunk summaries, the rolling summary, records; who makes them and who reads them."""
