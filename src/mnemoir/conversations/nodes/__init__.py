"""Node memory: the memory of a workflow node in a conversation, its document, storage, listing and cleanup."""
