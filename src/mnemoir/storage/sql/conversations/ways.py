"""What is read of the trees of sessions: ways through them in pages, branches, and the thread in stretches."""

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
        """The ids of what stands right behind each of these messages, or behind ROOT; on all branches, by id."""
        session = storable(session_id)

        def work(sql: Sql) -> dict[int, list[int]]:
            return {
                one: [row[0] for row in sql.each(_TREE["children"], session=session, id=one)] for one in message_ids
            }

        return self._linked(session_id, work)

    def newest_end(self, session_id: str, message_id: int) -> int:
        """The newest of the messages that branches with this one end with; itself where nothing stands behind it."""
        return int(self._rows_of(session_id, _TREE["newest_end"], id=clamped(message_id))[0][0])

    def way_to(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """A message and what stands before it on its branch, thread or not, newest first; [] for an unknown one."""
        return list(stored_messages(self._way_to(session_id, message_id, limit)))

    def way_before(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """What stands before a message on its branch, newest first; [] at the beginning alone."""
        return whole_page(limit, message_id, lambda at, most: self._way_to(session_id, at or 0, most + 1)[1:])

    def way_behind(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """How the way through a message goes on behind it, oldest first; for ROOT the thread from its beginning."""
        head = self._file.read(lambda sql: head_of(sql, storable(session_id))).id
        behind = partial(self._rows_of, session_id, _WAYS["way_behind"], head=head)
        return whole_page(limit, message_id, lambda at, most: behind(id=clamped(at or 0), limit=most))

    def place_on_thread(self, session_id: str, message_id: int) -> int | None:
        """How many messages of the thread stand in front of that one; None for one that is not on it."""
        row = self._row(_WAYS["place_on_thread"], session=storable(session_id), id=clamped(message_id))
        return None if row is None else int(row[0])

    def branch_runs(self, session_id: str) -> list[BranchRun]:
        """All of them, by the id of their first message; one for a tree without branches."""
        return [_run_of(row) for row in self._rows_of(session_id, _WAYS["branch_runs"])]

    def _way_to(self, session_id: str, message_id: int, limit: int) -> list[Row]:
        return self._rows_of(session_id, _TREE["way_to"], id=clamped(message_id), limit=clamped(limit))

    def _rows_of(self, session_id: str, query: str, **values: Value) -> list[Row]:
        """Rows of a session whose messages have their parents."""
        session = storable(session_id)
        return self._linked(session_id, lambda sql: sql.rows(query, session=session, **values))

    def _linked(self, session_id: str, work: Callable[[Sql], T]) -> T:
        """Read a session, whose messages get their parents before where they have none yet."""
        session = storable(session_id)
        found = self._file.read(lambda sql: None if is_unlinked(sql, session) else [work(sql)])
        if found is None:
            self._file.write(lambda sql: link(sql, session))
            return self._file.read(work)
        return found[0]

    def _link_some(self) -> int:
        """Link a few sessions more; how many there were."""
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
