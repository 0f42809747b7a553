"""The built-in vector store: exact cosine over vectors in an SQLite file, or only in memory.

The file is authoritative and may be shared by several processes; each keeps a matrix in memory and updates it with
newer writes before it answers. An acknowledged write survives a loss of power; deleted content is overwritten.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeVar
from urllib.parse import quote

from mnemoir.conversations.search.vectors import (
    DimensionMismatchError,
    Embeddings,
    Found,
    GivenMetadata,
    Got,
    IndexedVectors,
    NamedModel,
    StoredVector,
    TokenPart,
    UnseenTexts,
    VectorChanges,
    VectorStore,
    checked_metadata,
    checked_rows,
    checked_vectors,
    unit_rows,
)
from mnemoir.conversations.search.where import Where, read_where
from mnemoir.core.errors import InvalidRequest, StorageBusyError
from mnemoir.ports.embedding import FloatArray
from mnemoir.ports.search_rows import MOST_CHANGES
from mnemoir.storage.conversations.resident_vectors import ResidentVectors
from mnemoir.storage.sealing.cells import OwnCells
from mnemoir.storage.sql.conversations.vectors import (
    QUERIES,
    StoreState,
    change,
    codes_of_ids,
    documents,
    drop,
    put,
    put_second,
    restart,
    rows_of_ids,
    state_of,
    unseen,
    vectors_of_ids,
    written_since,
)
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sqlite.opening import open_vector_file

T = TypeVar("T")
DEFAULT_COLLECTION = "mnemoir_embeddings"


class VectorFileStore(IndexedVectors, NamedModel):
    """A collection in `{persist_directory}/{collection_name}.vectors.db`, or in memory without a directory.

    Two stores in memory share nothing. Cosine in float32; ties come in the order in which the ids were first added.
    `~` in the directory is the home directory. Must not be used across a fork: open another one in the child.
    """

    def __init__(
        self,
        collection_name: str = DEFAULT_COLLECTION,
        persist_directory: str | Path | None = None,
        *,
        on_corruption: Literal["raise", "set_aside"] = "raise",
        cells: OwnCells | None = None,
    ) -> None:
        """Raises StorageUnavailable, naming the file, when it is damaged, another program's, or inaccessible.

        With "set_aside" a file that is no database any more is renamed to `{name}.corrupt-{UTC}` and replaced.
        `cells` encrypts the file.
        """
        self.collection_name = collection_name
        self.path = _path_of(collection_name, persist_directory)
        self._lock = threading.RLock()
        self._resident: ResidentVectors | None = None
        self._seen = StoreState("", -1, -1, None, None)
        self._file = open_vector_file(self.path, on_corruption, cells)

    def add(
        self, ids: Sequence[str], embeddings: Embeddings, documents: Sequence[str], metadata: GivenMetadata
    ) -> None:
        """Store all entries, or none."""
        self.add_with_tokens(ids, embeddings, documents, metadata, {})

    def add_with_tokens(
        self,
        ids: Sequence[str],
        embeddings: Embeddings,
        documents: Sequence[str],
        metadata: GivenMetadata,
        tokens: Mapping[str, TokenPart],
    ) -> None:
        """Store vectors and tokens in one transaction."""
        rows = checked_rows(ids, embeddings, documents, metadata)
        if rows:
            self._write(lambda sql, state: put(sql, state, rows, tokens))

    def search(self, query_embedding: Sequence[float], top_k: int = 10, where: Where | None = None) -> Found:
        """(ids, documents, metadata, distances), nearest first; nothing for a `top_k` below 1."""
        condition = read_where(where)
        [query] = unit_rows(checked_vectors([query_embedding]))

        def find_nearest(sql: Sql) -> Found:
            resident = self._matrix(sql)
            if resident is None or top_k < 1:
                return [], [], [], []
            if len(query) != resident.dimension:
                raise DimensionMismatchError(len(query), resident.dimension)
            nearest = resident.nearest(query, top_k, condition)
            ids, texts, metadata = documents(sql, [row for row, _ in nearest])
            return ids, texts, metadata, [distance for _, distance in nearest]

        return self._read(find_nearest)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete entries. Their bytes are gone from the file as soon as no other process reads."""
        if ids:
            self._write(lambda sql, state: drop(sql, state, ids))
            self._empty_log()

    def get(self, ids: Sequence[str] | None = None, where: Where | None = None, limit: int | None = None) -> Got:
        """Entries in the order in which they were first added. Only a condition needs the matrix."""
        condition = read_where(where)

        def matching_documents(sql: Sql) -> Got:
            rows = rows_of_ids(sql, ids)
            if condition is not None and (resident := self._matrix(sql)) is not None:
                matching = set(resident.matching(condition))
                rows = [row for row in rows if row in matching]
            return documents(sql, rows if limit is None else rows[: max(0, limit)])

        return self._read(matching_documents)

    def count(self) -> int:
        """The number of vectors."""
        return int(self._read(lambda sql: sql.value(QUERIES["count"])))

    def clear(self) -> None:
        """Delete all vectors; later ones may have another length and another model."""
        self._write(lambda sql, _: restart(sql))
        self._empty_log()

    def update(
        self,
        ids: Sequence[str],
        embeddings: Embeddings | None = None,
        documents: Sequence[str] | None = None,
        metadata: GivenMetadata | None = None,
    ) -> None:
        """Change all entries, or none."""
        for given in (embeddings, documents, metadata):
            if given is not None and len(given) != len(ids):
                raise InvalidRequest(f"There are {len(ids)} ids and {len(given)} changes.", field="ids")
        vectors = None if embeddings is None else checked_vectors(embeddings)
        for members in metadata or ():
            checked_metadata(members)
        if ids:
            self._write(lambda sql, state: change(sql, state, ids, vectors, documents, metadata))

    def stored_model(self) -> str | None:
        """The model's name in the file; None before it is stored."""
        return self._read(state_of).model

    def note_model(self, name: str) -> None:
        """Store the model's name in the file."""
        self._write(lambda sql, _: sql.run(QUERIES["note_model"], model=name))

    def standing(self) -> VectorChanges:
        """The file's change counters, including writes of other processes."""
        state = self._read(state_of)
        return VectorChanges(epoch=state.epoch, changes=state.changes)

    def ids_since(self, changes: int, until: int = MOST_CHANGES) -> list[str]:
        """Ids written after one change and up to another, by an index of changes."""
        found = self._read(lambda sql: sql.rows(QUERIES["ids_since"], change=changes, until=until))
        return [name for (name,) in found]

    def vectors_of(self, ids: Sequence[str]) -> dict[str, StoredVector]:
        """The vectors by id, read from the file, with or without the matrix."""
        return self._read(lambda sql: vectors_of_ids(sql, ids))

    def token_codes(self, ids: Sequence[str]) -> dict[str, bytes]:
        """The token codes by id, read from the file; they are never kept in memory."""
        return self._read(lambda sql: codes_of_ids(sql, ids))

    def unseen(self, model: str, limit: int) -> UnseenTexts:
        """Read from the file, including writes of other processes."""
        return self._read(lambda sql: unseen(sql, model, limit))

    def store_second_vectors(self, unseen: UnseenTexts, vectors: Mapping[str, FloatArray]) -> None:
        """All of it is stored, or nothing."""
        self._write(lambda sql, state: put_second(sql, state, unseen, vectors))

    def close(self) -> None:
        """Close the file; vectors that are only in memory are lost. A second call is harmless."""
        with self._lock:
            self._file.close()
            self._resident = None

    def _read(self, work: Callable[[Sql], T]) -> T:
        with self._lock:
            return self._file.read(work)

    def _write(self, work: Callable[[Sql, StoreState], object]) -> None:
        with self._lock:
            self._file.write(lambda sql: work(sql, state_of(sql)))

    def _empty_log(self) -> None:
        """Empty the log, which may contain deleted text; while others read, the next deletion does it."""
        with suppress(StorageBusyError):
            self._file.empty_log()

    def _matrix(self, sql: Sql) -> ResidentVectors | None:
        """The matrix of the snapshot; None before the first vector."""
        state, seen = state_of(sql), self._seen
        if state == seen and self._resident is not None:
            return self._resident
        resident = self._resident
        if resident is None or state.epoch != seen.epoch or resident.is_worn:
            resident = ResidentVectors(state.dimension) if state.dimension else None
            seen = StoreState(state.epoch, 0, 0, None, None)
        if resident is not None and state.changes > seen.changes:
            for written in written_since(sql, seen.changes):
                resident.put(*written)
        if resident is not None and state.removals > seen.removals:
            resident.keep(rows_of_ids(sql, None))
        self._resident, self._seen = resident, state
        return resident


def _path_of(collection: str, directory: str | Path | None) -> Path | None:
    """The path of a collection; a name of any characters gives a file in that directory and in no other."""
    if directory is None:
        return None
    name = quote(collection, safe=" ").replace(".", "%2E")
    return Path(os.path.abspath(Path(directory).expanduser())) / f"{name}.vectors.db"


_: type[VectorStore] = VectorFileStore  # checked, never run
