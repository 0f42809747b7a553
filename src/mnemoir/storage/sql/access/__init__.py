"""Stores of keys, people and their sessions, and the log of what they did."""
