"""ChromaDB as a vector store, an optional extra, with the same behaviour as the built-in store.

It corrects where ChromaDB behaves differently: an existing id is replaced, empty lists and empty conditions are
harmless, two keys must both match, stores in memory share nothing, and nothing is ever downloaded.
"""

import importlib.util
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mnemoir.conversations.search.vectors import (
    DimensionMismatchError,
    Embeddings,
    Found,
    GivenMetadata,
    Got,
    NamedModel,
    NewVector,
    VectorStore,
    checked_metadata,
    checked_rows,
    checked_vectors,
)
from mnemoir.conversations.search.where import AllOf, AnyOf, Condition, Where, read_where
from mnemoir.core.errors import InvalidRequest, MnemoirError, ProviderNotConfigured, StorageUnavailable

_COSINE = {"hnsw:space": "cosine"}
_MODEL = "mnemoir:model"
_NEVER = {"$and": [{"mnemoir:never": {"$eq": True}}, {"mnemoir:never": {"$eq": False}}]}
_ALWAYS = {"mnemoir:never": {"$ne": True}}


class ChromaDBVectorStore(NamedModel):
    """A collection of ChromaDB, in cosine space; in memory without a directory.

    `~` in the directory is the home directory; it is created. ChromaDB allows one process at a time to use it.
    Distances are those of its approximate index: over many vectors a near one may be missed.

    Deleted entries are not found any more, but ChromaDB keeps their bytes in the directory for an undefined time: in
    a log, in free pages of its file, and a vector's numbers in its index; its own `chroma vacuum` does not change
    that. Only deleting the directory removes them at once. The built-in store overwrites deleted entries.
    """

    def __init__(
        self, collection_name: str = "harombe_embeddings", persist_directory: str | Path | None = None
    ) -> None:
        """Raises ProviderNotConfigured when the extra is missing, StorageUnavailable when ChromaDB cannot start."""
        if importlib.util.find_spec("chromadb") is None:
            raise ProviderNotConfigured(
                "The vector store chromadb needs an extra that is not installed. "
                "Install it with: pip install 'mnemoir[chromadb]'."
            )
        self.collection_name = collection_name
        self.persist_directory = None if persist_directory is None else Path(persist_directory).expanduser()
        # One process has one ChromaDB in memory: only another name keeps two stores apart.
        self._name = collection_name if self.persist_directory else f"{collection_name}-{uuid.uuid4().hex[:12]}"
        self._lock = threading.RLock()
        with self._failures():
            self._client = _client(self.persist_directory)
            self._collection = self._open_collection()

    def add(
        self, ids: Sequence[str], embeddings: Embeddings, documents: Sequence[str], metadata: GivenMetadata
    ) -> None:
        """Add entries. Existing ids are deleted first, as ChromaDB would merge the metadata."""
        rows = checked_rows(ids, embeddings, documents, metadata)
        if not rows:
            return
        with self._lock, self._failures():
            self._refuse_other_dimension(len(rows[0].vector))
            self._drop([row.id for row in rows])
            for batch in self._batches(rows):
                self._collection.add(
                    ids=[row.id for row in batch],
                    embeddings=[row.vector.tolist() for row in batch],
                    documents=[row.document for row in batch],
                    metadatas=[row.metadata or None for row in batch],
                )

    def search(self, query_embedding: Sequence[float], top_k: int = 10, where: Where | None = None) -> Found:
        """(ids, documents, metadata, distances), nearest first; nothing for a `top_k` below 1."""
        condition = _chroma_where(read_where(where))
        [query] = checked_vectors([query_embedding])
        with self._lock, self._failures():
            held = int(self._collection.count())
            if top_k < 1 or not held:
                return [], [], [], []
            self._refuse_other_dimension(len(query))
            found = self._collection.query(
                query_embeddings=[query.tolist()],
                n_results=min(top_k, held),
                where=condition,
                include=["documents", "metadatas", "distances"],
            )
        ids, documents, metadata = _lists({key: (found[key] or [[]])[0] for key in _LISTED})
        return ids, documents, metadata, [float(distance) for distance in (found["distances"] or [[]])[0]]

    def delete(self, ids: Sequence[str]) -> None:
        """Delete the entries of these ids; unknown ids are skipped."""
        if ids:
            with self._lock, self._failures():
                self._drop(ids)

    def get(self, ids: Sequence[str] | None = None, where: Where | None = None, limit: int | None = None) -> Got:
        """(ids, documents, metadata) of the existing ones."""
        condition = _chroma_where(read_where(where))
        if (ids is not None and not ids) or (limit is not None and limit < 1):
            return [], [], []
        with self._lock, self._failures():
            found = self._collection.get(
                ids=None if ids is None else list(dict.fromkeys(ids)),
                where=condition,
                limit=limit,
                include=["documents", "metadatas"],
            )
        return _lists(found)

    def count(self) -> int:
        """The number of vectors."""
        with self._lock, self._failures():
            return int(self._collection.count())

    def clear(self) -> None:
        """Delete the collection and create it again."""
        with self._lock, self._failures():
            self._client.delete_collection(self._name)
            self._collection = self._open_collection()

    def update(
        self,
        ids: Sequence[str],
        embeddings: Embeddings | None = None,
        documents: Sequence[str] | None = None,
        metadata: GivenMetadata | None = None,
    ) -> None:
        """Change entries. A new document keeps its embedding, read first: ChromaDB would download a model for one."""
        for given in (embeddings, documents, metadata):
            if given is not None and len(given) != len(ids):
                raise InvalidRequest(f"There are {len(ids)} ids and {len(given)} changes.", field="ids")
        vectors = None if embeddings is None else checked_vectors(embeddings)
        for members in metadata or ():
            checked_metadata(members)
        if not ids:
            return
        with self._lock, self._failures():
            if vectors is not None:
                self._refuse_other_dimension(vectors.shape[1])
            kept = self._vectors_of(ids)
            known = [number for number, name in enumerate(ids) if name in kept]
            if not known:
                return
            changed = [kept[ids[n]] if vectors is None else vectors[n].tolist() for n in known]
            self._collection.update(
                ids=[ids[number] for number in known],
                embeddings=changed,
                documents=None if documents is None else [documents[number] for number in known],
                metadatas=None if metadata is None else [dict(metadata[number] or {}) or None for number in known],
            )

    def stored_model(self) -> str | None:
        """The model's name in the metadata of the collection."""
        with self._lock, self._failures():
            found = (self._collection.metadata or {}).get(_MODEL)
        return found if isinstance(found, str) else None

    def note_model(self, name: str) -> None:
        """Store the model's name in the collection's metadata; ChromaDB refuses to have the space set again there."""
        with self._lock, self._failures():
            self._collection.modify(metadata={_MODEL: name})

    def close(self) -> None:
        """Drop a store in memory, or release the directory, which may then be deleted."""
        with self._lock, self._failures():
            if self.persist_directory is None:
                self._client.delete_collection(self._name)
            elif hasattr(self._client, "close"):  # older ChromaDB has no `close` and never releases a directory
                self._client.close()

    def _open_collection(self) -> Any:
        return self._client.get_or_create_collection(self._name, metadata=_COSINE, embedding_function=None)

    def _drop(self, ids: Sequence[str]) -> None:
        known = self._collection.get(ids=list(dict.fromkeys(ids)), include=[])["ids"]
        if known:
            self._collection.delete(ids=known)

    def _vectors_of(self, ids: Sequence[str]) -> dict[str, list[float]]:
        found = self._collection.get(ids=list(dict.fromkeys(ids)), include=["embeddings"])
        return {
            name: [float(x) for x in vector] for name, vector in zip(found["ids"], found["embeddings"], strict=True)
        }

    def _refuse_other_dimension(self, dimension: int) -> None:
        held = self._collection.get(limit=1, include=["embeddings"])["embeddings"]
        if len(held) and len(held[0]) != dimension:
            raise DimensionMismatchError(dimension, len(held[0]))

    def _batches(self, rows: Sequence[NewVector]) -> Iterator[Sequence[NewVector]]:
        most = int(self._client.get_max_batch_size())
        return (rows[start : start + most] for start in range(0, len(rows), most))

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except MnemoirError:
            raise
        except Exception as exc:  # ChromaDB raises errors of its own, of Rust and of SQLite
            place = self.persist_directory or "in memory"
            raise StorageUnavailable(
                f"ChromaDB ({place}, collection {self.collection_name}) failed: {exc}. Look at the directory, or use "
                "the built-in vector store."
            ) from exc


