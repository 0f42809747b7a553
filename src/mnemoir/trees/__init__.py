"""The served config tree and its files."""
