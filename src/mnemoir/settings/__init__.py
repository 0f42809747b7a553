"""One frozen, typed tree of settings, and the only room that reads files and the environment for it."""

from mnemoir.settings.load import load_settings
from mnemoir.settings.tree import (
    Embedding,
    Llm,
    Log,
    Memory,
    Runs,
    Server,
    Settings,
    Source,
    Storage,
    Timeouts,
    Workflows,
)

__all__ = [
    "Embedding",
    "Llm",
    "Log",
    "Memory",
    "Runs",
    "Server",
    "Settings",
    "Source",
    "Storage",
    "Timeouts",
    "Workflows",
    "load_settings",
]
