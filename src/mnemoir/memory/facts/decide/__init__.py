"""Decides what a statement changes of what is known."""
