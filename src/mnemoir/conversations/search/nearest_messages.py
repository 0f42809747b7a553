"""Finds messages by their vectors: queries a vector store and loads the messages of its hits."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, get_args

import numpy as np

from mnemoir.conversations.search.client_model import ANY_MODEL
from mnemoir.conversations.search.embedding import vector_of
from mnemoir.conversations.search.embedding_jobs import message_id_of, vector_id
from mnemoir.conversations.search.search_filter import Wanted, vector_metadata
from mnemoir.conversations.search.session_search import SearchHit
from mnemoir.conversations.search.store_upkeep import knows_operators
from mnemoir.conversations.search.vectors import AnyVectorStore, IndexedVectors
from mnemoir.conversations.search.where import Condition, holds, is_one_value, read_where
from mnemoir.core.clock import from_epoch
from mnemoir.core.conversations import Message, Role, StoredMessage, naive_utc
from mnemoir.ports.embedding import Embedding, FloatArray
from mnemoir.ports.log import Log
from mnemoir.search.candidates import Ranked
from mnemoir.search.indexing import unpack_vector
from mnemoir.search.terms import query_terms, read_terms, terms_of
from mnemoir.search.weights import Weights

_REMOVED_LOOK = 10_000
_ROLES: tuple[Role, ...] = get_args(Role)
Metadata = Sequence[Mapping[str, Any]]


class NearestMessages:
    """Vector search over one store of sessions and its vector store. Blocks."""

    def __init__(self, rows: Log, store: AnyVectorStore) -> None:
        self._rows = rows
        self._store = store
        self._knows_operators = knows_operators(store)

    def find(self, embedding: Embedding, top_k: int, wanted: Wanted) -> list[SearchHit]:
        """Most similar first.

        Further hits replace those that are gone or no longer match the filter. A store that may not know the
        operators of a condition is given one without, and the rest of it is checked here.
        """
        looked, query, where = top_k, vector_of(embedding).tolist(), wanted.where()
        given = dict(where) if where and (self._knows_operators or is_one_value(where)) else None
        unchecked = None if given == where else read_where(where)
        while True:
            found = self._store.search(query_embedding=query, top_k=looked, where=given)
            hits = [hit for hit in self._hits(*found, unchecked) if wanted.allows(hit.stored)]
            if len(hits) >= top_k or len(found[0]) < looked:
                return hits[:top_k]
            looked *= 2

    def vectors_of(self, hits: Sequence[SearchHit]) -> FloatArray | None:
        """One row per hit; None when the store lacks a vector of any of them."""
        if not isinstance(self._store, IndexedVectors):
            return None
        found = self._store.vectors_of([vector_id(hit.message_id) for hit in hits])
        if len(found) < len(hits):
            return None
        return np.stack([unpack_vector(found[vector_id(hit.message_id)].vector) for hit in hits])

    def _hits(
        self,
        ids: Sequence[str],
        documents: Sequence[str],
        metadata: Metadata,
        distances: Sequence[float],
        unchecked: Condition | None,
    ) -> list[SearchHit]:
        numbers = [message_id_of(name) for name in ids]
        stored = self._rows.messages_by_id([number for number in numbers if number is not None])
        hits = []
        for number, document, members, distance in zip(numbers, documents, metadata, distances, strict=True):
            similarity = 1.0 - float(distance)
            if number is not None and number in stored:
                if holds(unchecked, vector_metadata(stored[number])):
                    hits.append(hit_of(stored[number], similarity, similarity))
            elif holds(unchecked, members or {}) and not self._was_deleted(number):
                hits.append(_foreign(number, document, members, similarity))
        return hits

    def _was_deleted(self, message_id: int | None) -> bool:
        """True when a missing message existed before: ids only grow, and a deletion leaves a mark for a while.

        Ids that never existed come from other users of the vector store.
        """
        if message_id is None:
            return False
        return bool(self._rows.unembedded_messages(ANY_MODEL, 1, after=message_id)) or message_id in (
            self._rows.vectors_to_remove(_REMOVED_LOOK)
        )


def told_apart(query: str, hits: Sequence[SearchHit]) -> list[SearchHit]:
    """The hits, in order, each with whether it is likely: it shares a word with the question or is like it."""
    asked = query_terms(query)

    def is_likely(hit: SearchHit) -> bool:
        return is_alike(hit.similarity) or bool(np.isin(asked, read_terms(terms_of(hit.message.text))).any())

    return [replace(hit, is_likely=is_likely(hit)) for hit in hits]


def is_alike(similarity: float | None) -> bool:
    """True for a message that is more similar to a question than unrelated texts are."""
    return (similarity or 0.0) >= Weights().related_cosine


def hit_of(stored: StoredMessage, similarity: float | None, score: float, *, is_likely: bool = True) -> SearchHit:
    """The hit of a stored message."""
    return SearchHit(
        message=stored.message,
        message_id=stored.id,
        session_id=stored.session_id,
        similarity=similarity,
        created_at=stored.created_at,
        score=score,
        stored=stored,
        is_likely=is_likely,
    )


def ranked_hit(row: Ranked, stored: StoredMessage) -> SearchHit:
    """The hit of a ranked message: likely by a word of its own or by its vector, not by the messages around it."""
    similarity = row.signals.get("vector")
    is_likely = row.signals.get("words", 0.0) > 0 or is_alike(similarity)
    return hit_of(stored, similarity, row.score, is_likely=is_likely)


def _foreign(message_id: int | None, document: str, metadata: Mapping[str, Any], similarity: float) -> SearchHit:
    """A hit that only the vector store has."""
    at, number = metadata.get("timestamp"), metadata.get("message_id")
    role: Role = next((role for role in _ROLES if role == metadata.get("role")), "user")
    return SearchHit(
        message=Message(role=role, content=document),
        message_id=message_id if message_id is not None else number if isinstance(number, int) else 0,
        session_id=str(metadata.get("session_id") or ""),
        similarity=similarity,
        created_at=_time(at),
        score=similarity,
    )


def _time(at: object) -> datetime | None:
    found = from_epoch(at) if isinstance(at, int | float) else None
    return found and naive_utc(found)
