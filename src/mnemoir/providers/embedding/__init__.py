"""Embedding models: the built-in one, sentence-transformers, and clients of embedding servers."""
