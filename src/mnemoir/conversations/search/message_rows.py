"""The messages of a store and their vectors as rows of the resident index.

Messages and vectors lie in two files, each of which counts its own changes. A row is written when its message is
stored, and rewritten when its vector is; messages themselves never change.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import islice

from mnemoir.conversations.search.embedding_jobs import message_id_of, vector_id
from mnemoir.conversations.search.searched_rows import MessageText, SearchedStorage
from mnemoir.conversations.search.vectors import IndexedVectors, StoredVector
from mnemoir.core.conversations import StoredMessage
from mnemoir.core.memories import IndexEntry, Space
from mnemoir.core.scope import Scope
from mnemoir.ports.search_rows import MOST_CHANGES, IndexRows, Revision, SearchRow
from mnemoir.search.terms import terms_and_mark_of

MODEL = "stored"  # the store's vectors are all of one model, of any name
_ROLES = ("user", "assistant", "tool")
_PAGE = 4096
_A_MESSAGE = 2**31  # added to `Revision.changes` for each message; a vector adds one, and so many are never written


class MessageRows:
    """The rows of all messages that are stored when it is made. Its methods block.

    The store is one scope of its own, so the argument `scope` is ignored.
    """

    def __init__(
        self,
        rows: SearchedStorage,
        vectors: IndexedVectors | None,
        *,
        space: Space | None = None,
        removals: int | None = None,
    ) -> None:
        """Reads the current state, with a known number of `removals`. Raises StorageUnavailable.

        The store's second vectors are of a further `space`; without one they are not read.
        """
        self._space = space
        self._rows = rows
        self._vectors = vectors
        written = None if vectors is None else vectors.standing()  # before the messages, whose vectors come later
        stands = rows.standing(removals)
        self._revision = Revision(
            changes=stands.newest * _A_MESSAGE + (written.changes if written else 0),
            removals=stands.removals,
            epoch=f"{stands.epoch} {written.epoch if written else ''}",
        )

    def revision(self, scope: Scope) -> Revision:
        """The state when this object was made."""
        return self._revision

    def rows_since(self, scope: Scope, changes: int, until: int = MOST_CHANGES) -> Sequence[SearchRow]:
        """Rows written after `changes` and up to `until`, by id."""
        return self._with_vectors(list(self._messages_since(0, changes, until)))

    def rows_after(self, scope: Scope, seq: int, limit: int, *, changes: int = -1) -> Sequence[SearchRow]:
        """The first `limit` rows with an id above `seq` that were written after `changes`, by id."""
        return self._with_vectors(list(islice(self._messages_since(seq, changes, MOST_CHANGES), limit)))

    def live(self, scope: Scope) -> Sequence[int]:
        """The ids of all messages."""
        return self._rows.living_ids()

    def _messages_since(self, seq: int, changes: int, until: int) -> Iterator[MessageText]:
        """Messages with an id above `seq`: first those whose vector alone was written, then those stored."""
        newest, vectors = divmod(changes, _A_MESSAGE)
        last, last_vectors = divmod(min(until, self._revision.changes), _A_MESSAGE)
        if self._vectors is not None and vectors < last_vectors:
            numbers = map(message_id_of, self._vectors.ids_since(vectors, last_vectors))
            ids = sorted(number for number in numbers if number is not None and seq < number <= newest)
            for start in range(0, len(ids), _PAGE):
                found = self._rows.messages_by_id(ids[start : start + _PAGE])
                yield from _with_known_roles(_text_of_message(found[number]) for number in sorted(found))
        after = max(seq, newest)
        while after < last and (page := self._rows.said_after(after, _PAGE)):
            yield from _with_known_roles(said for said in page if said.id <= last)
            after = page[-1].id

    def _with_vectors(self, messages: Sequence[MessageText]) -> list[SearchRow]:
        names = [vector_id(said.id) for said in messages]
        stored = self._vectors.vectors_of(names) if self._vectors and names else {}
        return [self._row(said, stored.get(name)) for said, name in zip(messages, names, strict=True)]

    def _row(self, said: MessageText, found: StoredVector | None) -> SearchRow:
        at = said.said_at_s
        further = found.second if found else None
        return SearchRow(
            seq=said.id,
            is_message=True,
            speaker=None if said.role == "tool" else said.name,
            agent=None,
            app=None,
            conversation=said.session_id,
            role=said.role,
            effective_at=math.inf if at is None else at,
            said_at=math.nan if at is None else at,
            expires_at=math.inf,
            entry=IndexEntry(
                terms=terms_and_mark_of(said.text),
                model=MODEL if found else None,
                vector=found.vector if found else None,
                token_ids=found.token_ids if found else None,
                vectors={self._space: further} if self._space and further else {},
            ),
        )


def _with_known_roles(messages: Iterator[MessageText]) -> Iterator[MessageText]:
    return (said for said in messages if said.role in _ROLES)


def _text_of_message(stored: StoredMessage) -> MessageText:
    message = stored.message
    return MessageText(stored.id, stored.session_id, message.role, message.name, message.text, stored.created_at)


_: type[IndexRows] = MessageRows  # checked, never run
