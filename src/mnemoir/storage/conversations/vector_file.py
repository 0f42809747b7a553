"""The built-in vector store: exact cosine over vectors kept in an SQLite file, or in memory alone.

The file is the truth and may be shared by several processes; each keeps a matrix beside it and takes over, before it
answers, what was written since. What a write acknowledged survives a loss of power; what was deleted is overwritten.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

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
    unit_rows,
)
from mnemoir.conversations.where import Where, read_where
from mnemoir.core.errors import InvalidRequest, StorageUnavailable
from mnemoir.search.codes import pack_vector
from mnemoir.storage.conversations.resident_vectors import ResidentVectors
from mnemoir.storage.conversations.vector_opening import BUSY_MS, opened, opened_anew, path_of
from mnemoir.storage.conversations.vector_rows import (
    QUERIES,
    StoreState,
    as_json,
    change,
    documents,
    drop,
    put,
    restart,
    rows_named,
    state_of,
    take_over,
    vectors_from,
)
from mnemoir.storage.sqlite.failures import storage_errors

DEFAULT_COLLECTION = "mnemoir_embeddings"

_LOG_BUSY_MS = 200
_BUSY = (apsw.BusyError, apsw.LockedError)


class VectorFileStore(IndexedVectors, NamedModel):
    """A collection in `{persist_directory}/{collection_name}.vectors.db`, or in memory without a directory.

    Two stores in memory share nothing. Cosine in float32; ties come in the order in which the ids were first added.
    `~` in the directory is the home directory. Not to be carried across a fork: open another one there.
    """

    def __init__(
        self,
        collection_name: str = DEFAULT_COLLECTION,
        persist_directory: str | Path | None = None,
        *,
        on_corruption: Literal["raise", "set_aside"] = "raise",
    ) -> None:
        """Raises StorageUnavailable, naming the file, when it is damaged, another program's, or out of reach.

        With "set_aside" a file that is no database any more is renamed to `{name}.corrupt-{UTC}` and a new one begun.
        """
        self.collection_name = collection_name
        self.path = path_of(collection_name, persist_directory)
        self._lock = threading.RLock()
        self._resident: ResidentVectors | None = None
        self._seen = StoreState("", -1, -1, None, None)
        self._connection: apsw.Connection | None = None
        with self._failures():
            self._connection = opened(self.path) if on_corruption == "raise" else opened_anew(self.path)

    def add(
        self, ids: Sequence[str], embeddings: Embeddings, documents: Sequence[str], metadata: GivenMetadata
    ) -> None:
        """All are stored, or none."""
        self.add_with_tokens(ids, embeddings, documents, metadata, {})

    def add_with_tokens(
        self,
        ids: Sequence[str],
        embeddings: Embeddings,
        documents: Sequence[str],
        metadata: GivenMetadata,
        tokens: Mapping[str, TokenPart],
    ) -> None:
        """Vectors and tokens are one transaction."""
        rows = checked_rows(ids, embeddings, documents, metadata)
        if rows:
            self._write(lambda connection, state: put(connection, state, rows, tokens))

    def search(self, query_embedding: Sequence[float], top_k: int = 10, where: Where | None = None) -> Found:
        """(ids, documents, metadata, distances), nearest first; nothing for a `top_k` below 1."""
        condition = read_where(where)
        [query] = unit_rows(checked_vectors([query_embedding]))
        with self._snapshot() as connection:
            resident = self._matrix(connection)
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
        """In the order in which they were first added. The matrix is made for a condition alone."""
        condition = read_where(where)
        with self._snapshot() as connection:
            rows = rows_named(connection, ids)
            if condition is not None and (resident := self._matrix(connection)) is not None:
                matching = set(resident.matching(condition))
                rows = [row for row in rows if row in matching]
            return documents(connection, rows if limit is None else rows[: max(0, limit)])

    def count(self) -> int:
        """Vectors there are."""
        with self._snapshot() as connection:
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

    def standing(self) -> VectorChanges:
        """As the file says, whoever wrote to it."""
        state = self._standing()
        return VectorChanges(epoch=state.epoch, changes=state.changes)

    def ids_since(self, changes: int) -> list[str]:
        """Found by an index of changes."""
        with self._snapshot() as connection:
            return [name for (name,) in connection.execute(QUERIES["ids_since"], {"change": changes})]

    def vectors_of(self, ids: Sequence[str]) -> dict[str, StoredVector]:
        """Read from the file, whether the matrix is there or not."""
        with self._snapshot() as connection:
            found: list[Any] = connection.execute(QUERIES["vectors_of"], {"ids": as_json(ids)}).fetchall()
        if not found:
            return {}
        packed = pack_vector(vectors_from([vector for _, vector, _ in found]))
        size = len(packed) // len(found)
        return {
            name: StoredVector(vector=packed[place * size : (place + 1) * size], token_ids=token_ids)
            for place, (name, _, token_ids) in enumerate(found)
        }

    def token_codes(self, ids: Sequence[str]) -> dict[str, bytes]:
        """Read from the file; nothing of it is resident."""
        with self._snapshot() as connection:
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
    def _snapshot(self) -> Iterator[apsw.Connection]:
        with self._lock, self._failures():
            connection = self._open()
            connection.execute("BEGIN")
            try:
                yield connection
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

    def _matrix(self, connection: apsw.Connection) -> ResidentVectors | None:
        """As the snapshot of the connection has it; None while no vector was ever added."""
        state, seen = state_of(connection), self._seen
        if state == seen and self._resident is not None:
            return self._resident
        resident = self._resident
        if resident is None or state.epoch != seen.epoch or resident.is_worn:
            resident = ResidentVectors(state.dimension) if state.dimension else None
            seen = StoreState(state.epoch, 0, 0, None, None)
        if resident is not None and state.changes > seen.changes:
            take_over(connection, resident, seen.changes)
        if resident is not None and state.removals > seen.removals:
            resident.keep(rows_named(connection, None))
        self._resident, self._seen = resident, state
        return resident

    def _empty_log(self) -> None:
        """Cut the write-ahead log, where deleted text may stand; while others read, the next deletion does it."""
        if self.path is None:
            return
        with self._lock, self._failures():
            connection = self._open()
            connection.set_busy_timeout(_LOG_BUSY_MS)
            with suppress(*_BUSY):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            connection.set_busy_timeout(BUSY_MS)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        place = self.path or Path(":memory:")
        with storage_errors(place, OSError, orjson.JSONDecodeError):
            try:
                yield
            except _BUSY as exc:
                raise StorageBusyError(
                    f"{place} is busy: others held it for {BUSY_MS / 1000:g} s. Try again."
                ) from exc


_: type[VectorStore] = VectorFileStore  # checked, never run
