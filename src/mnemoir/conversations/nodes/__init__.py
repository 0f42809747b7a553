"""Memory of one workflow node: its document, records, compression and cleanup."""
