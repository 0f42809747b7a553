"""The keys that callers are known by: made, listed, ended, and recognised in requests.

They lie in a file of their own in the data directory, which the command line changes beside a running server: a
change counts within a second, one of this process and a new key at once. Without the file no key is needed. The
pepper of the hashes is a setting, or a file of mode 0600 that is made with the first key.
"""

import asyncio
import hmac
import math
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic

from mnemoir.app.pepper import Pepper
from mnemoir.core.api_keys import ApiKey, Env, hash_of, label_text, new_text, parts_of
from mnemoir.core.audit import ERASURE, AuditEntry, subject_of
from mnemoir.core.clock import Clock, to_text, utc_now
from mnemoir.core.errors import InvalidRequest, NotFound, StorageUnavailable
from mnemoir.core.retention import Retention, checked_retention
from mnemoir.core.scope import (
    DEFAULT_TENANT,
    Principal,
    acting,
    config_names,
    entity_name,
    project_names,
    role_name,
    tenant_name,
)
from mnemoir.core.usage import Limits, checked_limits
from mnemoir.settings import Settings
from mnemoir.storage.sql.api_keys import Note, SqlApiKeys, Tenant
from mnemoir.storage.sql.audit_log import SqlAuditLog, append, erase_names
from mnemoir.storage.sql.engine import Sql
from mnemoir.storage.sqlite.opening import open_access_file
from mnemoir.storage.sqlite.shared_file import SharedFile

ACCESS_FILE = "access.db"
_AUDIT = "audit"  # the purpose of the key of the audit log's chain
_MOST_KNOWN = 10_000  # keys looked up lately, unknown ones too
_NOTED_EVERY = timedelta(minutes=1)
_LOOKED_EVERY_S = 1.0  # at the file: two looks cost more than all else of recognising a key
_UNKNOWN_HASH = bytes(32)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_State = tuple[tuple[int, int, int] | None, ...]


