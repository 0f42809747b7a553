"""Reader threads, each with a connection of its own that cannot write. They wait for nobody and hold up nobody."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import apsw

from mnemoir.core.errors import StorageUnavailable
from mnemoir.storage.sql.cells import Codec
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sqlite.failures import storage_errors
from mnemoir.storage.sqlite.transactions import SqliteSql, opens_cells, transaction

T = TypeVar("T")
BUSY_MS = 5000  # a connection waits only while the log is being recovered or reset


class Readers:
    """Threads and connections come into being when they are first needed."""

    def __init__(self, path: Path, threads: int, codec: Codec | None = None) -> None:
        self._path = path
        self._codec = codec
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="sqlite-reader")
        self._own = threading.local()
        self._connections: list[apsw.Connection] = []
        self._stopped = False

    async def run(self, work: Callable[[Sql], T]) -> T:
        """What `work` gives over one snapshot. Raises StorageUnavailable, or what `work` raises."""
        if self._stopped:
            raise StorageUnavailable(f"{self._path} is closed: the program is stopping.")
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._read, work)

    def stop(self) -> None:
        """Let reads under way end, then close. Blocks; may be called again."""
        self._stopped = True
        self._threads.shutdown()
        while self._connections:
            self._connections.pop().close()

    def _read(self, work: Callable[[Sql], T]) -> T:
        with storage_errors(self._path):
            connection = self._connection()
            with transaction(connection, reads=True):
                return work(SqliteSql(connection, codec=self._codec))

    def _connection(self) -> apsw.Connection:
        if not hasattr(self._own, "connection"):
            connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READONLY)
            connection.set_busy_timeout(BUSY_MS)
            opens_cells(connection, self._codec)
            self._connections.append(connection)
            self._own.connection = connection
        opened: apsw.Connection = self._own.connection
        return opened
