"""Notes of the messages that have a vector in the vector store, wait for one, or were deleted and left one; further
queries of search."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from mnemoir.conversations.search.searched_rows import MessageChanges, MessageText, SearchedRows
from mnemoir.core.conversations import SessionMetadata, StoredMessage
from mnemoir.storage.sql.conversations.store import (
    Row,
    Store,
    clamped_number,
    storable,
    stored_messages,
    stored_metadata,
    time_of,
)
from mnemoir.storage.sql.conversations.windows import mark_of, messages_with, rows_before
from mnemoir.storage.sql.engine import Sql, Value, queries

_VECTORS = queries("sessions/vectors")
_SEARCHING = queries("sessions/searching")
_MESSAGES = queries("sessions/messages")
_MOST_LEFT = 500  # vectors of deleted messages looked up at once
_NOTES_KEPT = 16_384  # a search reads all sessions, and few of them have changed since the last one
InContext = tuple[StoredMessage, Sequence[StoredMessage]]
SPACES = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())  # a text of these alone counts as empty


class VectorTables(Store):
    """One of five parts of `SqlLog`; see `ports.log.VectorRows`, and `SearchedRows`."""

    def unembedded_messages(
        self, model: str, limit: int, *, after: int = 0, session_id: str | None = None
    ) -> list[StoredMessage]:
        """Embeddable messages with an id over `after` that have no vector of that model, by id."""
        session = None if session_id is None else storable(session_id)
        rows = self._rows(
            _VECTORS["unembedded"],
            model=model,
            limit=clamped_number(limit),
            after=after,
            session=session,
            spaces=SPACES,
        )
        return list(stored_messages(rows))

    def in_context(self, message_ids: Sequence[int], count: int) -> list[InContext]:
        """The existing ones, each with up to `count` messages before it on the thread, oldest first."""
        return self._file.read(
            lambda sql: list(_in_context(sql, messages_with(sql, message_ids), clamped_number(count)))
        )

    def await_vectors(self, message_ids: Sequence[int], model: str) -> list[int]:
        """Record messages as waiting; the existing ones. Call this before adding their vectors."""
        return self._each("await", message_ids, model=model)

    def note_new_vectors(self, message_ids: Sequence[int], model: str) -> list[int]:
        """Record messages as embedded; ids of deleted messages, of these and others, with vectors to remove."""
        now = self._now()

        def note_vectors(sql: Sql) -> list[int]:
            noted = set(_noted_ids(sql, "added", message_ids, model=model, now=now))
            left = _first(sql.each(_VECTORS["to_remove"], limit=_MOST_LEFT))
            return list(dict.fromkeys([*(id for id in message_ids if id not in noted), *left]))

        return self._file.write(note_vectors)

    def note_failed_vectors(self, message_ids: Sequence[int]) -> None:
        """Count a failed attempt for the messages, which wait again."""
        self._each("failed", message_ids)

    def vectors_to_remove(self, limit: int) -> list[int]:
        """Ids of deleted messages that may have left a vector behind, by id."""
        return _first(self._rows(_VECTORS["to_remove"], limit=clamped_number(limit)))

    def note_removed_vectors(self, message_ids: Sequence[int]) -> None:
        """Delete the notes of messages whose vectors were removed from the vector store."""
        values = [{"id": message_id} for message_id in message_ids]
        if values:
            self._file.write(lambda sql: sql.many(_VECTORS["removed"], values))

    def vector_counts(self) -> Mapping[str, int]:
        """The number of notes by status: pending, embedded, failed, removed."""
        rows = self._rows(_VECTORS["counts"])
        return {str(status): count for status, count in rows if isinstance(count, int)}

    def said_after(self, message_id: int, limit: int) -> list[MessageText]:
        """Messages with text that are no instructions, with greater ids, by id."""
        rows = self._rows(_SEARCHING["said_after"], after=message_id, limit=clamped_number(limit), spaces=SPACES)
        return [
            MessageText(
                each, _text(session), _text(role), None if name is None else _text(name), _text(text), time_of(at)
            )
            for each, session, role, name, text, at, _ in rows
        ]

    def standing(self, removals: int | None = None) -> MessageChanges:
        """The current state; the removed messages are those with an id that no row has."""
        if removals is None:
            newest, count = self._row(_SEARCHING["newest_id_and_count"])
            removals = newest - count
        else:
            [newest] = self._row(_SEARCHING["newest_id"])
        return MessageChanges(newest=newest, removals=removals, epoch=self._file.epoch())

    def living_ids(self) -> list[int]:
        """The ids of all messages, unordered."""
        return _first(self._rows(_SEARCHING["living"]))

    def important_ids(self, threshold: float) -> list[int]:
        """The ids of messages that are pinned, or scored `threshold` or more, on all branches."""
        return _first(self._rows(_SEARCHING["important"], threshold=threshold))

    def session_notes(self, user: str | None = None) -> Iterator[tuple[str, SessionMetadata]]:
        """The id and metadata of every session, or of the sessions of a user alone."""
        if user is None:
            rows = self._rows(_SEARCHING["notes"])
        else:
            rows = self._rows(_SEARCHING["notes_of_user"], user=storable(user))
        notes = ((name, _cached_metadata(name, raw)) for name, raw in ((_text(name), raw) for name, raw in rows))
        return notes if user is None else (note for note in notes if note[1].user == user)

    def _each(self, query: str, message_ids: Sequence[int], **values: Value) -> list[int]:
        if not message_ids:
            return []
        now = self._now()
        return self._file.write(lambda sql: _noted_ids(sql, query, message_ids, now=now, **values))


def _noted_ids(sql: Sql, query: str, message_ids: Sequence[int], **values: Value) -> list[int]:
    """The ids that a query returns for each of the messages."""
    return _first(sql.many(_VECTORS[query], [{"id": one, **values} for one in message_ids]))


def _in_context(sql: Sql, found: Sequence[StoredMessage], count: int) -> Iterator[InContext]:
    """The messages in context. Messages saved together are mostly adjacent: then only the first is looked up."""
    last: InContext | None = None
    for one in found:
        if last is not None and _follows(one, last[0]) and not mark_of(sql, one.session_id):
            last = one, [*last[1], last[0]][-count:] if count else []
        else:
            rows = rows_before(sql, one.session_id, one.id, count) if count else []
            last = one, list(stored_messages(reversed(rows)))
        yield last


def _follows(one: StoredMessage, other: StoredMessage) -> bool:
    return one.parent_id == other.id and one.is_on_thread and other.is_on_thread


def _first(rows: Iterable[Row]) -> list[int]:
    return [row[0] for row in rows]


def _text(raw: Any) -> str:
    return raw if isinstance(raw, str) else str(raw, "utf-8", "replace")


@lru_cache(maxsize=_NOTES_KEPT)
def _cached_metadata(session_id: str, raw: bytes) -> SessionMetadata:
    return stored_metadata(session_id, raw)


_: type[SearchedRows] = VectorTables  # checked, never run
