"""Routes of memories: add, search, list, change, export and forget them; what was learned from a turn; and the
settings of their project.
"""
