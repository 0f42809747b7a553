"""Sessions: who is signed in, by a token that only their browser has.

A session ends some hours after its last use, and some days after its begin at the latest. It ends at once when its
user is disabled or removed, or signs out. Recognising one costs some microseconds once it is known.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from mnemoir.access.access_file import AccessFile, LastUse, LookedUp
from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.errors import NotFound
from mnemoir.core.scope import Principal
from mnemoir.core.users import Session, User, new_id, new_terminal_token, new_token, token_hash
from mnemoir.settings import Settings
from mnemoir.storage.sql.access.sessions import SqlSessions
from mnemoir.storage.sql.access.users import SqlUsers

FRESH_FOR = timedelta(minutes=10)
_LONGEST_AGENT = 300


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A user with the session that a request belongs to."""

    session: Session
    user: User
    principal: Principal


class Sessions:
    """The sessions of a data directory. Thread-safe and blocking; every method may raise StorageUnavailable."""

    def __init__(self, settings: Settings, file: AccessFile, clock: Clock = utc_now) -> None:
        self._file = file
        self._clock = clock
        self._idle = timedelta(hours=settings.auth.session_hours)
        self.longest = timedelta(days=settings.auth.session_days)
        self._known = LookedUp(file, self._look_up)
        self._installation = ""

    @property
    def installation(self) -> str:
        """8 hex digits that name this data directory among others."""
        if not self._installation and self._file.version:
            self._installation = hmac.digest(self._file.pepper, b"installation", "sha256")[:4].hex()
        return self._installation

    def begin(self, user: User, *, how: str, agent: str, address: str, is_terminal: bool = False) -> str:
        """Begin a session of a user, who showed who they are by `how`; its token, which is kept nowhere."""
        token, now = new_terminal_token() if is_terminal else new_token(), self._clock()
        session = Session(
            id=new_id("s"),
            user=user.id,
            created_at=now,
            last_seen_at=now,
            agent=agent[:_LONGEST_AGENT],
            address=address,
            confirmed_at=now,
        )
        self._rows.begin(
            session,
            token_hash(token),
            note=self._file.note(f"sign_in.{how}", user.grant.tenant, user.id),
        )
        return token

    def drop_ended(self) -> None:
        """Remove the sessions that have ended."""
        now, file = self._clock(), self._file.existing()
        if file is not None:
            SqlSessions(file).drop_ended(unused_since=now - self._idle, begun_before=now - self.longest)

    def signed_in(self, token: str) -> SignedIn | None:
        """Who has that token; None for a text that is no token of a session that goes on."""
        now = self._clock()
        known = self._known[token_hash(token)]
        if known is None:
            return None
        session = known.signed_in.session
        if now >= session.last_seen_at + self._idle or now >= session.created_at + self.longest:
            return None
        known.use.note(now, lambda file: SqlSessions(file).note_use(session, now))
        return known.signed_in

    def is_fresh(self, session: Session) -> bool:
        """Whether its user showed within ten minutes who they are."""
        return self._clock() < session.confirmed_at + FRESH_FOR

    def confirm(self, signed_in: SignedIn) -> None:
        """Note that a user has just shown who they are."""
        session, user = signed_in.session, signed_in.user
        note = self._file.note("sessions.confirm", user.grant.tenant, user.id)
        self._rows.confirm(session.id, self._clock(), note)

    def sessions_of_user(self, user_id: str) -> Sequence[Session]:
        """The sessions of a user that go on, newest first."""
        now = self._clock()
        return [
            session
            for session in self._rows.of_user(user_id)
            if now < session.last_seen_at + self._idle and now < session.created_at + self.longest
        ]

    def end(self, session_id: str, user: User) -> None:
        """End a session of a user. Raises NotFound."""
        note = self._file.note("sessions.end", user.grant.tenant, user.id)
        if not self._rows.end(session_id[:64], user.id, note):
            raise NotFound(f"You have no session {session_id[:64]!r}.", code="session_not_found")

    def _look_up(self, hashed: bytes) -> "_Known | None":
        file = self._file.existing()
        session = None if file is None else SqlSessions(file).usable(hashed)
        user = None if file is None or session is None else SqlUsers(file).get(session.user)
        if session is None or user is None:
            return None
        return _Known(SignedIn(session, user, user.principal), LastUse(self._file, session.last_seen_at))

    @property
    def _rows(self) -> SqlSessions:
        return SqlSessions(self._file.open_or_create())


@dataclass(frozen=True, slots=True)
class _Known:
    """What a look-up found."""

    signed_in: SignedIn
    use: LastUse
