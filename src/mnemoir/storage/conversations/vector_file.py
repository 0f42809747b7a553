"""The built-in vector store: exact cosine over vectors kept in an SQLite file, or in memory alone.

The file is the truth and may be shared by several processes; each keeps a matrix beside it and takes over, before it
answers, what was written since. What a write acknowledged survives a loss of power; what was deleted is overwritten.
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import apsw
import orjson

from mnemoir.conversations.sessions import StorageBusyError
from mnemoir.conversations.vectors import (
    DimensionMismatchError,
    Embeddings,
    Found,
    GivenMetadata,
    Got,
    IndexedVectors,
    NamedModel,
    StoredVector,
    TokenPart,
    VectorChanges,
    VectorStore,
    checked_metadata,
    checked_rows,
    checked_vectors,
)
from mnemoir.conversations.where import Where, read_where
from mnemoir.core.errors import InvalidRequest, StorageUnavailable
from mnemoir.core.ids import new_request_id
from mnemoir.search.codes import pack_vector
from mnemoir.storage.conversations.resident_vectors import ResidentVectors
from mnemoir.storage.conversations.vector_rows import (
    QUERIES,
    StoreState,
    as_json,
    change,
    documents,
    drop,
    put,
    put_tokens,
    restart,
    rows_named,
    state_of,
    unit,
    vector_from,
)
from mnemoir.storage.sqlite.data_file import prepare_folder
from mnemoir.storage.sqlite.failures import storage_errors

T = TypeVar("T")
DEFAULT_COLLECTION = "mnemoir_embeddings"

_BUSY_MS = 10_000
_LOG_BUSY_MS = 200
_BUSY = (apsw.BusyError, apsw.LockedError)
_LOG_BYTES = 16 * 2**20
_NEW = os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC


class VectorFileStore(IndexedVectors, NamedModel):
    """A collection in `{persist_directory}/{collection_name}.vectors.db`, or in memory without a directory.

    Two stores in memory share nothing. Cosine in float32; ties come in the order in which the ids were first added.
    `~` in the directory is the home directory. Not to be carried across a fork: open another one there.
    """

    def __init__(
        self, collection_name: str = DEFAULT_COLLECTION, persist_directory: str | Path | None = None
    ) -> None:
        """Raises StorageUnavailable, naming the file, when it is damaged, another program's, or out of reach."""
        self.collection_name = collection_name
        self.path = _path_of(collection_name, persist_directory)
        self._lock = threading.RLock()
        self._resident: ResidentVectors | None = None
        self._seen = StoreState("", -1, -1, None, None)
        self._connection: apsw.Connection | None = None
        with self._failures():
            self._connection = _opened(self.path)

    def add(
        self, ids: Sequence[str], embeddings: Embeddings, documents: Sequence[str], metadata: GivenMetadata
    ) -> None:
        """All are stored, or none."""
        rows = checked_rows(ids, embeddings, documents, metadata)
        if rows:
            self._write(lambda connection, state: put(connection, state, rows))

    def search(self, query_embedding: Sequence[float], top_k: int = 10, where: Where | None = None) -> Found:
        """(ids, documents, metadata, distances), nearest first; nothing for a `top_k` below 1."""
        condition = read_where(where)
        [query] = unit(checked_vectors([query_embedding]))
        with self._reading() as (connection, resident):
            if resident is None or top_k < 1:
                return [], [], [], []
            if len(query) != resident.dimension:
                raise DimensionMismatchError(len(query), resident.dimension)
            nearest = resident.nearest(query, top_k, condition)
            ids, texts, metadata = documents(connection, [row for row, _ in nearest])
        return ids, texts, metadata, [distance for _, distance in nearest]

    def delete(self, ids: Sequence[str]) -> None:
        """What they held is in no byte of the file afterwards, as soon as no other process reads."""
        if ids:
            self._write(lambda connection, state: drop(connection, state, ids))
            self._empty_log()

    def get(self, ids: Sequence[str] | None = None, where: Where | None = None, limit: int | None = None) -> Got:
        """In the order in which they were first added."""
        condition = read_where(where)
        with self._reading() as (connection, resident):
            rows = rows_named(connection, resident, ids, condition)
            return documents(connection, rows if limit is None else rows[: max(0, limit)])

    def count(self) -> int:
        """Vectors there are."""
        with self._reading() as (connection, _):
            return int(connection.execute(QUERIES["count"]).get)

    def clear(self) -> None:
        """Delete all; vectors of another length, and of another model, may follow."""
        self._write(lambda connection, _: restart(connection))
        self._empty_log()

    def update(
        self,
        ids: Sequence[str],
        embeddings: Embeddings | None = None,
        documents: Sequence[str] | None = None,
        metadata: GivenMetadata | None = None,
    ) -> None:
        """All are changed, or none."""
        for given in (embeddings, documents, metadata):
            if given is not None and len(given) != len(ids):
                raise InvalidRequest(f"There are {len(ids)} ids and {len(given)} changes.", field="ids")
        vectors = None if embeddings is None else checked_vectors(embeddings)
        for members in metadata or ():
            checked_metadata(members)
        if ids:
            self._write(lambda connection, state: change(connection, state, ids, vectors, documents, metadata))

    def stored_model(self) -> str | None:
        """Kept in the file."""
        return self._standing().model

    def note_model(self, name: str) -> None:
        """Kept in the file."""
        self._write(lambda connection, _: connection.execute(QUERIES["note_model"], {"model": name}))

    def note_tokens(self, tokens: Mapping[str, TokenPart]) -> None:
        """Beside the vectors, in the file."""
        if tokens:
            self._write(lambda connection, state: put_tokens(connection, state, tokens))

    def standing(self) -> VectorChanges:
        """As the file says, whoever wrote to it."""
        state = self._standing()
        return VectorChanges(epoch=state.epoch, changes=state.changes)

    def vectors_since(self, changes: int) -> dict[str, StoredVector]:
        """In the order in which they were written."""
        with self._reading() as (connection, _):
            return {
                name: StoredVector(vector=pack_vector(vector_from(vector)), token_ids=token_ids)
                for name, vector, token_ids in connection.execute(QUERIES["entries_since"], {"change": changes})
            }

    def token_codes(self, ids: Sequence[str]) -> dict[str, bytes]:
        """Read from the file; nothing of it is resident."""
        with self._reading() as (connection, _):
            return dict(connection.execute(QUERIES["token_codes"], {"ids": as_json(ids)}))

    def close(self) -> None:
        """Let go of the file; what was in memory alone is gone. Calling it twice is harmless."""
        with self._lock:
            connection, self._connection = self._connection, None
            self._resident = None
            if connection is not None:
                with self._failures():
                    connection.close()

    def _standing(self) -> StoreState:
        with self._lock, self._failures():
            return state_of(self._open())

    @contextmanager
    def _reading(self) -> Iterator[tuple[apsw.Connection, ResidentVectors | None]]:
        """One snapshot, and the matrix of it; None while no vector was ever added."""
        with self._lock, self._failures():
            connection = self._open()
            connection.execute("BEGIN")
            try:
                self._refresh(connection)
                yield connection, self._resident
            finally:
                connection.execute("COMMIT")

    def _write(self, work: Callable[[apsw.Connection, StoreState], object]) -> None:
        with self._lock, self._failures():
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                work(connection, state_of(connection))
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _open(self) -> apsw.Connection:
        if self._connection is None:
            raise StorageUnavailable(f"{self.path or 'The vector store'} was closed by this program. Open it again.")
        return self._connection

    def _refresh(self, connection: apsw.Connection) -> None:
        state, seen = state_of(connection), self._seen
        if state == seen and self._resident is not None:
            return
        resident = self._resident
        if resident is None or state.epoch != seen.epoch or resident.is_worn:
            resident = ResidentVectors(state.dimension) if state.dimension else None
            seen = StoreState(state.epoch, 0, 0, None, None)
        if resident is not None and state.changes > seen.changes:
            for row, vector, metadata in connection.execute(QUERIES["since"], {"change": seen.changes}):
                resident.put(row, vector_from(vector), orjson.loads(metadata))
        if resident is not None and state.removals > seen.removals:
            resident.keep([row for (row,) in connection.execute(QUERIES["live"])])
        self._resident, self._seen = resident, state

    def _empty_log(self) -> None:
        """Cut the write-ahead log, where deleted text may stand; while others read, the next deletion does it."""
        if self.path is None:
            return
        with self._lock, self._failures():
            connection = self._open()
            connection.set_busy_timeout(_LOG_BUSY_MS)
            with suppress(*_BUSY):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            connection.set_busy_timeout(_BUSY_MS)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        place = self.path or Path(":memory:")
        with storage_errors(place, OSError, orjson.JSONDecodeError):
            try:
                yield
            except _BUSY as exc:
                raise StorageBusyError(
                    f"{place} is busy: others held it for {_BUSY_MS / 1000:g} s. Try again."
                ) from exc


def _path_of(collection: str, directory: str | Path | None) -> Path | None:
    """A name of any characters gives a file in that directory and in no other."""
    if directory is None:
        return None
    name = quote(collection, safe=" ").replace(".", "%2E")
    return Path(os.path.abspath(Path(directory).expanduser())) / f"{name}.vectors.db"


def _opened(path: Path | None) -> apsw.Connection:
    if path is None:
        connection = apsw.Connection(":memory:")
    else:
        prepare_folder(path.parent)
        os.close(
            os.open(path, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        ) if not path.exists() else None
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(_BUSY_MS)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "FULL")
        connection.pragma("secure_delete", 1)
        connection.pragma("journal_size_limit", _LOG_BYTES)
        _prepare(path, connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(path: Path | None, connection: apsw.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        tables = {name for (name,) in connection.execute(QUERIES["tables"])}
        if not tables:
            connection.execute(QUERIES["schema"])
            connection.execute(QUERIES["first_state"], {"epoch": new_request_id()})
        elif not {"vectors", "state"} <= tables:
            raise StorageUnavailable(f"{path} is another program's file. Choose another directory or collection.")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


_: type[VectorStore] = VectorFileStore  # checked, never run
