"""Project files: memories as plain JSON that other programs read too, and a database for derived data."""

from mnemoir.storage.files.memory_store import FileMemoryStore
from mnemoir.storage.files.project_files import FileProjectFiles, FileProjectSettings, clear_leftovers

__all__ = ["FileMemoryStore", "FileProjectFiles", "FileProjectSettings", "clear_leftovers"]