_LISTED = ("ids", "documents", "metadatas")


def _client(directory: Path | None) -> Any:
    import chromadb  # the import takes a second, and the extra is optional
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    if directory is None:
        return chromadb.EphemeralClient(settings)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return chromadb.PersistentClient(str(directory), settings)


def _lists(found: Any) -> Got:
    documents = [text or "" for text in found["documents"] or []]
    return list(found["ids"]), documents, [dict(members or {}) for members in found["metadatas"] or []]


def _chroma_where(condition: Condition | None) -> dict[str, Any] | None:
    """The condition in ChromaDB's syntax, which has no empty lists and no list of one condition."""
    if condition is None:
        return None
    if isinstance(condition, AllOf | AnyOf):
        parts = [_chroma_where(part) for part in condition.parts]
        if not parts:
            return _ALWAYS if isinstance(condition, AllOf) else _NEVER
        joined = {"$and" if isinstance(condition, AllOf) else "$or": parts}
        return joined if len(parts) > 1 else parts[0]
    if isinstance(condition.value, tuple):
        if not condition.value:
            return _NEVER if condition.operator == "$in" else _ALWAYS
        return {condition.key: {condition.operator: list(condition.value)}}
    return {condition.key: {condition.operator: condition.value}}


_: type[VectorStore] = ChromaDBVectorStore  # checked, never run
