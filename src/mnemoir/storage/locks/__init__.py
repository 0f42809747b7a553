"""Leases in a directory, in this process, and in Redis."""
