"""Tenants and API keys in a file of their own, which the command line changes beside a running server."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from mnemoir.core.api_keys import ApiKey
from mnemoir.core.clock import to_text
from mnemoir.core.retention import Retention, checked_retention
from mnemoir.core.usage import Limits, checked_limits
from mnemoir.storage.sql.access.tokens import Place, Tokens
from mnemoir.storage.sql.engine import FileEngine, Sql, queries
from mnemoir.storage.sql.rows import as_json, from_json

_QUERIES = queries("access/api_keys")
_LIMITS = queries("access/limits")
API_KEYS = Tokens(
    "api_keys",
    ApiKey,
    is_open="EXISTS (SELECT 1 FROM tenants WHERE name = tenant AND suspended_at IS NULL)",
    found_by="id",
)
_OLDEST_FIRST = "ORDER BY created_at, id"
_OF_USER = "(tenant = :tenant AND user = :user)"
_KEYS_OF_USER = API_KEYS.select(f"{_OF_USER} {_OLDEST_FIRST}")
_MADE_BY = """
WITH RECURSIVE made (id) AS (
    SELECT id FROM api_keys WHERE created_by = :created_by
    UNION SELECT later.id FROM api_keys AS later JOIN made ON later.created_by = made.id
)
SELECT id FROM made
"""
_KEYS_LEFT_BY = API_KEYS.select(f"id IN ({_MADE_BY}) OR {_OF_USER} {_OLDEST_FIRST}")
LimitedKind = Literal["tenant", "key"]
Note = Callable[[Sql], object]
_OFF = "keys_off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A tenant: its name, since when it is suspended, and the number of its keys."""

    name: str
    suspended_at: str | None
    created_at: str
    keys: int


