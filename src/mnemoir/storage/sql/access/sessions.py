"""Sessions of people who signed in, in the file of tenants and keys."""

from datetime import datetime

from mnemoir.core.clock import to_text
from mnemoir.core.users import Session
from mnemoir.storage.sql.access.api_keys import Note
from mnemoir.storage.sql.access.tokens import Tokens
from mnemoir.storage.sql.engine import FileEngine, Sql, queries

_QUERIES = queries("access/sessions")
_USERS = queries("access/users")
_OF_WHO_MAY_SIGN_IN = """
EXISTS (SELECT 1 FROM users AS u JOIN tenants AS t ON t.name = u.tenant
         WHERE u.id = user_sessions.user AND u.disabled_at IS NULL AND t.suspended_at IS NULL)
"""
SESSIONS = Tokens("user_sessions", Session, is_open=_OF_WHO_MAY_SIGN_IN, used_at="last_seen_at")
_OF_USER = SESSIONS.select("user = :user ORDER BY created_at DESC, id")


class SqlSessions:
    """`file` is the caller's. Blocking and thread-safe; raises StorageUnavailable."""

    def __init__(self, file: FileEngine) -> None:
        self._file = file

    def begin(self, session: Session, token: bytes, *, note: Note) -> None:
        """Store a session, and note that its user was here."""

        def put_session(sql: Sql) -> None:
            SESSIONS.put(sql, session, token)
            sql.run(_USERS["saw_user"], id=session.user, at=to_text(session.created_at))
            note(sql)

        self._file.write(put_session)

    def drop_ended(self, *, unused_since: datetime, begun_before: datetime) -> None:
        """Remove the sessions that were not used since one time, or begun before another."""
        values = {"unused_since": to_text(unused_since), "begun_before": to_text(begun_before)}
        self._file.write(lambda sql: sql.run(_QUERIES["drop_old"], **values))

    def usable(self, token: bytes) -> Session | None:
        """The session with that token, if its user may sign in; None for none."""
        return self._file.read(lambda sql: SESSIONS.open(sql, hash=token))

    def of_user(self, user_id: str) -> list[Session]:
        """The sessions of a user, newest first."""
        return self._file.read(lambda sql: SESSIONS.rows(sql, _OF_USER, user=user_id))

    def note_use(self, session: Session, at: datetime) -> None:
        """Note that a session was used, and its user here."""

        def put_times_of_use(sql: Sql) -> None:
            if SESSIONS.note_use(sql, session.id, at):
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
            found = SESSIONS.of_id(sql, session_id)
            if found is None or found.user != user_id:
                return False
            SESSIONS.end(sql, session_id)
            note(sql)
            return True

        return self._file.write(end_session)
