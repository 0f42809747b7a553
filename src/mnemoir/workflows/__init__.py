"""Workflows: what happens between a client's message and the end of its turn, as JSON run node by node."""
