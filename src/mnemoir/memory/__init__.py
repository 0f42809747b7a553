"""Memory derived from messages: facts, discussions, and the background jobs that make them."""
