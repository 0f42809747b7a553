"""Embedding clients for session memory: models in this process, and servers of embeddings."""
