"""The keys that callers are known by: made, listed, ended, and recognised in requests.

They lie in the access file (`access_file.py`), where the command line changes them beside a running server: a key
that it ends is refused within a second, and a new one counts at once. Without the file no key is needed.
"""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from mnemoir.access.access_file import AccessFile, LastUse, LookedUp
from mnemoir.core.api_keys import ApiKey, Env, hash_of, label_text, new_text, parts_of
from mnemoir.core.audit import ERASURE, subject_of
from mnemoir.core.clock import Clock, to_text, utc_now
from mnemoir.core.errors import Conflict, InvalidRequest, NotFound
from mnemoir.core.scope import (
    DEFAULT_TENANT,
    Principal,
    config_names,
    entity_name,
    project_names,
    role_name,
    tenant_name,
)
from mnemoir.core.usage import Limits, checked_limits
from mnemoir.core.users import User
from mnemoir.storage.sql.access.api_keys import SqlApiKeys
from mnemoir.storage.sql.access.audit_log import erase_names
from mnemoir.storage.sql.engine import Sql

_UNKNOWN_HASH = bytes(32)


class ApiKeys:
    """The keys of a data directory. Thread-safe; every method may raise StorageUnavailable.

    Recognising a key costs some microseconds once it is known.
    """

    def __init__(self, file: AccessFile, clock: Clock = utc_now) -> None:
        self._file = file
        self._clock = clock
        self._known = LookedUp(file, self._look_up)

    @property
    def are_remote(self) -> bool:
        """Whether recognising one that is not known yet may take as long as a network does."""
        return self._file.is_remote

    @property
    def count(self) -> int:
        """The number of keys not revoked and users not disabled, at most two, as of the last change."""
        return self._file.credentials.count

    def are_required(self, *, is_local: bool) -> bool:
        """True when a key or a user was ever made; where only this machine calls, unless switched off."""
        self._file.look()
        found = self._file.credentials
        return found.were_made and not (found.are_off and is_local)

    def principal(self, text: str) -> Principal | None:
        """The caller with this key; None for a text that is no valid key."""
        parts = parts_of(text)
        if parts is None:
            return None
        known = self._known[parts.id]
        if known.key is None or not self._file.credentials.were_made:  # it may have been made a moment ago
            self._file.look(now=True)
            known = self._known[parts.id]
        pepper = self._file.pepper if self._file.credentials.were_made else b""
        # an unknown id takes as long as a wrong secret
        is_same = hmac.compare_digest(hash_of(parts.secret, pepper), known.hash)
        now = self._clock()
        if known.key is None or not is_same or not known.key.is_valid(now):
            return None
        key_id = known.key.id
        known.use.note(now, lambda file: SqlApiKeys(file).note_use(key_id, now))
        return known.principal

    def create(
        self,
        *,
        role: str,
        tenant: str = DEFAULT_TENANT,
        projects: Sequence[str] | None = None,
        user: str | None = None,
        configs: Sequence[str] | None = None,
        label: str = "",
        expires_at: datetime | None = None,
        env: Env = "live",
        limits: Mapping[str, object] | None = None,
        by: str,
    ) -> tuple[ApiKey, str]:
        """Make a key; the stored key, and its text, which is kept nowhere. Raises InvalidRequest naming the field."""
        key = ApiKey(
            id="",
            hash=b"",
            tenant=tenant_name(tenant),
            role=role_name(role),
            projects=project_names(projects),
            user=None if user is None else entity_name(user, "user"),
            configs=config_names(configs),
            label=label_text(label),
            created_at=self._clock(),
            created_by=by,
            expires_at=self._later(expires_at),
        )
        return self._create_key(key, env, limits=checked_limits(limits or {}))

    def rotate(self, key_id: str, *, overlap: timedelta, by: str) -> tuple[ApiKey, str]:
        """Make a new key with the rights of another, which ends after `overlap`.

        Raises NotFound, InvalidRequest for a key that has ended, and Conflict for one that was replaced before.
        """
        old, now = self.get(key_id), self._clock()
        self._refuse_to_rotate(old, None if old.replaced_by is None else self.get(old.replaced_by))
        if old.expires_at is not None and old.expires_at < now + overlap:
            overlap = old.expires_at - now
        new = replace(old, created_at=now, created_by=by, revoked_at=None, replaced_by=None, last_used_at=None)
        return self._create_key(new, "live", replaces=old.id, overlap_until=now + overlap)

    def get(self, key_id: str, tenant: str | None = None) -> ApiKey:
        """A key; with a `tenant`, one of that. Raises NotFound."""
        keys = self._existing_rows()
        key = None if keys is None else keys.get(key_id[:64])
        if key is None or tenant not in (None, key.tenant):
            raise NotFound(f"There is no key {key_id[:64]!r} here.", code="key_not_found")
        return key

    def keys_page(self, tenant: str | None, *, limit: int, after: ApiKey | None = None) -> Sequence[ApiKey]:
        """The keys of a tenant, None for all, oldest first; `after` is the last one of the page before."""
        keys = self._existing_rows()
        place = None if after is None else (to_text(after.created_at), after.id)
        return [] if keys is None else keys.of_tenant(tenant, limit=limit, after=place)

    def of_user(self, tenant: str, user: str) -> Sequence[ApiKey]:
        """The keys that are bound to a user, oldest first."""
        keys = self._existing_rows()
        return [] if keys is None else keys.of_user(tenant, user)

    def live_keys_of(self, person: User) -> Sequence[ApiKey]:
        """The valid keys that a person made, also by keys made so, or that are bound to their memory user."""
        return self._live_keys(person.principal.key, person.grant.tenant, person.grant.memory_user or "")

    def live_keys_made_by(self, maker: str) -> Sequence[ApiKey]:
        """The valid keys that a caller made, also by keys made so."""
        return self._live_keys(maker, "", "")

    def _live_keys(self, maker: str, tenant: str, memory_user: str) -> Sequence[ApiKey]:
        keys, now = self._existing_rows(), self._clock()
        return [] if keys is None else [one for one in keys.left_by(maker, tenant, memory_user) if one.is_valid(now)]

    def users(self) -> Sequence[tuple[str, str]]:
        """The tenants and users that keys are bound to, each once."""
        keys = self._existing_rows()
        return [] if keys is None else keys.users()

    def revoke(self, key_id: str, tenant: str | None = None) -> ApiKey:
        """End a key at once; again for one that has ended. Raises NotFound."""
        ended = self.get(key_id, tenant)
        SqlApiKeys(self._file.open_or_create()).revoke(
            key_id, self._clock(), self._file.note("keys.revoke", ended.tenant, key_id, ended.user or "")
        )
        return self.get(key_id, tenant)

    def limits_of(self, keys: Sequence[ApiKey]) -> Sequence[Limits]:
        """The quotas that keys have of their own, in their order. Blocks."""
        stored = self._existing_rows()
        return [{} if stored is None else stored.limits("key", key.id) for key in keys]

    def switch(self, *, on: bool) -> None:
        """Need keys, or none although there are some, where only this machine is let in."""
        note = self._file.note("keys.enable" if on else "keys.disable", DEFAULT_TENANT, "")
        SqlApiKeys(self._file.open_or_create()).switch(on=on, note=note)

    def erase_user(self, tenant: str, user: str) -> tuple[int, int]:
        """End a user's keys, and erase the name in them and in the audit log; how many keys and entries had it.

        The keys stay as ended ones: a server that lost its last key would let everybody in. Blocks.
        """
        if self._file.existing() is None:
            return 0, 0
        _, key = self._file.audit_log()
        counts = [0]
        entry = self._file.entry(ERASURE, tenant, "", user)

        def erase(sql: Sql) -> None:
            counts[0] = erase_names(sql, entry, key)

        name = f"erased:{subject_of(tenant, user, key).hex()[:12]}"
        file = self._file.open_or_create()
        keys = SqlApiKeys(file).erase_user(tenant, user, name, self._clock(), erase)
        file.empty_log()
        return keys, counts[0]

    def _create_key(
        self,
        key: ApiKey,
        env: Env,
        *,
        limits: Limits | None = None,
        replaces: str | None = None,
        overlap_until: datetime | None = None,
    ) -> tuple[ApiKey, str]:
        parts, text = new_text(env)
        made = replace(key, id=parts.id, hash=hash_of(parts.secret, self._file.pepper))
        action = "keys.create" if replaces is None else "keys.rotate"
        note = self._file.note(action, made.tenant, made.id, made.user or "")
        SqlApiKeys(self._file.open_or_create()).put(
            made,
            limits=limits or {},
            replaces=replaces,
            overlap_until=overlap_until,
            refuse=self._refuse_to_rotate,
            note=note,
        )
        self._file.look(now=True)  # which notes that the file must be there from now on
        return made, text

    def _refuse_to_rotate(self, key: ApiKey, successor: ApiKey | None) -> None:
        """Raise for a key that has ended, and for one that has a successor which was not revoked."""
        if successor is not None and (successor.revoked_at is None or successor.replaced_by is not None):
            raise Conflict(
                f"Key {key.id} was replaced by key {key.replaced_by} before. Rotate that one, or make a new key.",
                code="already_rotated",
            )
        if not key.is_valid(self._clock()):
            raise InvalidRequest(f"Key {key.id} has ended. Make a new one.", code="key_ended", field="id")

    def _later(self, at: datetime | None) -> datetime | None:
        if at is not None and at <= self._clock():
            raise InvalidRequest(
                "The key would have expired already. Choose a later time.",
                code="validation_error",
                field="expires_at",
            )
        return at

    def _existing_rows(self) -> SqlApiKeys | None:
        file = self._file.existing()
        return None if file is None else SqlApiKeys(file)

    def _look_up(self, key_id: str) -> "_Known":
        stored = self._existing_rows()
        key = None if stored is None else stored.usable(key_id)
        limits = {} if stored is None or key is None else stored.limits("key", key_id)
        return _Known(self._file, key, limits)


class _Known:
    """What a look-up found."""

    __slots__ = ("hash", "key", "principal", "use")

    def __init__(self, file: AccessFile, key: ApiKey | None, limits: Limits) -> None:
        self.key = key
        self.hash = _UNKNOWN_HASH if key is None else key.hash
        self.principal = None if key is None else replace(key.principal, limits=limits)
        self.use = LastUse(file, None if key is None else key.last_used_at)
