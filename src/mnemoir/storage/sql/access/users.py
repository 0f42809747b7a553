"""People who sign in, their invitations and recovery codes, in the file of tenants and keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from mnemoir.core.clock import to_text
from mnemoir.core.errors import Conflict, NotFound
from mnemoir.core.users import Grant, Invitation, User, comparable_name
from mnemoir.storage.sql.access.api_keys import Note
from mnemoir.storage.sql.access.sessions import SESSIONS
from mnemoir.storage.sql.access.tokens import NOT_EXPIRED, Tokens
from mnemoir.storage.sql.access.values import Columns
from mnemoir.storage.sql.engine import FileEngine, Sql, queries

_QUERIES = queries("access/users")
_PASSKEYS = queries("access/passkeys")
_KEYS = queries("access/api_keys")
USERS_MADE = "users_made"  # stays when all users are removed, so that a server never opens by itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What a user signs in with, as it is stored: hashes of a password and recovery codes, a passkey, an identity."""

    password: str | None = None
    codes: Sequence[bytes] = ()
    passkey: "NewPasskey | None" = None
    identity: "Identity | None" = None


@dataclass(frozen=True, slots=True)
class Identity:
    """What an issuer knows somebody by."""

    issuer: str
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPasskey:
    """A passkey that was just verified."""

    id: str
    credential: bytes
    public_key: bytes
    sign_count: int
    label: str


@dataclass(frozen=True, slots=True)
class RecoveryCode:
    """Whom a recovery code lets in, once."""

    user: str


INVITATIONS = Tokens(
    "invitations",
    Invitation,
    is_open=NOT_EXPIRED,
    is_listed=f"{NOT_EXPIRED} AND resets IS NULL",
    owner="resets",
)
RECOVERY_CODES = Tokens("recovery_codes", RecoveryCode, is_open="user = :user")
_USERS, _GRANTS = Columns(User), Columns(Grant)


