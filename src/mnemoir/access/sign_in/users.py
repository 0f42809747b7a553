"""The people who sign in: invited, joined, changed, disabled and removed.

They lie beside the keys, in the access file, so the command line changes them beside a running server too. A server
asks for a credential from the first user on, as it does from the first key on.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from mnemoir.access.access_file import AccessFile
from mnemoir.core.clock import Clock, to_text, utc_now
from mnemoir.core.errors import InvalidRequest, NotFound
from mnemoir.core.scope import config_names, entity_name, project_names, role_name, tenant_name
from mnemoir.core.users import (
    PERSON_KEY,
    Grant,
    Invitation,
    User,
    code_hash,
    new_first_code,
    new_id,
    new_recovery_codes,
    new_token,
    token_hash,
    user_name,
)
from mnemoir.storage.sql.access.api_keys import Note
from mnemoir.storage.sql.access.users import Identity, NewPasskey, Secrets, SqlUsers

INVITED_FOR = timedelta(days=7)
FIRST_CODE_FOR = timedelta(minutes=10)
_LONGEST_INVITATION = timedelta(days=90)
_FIRST_CODE_TRIES = 5
_TERMINAL = "terminal"  # who invites by a first code
_MOST_LISTED = 1000
_MOST_USERS = 100_000  # of a tenant, looked through for one


class Users:
    """The users of a data directory. Thread-safe and blocking; every method may raise StorageUnavailable."""

    def __init__(self, file: AccessFile, clock: Clock = utc_now) -> None:
        self._file = file
        self._clock = clock
        self._any_as_of = (0, False)
        self._first: tuple[Invitation, int] | None = None  # the open first code, and how many tries it has left
        file.warm(lambda: self.are_there)

    @property
    def are_there(self) -> bool:
        """Whether there is a user."""
        version, are_there = self._any_as_of
        if version != (now := self._file.version):
            are_there = now > 0 and self._rows.any()
            self._any_as_of = now, are_there
        return are_there

    def get(self, user_id: str, tenant: str | None = None) -> User:
        """A user; with a `tenant`, one of that. Raises NotFound."""
        user = self._rows.get(user_id[:64]) if self.are_there else None
        if user is None or tenant not in (None, user.grant.tenant):
            raise NotFound(f"There is no user {user_id[:64]!r} here.", code="user_not_found")
        return user

    def user_by_name(self, name: str) -> User:
        """The user of that name. Raises NotFound."""
        found = self.with_hash(name)
        if found is None:
            raise NotFound(f"There is no user {name[:64]!r} here.", code="user_not_found")
        return found[0]

    def with_hash(self, name: str) -> tuple[User, str | None] | None:
        """The user of that name, and the hash of their password; None for none."""
        return self._rows.of_name(name[:256]) if self.are_there else None

    def key_of(self, named: str) -> str:
        """The key of a person's acts, given as `user:<name>` or `user:<id>`; any other text as it is."""
        of_person = named.startswith(PERSON_KEY) and self.are_there
        found = self._rows.of_name(named.removeprefix(PERSON_KEY)) if of_person else None
        return named if found is None else found[0].principal.key

    def names(self, ids: Collection[str]) -> dict[str, str]:
        """The names of the users with these ids, as far as there are any."""
        found = (self._rows.get(user_id[:64]) for user_id in ids) if self.are_there else ()
        return {user.id: user.name for user in found if user is not None}

    def users_page(self, tenant: str | None, *, limit: int, after: User | None = None) -> Sequence[User]:
        """The users of a tenant, None for all, oldest first; `after` is the last one of the page before."""
        place = None if after is None else (to_text(after.created_at), after.id)
        return self._rows.of_tenant(tenant, limit=limit, after=place) if self.are_there else []

    def change(self, user: User, *, is_disabled: bool | None = None, **granted: object) -> User:
        """Change what a user may, by names of Grant, or whether they may sign in. Raises InvalidRequest."""
        grant = grant_with_valid_names(replace(user.grant, **granted))  # type: ignore[arg-type]  # its names are checked by callers
        disabled_at = user.disabled_at
        if is_disabled is not None:
            disabled_at = (disabled_at or self._clock()) if is_disabled else None
        if grant.memory_user is None:
            grant = replace(grant, memory_user=user.grant.memory_user)
        action = {None: "users.change", True: "users.disable", False: "users.enable"}[is_disabled]
        changed = replace(user, grant=grant, disabled_at=disabled_at)
        self._rows.change(changed, self._note(action, user))
        return changed

    def remove(self, user: User) -> None:
        """Remove a user, not what is remembered of them."""
        self._rows.remove(user.id, self._note("users.remove", user))

    def of_memory(self, tenant: str, memory_user: str) -> Sequence[User]:
        """The users of a tenant whose memories are those of a memory user, oldest first."""
        return [user for user in self.users_page(tenant, limit=_MOST_USERS) if user.grant.memory_user == memory_user]

    def removed_from(self, tenant: str, memory_user: str) -> Sequence[str]:
        """The names, as callers, of those with a memory user who were removed, as the audit log tells. Blocks."""
        if not self._file.version:
            return []
        log, key = self._file.audit_log()
        entries = log.about(tenant, memory_user, key)
        return [f"{PERSON_KEY}{one.target}" for one in entries if one.action == "users.remove" and one.target]

    def memory_users(self) -> set[tuple[str, str]]:
        """The tenants and memory users of all users, and of open invitations."""
        invited = [(one.grant.tenant, _memory_user_of(one)) for one in self.invitations(None)]
        users = [(user.grant.tenant, user.grant.memory_user) for user in self.users_page(None, limit=_MOST_USERS)]
        return {(tenant, memory_user) for tenant, memory_user in (*users, *invited) if memory_user}

    def erase(self, tenant: str, memory_user: str) -> int:
        """Remove the users whose memories are a person's, and the invitations to these; how many users there were.

        Invitations that have ended go, too, for they may name anybody.
        """
        found = self.of_memory(tenant, memory_user)
        for user in found:
            self.remove(user)
        for invitation in self.invitations(tenant):
            if _memory_user_of(invitation) == memory_user:
                self.withdraw(invitation)
        self.drop_ended_invitations()
        return len(found)

    def invite(
        self,
        grant: Grant,
        *,
        name: str | None = None,
        by: str,
        lasting: timedelta = INVITED_FOR,
        only_new: bool = False,
    ) -> tuple[Invitation, str]:
        """Make an invitation, and its token, which is kept nowhere; `only_new` as of Invitation.

        Raises InvalidRequest naming the field.
        """
        if not timedelta() < lasting <= _LONGEST_INVITATION:
            raise InvalidRequest(
                f"An invitation lasts at most {_LONGEST_INVITATION.days} days, and longer than no time.",
                code="validation_error",
                field="expires_in_days",
            )
        named = None if name is None else user_name(name)
        valid = grant_with_valid_names(grant)
        return self._create_invitation(valid, new_token(), named, lasting, by=by, only_new=only_new)

    def invite_first(self) -> str:
        """A code by which somebody becomes the first admin within ten minutes; it replaces the one before."""
        self._drop_first()
        code = new_first_code()
        grant = Grant(role="admin", is_operator=True)
        invitation, _ = self._create_invitation(grant, code, None, FIRST_CODE_FOR, by=_TERMINAL)
        self._first = invitation, _FIRST_CODE_TRIES
        return code

    def reset(self, user: User, *, by: str) -> tuple[Invitation, str]:
        """Make an invitation by which a user chooses a new password or passkey; the old ones count until then.

        Raises InvalidRequest for a user who is disabled.
        """
        if user.disabled_at is not None:
            raise InvalidRequest(f"{user.name} is disabled. Enable them first.", code="user_disabled", field="user")
        now = self._clock()
        invitation = Invitation(
            id=new_id("i"),
            name=user.name,
            grant=user.grant,
            created_at=now,
            created_by=by,
            expires_at=now + INVITED_FOR,
            resets=user.id,
        )
        token = new_token()
        self._rows.invite(invitation, token_hash(token), self._note("users.reset", user))
        return invitation, token

    def invitation(self, token: str | bytes) -> Invitation:
        """The open invitation with that token, or hash of it. Raises NotFound.

        After some wrong tokens a first code ends, too.
        """
        found = self._rows.invitation(_hash_of(token), self._clock()) if self._file.version else None
        if found is None or not self._counts(found):
            self._note_wrong_token()
            raise _no_invitation()
        return found

    def invitations(self, tenant: str | None) -> Sequence[Invitation]:
        """The open invitations of a tenant, None for all, oldest first."""
        found = self._rows.invitations(tenant, self._clock(), limit=_MOST_LISTED) if self._file.version else []
        return [one for one in found if self._counts(one)]

    def withdraw(self, invitation: Invitation) -> None:
        """Take an invitation back. Raises NotFound."""
        note = self._file.note("invitations.withdraw", invitation.grant.tenant, invitation.id)
        self._rows.withdraw(invitation.id, note)

    def of_identity(self, identity: Identity) -> User | None:
        """The user whom an issuer knows by that; None for none."""
        return self._rows.of_identity(identity) if self.are_there else None

    def create(self, grant: Grant, name: str, identity: Identity) -> User:
        """Make a user whom an issuer vouches for. Without a memory user it is the name, unless somebody has that.

        Raises InvalidRequest and Conflict for a name.
        """
        made = self._new(grant_with_valid_names(grant), user_name(name), by=identity.issuer)
        note, is_new_memory = self._note("users.create", made, identity), grant.memory_user is None
        self._rows.create(made, Secrets(identity=identity), note, is_new_memory=is_new_memory)
        self._file.look(now=True)  # which notes that the file must be there from now on
        return made

    def join(
        self,
        token: str | bytes,
        name: str,
        *,
        password_hash: str | None = None,
        passkey: NewPasskey | None = None,
        identity: Identity | None = None,
    ) -> tuple[User, Sequence[str]]:
        """Make a user by an invitation, or give one new secrets; the user, and ten recovery codes.

        Whom an issuer vouches for gets no codes: they would go on to count when it does so no more. Raises NotFound
        for an invitation that is not open, InvalidRequest and Conflict for a name.
        """
        invitation, now = self.invitation(token), self._clock()
        if invitation.resets is not None:
            user = self.get(invitation.resets)
        else:
            user = self._new(invitation.grant, user_name(name), by=invitation.created_by)
        codes = [] if identity else new_recovery_codes()
        hashes = self._hashes_of(codes, user)
        secrets = Secrets(password=password_hash, codes=hashes, passkey=passkey, identity=identity)
        hashed = _hash_of(token)
        if invitation.resets is not None:
            note = self._note("users.renew", user, identity)
            is_done = self._rows.reset(hashed, user.id, secrets, now, note)
        else:
            note = self._note("users.create", user, identity)
            is_new_memory = invitation.gives_new_memory
            is_done = self._rows.join(hashed, user, secrets, now, note, is_new_memory=is_new_memory)
        if not is_done:
            raise _no_invitation()
        self._file.look(now=True)  # as above
        return user, codes

    def set_password(self, user: User, password_hash: str, *, keep_session: str) -> None:
        """Change the password of a user, and end all sessions but one."""
        self._rows.set_password(user.id, password_hash, keep_session, self._note("users.password", user))

    def set_time_zone(self, user: User, time_zone: str | None) -> User:
        """Set the time zone of a user, None for none; the user as changed."""
        self._rows.set_time_zone(user.id, time_zone, self._note("users.time_zone", user))
        return replace(user, time_zone=time_zone)

    def time_zone(self, tenant: str, memory_user: str) -> str | None:
        """The time zone of the person whose memories are those of a memory user; None where nobody told it."""
        return self._rows.time_zone_of_memory(tenant, memory_user) if self.are_there else None

    def rehash(self, user: User, former: str, password_hash: str) -> None:
        """Replace the hash of the same password."""
        self._rows.rehash(user.id, former, password_hash)

    def new_codes(self, user: User) -> Sequence[str]:
        """Ten new recovery codes in place of those before."""
        codes = new_recovery_codes()
        self._rows.set_codes(user.id, self._hashes_of(codes, user), self._note("users.recovery_codes", user))
        return codes

    def redeem_recovery_code(self, name: str, code: str) -> User | None:
        """The user of that name when the code is one of their recovery codes, which is used up; else None."""
        found = self.with_hash(name)
        pepper = self._file.pepper if self.are_there else b""
        hash = code_hash(code, found[0].id if found else "", pepper)
        user = None if found is None or found[0].disabled_at is not None else found[0]
        if not self.are_there:
            return None
        is_used = self._rows.use_code("" if user is None else user.id, hash or b"")  # of nobody: after the same time
        return user if is_used else None

    def _hashes_of(self, codes: Sequence[str], user: User) -> list[bytes]:
        pepper = self._file.pepper
        return [hash for code in codes if (hash := code_hash(code, user.id, pepper)) is not None]

    def _create_invitation(
        self, grant: Grant, token: str, name: str | None, lasting: timedelta, *, by: str, only_new: bool = False
    ) -> tuple[Invitation, str]:
        now = self._clock()
        invitation = Invitation(
            id=new_id("i"),
            name=name,
            grant=grant,
            created_at=now,
            created_by=by,
            expires_at=now + lasting,
            only_new=only_new,
        )
        note = self._file.note("invitations.create", grant.tenant, invitation.id)
        self._rows.invite(invitation, token_hash(token), note)
        return invitation, token

    def _counts(self, invitation: Invitation) -> bool:
        """Whether an open invitation can be used. A first code ends with its server, and when somebody has joined."""
        if invitation.created_by != _TERMINAL:
            return True
        return self._first is not None and self._first[0].id == invitation.id and not self.are_there

    def _note_wrong_token(self) -> None:
        if self._first is not None:
            invitation, left = self._first
            self._first = invitation, left - 1
            if left <= 1:
                self._drop_first()

    def drop_ended_invitations(self) -> None:
        """Remove the invitations that have ended."""
        if self._file.existing() is not None:
            self._rows.drop_ended_invitations(self._clock())

    def _drop_first(self) -> None:
        first, self._first = self._first, None
        if first is not None:
            with suppress(NotFound):
                self.withdraw(first[0])

    def _new(self, grant: Grant, name: str, *, by: str) -> User:
        memory_user = grant.memory_user or entity_name(name.lower(), "name")
        return User(
            id=new_id("u"),
            name=name,
            grant=replace(grant, memory_user=memory_user),
            created_at=self._clock(),
            created_by=by,
        )

    def _note(self, action: str, user: User, identity: Identity | None = None) -> Note:
        target = user.id if identity is None else f"{user.id} {identity.issuer} {identity.subject}"
        return self._file.note(action, user.grant.tenant, target, user.grant.memory_user or "")

    @property
    def _rows(self) -> SqlUsers:
        return SqlUsers(self._file.open_or_create())


def grant_with_valid_names(grant: Grant) -> Grant:
    """The grant with valid names. Raises InvalidRequest naming the field."""
    return replace(
        grant,
        tenant=tenant_name(grant.tenant),
        role=role_name(grant.role),
        memory_user=None if grant.memory_user is None else entity_name(grant.memory_user, "memory_user"),
        projects=project_names(grant.projects),
        configs=config_names(grant.configs),
    )


def _memory_user_of(invitation: Invitation) -> str | None:
    """Whose memories somebody would get by it; None where that depends on the name they choose."""
    return invitation.grant.memory_user or (invitation.name and invitation.name.lower())


def _hash_of(token: str | bytes) -> bytes:
    return token if isinstance(token, bytes) else token_hash(token)


def _no_invitation() -> NotFound:
    return NotFound(
        "This invitation was used, has expired, or never was. Ask for a new one.", code="invitation_not_found"
    )
