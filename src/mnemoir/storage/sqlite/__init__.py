"""The SQLite engines: one private file with a writer thread and readers, and files shared with other programs.

They open files, keep them whole and run transactions; what stands in the tables is the business of `storage/sql`.
"""

from mnemoir.storage.sqlite.database import SqliteEngine, open_database

__all__ = ["SqliteEngine", "open_database"]
