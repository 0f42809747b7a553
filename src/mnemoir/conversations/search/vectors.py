"""Vector stores: the protocol that session memory uses, and the checks that all stores make before writing.

Distances are cosine distances, 0 to 2; similarity is 1 - distance. A zero vector is at 1 from everything.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from mnemoir.conversations.search.where import Metadata, Scalar, Where
from mnemoir.core.errors import InvalidRequest
from mnemoir.ports.embedding import FloatArray
from mnemoir.ports.search_rows import MOST_CHANGES

Found = tuple[list[str], list[str], list[dict[str, Any]], list[float]]
Got = tuple[list[str], list[str], list[dict[str, Any]]]
Embeddings = Sequence[Sequence[float]] | FloatArray
GivenMetadata = Sequence[Mapping[str, Any] | None]


class DimensionMismatchError(InvalidRequest):
    """Raised for a vector whose length differs from those of the store; the message names both."""

    code = "dimension_mismatch"

    def __init__(self, found: int, expected: int) -> None:
        super().__init__(
            f"The vector has {found} dimensions, and the store holds vectors of {expected}. "
            "Use the embedding model that made them, or embed everything again with the new one.",
            field="embeddings",
        )


class PlainVectorStore(Protocol):
    """The least that a vector store can do. It gets plain lists; a condition is one key with its value."""

    def add(
        self,
        ids: list[str],
        embeddings: list[list[float]],
        documents: list[str],
        metadata: list[dict[str, Any]],
    ) -> None:
        """Store vectors; an existing id is replaced."""

    def search(
        self, query_embedding: list[float], top_k: int = 10, where: dict[str, Any] | None = None
    ) -> tuple[list[str], list[str], list[dict[str, Any]], list[float]]:
        """(ids, documents, metadata, distances) of the nearest that meet the condition, nearest first."""


class VectorStore(Protocol):
    """A store of vectors, each with a document and flat metadata. Thread-safe; methods block.

    They raise StorageUnavailable, InvalidRequest for invalid values or queries, and DimensionMismatchError.
    """

    def add(
        self, ids: Sequence[str], embeddings: Embeddings, documents: Sequence[str], metadata: GivenMetadata
    ) -> None:
        """Store vectors; an existing id is replaced, of two equal ids the last counts.

        None in metadata is dropped.
        """

    def search(self, query_embedding: Sequence[float], top_k: int = 10, where: Where | None = None) -> Found:
        """(ids, documents, metadata, distances) of the nearest that meet the condition, nearest first."""

    def delete(self, ids: Sequence[str]) -> None:
        """Delete vectors; unknown ids are ignored."""

    def get(self, ids: Sequence[str] | None = None, where: Where | None = None, limit: int | None = None) -> Got:
        """(ids, documents, metadata) of the existing matches, in no special order."""

    def count(self) -> int: ...

    def clear(self) -> None:
        """Delete all vectors; afterwards another length may be stored."""

    def update(
        self,
        ids: Sequence[str],
        embeddings: Embeddings | None = None,
        documents: Sequence[str] | None = None,
        metadata: GivenMetadata | None = None,
    ) -> None:
        """Change the given parts and keep the rest.

        Metadata are merged, None removes a key; unknown ids are ignored.
        """


AnyVectorStore = VectorStore | PlainVectorStore


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TokenPart:
    """The token ids and vectors of one text for late interaction, in the format of `search.indexing`."""

    token_ids: bytes
    token_codes: bytes


class StoredVector(NamedTuple):
    """A vector for an index: unit length in float16, the ids of its tokens, and a second vector, if there are any."""

    vector: bytes
    token_ids: bytes | None
    second: bytes | None = None


class Text(NamedTuple):
    """The document of a vector, and the number of the write that stored it."""

    id: str
    change: int
    document: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnseenTexts:
    """The next documents, in the order of their writes, that a second model has not looked at.

    `changes` is the state of the store then; the documents are all that are left when `is_last`.
    """

    model: str
    epoch: str
    changes: int
    texts: Sequence[Text]
    is_last: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorChanges:
    """The state of a store: `changes` grows with every vector written; a new `epoch` invalidates all read before."""

    epoch: str
    changes: int


class IndexedVectors(ABC):
    """Additional methods of a store that supports the whole ranking of `search`, including token vectors."""

    @abstractmethod
    def count(self) -> int:
        """The number of vectors."""

    @abstractmethod
    def add_with_tokens(
        self,
        ids: Sequence[str],
        embeddings: Embeddings,
        documents: Sequence[str],
        metadata: GivenMetadata,
        tokens: Mapping[str, TokenPart],
    ) -> None:
        """Like `add`, with the available tokens for these ids; all of it is stored, or nothing."""

    @abstractmethod
    def standing(self) -> VectorChanges:
        """The current state."""

    @abstractmethod
    def ids_since(self, changes: int, until: int = MOST_CHANGES) -> list[str]:
        """Ids of the vectors written after `changes` and up to `until`, in the order in which they were written."""

    @abstractmethod
    def vectors_of(self, ids: Sequence[str]) -> dict[str, StoredVector]:
        """The stored vectors by id; missing ids are left out."""

    @abstractmethod
    def token_codes(self, ids: Sequence[str]) -> dict[str, bytes]:
        """The token codes by id; ids without codes are left out."""

    @abstractmethod
    def unseen(self, model: str, limit: int) -> UnseenTexts:
        """The next `limit` documents that the second `model` has not looked at; all of them for another model."""

    @abstractmethod
    def store_second_vectors(self, unseen: UnseenTexts, vectors: Mapping[str, FloatArray]) -> None:
        """Store second vectors, of unit length, of some of the documents; none of them is unseen any more.

        One that changed meanwhile stays unseen. Those of another second model are deleted.
        """


class NamedModel(ABC):
    """Additional methods of a store that records the model of its vectors."""

    @abstractmethod
    def stored_model(self) -> str | None:
        """The recorded name; None when there is none since the store was created or cleared."""

    @abstractmethod
    def note_model(self, name: str) -> None:
        """Record the name."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NewVector:
    """One checked row to store."""

    id: str
    vector: FloatArray
    document: str
    metadata: dict[str, Scalar]


