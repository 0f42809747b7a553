"""What is read of the trees of sessions: ways through them in pages, branches, and the thread in stretches."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import apsw

from mnemoir.conversations.sessions import StoredMessage
from mnemoir.conversations.ways import BranchRun, Stretch
from mnemoir.storage.conversations.session_file import SessionFile
from mnemoir.storage.conversations.session_rows import Row, storable, stored_messages
from mnemoir.storage.conversations.session_tables import clamped
from mnemoir.storage.conversations.thread_rows import head_of, is_unlinked, link
from mnemoir.storage.sql.queries import queries

_TREE = queries("sessions/tree")
_WAYS = queries("sessions/ways")
_LINKED_TOGETHER = 20  # sessions
_OUTSIDE = (0, 0.0)  # a border in front of all messages, or behind them


class WayTables:
    """The reading half of `TreeTables`; see `conversations.ways.WayRows`."""

    _file: SessionFile

    def children(self, session_id: str, message_ids: Sequence[int]) -> dict[int, list[int]]:
        """The ids of what stands right behind each of these messages, or behind ROOT; on all branches, by id."""
        self._link(session_id)
        session = storable(session_id)

        def work(connection: apsw.Connection) -> dict[int, list[int]]:
            return {
                one: [row[0] for row in connection.execute(_TREE["children"], {"session": session, "id": one})]
                for one in message_ids
            }

        return self._file.read(work)

    def newest_end(self, session_id: str, message_id: int) -> int:
        """The newest of the messages that branches with this one end with; itself where nothing stands behind it."""
        self._link(session_id)
        values = {"session": storable(session_id), "id": clamped(message_id)}
        return int(self._read(_TREE["newest_end"], values)[0][0])

    def way_to(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """A message and what stands before it on its branch, thread or not, newest first; [] for an unknown one."""
        self._link(session_id)
        return list(stored_messages(self._way_to(session_id, message_id, limit)))

    def way_before(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """What stands before a message on its branch, newest first; [] at the beginning alone."""
        self._link(session_id)
        while rows := self._way_to(session_id, message_id, max(0, limit) + 1)[1:]:
            if messages := list(stored_messages(rows)):
                return messages
            message_id = rows[-1][0]  # all of them are damaged; that is not the beginning
        return []

    def way_behind(self, session_id: str, message_id: int, limit: int) -> list[StoredMessage]:
        """How the way through a message goes on behind it, oldest first; for ROOT the thread from its beginning."""
        self._link(session_id)
        session = storable(session_id)
        head = self._file.read(lambda connection: head_of(connection, session)).id
        values = {"session": session, "head": head, "limit": clamped(limit)}
        while rows := self._read(_WAYS["way_behind"], {**values, "id": clamped(message_id)}):
            if messages := list(stored_messages(rows)):
                return messages
            message_id = rows[-1][0]
        return []

    def place_on_thread(self, session_id: str, message_id: int) -> int | None:
        """How many messages of the thread stand in front of that one; None for one that is not on it."""
        rows = self._read(_WAYS["place_on_thread"], {"session": storable(session_id), "id": clamped(message_id)})
        return int(rows[0][0]) if rows else None

    def branch_runs(self, session_id: str) -> list[BranchRun]:
        """All of them, by the id of their first message; one for a tree without branches."""
        self._link(session_id)
        return [_run_of(row) for row in self._read(_WAYS["branch_runs"], {"session": storable(session_id)})]

    def thread_stretches(
        self, session_id: str, alone: Sequence[int], ends: Sequence[int], threshold: float
    ) -> list[Stretch]:
        """The whole thread, oldest first. Each message of `alone` is a stretch by itself, each of `ends` ends one."""
        values = {"session": storable(session_id), "threshold": threshold}
        ids = json.dumps([*alone, *ends])

        def work(connection: apsw.Connection) -> list[Stretch]:
            cuts = [row[0] for row in connection.execute(_WAYS["cuts"], {**values, "ids": ids})]
            between = _between(cuts, set(alone))
            rows = (connection.execute(_WAYS["stretch"], {**values, **place}).fetchone() for place in between)
            return [_stretch_of(row) for row in rows if row is not None and row[0]]

        return self._file.read(work)

    def _way_to(self, session_id: str, message_id: int, limit: int) -> list[Row]:
        values = {"session": storable(session_id), "id": clamped(message_id), "limit": clamped(limit)}
        return self._read(_TREE["way_to"], values)

    def _read(self, query: str, values: Mapping[str, Any]) -> list[Row]:
        return self._file.read(lambda connection: connection.execute(query, values).fetchall())

    def _link(self, session_id: str) -> None:
        session = storable(session_id)
        if self._file.read(lambda connection: is_unlinked(connection, session)):
            self._file.write(lambda connection: link(connection, session))

    def _link_some(self) -> int:
        """Link a few sessions more; how many there were."""
        values = {"limit": _LINKED_TOGETHER}
        sessions = [row[0] for row in self._read(_TREE["unlinked_sessions"], values)]
        for session_id in sessions:
            self._file.write(partial(link, session_id=session_id))
        return len(sessions)


def _between(cuts: Sequence[Any], alone: set[int]) -> list[dict[str, float]]:
    """What `stretch` binds for the stretches that the cuts leave, in the order of the thread.

    Ids are whole numbers: half a one more or less, and a border is right behind a message or in front of it.
    """
    borders = [_OUTSIDE]
    for id in cuts:
        borders += [(id, id - 0.5), (id, id + 0.5)] if id in alone else [(id, id + 0.5)]
    borders.append(_OUTSIDE)
    return [
        {"after": after, "behind": behind, "before": before, "in_front": in_front}
        for (after, behind), (before, in_front) in pairwise(borders)
    ]


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


def _stretch_of(row: Row) -> Stretch:
    messages, tokens, first, last, apart_messages, apart_tokens = row
    return Stretch(
        first=first,
        last=last,
        messages=messages,
        tokens=int(tokens),
        apart_messages=int(apart_messages),
        apart_tokens=int(apart_tokens),
    )
