"""Sessions: who is signed in, by a token that only their browser has.

A session ends some hours after its last use, and some days after its begin at the latest. It ends at once when its
user is disabled or removed, or signs out. Recognising one costs some microseconds once it is known.
"""

import hmac
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from mnemoir.app.api_keys import ApiKeys
from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.errors import NotFound
from mnemoir.core.scope import Principal
from mnemoir.core.users import Session, User, new_id, new_terminal_token, new_token, token_hash
from mnemoir.settings import Settings
from mnemoir.storage.sql.sessions import SqlSessions
from mnemoir.storage.sql.users import SqlUsers

FRESH_FOR = timedelta(minutes=10)
_MOST_KNOWN = 10_000
_NOTED_EVERY = timedelta(minutes=1)
_LONGEST_AGENT = 300


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A user with the session that a request belongs to."""

    session: Session
    user: User
    principal: Principal


class Sessions:
    """The sessions of a data directory. Thread-safe and blocking; every method may raise StorageUnavailable."""

    def __init__(self, settings: Settings, keys: ApiKeys, clock: Clock = utc_now) -> None:
        self._keys = keys
        self._clock = clock
        self._idle = timedelta(hours=settings.auth.session_hours)
        self.longest = timedelta(days=settings.auth.session_days)
        self._lock = threading.Lock()
        self._version = 0
        self._known: OrderedDict[bytes, tuple[SignedIn, datetime] | None] = OrderedDict()
        self._installation = ""

    @property
    def installation(self) -> str:
        """8 hex digits that name this data directory among others."""
        if not self._installation and self._keys.version:
            self._installation = hmac.digest(self._keys.pepper, b"installation", "sha256")[:4].hex()
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
        self._stored.begin(
            session,
            token_hash(token),
            unused_since=now - self._idle,
            begun_before=now - self.longest,
            note=self._keys.note(f"sign_in.{how}", user.grant.tenant, user.id),
        )
        return token

    def signed_in(self, token: str) -> SignedIn | None:
        """Who has that token; None for a text that is no token of a session that goes on."""
        now = self._clock()
        with self._lock:
            if (version := self._keys.version) != self._version:
                self._known.clear()
                self._version = version
            if not version:
                return None
            hashed = token_hash(token)
            if hashed not in self._known:
                self._known[hashed] = self._looked_up(hashed)
                if len(self._known) > _MOST_KNOWN:
                    self._known.popitem(last=False)
            known = self._known[hashed]
            if known is None:
                return None
            found, note_at = known
            session = found.session
            if now >= session.last_seen_at + self._idle or now >= session.created_at + self.longest:
                return None
            if now >= note_at:
                self._known[hashed] = found, now + _NOTED_EVERY
                self._keys.soon(partial(self._stored.note_use, session, now))
        return found

    def is_fresh(self, session: Session) -> bool:
        """Whether its user showed within ten minutes who they are."""
        return self._clock() < session.confirmed_at + FRESH_FOR

    def confirm(self, signed_in: SignedIn) -> None:
        """Note that a user has just shown who they are."""
        session, user = signed_in.session, signed_in.user
        note = self._keys.note("sessions.confirm", user.grant.tenant, user.id)
        self._stored.confirm(session.id, self._clock(), note)

    def listed(self, user_id: str) -> Sequence[Session]:
        """The sessions of a user that go on, newest first."""
        now = self._clock()
        return [
            session
            for session in self._stored.of_user(user_id)
            if now < session.last_seen_at + self._idle and now < session.created_at + self.longest
        ]

    def end(self, session_id: str, user: User) -> None:
        """End a session of a user. Raises NotFound."""
        note = self._keys.note("sessions.end", user.grant.tenant, user.id)
        if not self._stored.end(session_id[:64], user.id, note):
            raise NotFound(f"You have no session {session_id[:64]!r}.", code="session_not_found")

    def _looked_up(self, hashed: bytes) -> tuple[SignedIn, datetime] | None:
        session = self._stored.usable(hashed)
        user = None if session is None else SqlUsers(self._keys.opened()).get(session.user)
        if session is None or user is None:
            return None
        return SignedIn(session, user, user.principal), session.last_seen_at + _NOTED_EVERY

    @property
    def _stored(self) -> SqlSessions:
        return SqlSessions(self._keys.opened())