def checked_rows(
    ids: Sequence[str], embeddings: Embeddings, documents: Sequence[str], metadata: GivenMetadata
) -> list[NewVector]:
    """Rows to store, each id once. Raises InvalidRequest for lists of unequal length and invalid values."""
    if not len(ids) == len(embeddings) == len(documents) == len(metadata):
        raise InvalidRequest(
            f"There are {len(ids)} ids, {len(embeddings)} embeddings, {len(documents)} documents and {len(metadata)} "
            "metadata; each id needs one of each.",
            field="ids",
        )
    vectors = checked_vectors(embeddings)
    rows = {
        checked_id(name): NewVector(id=name, vector=vector, document=document, metadata=checked_metadata(members))
        for name, vector, document, members in zip(ids, vectors, documents, metadata, strict=True)
    }
    return list(rows.values())


def checked_vectors(embeddings: Embeddings) -> FloatArray:
    """Shape (n, dimension).

    Raises DimensionMismatchError for several lengths, InvalidRequest for what is no vector.
    """
    lengths = {len(vector) for vector in embeddings}
    if len(lengths) > 1:
        first = len(embeddings[0])
        raise DimensionMismatchError(next(length for length in sorted(lengths) if length != first), first)
    try:
        rows = np.asarray(embeddings, np.float32)
    except (TypeError, ValueError) as exc:
        raise InvalidRequest("An embedding must be a list of numbers.", field="embeddings") from exc
    if (rows.size == 0 and len(rows)) or not np.isfinite(rows).all():
        raise InvalidRequest("An embedding must have numbers, and only finite ones.", field="embeddings")
    return rows


def unit_rows(vectors: FloatArray) -> FloatArray:
    """Rows of unit length; a zero row stays zero."""
    exact = vectors.astype(np.float64)  # the square of a large float32 is beyond float32
    lengths = np.sqrt((exact * exact).sum(axis=1, keepdims=True))
    return np.asarray(exact / np.where(lengths == 0, 1.0, lengths), np.float32)


def checked_metadata(members: Mapping[str, Any] | None) -> dict[str, Scalar]:
    """The metadata without None. Raises InvalidRequest for a value that is neither text, number nor bool."""
    kept = {key: value for key, value in (members or {}).items() if value is not None}
    for key, value in kept.items():
        if not isinstance(key, str) or not isinstance(value, str | int | float | bool):
            raise InvalidRequest(
                f"The metadata {key!r} are {type(value).__name__}; texts, numbers and truth values can be kept.",
                field="metadata",
            )
    return kept


def checked_id(name: object) -> str:
    """The id. Raises InvalidRequest if it is no text or empty."""
    if not isinstance(name, str) or not name:
        raise InvalidRequest("The id of a vector must be a text that is not empty.", field="ids")
    return name


def merged_metadata(members: Metadata, changes: Mapping[str, Any] | None) -> dict[str, Scalar]:
    """The metadata with changes; None removes a key."""
    gone = {key for key, value in (changes or {}).items() if value is None}
    return {**{key: value for key, value in members.items() if key not in gone}, **checked_metadata(changes)}
