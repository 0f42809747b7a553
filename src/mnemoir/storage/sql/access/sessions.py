"""Sessions of people who signed in, in the file of tenants and keys."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from mnemoir.core.clock import to_text
from mnemoir.core.users import Session
from mnemoir.storage.sql.access.api_keys import Note, time_in, time_or_none
from mnemoir.storage.sql.engine import FileEngine, Sql, queries

_QUERIES = queries("access/sessions")
_USERS = queries("access/users")


class SqlSessions:
    """`file` is the caller's. Blocking and thread-safe; raises StorageUnavailable."""

    def __init__(self, file: FileEngine) -> None:
        self._file = file

    def begin(self, session: Session, token: bytes, *, note: Note) -> None:
        """Store a session, and note that its user was here."""
        now = to_text(session.created_at)

        def put_session(sql: Sql) -> None:
            sql.run(
                _QUERIES["begin"],
                id=session.id,
                hash=token,
                user=session.user,
                now=now,
                agent=session.agent,
                address=session.address,
            )
            sql.run(_USERS["saw_user"], id=session.user, at=now)
            note(sql)

        self._file.write(put_session)

    def drop_ended(self, *, unused_since: datetime, begun_before: datetime) -> None:
        """Remove the sessions that were not used since one time, or begun before another."""
        values = {"unused_since": to_text(unused_since), "begun_before": to_text(begun_before)}
        self._file.write(lambda sql: sql.run(_QUERIES["drop_old"], **values))

    def usable(self, token: bytes) -> Session | None:
        """The session with that token, if its user may sign in; None for none."""
        row = self._file.read(lambda sql: sql.row(_QUERIES["usable"], hash=token))
        return None if row is None else _session_of(row)

    def of_user(self, user_id: str) -> list[Session]:
        """The sessions of a user, newest first."""
        return [_session_of(row) for row in self._file.read(lambda sql: sql.rows(_QUERIES["of_user"], user=user_id))]

    def note_use(self, session: Session, at: datetime) -> None:
        """Note that a session was used, and its user here."""

        def put_times_of_use(sql: Sql) -> None:
            if sql.run(_QUERIES["saw"], id=session.id, at=to_text(at)):
                sql.run(_USERS["saw_user"], id=session.user, at=to_text(at))

        self._file.write(put_times_of_use)

    def confirm(self, session_id: str, at: datetime, note: Note) -> None:
        """Note that the user of a session confirmed their identity again."""

        def put_confirmation(sql: Sql) -> None:
            sql.run(_QUERIES["confirm"], id=session_id, at=to_text(at))
            note(sql)

        self._file.write(put_confirmation)

    def end(self, session_id: str, user_id: str, note: Note) -> bool:
        """End a session of a user; False for none."""

        def end_session(sql: Sql) -> bool:
            if not sql.run(_QUERIES["end"], id=session_id, user=user_id):
                return False
            note(sql)
            return True

        return self._file.write(end_session)


def _session_of(row: Sequence[Any]) -> Session:
    id, user, created, seen, agent, address, confirmed = row
    return Session(
        id=id,
        user=user,
        created_at=time_in(created),
        last_seen_at=time_in(seen),
        agent=agent,
        address=address,
        confirmed_at=time_or_none(confirmed) or time_in(created),
    )
