"""The key store: the wrapped keys of all users, in a file or database of its own that is in no backup of the data."""

import secrets
from dataclasses import dataclass
from datetime import datetime

from mnemoir.core.clock import to_text
from mnemoir.storage.sql.engine import FileEngine, Sql, queries
from mnemoir.storage.sql.tables import Owner

_QUERIES = queries("keys/data_keys")
_SUBJECT = "keys"
_COLUMNS = ("id", "tenant", "project", "user", "number", "kek", "wrapped", "made_at", "destroyed_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataKey:
    """A key as it is stored; `wrapped` is None when it was destroyed."""

    id: int
    owner: Owner
    number: int
    kek: str
    wrapped: bytes | None

    @property
    def context(self) -> bytes:
        """What its wrapping is bound to."""
        return "\0".join((*self.owner, f"{self.id:08x}")).encode()


class SqlDataKeys:
    """`file` is the caller's. Blocking and thread-safe; raises StorageUnavailable."""

    def __init__(self, file: FileEngine) -> None:
        self._file = file

    def get(self, key_id: int) -> DataKey | None:
        """The key of that id, destroyed or not; None for none."""
        row = self._file.read(lambda sql: sql.row(_QUERIES["data_key"], id=key_id))
        return None if row is None else _key(*row)

    def newest(self, owner: Owner) -> int | None:
        """The id of the owner's key for new cells; None without one."""
        return self._file.read(lambda sql: _newest(sql, owner))

    def put_first(self, key: DataKey, at: datetime) -> int:
        """Store the owner's first key, unless there is one; the id of the one that is there."""

        def put_unless_there(sql: Sql) -> int:
            _hold(sql, key.owner)
            if (found := _newest(sql, key.owner)) is not None:
                return found
            return _put(sql, key, at)

        return self._file.write(put_unless_there)

    def put_next(self, key: DataKey, at: datetime) -> int:
        """Store a further key of the owner, which new cells get from now on; its id."""

        def put(sql: Sql) -> int:
            _hold(sql, key.owner)
            return _put(sql, key, at)

        return self._file.write(put)

    def rewrap(self, key: DataKey) -> None:
        """Store the other wrapping of a key."""

        def wrap(sql: Sql) -> None:
            sql.run(_QUERIES["wrap_key"], id=key.id, kek=key.kek, wrapped=key.wrapped)
            sql.run(_QUERIES["next_version"], subject=_SUBJECT)

        self._file.write(wrap)

    def wrapped_by_others(self, kek: str) -> list[DataKey]:
        """The keys that are not wrapped by this one."""
        return self._file.read(lambda sql: [_key(*row) for row in sql.rows(_QUERIES["keys_of_others"], kek=kek)])

    def destroy(self, owner: Owner, at: datetime) -> int:
        """Destroy all keys of an owner, leaving no byte of them or of the name in the file; how many there were."""

        def destroy_all(sql: Sql) -> int:
            _hold(sql, owner)
            count = sql.run(_QUERIES["destroy_keys"], **_owner_values(owner), now=to_text(at))
            sql.run(_QUERIES["next_version"], subject=_SUBJECT)
            return count

        destroyed = self._file.write(destroy_all)
        self._file.empty_log()
        return destroyed

    def owners(self) -> list[Owner]:
        """Those who have a key, by name."""
        return [*map(tuple, self._file.read(lambda sql: sql.rows(_QUERIES["owners"])))]

    def version(self) -> int:
        """How often a key was made, wrapped anew or destroyed, by any program."""
        return self._file.read(lambda sql: sql.value(_QUERIES["version"], subject=_SUBJECT)) or 0

    def copy_into(self, other: FileEngine) -> None:
        """Have an empty store hold the same keys, destroyed ones too."""
        rows = self._file.read(lambda sql: sql.rows(_QUERIES["all_keys"]))
        values = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
        other.write(lambda sql: sql.many(_QUERIES["copy_key"], values))

    def keks(self) -> dict[str, int]:
        """How many keys are wrapped by each key of the provider, by its name; "" counts the destroyed ones."""
        return dict(self._file.read(lambda sql: sql.rows(_QUERIES["keks"])))


def new_key_id() -> int:
    """A random id of 31 bits, not 0."""
    return 1 + secrets.randbelow(2**31 - 1)


def _newest(sql: Sql, owner: Owner) -> int | None:
    found: int | None = sql.value(_QUERIES["newest_key"], **_owner_values(owner))
    return found


def _put(sql: Sql, key: DataKey, at: datetime) -> int:
    sql.run(
        _QUERIES["put_key"], **_owner_values(key.owner), id=key.id, kek=key.kek, wrapped=key.wrapped, now=to_text(at)
    )
    sql.run(_QUERIES["next_version"], subject=_SUBJECT)
    return key.id


def _hold(sql: Sql, owner: Owner) -> None:
    """Let nobody else change the keys of an owner until the transaction ends."""
    sql.hold("\n".join(("keys", *owner)))


def _owner_values(owner: Owner) -> dict[str, str]:
    tenant, project, user = owner
    return {"tenant": tenant, "project": project, "user": user}


def _key(id: int, tenant: str, project: str, user: str, number: int, kek: str, wrapped: bytes | None) -> DataKey:
    return DataKey(id=id, owner=(tenant, project, user), number=number, kek=kek, wrapped=wrapped)
