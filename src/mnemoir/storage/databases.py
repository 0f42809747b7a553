"""The databases of an installation: a port that opens them, and the one that keeps them in SQLite files.

The rooms above `storage` open every database through it, and know neither files of SQLite nor its driver.
"""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

import apsw
import structlog

from mnemoir.core.data_directory import DATABASE_FILE, POSTGRES
from mnemoir.core.errors import SettingsError, StorageDamaged, StorageUnavailable
from mnemoir.storage.database_ports import AccessPlace as AccessPlace
from mnemoir.storage.database_ports import CountedFile as CountedFile
from mnemoir.storage.database_ports import Database as Database
from mnemoir.storage.database_ports import MainDatabase as MainDatabase
from mnemoir.storage.database_ports import SettingsPlace as SettingsPlace
from mnemoir.storage.disk_files import prepare_folder
from mnemoir.storage.locks.rows import LockFile
from mnemoir.storage.process_lock import ProcessLock
from mnemoir.storage.sealing.cells import Cells, OwnCells
from mnemoir.storage.sealing.key_stores import KeyFile, KeyStore
from mnemoir.storage.sealing.own_files import SealState, seal_state, sealed_state
from mnemoir.storage.sql.data_keys import SqlDataKeys
from mnemoir.storage.sql.engine import FileEngine, Sql
from mnemoir.storage.sql.tables import VECTOR_FILE, SealedFile
from mnemoir.storage.sqlite.access_place import AccessFilePlace
from mnemoir.storage.sqlite.conversation_file import give_to_owner, open_conversation_file, refuse_lost_file
from mnemoir.storage.sqlite.data_file import known_steps, problems, refuse_lost_log, refuse_other_schemas
from mnemoir.storage.sqlite.database import BUSY_MS, open_database, read_beside
from mnemoir.storage.sqlite.directory_identity import DirectoryIdentity as DirectoryIdentity
from mnemoir.storage.sqlite.membership import Belonging, read_belonging
from mnemoir.storage.sqlite.membership import Membership as Membership
from mnemoir.storage.sqlite.membership import lost_identity_error as lost_identity_error
from mnemoir.storage.sqlite.opening import (
    open_key_store,
    open_lock_file,
    open_run_file,
    open_vector_file,
)
from mnemoir.storage.sqlite.sealed_sql import sealing
from mnemoir.storage.sqlite.shared_file import names_set_aside
from mnemoir.storage.sqlite.transactions import OpenSql, SqliteSql, storage_errors

if TYPE_CHECKING:
    from mnemoir.storage.postgres.engine import PostgresEngine  # whose driver is an extra
    from mnemoir.storage.postgres.pool import Pool
    from mnemoir.storage.postgres.watched_tables import WatchedTables

T = TypeVar("T")
ON_A_WARNING = "Let the server connect with a role that is neither; see docs/storage.md."
_log = structlog.get_logger(__name__)


