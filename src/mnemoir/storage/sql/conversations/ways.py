"""Reading of the trees of sessions: paths through them in pages, branches, and places on the thread."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from mnemoir.core.branches import BranchRun
from mnemoir.core.conversations import StoredMessage
from mnemoir.storage.sql.conversations.rows import Row, storable, stored_messages
from mnemoir.storage.sql.conversations.store import Store, clamped
from mnemoir.storage.sql.conversations.thread import head_of, is_unlinked, link
from mnemoir.storage.sql.conversations.windows import whole_page
from mnemoir.storage.sql.engine import Sql, Value
from mnemoir.storage.sql.queries import queries

T = TypeVar("T")

_TREE = queries("sessions/tree")
_WAYS = queries("sessions/ways")
_LINKED_TOGETHER = 20  # sessions


class WayTables(Store):
    """The reading half of `TreeTables`; see `ports.log.TreeRows`."""

    def children(self, session_id: str, message_ids: Sequence[int]) -> dict[int, list[int]]:
        """The ids of the children of each of these messages, or of ROOT; on all branches, by id."""
        session = storable(session_id)

        def work(sql: Sql) -> dict[int, list[int]]:
            return {
                one: [row[0] for row in sql.each(_TREE["children"], session=session, id=one)] for one in message_ids
            }

        return self._linked(session_id, work)

    def newest_end(self, session_id: str, message_id: int) -> int:
        """The newest last message of the branches with this one; the message itself when none follows."""
        return int(self._rows_of(session_id, _TREE["newest_end"], id=clamped(message_id))[0][0])

    def way_to(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """A message and those before it on its branch, thread or not, newest first; [] for an unknown one."""
        return list(stored_messages(self._way_to(session_id, message_id, limit)))

    def way_before(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """The messages before a message on its branch, newest first; [] only at the beginning."""
        return whole_page(limit, message_id, lambda at, most: self._way_to(session_id, at or 0, most + 1)[1:])

    def way_behind(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """The messages after a message on its path, oldest first; for ROOT the thread from its beginning."""
        head = self._file.read(lambda sql: head_of(sql, storable(session_id))).id
        behind = partial(self._rows_of, session_id, _WAYS["way_behind"], head=head)
        return whole_page(limit, message_id, lambda at, most: behind(id=clamped(at or 0), limit=most))

    def place_on_thread(self, session_id: str, message_id: int) -> int | None:
        """The number of messages before that one on the thread; None for a message off the thread."""
        row = self._row(_WAYS["place_on_thread"], session=storable(session_id), id=clamped(message_id))
        return None if row is None else int(row[0])

    def branch_runs(self, session_id: str) -> list[BranchRun]:
        """All runs of messages between branch points, by the id of their first message; one without branches."""
        return [_run_of(row) for row in self._rows_of(session_id, _WAYS["branch_runs"])]

    def _way_to(self, session_id: str, message_id: int, limit: int) -> list[Row]:
        return self._rows_of(session_id, _TREE["way_to"], id=clamped(message_id), limit=clamped(limit))

    def _rows_of(self, session_id: str, query: str, **values: Value) -> list[Row]:
        """Rows of a session, whose messages are linked to their parents first."""
        session = storable(session_id)
        return self._linked(session_id, lambda sql: sql.rows(query, session=session, **values))

    def _linked(self, session_id: str, work: Callable[[Sql], T]) -> T:
        """Read a session, after linking messages without a parent."""
        session = storable(session_id)
        found = self._file.read(lambda sql: None if is_unlinked(sql, session) else [work(sql)])
        if found is None:
            self._file.write(lambda sql: link(sql, session))
            return self._file.read(work)
        return found[0]

    def _link_some(self) -> int:
        """Link a few more sessions; how many."""
        sessions = [row[0] for row in self._rows(_TREE["unlinked_sessions"], limit=_LINKED_TOGETHER)]
        for session_id in sessions:
            self._file.write(partial(link, session_id=session_id))
        return len(sessions)


def _run_of(row: Row) -> BranchRun:
    first, last, parent, messages, first_off, last_off = row
    return BranchRun(
        first=first,
        last=last,
        parent_id=parent,
        messages=messages,
        on_thread=first_off is None,
        ends_on_thread=last_off is None,
    )
