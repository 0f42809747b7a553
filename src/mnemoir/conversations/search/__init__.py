"""Semantic search over messages: embedding, vectors, filters, fusion and reranking."""