class SqlUsers:
    """`file` is the caller's. Blocking and thread-safe; raises StorageUnavailable.

    `note` writes the entry of the audit log in the transaction of each change.
    """

    def __init__(self, file: FileEngine) -> None:
        self._file = file

    def any(self) -> bool:
        """Whether there is a user."""
        return self._file.read(lambda sql: sql.row(_QUERIES["any"]) is not None)

    def get(self, user_id: str) -> User | None:
        """The user of that id; None for none."""
        row = self._file.read(lambda sql: sql.row(_QUERIES["by_id"], id=user_id))
        return None if row is None else _USERS.value(row)

    def of_name(self, name: str) -> tuple[User, str | None] | None:
        """The user of that name and the hash of their password; None for none."""
        row = self._file.read(lambda sql: sql.row(_QUERIES["by_name"], called=comparable_name(name)))
        return None if row is None else (_USERS.value(row), row[-1])

    def of_identity(self, identity: Identity) -> User | None:
        """The user whom an issuer knows by that; None for none."""
        values = {"issuer": identity.issuer, "subject": identity.subject}
        row = self._file.read(lambda sql: sql.row(_QUERIES["by_identity"], **values))
        return None if row is None else _USERS.value(row)

    def create(self, user: User, secrets: Secrets, note: Note, *, is_new_memory: bool) -> None:
        """Make a user. Raises Conflict as `join` does."""

        def put_user(sql: Sql) -> None:
            self._put(sql, user, secrets, is_new_memory=is_new_memory)
            note(sql)

        self._file.write(put_user)

    def of_tenant(self, tenant: str | None, *, limit: int, after: tuple[str, str] | None = None) -> list[User]:
        """The users of a tenant, None for all, oldest first; `after` is time (text) and id of the last one."""
        at, user_id = after or ("", "")
        values = {"tenant": tenant, "after": at, "after_id": user_id, "limit": limit}
        return [_USERS.value(row) for row in self._file.read(lambda sql: sql.rows(_QUERIES["all"], **values))]

    def join(
        self, token: bytes, user: User, secrets: Secrets, at: datetime, note: Note, *, is_new_memory: bool
    ) -> bool:
        """Make a user by an invitation, which is used up; False when it is not open, and then nothing is done.

        Raises Conflict for a name that is taken, and with `is_new_memory` when somebody has that memory user.
        """

        def use_invitation(sql: Sql) -> bool:
            if INVITATIONS.take(sql, hash=token, now=to_text(at)) is None:
                return False
            self._put(sql, user, secrets, is_new_memory=is_new_memory)
            note(sql)
            return True

        return self._file.write(use_invitation)

    def reset(self, token: bytes, user_id: str, secrets: Secrets, at: datetime, note: Note) -> bool:
        """Give a user new secrets by an invitation, in place of all former ones, and end their sessions.

        False when it is not open, and then nothing is done.
        """

        def replace_secrets(sql: Sql) -> bool:
            if INVITATIONS.take(sql, hash=token, now=to_text(at)) is None:
                return False
            _forget_secrets(sql, user_id)
            sql.run(_QUERIES["set_password"], id=user_id, password=secrets.password)
            _put_secrets(sql, user_id, secrets, at)
            note(sql)
            return True

        return self._file.write(replace_secrets)

    def change(self, user: User, note: Note) -> None:
        """Change what a user may; with `disabled_at` their sessions end."""

        def put_change(sql: Sql) -> None:
            disabled_at = None if user.disabled_at is None else to_text(user.disabled_at)
            sql.run(_QUERIES["change"], id=user.id, disabled_at=disabled_at, **_GRANTS.cells(user.grant))
            if disabled_at is not None:
                SESSIONS.end_all(sql, user.id)
                INVITATIONS.end_all(sql, user.id)
            note(sql)

        self._file.write(put_change)

    def remove(self, user_id: str, note: Note) -> None:
        """Remove a user with all that belongs to their sign-in."""

        def remove_user(sql: Sql) -> None:
            _forget_secrets(sql, user_id)
            sql.run(_QUERIES["remove_user"], id=user_id)
            note(sql)

        self._file.write(remove_user)

    def set_password(self, user_id: str, hash: str, keep_session: str, note: Note) -> None:
        """Set the hash of a user's password, and end their other sessions."""

        def replace_password(sql: Sql) -> None:
            sql.run(_QUERIES["set_password"], id=user_id, password=hash)
            SESSIONS.end_all(sql, user_id, but=keep_session)
            note(sql)

        self._file.write(replace_password)

    def set_time_zone(self, user_id: str, time_zone: str | None, note: Note) -> None:
        """Set the time zone of a user, None for none."""

        def put_time_zone(sql: Sql) -> None:
            sql.run(_QUERIES["set_time_zone"], id=user_id, time_zone=time_zone)
            note(sql)

        self._file.write(put_time_zone)

    def time_zone_of_memory(self, tenant: str, memory_user: str) -> str | None:
        """The time zone of the first user with these memories who has one; None without."""
        names = {"tenant": tenant, "memory_user": memory_user}
        row = self._file.read(lambda sql: sql.row(_QUERIES["time_zone_of_memory"], **names))
        return None if row is None else str(row[0])

    def rehash(self, user_id: str, former: str, hash: str) -> None:
        """Replace the hash of the same password, unless the password was changed meanwhile."""
        self._file.write(lambda sql: sql.run(_QUERIES["swap_password"], id=user_id, former=former, password=hash))

    def set_codes(self, user_id: str, hashes: Sequence[bytes], note: Note) -> None:
        """Replace the recovery codes of a user."""

        def replace_codes(sql: Sql) -> None:
            RECOVERY_CODES.end_all(sql, user_id)
            for hash in hashes:
                RECOVERY_CODES.put(sql, RecoveryCode(user_id), hash)
            note(sql)

        self._file.write(replace_codes)

    def use_code(self, user_id: str, hash: bytes) -> bool:
        """Use a recovery code up; False for none."""
        return self._file.write(lambda sql: RECOVERY_CODES.take(sql, hash=hash, user=user_id)) is not None

    def invite(self, invitation: Invitation, token: bytes, note: Note) -> None:
        """Store an invitation; one that resets a user replaces those before."""

        def put_invitation(sql: Sql) -> None:
            if invitation.resets is not None:
                INVITATIONS.end_all(sql, invitation.resets)
            INVITATIONS.put(sql, invitation, token)
            note(sql)

        self._file.write(put_invitation)

    def invitation(self, token: bytes, now: datetime) -> Invitation | None:
        """The open invitation with that token; None for none."""
        return self._file.read(lambda sql: INVITATIONS.open(sql, hash=token, now=to_text(now)))

    def invitations(self, tenant: str | None, now: datetime, *, limit: int) -> list[Invitation]:
        """The open invitations of a tenant, None for all, without those that reset a user, oldest first."""
        return self._file.read(lambda sql: INVITATIONS.page(sql, tenant, limit, now=to_text(now)))

    def withdraw(self, invitation_id: str, note: Note) -> None:
        """Remove an invitation. Raises NotFound."""

        def remove_invitation(sql: Sql) -> None:
            if not INVITATIONS.end(sql, invitation_id):
                raise NotFound(f"There is no open invitation {invitation_id!r} here.", code="invitation_not_found")
            note(sql)

        self._file.write(remove_invitation)

    def drop_ended_invitations(self, now: datetime) -> None:
        """Remove the invitations that have ended."""
        self._file.write(lambda sql: INVITATIONS.drop_ended(sql, now))

    def _put(self, sql: Sql, user: User, secrets: Secrets, *, is_new_memory: bool) -> None:
        if sql.row(_QUERIES["by_name"], called=comparable_name(user.name)) is not None:
            raise Conflict(f"There is a user {user.name!r} already. Choose another name.", code="name_taken")
        now = to_text(user.created_at)
        of_memory = {"tenant": user.grant.tenant, "memory_user": user.grant.memory_user, "now": now}
        if is_new_memory and sql.row(_QUERIES["by_memory"], **of_memory) is not None:
            raise Conflict(
                f"The memories of {user.grant.memory_user!r} are somebody's already. Choose another name, or ask to "
                "be invited to these memories.",
                code="name_taken",
            )
        sql.run(_KEYS["enter_tenant"], name=user.grant.tenant, now=now)
        sql.run(_KEYS["decide"], name=USERS_MADE, value="yes")
        sql.run(
            _QUERIES["put"],
            id=user.id,
            name=user.name,
            called=comparable_name(user.name),
            password=secrets.password,
            created_at=now,
            created_by=user.created_by,
            **_GRANTS.cells(user.grant),
        )
        _put_secrets(sql, user.id, secrets, user.created_at)


