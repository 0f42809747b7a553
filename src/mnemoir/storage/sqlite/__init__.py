"""The embedded database: one file, one process, one writer thread, several readers.

`database.py` opens the file and runs blocking work on it; the stores are named SQL run through it.
"""

from mnemoir.storage.sqlite.database import Database, open_database
from mnemoir.storage.sqlite.job_queue import SqliteJobQueue
from mnemoir.storage.sqlite.memory_store import SqliteMemoryStore
from mnemoir.storage.sqlite.project_settings import SqliteProjectSettings

__all__ = ["Database", "SqliteJobQueue", "SqliteMemoryStore", "SqliteProjectSettings", "open_database"]
