"""The node types, one file each."""
