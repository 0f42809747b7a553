"""Messages, sessions and the storage port of a conversation: the values that every other part here speaks."""
