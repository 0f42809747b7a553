"""Construction of prompts from a node's texts and the conversation: messages, or one flat text."""