def _put_secrets(sql: Sql, user_id: str, secrets: Secrets, at: datetime) -> None:
    for hash in secrets.codes:
        RECOVERY_CODES.put(sql, RecoveryCode(user_id), hash)
    if (new := secrets.passkey) is not None:
        put_passkey(sql, user_id, new, at)
    if (known := secrets.identity) is not None:
        named = {"issuer": known.issuer, "subject": known.subject}
        if sql.row(_QUERIES["by_identity"], **named) is not None:
            raise Conflict("You are a user here already. Sign in without the invitation.", code="identity_known")
        sql.run(_QUERIES["put_identity"], user=user_id, now=to_text(at), **named)


def put_passkey(sql: Sql, user_id: str, new: NewPasskey, at: datetime) -> None:
    """Store a passkey of a user. Raises Conflict for one that is known."""
    if sql.row(_PASSKEYS["by_credential"], credential=new.credential) is not None:
        raise Conflict("This passkey is known already. Sign in with it.", code="passkey_known")
    sql.run(
        _PASSKEYS["put"],
        id=new.id,
        user=user_id,
        credential=new.credential,
        public_key=new.public_key,
        sign_count=new.sign_count,
        label=new.label,
        now=to_text(at),
    )


def _forget_secrets(sql: Sql, user_id: str) -> None:
    for tokens in (SESSIONS, INVITATIONS, RECOVERY_CODES):
        tokens.end_all(sql, user_id)
    sql.run(_QUERIES["drop_identities"], user=user_id)
    sql.run(_PASSKEYS["drop_all"], user=user_id)
