"""Conversations: threads, windows, token buffers, sessions, node memory, semantic search."""
