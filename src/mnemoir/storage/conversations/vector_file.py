"""The built-in vector store: exact cosine over vectors kept in an SQLite file, or in memory alone.

The file is the truth and may be shared by several processes; each keeps a matrix beside it and takes over, before it
answers, what was written since. What a write acknowledged survives a loss of power; what was deleted is overwritten.
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import apsw
import numpy as np
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
    NewVector,
    StoredVector,
    TokenPart,
    VectorChanges,
    VectorStore,
    checked_metadata,
    checked_rows,
    checked_vectors,
    merged,
)
from mnemoir.conversations.where import Condition, Where, read_where
from mnemoir.core.errors import InvalidRequest, StorageUnavailable
from mnemoir.core.ids import new_request_id
from mnemoir.ports.embedding import FloatArray
from mnemoir.search.codes import pack_vector
from mnemoir.storage.conversations.resident_vectors import ResidentVectors
from mnemoir.storage.sqlite.data_file import prepare_folder
from mnemoir.storage.sqlite.failures import storage_errors
from mnemoir.storage.sqlite.queries import queries

T = TypeVar("T")
DEFAULT_COLLECTION = "mnemoir_embeddings"

_QUERIES = queries("vectors/vectors")
_BUSY_MS = 10_000
_LOG_BUSY_MS = 200
_BUSY = (apsw.BusyError, apsw.LockedError)
_LOG_BYTES = 16 * 2**20
_DIGITS = "<f4"
_NEW = os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC


class _State(NamedTuple):
    epoch: str
    changes: int
    removals: int
    dimension: int | None
    model: str | None


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
        self._seen = _State("", -1, -1, None, None)
        self._connection: apsw.Connection | None = None
        with self._failures():
            self._connection = _opened(self.path)

    def add(
        self, ids: Sequence[str], embeddings: Embeddings, documents: Sequence[str], metadata: GivenMetadata
    ) -> None:
        """All are stored, or none."""
        rows = checked_rows(ids, embeddings, documents, metadata)
        if rows:
            self._write(lambda connection, state: _put(connection, state, rows))

    def search(self, query_embedding: Sequence[float], top_k: int = 10, where: Where | None = None) -> Found:
        """(ids, documents, metadata, distances), nearest first; nothing for a `top_k` below 1."""
        condition = read_where(where)
        [query] = _unit(checked_vectors([query_embedding]))
        with self._reading() as (connection, resident):
            if resident is None or top_k < 1:
                return [], [], [], []
            if len(query) != resident.dimension:
                raise DimensionMismatchError(len(query), resident.dimension)
            nearest = resident.nearest(query, top_k, condition)
            ids, documents, metadata = _documents(connection, [row for row, _ in nearest])
        return ids, documents, metadata, [distance for _, distance in nearest]

    def delete(self, ids: Sequence[str]) -> None:
        """What they held is in no byte of the file afterwards, as soon as no other process reads."""
        if ids:
            self._write(lambda connection, state: _drop(connection, state, ids))
            self._empty_log()

    def get(self, ids: Sequence[str] | None = None, where: Where | None = None, limit: int | None = None) -> Got:
        """In the order in which they were first added."""
        condition = read_where(where)
        with self._reading() as (connection, resident):
            rows = _rows(connection, resident, ids, condition)
            return _documents(connection, rows if limit is None else rows[: max(0, limit)])

    def count(self) -> int:
        """Vectors there are."""
        with self._reading() as (connection, _):
            return int(connection.execute(_QUERIES["count"]).get)

    def clear(self) -> None:
        """Delete all; vectors of another length, and of another model, may follow."""
        self._write(lambda connection, _: _restart(connection))
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
            self._write(lambda connection, state: _change(connection, state, ids, vectors, documents, metadata))

    def stored_model(self) -> str | None:
        """Kept in the file."""
        with self._reading() as (connection, _):
            return _state(connection).model

    def note_model(self, name: str) -> None:
        """Kept in the file."""
        self._write(lambda connection, _: connection.execute(_QUERIES["note_model"], {"model": name}))

    def note_tokens(self, tokens: Mapping[str, TokenPart]) -> None:
        """Beside the vectors, in the file."""
        if tokens:
            self._write(lambda connection, state: _put_tokens(connection, state, tokens))

    def standing(self) -> VectorChanges:
        """As the file says, whoever wrote to it."""
        with self._reading() as (connection, _):
            state = _state(connection)
            return VectorChanges(epoch=state.epoch, changes=state.changes)

    def vectors_since(self, changes: int) -> dict[str, StoredVector]:
        """In the order in which they were written."""
        with self._reading() as (connection, _):
            return {
                name: StoredVector(vector=pack_vector(_vector(vector)), token_ids=token_ids)
                for name, vector, token_ids in connection.execute(_QUERIES["entries_since"], {"change": changes})
            }

    def token_codes(self, ids: Sequence[str]) -> dict[str, bytes]:
        """Read from the file; nothing of it is resident."""
        with self._reading() as (connection, _):
            return dict(connection.execute(_QUERIES["token_codes"], {"ids": _json(ids)}))

    def close(self) -> None:
        """Let go of the file; what was in memory alone is gone. Calling it twice is harmless."""
        with self._lock:
            connection, self._connection = self._connection, None
            self._resident = None
            if connection is not None:
                with self._failures():
                    connection.close()

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

    def _write(self, work: Callable[[apsw.Connection, _State], object]) -> None:
        with self._lock, self._failures():
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                work(connection, _state(connection))
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
        state, seen = _state(connection), self._seen
        if state == seen and self._resident is not None:
            return
        resident = self._resident
        if resident is None or state.epoch != seen.epoch or resident.is_worn:
            resident = ResidentVectors(state.dimension) if state.dimension else None
            seen = _State(state.epoch, 0, 0, None, None)
        if resident is not None and state.changes > seen.changes:
            for row, vector, metadata in connection.execute(_QUERIES["since"], {"change": seen.changes}):
                resident.put(row, _vector(vector), orjson.loads(metadata))
        if resident is not None and state.removals > seen.removals:
            resident.keep([row for (row,) in connection.execute(_QUERIES["live"])])
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
        tables = {name for (name,) in connection.execute(_QUERIES["tables"])}
        if not tables:
            connection.execute(_QUERIES["schema"])
            connection.execute(_QUERIES["first_state"], {"epoch": new_request_id()})
        elif not {"vectors", "state"} <= tables:
            raise StorageUnavailable(f"{path} is another program's file. Choose another directory or collection.")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _put(connection: apsw.Connection, state: _State, rows: Sequence[NewVector]) -> None:
    dimension = state.dimension or len(rows[0].vector)
    if len(rows[0].vector) != dimension:
        raise DimensionMismatchError(len(rows[0].vector), dimension)
    vectors = _unit(np.stack([row.vector for row in rows]))
    for change, (row, vector) in enumerate(zip(rows, vectors, strict=True), state.changes + 1):
        values = {"id": row.id, "change": change, "vector": vector.astype(_DIGITS).tobytes()}
        texts = {"document": _storable(row.document), "metadata": _json(row.metadata)}
        connection.execute(_QUERIES["put"], values | texts)
    _note(connection, state._replace(changes=state.changes + len(rows), dimension=dimension))


def _change(
    connection: apsw.Connection,
    state: _State,
    ids: Sequence[str],
    vectors: FloatArray | None,
    documents: Sequence[str] | None,
    metadata: GivenMetadata | None,
) -> None:
    if vectors is not None and state.dimension and vectors.shape[1] != state.dimension:
        raise DimensionMismatchError(vectors.shape[1], state.dimension)
    changes = state.changes
    units = None if vectors is None else _unit(vectors)
    for number, name in enumerate(ids):
        found = connection.execute(_QUERIES["one"], {"id": name}).fetchone()
        if found is None:
            continue
        changes += 1
        values = {
            "id": name,
            "change": changes,
            "vector": found[0] if units is None else units[number].astype(_DIGITS).tobytes(),
            "document": found[1] if documents is None else _storable(documents[number]),
            "metadata": found[2] if metadata is None else _json(merged(orjson.loads(found[2]), metadata[number])),
        }
        connection.execute(_QUERIES["change"], values)
    _note(connection, state._replace(changes=changes))


def _put_tokens(connection: apsw.Connection, state: _State, tokens: Mapping[str, TokenPart]) -> None:
    changes = state.changes
    for name, part in tokens.items():
        values = {"id": name, "change": changes + 1, "token_ids": part.token_ids, "token_codes": part.token_codes}
        changes += len(connection.execute(_QUERIES["put_tokens"], values).fetchall())
    _note(connection, state._replace(changes=changes))


def _drop(connection: apsw.Connection, state: _State, ids: Sequence[str]) -> None:
    dropped = sum(len(connection.execute(_QUERIES["drop"], {"id": name}).fetchall()) for name in ids)
    _note(connection, state._replace(removals=state.removals + dropped))


def _restart(connection: apsw.Connection) -> None:
    connection.execute(_QUERIES["drop_all"])
    connection.execute(_QUERIES["restart"], {"epoch": new_request_id()})


def _note(connection: apsw.Connection, state: _State) -> None:
    connection.execute(_QUERIES["note_changes"], state._asdict())


def _state(connection: apsw.Connection) -> _State:
    row: Any = connection.execute(_QUERIES["state"]).fetchall()[0]  # in the order of the members
    return _State(*row)


def _rows(
    connection: apsw.Connection,
    resident: ResidentVectors | None,
    ids: Sequence[str] | None,
    condition: Condition | None,
) -> list[int]:
    if resident is None:
        return []
    matching = resident.matching(condition)
    if ids is None:
        return matching
    named = {row for (row,) in connection.execute(_QUERIES["rows_of"], {"ids": _json(list(ids))})}
    return [row for row in matching if row in named]


def _documents(connection: apsw.Connection, rows: Sequence[int]) -> Got:
    """In the order of `rows`."""
    found = {row: rest for row, *rest in connection.execute(_QUERIES["of_rows"], {"rows": _json(rows)})}
    kept = [found[row] for row in rows]
    return [name for name, _, _ in kept], [text for _, text, _ in kept], [orjson.loads(raw) for _, _, raw in kept]


def _vector(stored: bytes) -> FloatArray:
    return np.frombuffer(stored, _DIGITS).astype(np.float32, copy=False)


def _unit(vectors: FloatArray) -> FloatArray:
    """Rows of unit length; a zero row stays zero."""
    exact = vectors.astype(np.float64)  # the square of a large float32 is beyond float32
    lengths = np.sqrt((exact * exact).sum(axis=1, keepdims=True))
    return np.asarray(exact / np.where(lengths == 0, 1.0, lengths), np.float32)


def _storable(text: Any) -> str:
    """Half of a surrogate pair, which no file can hold, becomes a question mark."""
    return str(text).encode("utf-8", "replace").decode("utf-8")


def _json(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError as exc:  # half of a surrogate pair, or an integer beyond 64 bits
        raise InvalidRequest(f"The metadata or the ids cannot be kept: {exc}.", field="metadata") from exc


_: type[VectorStore] = VectorFileStore  # checked, never run
