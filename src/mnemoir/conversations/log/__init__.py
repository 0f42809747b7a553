"""Messages, sessions and files of a conversation: the values that all other parts of this room use."""
