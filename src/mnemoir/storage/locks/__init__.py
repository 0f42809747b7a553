"""Implementations of leases: files of a directory, memory of this process, rows of a database, and Redis."""
