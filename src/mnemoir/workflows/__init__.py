"""Workflows: JSON files of nodes, run in order to answer a client's message and finish its turn."""
