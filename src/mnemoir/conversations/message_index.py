"""All messages of a store of sessions, resident: words, and vectors where the store gives them, ranked by `search`.

Made from the stored messages when it is first asked, then brought up to date before each search by what was saved,
embedded and deleted since, whoever did it. Nothing of it is on disk, so what was deleted is nowhere once it is gone
from here.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from mnemoir.conversations.embedding_jobs import ANY_MODEL, message_id_of, vector_id
from mnemoir.conversations.search_filter import Wanted, seconds
from mnemoir.conversations.session_storage import SessionStorage
from mnemoir.conversations.sessions import StoredMessage
from mnemoir.conversations.vectors import IndexedVectors, StoredVector, VectorChanges
from mnemoir.core.memories import IndexEntry
from mnemoir.ports.embedding import Embedding
from mnemoir.ports.search_rows import SearchRow
from mnemoir.search.columns import Column
from mnemoir.search.cues import address
from mnemoir.search.index import Mask, ScopeIndex
from mnemoir.search.ranking import Query, Ranked, Stages, rank
from mnemoir.search.terms import terms_of
from mnemoir.search.weights import Weights

_PAGE = 2000
_MODEL = "stored"  # the store's vectors are all of one model, whichever
_ROLES = ("user", "assistant", "tool")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is looked for. Without an embedding words and cues alone decide."""

    text: str
    embedding: Embedding | None
    limit: int
    at: datetime


class MessageIndex:
    """Thread-safe; its methods block."""

    def __init__(self, rows: SessionStorage, vectors: IndexedVectors | None) -> None:
        self._rows = rows
        self._vectors = vectors
        self._lock = threading.Lock()
        self._weights = Weights()
        self._restart()

    def spoken(self, text: str) -> str:
        """The question as it is to be embedded: in the first person where it names somebody who speaks here."""
        with self._lock:
            self._refresh()
            return address(text, self._index.speaker_names()).spoken

    def ranked(self, asked: Asked, wanted: Wanted) -> list[tuple[Ranked, StoredMessage]]:
        """Best first, at most `limit`. Raises StorageUnavailable."""
        with self._lock:
            self._refresh()
            while True:
                found = self._found(asked, wanted)
                messages = self._rows.messages_by_id([row.seq for row in found])
                gone = [row.seq for row in found if row.seq not in messages]
                if not gone:
                    return [(row, messages[row.seq]) for row in found[: asked.limit]]
                self._forget(gone)

    def _found(self, asked: Asked, wanted: Wanted) -> list[Ranked]:
        index = self._index
        query = Query(
            text=asked.text,
            addressed=address(asked.text, index.speaker_names()),
            embedding=asked.embedding,
            asked_at=asked.at,
            limit=asked.limit,
            threshold=0.0,
            codes=self._codes,
        )
        shown = self._shown(wanted)
        return rank(index, query, shown, self._weights, Stages()) if len(index) and shown.any() else []

    def _codes(self, seqs: Sequence[int]) -> Mapping[int, bytes]:
        if self._vectors is None:
            return {}
        found = self._vectors.token_codes([vector_id(seq) for seq in seqs])
        return {message_id: code for name, code in found.items() if (message_id := message_id_of(name)) is not None}

    def _shown(self, wanted: Wanted) -> Mask:
        """Rows that may be found, by slot: judged before anything is ranked."""
        index, asked = self._index, wanted.filter
        shown: Mask = index.alive.copy()
        if wanted.session_ids is not None:
            known = [code for code in map(index.codes.known, wanted.session_ids) if code is not None]
            shown &= np.isin(index.place(3), known)
        if wanted.message_ids is not None:
            shown &= np.isin(index.seqs, list(wanted.message_ids))
        if asked.roles is not None:
            shown &= np.isin(self._roles.values, [_ROLES.index(role) for role in asked.roles if role in _ROLES])
        if (since := seconds(asked.since)) is not None:
            shown &= index.said_at >= since
        if (until := seconds(asked.until)) is not None:
            shown &= index.said_at < until
        return shown

    def _restart(self) -> None:
        self._index = ScopeIndex(_MODEL, None)
        self._roles = Column(np.int8)
        self._newest = 0  # the newest message that was looked at
        self._stands = VectorChanges(epoch="", changes=-1)

    def _refresh(self) -> None:
        stands = self._vectors.standing() if self._vectors else self._stands
        if self._index.is_worn or stands.epoch != self._stands.epoch:
            self._restart()
        fresh: dict[int, StoredVector] = {}
        if self._vectors and stands.changes > self._stands.changes:
            fresh = dict(_by_message(self._vectors.vectors_since(self._stands.changes)))
        for page in self._unseen():
            self._put(page, {stored.id: fresh.pop(stored.id) for stored in page if stored.id in fresh})
        self._put_late(fresh)
        self._stands = stands

    def _unseen(self) -> Iterator[list[StoredMessage]]:
        while page := self._rows.unembedded_messages(ANY_MODEL, _PAGE, after=self._newest):
            yield page
            self._newest = page[-1].id

    def _put_late(self, fresh: Mapping[int, StoredVector]) -> None:
        """Vectors of messages whose words are here already."""
        ids = [message_id for message_id in fresh if message_id <= self._newest]
        for start in range(0, len(ids), _PAGE):
            found = self._rows.messages_by_id(ids[start : start + _PAGE])
            self._put(sorted(found.values(), key=lambda stored: stored.id), fresh)

    def _put(self, messages: Sequence[StoredMessage], vectors: Mapping[int, StoredVector]) -> None:
        said = [stored for stored in messages if stored.message.role in _ROLES]
        if said:
            self._index.put([_row(stored, vectors.get(stored.id)) for stored in said])
            self._roles.extend([_ROLES.index(stored.message.role) for stored in said])

    def _forget(self, message_ids: Sequence[int]) -> None:
        index = self._index
        index.keep(np.setdiff1d(index.seqs[index.alive], message_ids).tolist())


def _row(stored: StoredMessage, found: StoredVector | None) -> SearchRow:
    message, at = stored.message, seconds(stored.created_at)
    entry = IndexEntry(
        terms=terms_of(message.text),
        model=_MODEL if found else None,
        vector=found.vector if found else None,
        token_ids=found.token_ids if found else None,
    )
    return SearchRow(
        seq=stored.id,
        is_message=True,
        speaker=None if message.role == "tool" else message.name,
        agent=None,
        app=None,
        conversation=stored.session_id,
        effective_at=float("inf") if at is None else at,
        said_at=float("nan") if at is None else at,
        expires_at=float("inf"),
        entry=entry,
    )


def _by_message(vectors: Mapping[str, StoredVector]) -> Iterator[tuple[int, StoredVector]]:
    for name, vector in vectors.items():
        message_id = message_id_of(name)
        if message_id is not None:
            yield message_id, vector
