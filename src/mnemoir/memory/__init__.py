"""What is derived from messages and kept: facts, and the work that goes on behind the replies."""
