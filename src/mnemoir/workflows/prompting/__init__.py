"""What a model is asked: messages or one flat prompt, from a node's texts and the conversation."""
