"""Embedding models: the built-in one and the clients of others."""
