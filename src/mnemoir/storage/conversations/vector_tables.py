"""Which messages have a vector in the vector store, wait for one, or were deleted and left one behind; what else a
search asks."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import apsw

from mnemoir.conversations.searched_rows import MessageText, SearchedRows
from mnemoir.conversations.sessions import SessionMetadata, StoredMessage
from mnemoir.core.clock import Clock
from mnemoir.storage.conversations.session_file import SessionFile
from mnemoir.storage.conversations.session_rows import (
    storable,
    stored_messages,
    stored_metadata,
    time_of,
    time_text,
)
from mnemoir.storage.conversations.session_tables import clamped
from mnemoir.storage.conversations.window_tables import mark_of, rows_before
from mnemoir.storage.sql.queries import queries

_VECTORS = queries("sessions/vectors")
_SEARCHING = queries("sessions/searching")
_MESSAGES = queries("sessions/messages")
_MOST_LEFT = 500  # vectors of deleted messages that are looked for at once
_NOTES_KEPT = 16_384  # a search looks at all sessions, and few of them have changed since the last
InContext = tuple[StoredMessage, Sequence[StoredMessage]]
SPACES = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())  # a text of these alone says nothing


class VectorTables:
    """One part of `MemoryStorage`; see `VectorRows` of `conversations.session_storage`, and `SearchedRows`."""

    _file: SessionFile
    _clock: Clock

    def unembedded_messages(
        self, model: str, limit: int, *, after: int = 0, session_id: str | None = None
    ) -> list[StoredMessage]:
        """Embeddable messages with an id over `after` that have no vector of that model, by id."""
        session = None if session_id is None else storable(session_id)
        values = {"model": model, "limit": clamped(limit), "after": after, "session": session, "spaces": SPACES}
        rows = self._file.read(lambda connection: connection.execute(_VECTORS["unembedded"], values).fetchall())
        return list(stored_messages(rows))

    def in_context(self, message_ids: Sequence[int], count: int) -> list[InContext]:
        """Those that are there, each with up to `count` messages in front of it on the thread, oldest first."""
        ids = [{"id": clamped(one)} for one in message_ids]

        def work(connection: apsw.Connection) -> list[InContext]:
            found = stored_messages(connection.executemany(_MESSAGES["one"], ids))
            return list(_in_context(connection, list(found), clamped(count)))

        return self._file.read(work)

    def await_vectors(self, message_ids: Sequence[int], model: str) -> list[int]:
        """Note them as waiting; those of them that are there. Do this before their vectors are added."""
        return self._each("await", message_ids, model=model)

    def vectors_added(self, message_ids: Sequence[int], model: str) -> list[int]:
        """Note them as embedded; ids of deleted messages, of these and others, whose vectors are to be removed."""
        bound = self._bound(message_ids, model=model)

        def work(connection: apsw.Connection) -> list[int]:
            noted = set(_first(connection.executemany(_VECTORS["added"], bound)))
            left = _first(connection.execute(_VECTORS["to_remove"], {"limit": _MOST_LEFT}))
            return list(dict.fromkeys([*(id for id in message_ids if id not in noted), *left]))

        return self._file.write(work)

    def vectors_failed(self, message_ids: Sequence[int]) -> None:
        """Count a failed attempt; they wait again."""
        self._each("failed", message_ids)

    def vectors_to_remove(self, limit: int) -> list[int]:
        """Ids of deleted messages that may have left a vector behind, by id."""
        values = {"limit": clamped(limit)}
        return self._file.read(lambda connection: _first(connection.execute(_VECTORS["to_remove"], values)))

    def vectors_removed(self, message_ids: Sequence[int]) -> None:
        """Their vectors are gone from the vector store."""
        values = [{"id": message_id} for message_id in message_ids]
        if values:
            self._file.write(lambda connection: connection.executemany(_VECTORS["removed"], values).fetchall())

    def vector_counts(self) -> Mapping[str, int]:
        """How many notes there are by status: pending, embedded, failed, removed."""
        rows = self._file.read(lambda connection: connection.execute(_VECTORS["counts"]).fetchall())
        return {str(status): count for status, count in rows if isinstance(count, int)}

    def said_after(self, message_id: int, limit: int) -> list[MessageText]:
        """Messages that say something and are no instructions, with greater ids, by id."""
        values = {"after": message_id, "limit": clamped(limit), "spaces": SPACES}
        rows: list[Any] = self._file.read(
            lambda connection: connection.execute(_SEARCHING["said_after"], values).fetchall()
        )
        return [
            MessageText(
                each, _text(session), _text(role), None if name is None else _text(name), _text(text), time_of(at)
            )
            for each, session, role, name, text, at in rows
        ]

    def living_ids(self) -> list[int]:
        """The ids of all messages there are, in no special order."""
        return self._file.read(lambda connection: _first(connection.execute(_SEARCHING["living"])))

    def important_ids(self, threshold: float) -> list[int]:
        """Those of messages that are pinned, or scored `threshold` or more, wherever they stand."""
        values = {"threshold": threshold}
        return self._file.read(lambda connection: _first(connection.execute(_SEARCHING["important"], values)))

    def session_notes(self, user: str | None = None) -> Iterator[tuple[str, SessionMetadata]]:
        """The id and metadata of every session, or of the sessions of a user alone."""
        query, values = ("notes", {}) if user is None else ("notes_of_user", {"user": storable(user)})
        rows = self._file.read(lambda connection: connection.execute(_SEARCHING[query], values).fetchall())
        return ((name, _noted(name, raw)) for name, raw in ((_text(name), raw) for name, raw in rows))

    def _each(self, query: str, message_ids: Sequence[int], **values: Any) -> list[int]:
        bound = self._bound(message_ids, **values)
        if not bound:
            return []
        return self._file.write(lambda connection: _first(connection.executemany(_VECTORS[query], bound)))

    def _bound(self, message_ids: Sequence[int], **values: Any) -> list[dict[str, Any]]:
        now = time_text(self._clock())
        return [{"id": message_id, "now": now, **values} for message_id in message_ids]


def _in_context(connection: apsw.Connection, found: Sequence[StoredMessage], count: int) -> Iterator[InContext]:
    """What was saved together mostly stands one behind the other: then the first alone is looked up."""
    last: InContext | None = None
    for one in found:
        if last is not None and _follows(one, last[0]) and not mark_of(connection, one.session_id):
            last = one, [*last[1], last[0]][-count:] if count else []
        else:
            rows = rows_before(connection, one.session_id, one.id, count) if count else []
            last = one, list(stored_messages(reversed(rows)))
        yield last


def _follows(one: StoredMessage, other: StoredMessage) -> bool:
    return one.parent_id == other.id and one.is_on_thread and other.is_on_thread


def _first(rows: apsw.Cursor) -> list[int]:
    return [row[0] for row in rows]


def _text(raw: Any) -> str:
    return str(raw, "utf-8", "replace")


@lru_cache(maxsize=_NOTES_KEPT)
def _noted(session_id: str, raw: bytes) -> SessionMetadata:
    return stored_metadata(session_id, raw)


_: type[SearchedRows] = VectorTables  # checked, never run