class SqlApiKeys:
    """`file` is the caller's. Blocking and thread-safe; raises StorageUnavailable.

    `note` writes the entry of the audit log in the transaction of each change.
    """

    def __init__(self, file: FileEngine) -> None:
        self._file = file

    def state(self) -> tuple[bool, bool, int]:
        """Whether a key or user was ever made, whether they were switched off, and how many are used, at most two."""

        def key_state(sql: Sql) -> tuple[bool, bool, int]:
            is_off = sql.row(_QUERIES["decided"], name=_OFF) is not None
            return has_had_keys(sql), is_off, len(sql.rows(_QUERIES["two_keys"]))

        return self._file.read(key_state)

    def switch(self, *, on: bool, note: Note) -> None:
        """Switch keys off, or on again."""

        def put_decision(sql: Sql) -> None:
            note(sql)
            sql.run(_QUERIES["undecide"], name=_OFF)
            if not on:
                sql.run(_QUERIES["decide"], name=_OFF, value="yes")

        self._file.write(put_decision)

    def get(self, key_id: str) -> ApiKey | None:
        """The key of that id; None for none."""
        return self._file.read(lambda sql: API_KEYS.of_id(sql, key_id))

    def usable(self, key_id: str) -> ApiKey | None:
        """The same; None also while its tenant is suspended."""
        return self._file.read(lambda sql: API_KEYS.open(sql, id=key_id))

    def of_tenant(self, tenant: str | None, *, limit: int, after: Place | None = None) -> list[ApiKey]:
        """The keys of a tenant, None for all tenants, oldest first."""
        return self._file.read(lambda sql: API_KEYS.page(sql, tenant, limit, after))

    def put(
        self,
        key: ApiKey,
        *,
        limits: Limits,
        replaces: str | None = None,
        overlap_until: datetime | None = None,
        refuse: Callable[[ApiKey, ApiKey | None], None] = lambda replaced, successor: None,
        note: Note,
    ) -> None:
        """Store a new key, and its tenant if that is new; the key that it `replaces` ends at `overlap_until`.

        `refuse` may raise for the latter as it is then, and for the successor that it has, so that of several at once
        one replaces it.
        """

        def put_key(sql: Sql) -> None:
            if replaces is not None and (replaced := API_KEYS.of_id(sql, replaces)) is not None:
                refuse(replaced, API_KEYS.of_id(sql, replaced.replaced_by or ""))
            note(sql)
            sql.run(_QUERIES["enter_tenant"], name=key.tenant, now=to_text(key.created_at))
            API_KEYS.put(sql, key, key.hash)
            if limits:
                sql.run(
                    _LIMITS["put_limits"],
                    kind="key",
                    name=key.id,
                    limits=as_json({str(what): most for what, most in limits.items()}),
                )
            elif replaces is not None:
                sql.run(_LIMITS["copy_limits"], name=key.id, of=replaces)
            if replaces is not None:
                API_KEYS.revoke(sql, replaces, overlap_until or key.created_at)
                sql.run(_QUERIES["replace_key"], id=replaces, replaced_by=key.id)

        self._file.write(put_key)

    def revoke(self, key_id: str, at: datetime, note: Note) -> None:
        """End a key, unless it has ended before."""

        def end_key(sql: Sql) -> None:
            note(sql)
            API_KEYS.revoke(sql, key_id, at)

        self._file.write(end_key)

    def of_user(self, tenant: str, user: str) -> list[ApiKey]:
        """The keys that are bound to a user, oldest first."""
        return self._file.read(lambda sql: API_KEYS.rows(sql, _KEYS_OF_USER, tenant=tenant, user=user))

    def left_by(self, by: str, tenant: str, user: str) -> list[ApiKey]:
        """The keys that `by` made, also by keys made so, and those that are bound to a user, oldest first."""
        named = {"created_by": by, "tenant": tenant, "user": user}
        return self._file.read(lambda sql: API_KEYS.rows(sql, _KEYS_LEFT_BY, **named))

    def users(self) -> list[tuple[str, str]]:
        """The tenants and users that keys are bound to, each once."""
        return self._file.read(lambda sql: sql.rows(_QUERIES["users_of_keys"]))

    def erase_user(self, tenant: str, user: str, name: str, at: datetime, note: Note) -> int:
        """End a user's keys, and put `name` in place of the user's; how many there were."""

        def erase_name(sql: Sql) -> int:
            note(sql)
            return sql.run(_QUERIES["erase_user"], tenant=tenant, user=user, name=name, at=to_text(at))

        return self._file.write(erase_name)

    def limits(self, kind: LimitedKind, name: str) -> Limits:
        """The limits that a tenant or a key has of its own."""
        found = self._file.read(lambda sql: sql.value(_LIMITS["limits"], kind=kind, name=name))
        return {} if found is None else checked_limits(from_json(found))

    def note_use(self, key_id: str, at: datetime) -> None:
        """Note when the key was used last."""
        self._file.write(lambda sql: API_KEYS.note_use(sql, key_id, at))

    def tenants(self) -> Sequence[Tenant]:
        """All tenants, by name."""
        rows = self._file.read(lambda sql: sql.rows(_QUERIES["tenants"]))
        return [Tenant(name=name, suspended_at=at, created_at=made, keys=keys) for name, at, made, keys in rows]

    def suspended_tenants(self) -> frozenset[str]:
        """The names of the tenants that are suspended."""
        return frozenset(name for (name,) in self._file.read(lambda sql: sql.rows(_QUERIES["suspended"])))

    def put_tenant(
        self,
        name: str,
        at: datetime,
        *,
        suspended: bool | None = None,
        limits: Limits | None = None,
        retention: Retention | None = None,
        note: Note,
    ) -> None:
        """Add the tenant if it is new; suspend it or let it go on, and set its limits and retention, unless None."""

        def put_row(sql: Sql) -> None:
            note(sql)
            sql.run(_QUERIES["enter_tenant"], name=name, now=to_text(at))
            if suspended is not None:
                sql.run(_QUERIES["suspend_tenant"], name=name, at=to_text(at) if suspended else None)
            if limits:
                sql.run(
                    _LIMITS["put_limits"],
                    kind="tenant",
                    name=name,
                    limits=as_json({str(what): most for what, most in limits.items()}),
                )
            elif limits is not None:
                sql.run(_LIMITS["drop_limits"], kind="tenant", name=name)
            if retention is not None:
                said = as_json({str(what): days for what, days in retention.items()}) if retention else None
                sql.run(_QUERIES["set_retention"], name=name, retention=said)

        self._file.write(put_row)

    def retention(self, tenant: str) -> Retention:
        """For how many days a tenant keeps things, as far as it says."""
        found = self._file.read(lambda sql: sql.value(_QUERIES["retention_of"], name=tenant))
        return {} if found is None else checked_retention(from_json(found))


def has_had_keys(sql: Sql) -> bool:
    """Whether a key or user was ever made, whatever became of it."""
    return sql.row(_QUERIES["any_key"]) is not None
