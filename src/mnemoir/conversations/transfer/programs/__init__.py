"""Readers of other programs' chats, each with its table of shapes."""
