"""Conversations and their vectors over `Sql`."""