class SqliteFiles:
    """The port over files of SQLite."""

    def open_main(
        self, path: Path, cells: Cells | None = None, identity: DirectoryIdentity | None = None
    ) -> MainDatabase:
        """See `open_database`."""
        if identity is not None:
            identity.refuse_memories_in(POSTGRES)
        return open_database(path, _opening(cells), identity)

    def loss_of_main(self, path: Path, identity: DirectoryIdentity) -> str:
        """By the file and what it says of itself."""
        membership = identity.membership(path.name)
        what = membership.loss_in(path) if membership.is_expected() else None
        return "" if what is None else membership.loss_error(path, what).message

    def access_place(self, path: Path, identity: DirectoryIdentity) -> AccessPlace:
        """The place of a file."""
        return AccessFilePlace(path, identity)

    def settings_place(self, path: Path, identity: DirectoryIdentity) -> SettingsPlace | None:
        """None: they lie in files."""

    def loss_of_access(self, path: Path, identity: DirectoryIdentity) -> str | None:
        """By the file and what it says of itself."""
        return identity.membership(path.name).loss_in(path)

    def open_runs(self, path: Path, cells: Cells | None = None) -> FileEngine:
        """See `open_run_file`."""
        return open_run_file(path, _opening(cells))

    def has_runs(self, path: Path) -> bool:
        """By the file."""
        return path.exists()

    def open_locks(self, path: Path) -> LockFile:
        """See `open_lock_file`."""
        return open_lock_file(path)

    def open_own(self, path: Path, kind: SealedFile, cells: OwnCells) -> FileEngine:
        """The file of that kind; damage is raised."""
        if kind is VECTOR_FILE:
            return open_vector_file(path, "raise", cells)
        return open_conversation_file(path, synced=True, on_corruption="raise", cells=cells)

    def read(self, path: Path, work: Callable[[Sql], T]) -> T:
        """See `read_beside`."""
        return read_beside(path, work)

    def read_access(self, path: Path, work: Callable[[Sql], T]) -> T:
        """Over a connection that cannot write."""
        with storage_errors(path), closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            return work(SqliteSql(connection))

    def problems(self, path: Path) -> str:
        """See the port. Raises StorageUnavailable for a file of another schema."""
        try:
            with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
                refuse_other_schemas(path, connection, known_steps())
                return "; ".join(problems(SqliteSql(connection)))
        except apsw.Error as exc:
            return str(exc)

    def refuse_lost_log(self, path: Path) -> None:
        """See `refuse_lost_log`."""
        refuse_lost_log(path)

    def refuse_loss_of(self, path: Path, membership: Membership) -> None:
        """See `refuse_lost_file`."""
        refuse_lost_file(path, membership)

    def seal_state(self, path: Path) -> SealState:
        """See the port. The connection is writable: a single read-only one would leave a log and its index behind."""
        flags = apsw.SQLITE_OPEN_READWRITE
        with storage_errors(path), closing(apsw.Connection(str(path), flags=flags)) as connection:
            connection.set_busy_timeout(BUSY_MS)
            known = connection.table_exists(None, "sealing")
            return seal_state(SqliteSql(connection)) if known else sealed_state(None)

    def give_to_owner(self, path: Path, owner: str) -> None:
        """See `give_to_owner`."""
        give_to_owner(path, owner)

    def belonging_of(self, path: Path) -> Belonging | None:
        """See `read_belonging`."""
        return read_belonging(path)

    def set_aside_of(self, path: Path) -> list[str]:
        """See `names_set_aside`."""
        return names_set_aside(path)

    def errors(self, path: Path, *foreign: type[Exception]) -> AbstractContextManager[None]:
        """See `storage_errors`."""
        return storage_errors(path, *foreign)


def _opening(cells: Cells | None) -> OpenSql:
    return SqliteSql if cells is None else sealing(cells)


