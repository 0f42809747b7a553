"""The typed, frozen tree of settings. Only this room reads the settings file and the environment."""

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
