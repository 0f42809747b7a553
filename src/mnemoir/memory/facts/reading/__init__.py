"""Reads what a user says in a conversation: which clauses are statements, and whom they are about."""