class PostgresAndFiles(SqliteFiles):
    """The port with memories, jobs, runs and access in one database of PostgreSQL, and all others in files of SQLite.

    What it opened and has not closed yet shares one pool of connections.
    """

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._entry = threading.Lock()
        self._pool: Pool | None = None

    def open_main(
        self, path: Path, cells: Cells | None = None, identity: DirectoryIdentity | None = None
    ) -> MainDatabase:
        """See `open_postgres`; it holds the lock of the folder of `path` until it is closed.

        Raises SettingsError without the driver.
        """
        open_postgres: Callable[..., PostgresEngine] = _driver().open_postgres
        with storage_errors(path, OSError):
            prepare_folder(path.parent)
            lock = ProcessLock(path.parent)
        try:
            if identity is None:
                engine = open_postgres(self._shared_pool(), None, lock.release, cells)
            else:
                identity.ensure()
                identity.refuse_memories_in(DATABASE_FILE)
                membership = identity.membership(POSTGRES)
                engine = open_postgres(self._shared_pool(), membership, lock.release, cells)
                identity.expect(POSTGRES)
        except BaseException:
            lock.release()
            raise
        if engine.warning:
            _log.warning(engine.warning)
        return engine

    def loss_of_main(self, path: Path, identity: DirectoryIdentity) -> str:
        """By what the database says of itself; nothing is known of one that gives no answer."""
        membership = identity.membership(POSTGRES)
        try:
            if membership.is_expected():
                _driver().open_postgres(self._dsn, membership).close()
        except StorageDamaged as exc:
            return exc.message
        except (StorageUnavailable, SettingsError):  # other checks name what is wrong with it
            pass
        return ""

    def read(self, path: Path, work: Callable[[Sql], T]) -> T:
        """Over connections of its own."""
        tables: FileEngine = _driver().open_shared_tables(self._dsn)
        with closing(tables):
            return tables.read(work)

    def problems(self, path: Path) -> str:
        """What its operator should change: what it stores, PostgreSQL's own programs check."""
        engine: PostgresEngine = _driver().open_postgres(self._dsn)
        with closing(engine):
            return engine.warning

    def refuse_lost_log(self, path: Path) -> None:
        """Nothing: PostgreSQL writes its own log."""

    def access_place(self, path: Path, identity: DirectoryIdentity) -> AccessPlace:
        """Its tables in the same database, made if they are missing."""
        place: AccessPlace = self._watched_tables(path, identity, "access")
        return place

    def settings_place(self, path: Path, identity: DirectoryIdentity) -> SettingsPlace:
        """The same."""
        place: SettingsPlace = self._watched_tables(path, identity, "saved_settings")
        return place

    def _watched_tables(self, path: Path, identity: DirectoryIdentity, subject: str) -> "WatchedTables":
        with storage_errors(path, OSError):
            prepare_folder(path.parent)
        identity.ensure()
        made: WatchedTables = _driver().open_watched_tables(
            self._shared_pool(), identity.membership(POSTGRES), subject=subject
        )
        return made

    def loss_of_access(self, path: Path, identity: DirectoryIdentity) -> str | None:
        """Nothing: they are lost with the main database."""
        return None

    def read_access(self, path: Path, work: Callable[[Sql], T]) -> T:
        """The same as of the main database."""
        return self.read(path, work)

    def open_runs(self, path: Path, cells: Cells | None = None) -> FileEngine:
        """Its tables in the same database."""
        tables: FileEngine = _driver().open_shared_tables(self._shared_pool(), cells=cells)
        return tables

    def has_runs(self, path: Path) -> bool:
        """True: the tables are there."""
        return True

    def _shared_pool(self) -> "Pool":
        with self._entry:
            if self._pool is None or self._pool.is_closed:
                self._pool = _driver().Pool(self._dsn)
            return self._pool


def databases(dsn: str | None) -> Database:
    """The port for an installation whose main database is in PostgreSQL, or for None in a file."""
    return embedded if dsn is None else PostgresAndFiles(dsn)


def key_store(path: Path, dsn: str | None) -> KeyStore:
    """The place of the key store in a database, or for None in a file. Raises SettingsError without the driver."""
    if dsn is None:
        return KeyFile(path, open_key_store)
    made: KeyStore = _driver("key_store").KeyDatabase(dsn)
    return made


def copy_keys(keys: SqlDataKeys, target: Path) -> None:
    """Copy all keys into a new file, also while others use them."""
    with closing(open_key_store(target)) as copy:
        keys.copy_into(copy)


def are_in_one_cluster(dsn: str, keys: str) -> bool:
    """Whether the databases of data and of keys are of one cluster, and so in each copy of its files."""
    pool, opening = _driver("pool"), _driver("opening")
    clusters: list[int] = [pool.Pool(dsn).cluster(), pool.Pool(keys, opening.KEYS).cluster()]
    return clusters[0] == clusters[1]


def _driver(part: str = "watched_tables") -> ModuleType:
    """A module of `storage.postgres`, whose driver is an extra."""
    try:
        return import_module(f"mnemoir.storage.postgres.{part}")
    except ModuleNotFoundError as exc:
        raise SettingsError("A database of PostgreSQL needs psycopg: pip install 'mnemoir[postgres]'.") from exc


embedded: Database = SqliteFiles()
