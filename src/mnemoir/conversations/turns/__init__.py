"""Conversations of a chat application as turns: threads, presets and token-buffer memory."""
