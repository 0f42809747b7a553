"""Project files: memories as plain JSON that other programs read too, and a database for derived data."""

from mnemoir.storage.files.leftovers import clear_leftovers
from mnemoir.storage.files.memory_store import FileMemoryStore
from mnemoir.storage.files.project_files import FileProjectFiles
from mnemoir.storage.files.project_settings import FileProjectSettings

__all__ = ["FileMemoryStore", "FileProjectFiles", "FileProjectSettings", "clear_leftovers"]
