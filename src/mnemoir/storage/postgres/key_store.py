"""A key store in a database of PostgreSQL, which is another one than that of the data."""

from mnemoir.storage.postgres.engine import SharedTables, open_shared_tables
from mnemoir.storage.postgres.opening import KEYS
from mnemoir.storage.postgres.pool import Pool
from mnemoir.storage.sealing.key_stores import KeyStore
from mnemoir.storage.sql.data_keys import SqlDataKeys
from mnemoir.storage.sql.engine import FileEngine


class KeyDatabase:
    """A key store by its connection string. Raises StorageUnavailable for a text that is none."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._tables: SharedTables | None = None
        self.name = Pool(dsn, KEYS).name

    def exists(self) -> bool:
        """Whether its tables are there. Once they were seen, a query says it."""
        return self._tables is not None or Pool(self._dsn, KEYS).has_schema()

    def state(self) -> object:
        """A number that each change makes greater; None before it is opened here."""
        return None if self._tables is None else SqlDataKeys(self._tables).version()

    def open(self) -> FileEngine:
        """Its tables, over two connections."""
        self._tables = open_shared_tables(Pool(self._dsn, KEYS))
        return self._tables


_: type[KeyStore] = KeyDatabase  # checked, never run
