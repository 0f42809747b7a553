"""Stores of objects: a local directory, memory, and everything obstore knows by URL."""
