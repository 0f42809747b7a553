"""The SQLite engines: one private file with a writer thread and readers, and files shared with other programs.

They open files, guard their integrity and run transactions; the content of the tables belongs to `storage/sql`.
"""

from mnemoir.storage.sqlite.database import SqliteEngine, open_database

__all__ = ["SqliteEngine", "open_database"]
