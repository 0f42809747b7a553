"""What is said: conversations, how they are stored, and how they are remembered."""