class ApiKeys:
    """The keys of a data directory. Thread-safe; every method may raise StorageUnavailable.

    Recognising a key costs some microseconds once it is known.
    """

    def __init__(self, settings: Settings, clock: Clock = utc_now, ticks: Callable[[], float] = monotonic) -> None:
        """Opens the file, if it is there. `ticks` are seconds that only grow."""
        self._path = settings.storage.data_dir / ACCESS_FILE
        self._watched = (str(self._path), f"{self._path}-wal")
        self._pepper = Pepper(settings)
        self._clock = clock
        self._ticks = ticks
        self._looked_at = -math.inf
        self._writes = 0  # of this process, when the file was looked at
        self._lock = threading.Lock()
        self._file: SharedFile | None = None
        self._state: _State = ()
        self._has_keys = self._is_open = False
        self._count = self._version = 0
        self._suspended: frozenset[str] | None = None  # None: not looked up since the file changed
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._limits: dict[str, Limits] = {}
        self._notes = ThreadPoolExecutor(1, thread_name_prefix="key-use")
        self._refresh()

    @property
    def count(self) -> int:
        """The number of keys not revoked and users not disabled, at most two, as of the last change."""
        return self._count

    @property
    def version(self) -> int:
        """A number that grows with every change of the file; 0 without one. What was read before is then old."""
        with self._lock:
            self._refresh()
            return self._version if self._file is not None else 0

    @property
    def pepper(self) -> bytes:
        """The pepper of all hashes; made if there is none. Blocks."""
        with self._lock:
            return self._pepper_made()

    def soon(self, work: Callable[[], object]) -> None:
        """Run `work` in the thread that notes uses."""
        self._notes.submit(work)

    def are_required(self, *, is_local: bool) -> bool:
        """True when a key or a user was ever made; where only this machine calls, unless switched off."""
        with self._lock:
            self._refresh()
            return self._has_keys and not (self._is_open and is_local)

    def principal(self, text: str) -> Principal | None:
        """The caller with this key; None for a text that is no valid key."""
        parts = parts_of(text)
        if parts is None:
            return None
        with self._lock:
            self._refresh()
            known = self._looked_up(parts.id)
            if known.key is None:  # it may have been made a moment ago
                self._refresh(now=True)
                known = self._looked_up(parts.id)
            pepper = self._pepper.read() if self._has_keys else b""
        # an unknown id takes as long as a wrong secret
        is_same = hmac.compare_digest(hash_of(parts.secret, pepper), known.hash)
        now = self._clock()
        if known.key is None or not is_same or not known.key.is_valid(now):
            return None
        if now >= known.note_use_at:
            known.note_use_at = now + _NOTED_EVERY
            self.soon(partial(SqlApiKeys(self.opened()).note_use, known.key.id, now))
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
        return self._stored(key, env, limits=checked_limits(limits or {}))

    def rotate(self, key_id: str, *, overlap: timedelta, by: str) -> tuple[ApiKey, str]:
        """Make a new key with the rights of another, which ends after `overlap`. Raises NotFound, InvalidRequest."""
        old, now = self.get(key_id), self._clock()
        if not old.is_valid(now):
            raise InvalidRequest(f"Key {key_id} has ended. Make a new one.", code="key_ended", field="id")
        if old.expires_at is not None and old.expires_at < now + overlap:
            overlap = old.expires_at - now
        new = replace(old, created_at=now, created_by=by, revoked_at=None, replaced_by=None, last_used_at=None)
        return self._stored(new, "live", replaces=old.id, overlap_until=now + overlap)

    def get(self, key_id: str, tenant: str | None = None) -> ApiKey:
        """A key; with a `tenant`, one of that. Raises NotFound."""
        keys = self._store()
        key = None if keys is None else keys.get(key_id[:64])
        if key is None or tenant not in (None, key.tenant):
            raise NotFound(f"There is no key {key_id[:64]!r} here.", code="key_not_found")
        return key

    def listed(self, tenant: str | None, *, limit: int, after: ApiKey | None = None) -> Sequence[ApiKey]:
        """The keys of a tenant, None for all, oldest first; `after` is the last one of the page before."""
        keys = self._store()
        place = None if after is None else (to_text(after.created_at), after.id)
        return [] if keys is None else keys.listed(tenant, limit=limit, after=place)

    def of_user(self, tenant: str, user: str) -> Sequence[ApiKey]:
        """The keys that are bound to a user, oldest first."""
        keys = self._store()
        return [] if keys is None else keys.of_user(tenant, user)

    def users(self) -> Sequence[tuple[str, str]]:
        """The tenants and users that keys are bound to, each once."""
        keys = self._store()
        return [] if keys is None else keys.users()

    def revoke(self, key_id: str, tenant: str | None = None) -> ApiKey:
        """End a key at once; again for one that has ended. Raises NotFound."""
        ended = self.get(key_id, tenant)
        SqlApiKeys(self.opened()).revoke(
            key_id, self._clock(), self.note("keys.revoke", ended.tenant, key_id, ended.user or "")
        )
        return self.get(key_id, tenant)

    def tenants(self) -> Sequence[Tenant]:
        """All tenants that keys were made for, or that were added, by name."""
        keys = self._store()
        return [] if keys is None else keys.tenants()

    def is_suspended(self, tenant: str) -> bool:
        """Whether nobody of that tenant is let in. Costs a look at the file, and more only after it changed."""
        with self._lock:
            self._refresh()
            if self._suspended is None:
                self._suspended = frozenset() if self._file is None else SqlApiKeys(self._file).suspended()
            return tenant in self._suspended

    def limits_of(self, tenant: str) -> Limits:
        """The quotas that a tenant has of its own."""
        if self._file is None:  # each chat asks
            return {}
        with self._lock:
            self._refresh()
            found = self._limits.get(tenant)
            if found is None:
                found = SqlApiKeys(self._file).limits("tenant", tenant)
                if len(self._limits) >= _MOST_KNOWN:
                    self._limits.clear()
                self._limits[tenant] = found
            return found

    def limits_of_keys(self, keys: Sequence[ApiKey]) -> Sequence[Limits]:
        """The quotas that keys have of their own, in their order. Blocks."""
        stored = self._store()
        return [{} if stored is None else stored.limits("key", key.id) for key in keys]

    def tenant_names(self) -> Sequence[str]:
        """The names of all tenants."""
        return [tenant.name for tenant in self.tenants()]

    def retention_of(self, tenant: str) -> Retention:
        """For how many days a tenant keeps things, as far as it says. Blocks."""
        stored = self._store()
        return {} if stored is None else stored.retention(tenant)

    def put_tenant(
        self,
        name: str,
        *,
        suspended: bool,
        limits: Mapping[str, object] | None = None,
        retention: Mapping[str, object] | None = None,
    ) -> None:
        """Add a tenant, or suspend one: its keys are then refused. Raises InvalidRequest.

        `limits` are its own quotas from now on, and `retention` its own days, none for {}; None leaves them.
        """
        own = None if limits is None else checked_limits(limits)
        kept = None if retention is None else checked_retention(retention)
        note = self.note("tenants.suspend" if suspended else "tenants.put", name, name)
        SqlApiKeys(self.opened()).put_tenant(
            tenant_name(name), self._clock(), suspended=suspended, limits=own, retention=kept, note=note
        )

    @property
    def has_file(self) -> bool:
        """True when there is a file of keys."""
        with self._lock:
            self._refresh()
            return self._file is not None

    def audit_log(self) -> tuple[SqlAuditLog, bytes]:
        """The audit log beside the keys, and the key of its chain; made if there is none. Blocks."""
        key = self.secret_for(_AUDIT)
        return SqlAuditLog(self.opened()), key

    def secret_for(self, purpose: str) -> bytes:
        """A secret of this data directory for one purpose; it is made with the first use. Blocks."""
        return hmac.digest(self.pepper, purpose.encode(), "sha256")

    def note_act(self, action: str, target: str, tenant: str, result: str, of: int | None = None) -> int | None:
        """Write down an act of the command line that changes no key, or the result `of` one; the entry's number.

        None where there is no audit log.
        """
        if not self.has_file:
            return None
        log, key = self.audit_log()
        return log.put([replace(self._entry(action, tenant, target, "", result), of=of)], key)[0]

    def switch(self, *, on: bool) -> None:
        """Need keys, or none although there are some, where only this machine is let in."""
        note = self.note("keys.enable" if on else "keys.disable", DEFAULT_TENANT, "")
        SqlApiKeys(self.opened()).switch(on=on, note=note)

    async def aclose(self) -> None:
        """Write down what was used last, and close the file."""
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """The same; blocks."""
        self._notes.shutdown()
        with self._lock:
            if self._file is not None:
                self._file.close()

    def _stored(
        self,
        key: ApiKey,
        env: Env,
        *,
        limits: Limits | None = None,
        replaces: str | None = None,
        overlap_until: datetime | None = None,
    ) -> tuple[ApiKey, str]:
        parts, text = new_text(env)
        made = replace(key, id=parts.id, hash=hash_of(parts.secret, self.pepper))
        action = "keys.create" if replaces is None else "keys.rotate"
        note = self.note(action, made.tenant, made.id, made.user or "")
        SqlApiKeys(self.opened()).put(
            made, limits=limits or {}, replaces=replaces, overlap_until=overlap_until, note=note
        )
        return made, text

    def erase_user(self, tenant: str, user: str) -> tuple[int, int]:
        """End a user's keys, and erase the name in them and in the audit log; how many keys and entries had it.

        The keys stay as ended ones: a server that lost its last key would let everybody in. Blocks.
        """
        if not self.has_file:
            return 0, 0
        key = self.secret_for(_AUDIT)
        counts = [0]
        entry = self._entry(ERASURE, tenant, "", user)

        def erase(sql: Sql) -> None:
            counts[0] = erase_names(sql, entry, key)

        name = f"erased:{subject_of(tenant, user, key).hex()[:12]}"
        file = self.opened()
        keys = SqlApiKeys(file).erase_user(tenant, user, name, self._clock(), erase)
        file.empty_log()
        return keys, counts[0]

    def note(self, action: str, tenant: str, target: str, user: str = "") -> Note:
        """What writes down a change of keys or users, by whoever acts now, in the transaction of that change."""
        key = self.secret_for(_AUDIT)
        entry = self._entry(action, tenant, target, user)
        return lambda sql: append(sql, entry, key)

    def _entry(self, action: str, tenant: str, target: str, user: str, result: str = "done") -> AuditEntry:
        act = acting.get()
        return AuditEntry(
            at=to_text(self._clock()),
            tenant=tenant,
            actor=act.principal.key or ("anybody" if act.request_id else "command line"),
            action=action,
            target=target,
            user=user,
            result=result,
            request_id=act.request_id,
        )

    def _later(self, at: datetime | None) -> datetime | None:
        if at is not None and at <= self._clock():
            raise InvalidRequest(
                "The key would have expired already. Choose a later time.",
                code="validation_error",
                field="expires_at",
            )
        return at

    def _store(self) -> SqlApiKeys | None:
        with self._lock:
            self._refresh()
            return None if self._file is None else SqlApiKeys(self._file)

    def opened(self) -> SharedFile:
        """The file of tenants, keys and users; made if there is none. The caller does not close it."""
        with self._lock:
            if self._file is None:
                self._file = open_access_file(self._path)
            return self._file

    def _refresh(self, *, now: bool = False) -> None:
        """Forget what was looked up before the file changed last; a look at it `now` misses nothing."""
        ticks, writes = self._ticks(), 0 if self._file is None else self._file.writes
        is_recent = writes == self._writes and ticks - self._looked_at < _LOOKED_EVERY_S
        if is_recent and self._has_keys and not now:
            return
        state = _stat(self._watched[0]), _stat(self._watched[1])
        if state == self._state:
            self._looked_at, self._writes = ticks, writes
            return
        if self._file is not None and state[0] is None:  # a new, empty one would let everybody in
            raise StorageUnavailable(f"{self._path} is gone. Put it back, or start the server without its keys.")
        if self._file is None and state[0] is not None:
            self._file = open_access_file(self._path)
        self._known.clear()
        self._suspended = None
        self._version += 1
        self._limits.clear()
        if self._file is not None:
            self._has_keys, self._is_open, self._count = SqlApiKeys(self._file).state()
        self._state = _stat(self._watched[0]), _stat(self._watched[1])
        self._looked_at, self._writes = ticks, writes

    def _looked_up(self, key_id: str) -> "_Known":
        found = self._known.get(key_id)
        if found is None:
            stored = None if self._file is None else SqlApiKeys(self._file)
            key = None if stored is None else stored.usable(key_id)
            limits = {} if stored is None or key is None else stored.limits("key", key_id)
            found = self._known[key_id] = _Known(key, limits)
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        return found

    def _pepper_made(self) -> bytes:
        if self._pepper.is_known or (self._file is not None and SqlApiKeys(self._file).state()[0]):
            return self._pepper.read()  # it belongs to keys, and must be there
        return self._pepper.made()


class _Known:
    """What a look-up found. A key's use is noted at most once a minute, also by several processes."""

    __slots__ = ("hash", "key", "note_use_at", "principal")

    def __init__(self, key: ApiKey | None, limits: Limits) -> None:
        self.key = key
        self.hash = _UNKNOWN_HASH if key is None else key.hash
        self.principal = None if key is None else replace(key.principal, limits=limits)
        used_at = None if key is None else key.last_used_at
        self.note_use_at = _LONG_AGO if used_at is None else used_at + _NOTED_EVERY


def _stat(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
