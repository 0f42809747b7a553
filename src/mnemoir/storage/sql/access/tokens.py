"""Secrets that end, with a table for each kind: a row is what a secret is for, under the hash of it.

Who asks makes the hash, which is keyed by the pepper where secrets are short or live long, so no secret comes here. A
row is found by its hash, or by an id where the hash is then compared in constant time.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Generic, TypeVar

from mnemoir.core.clock import to_text
from mnemoir.storage.named_queries import made_query
from mnemoir.storage.sql.access.values import Columns
from mnemoir.storage.sql.engine import Sql, Value

T = TypeVar("T")
Place = tuple[str, str]  # creation (text) and id of the last one of a page
NOT_EXPIRED = "expires_at > :now"
_OF_TENANT = "(:tenant IS NULL OR tenant = :tenant) AND (created_at, id) > (:after, :after_id)"
_ALL = 2**63 - 1
_TEXTS = ("now", "after", "after_id", "owner", "but")
_TYPES = dict.fromkeys(_TEXTS, "text") | {"hash": "bytes", "limit": "integer", "most": "integer"}


class Tokens(Generic[T]):
    """The tokens of a kind. Blocking functions over one open transaction.

    `table` has the columns of the dataclass `kind`, and `hash`. `is_open` is under which condition a token counts,
    `is_listed` which ones a page of a tenant has. One is asked for by the column `found_by`, `used_at` tells when it
    was used last, and `owner` with which person it goes. Where there is a column `revoked_at`, no row ever goes.
    """

    def __init__(
        self,
        table: str,
        kind: Callable[..., T],
        *,
        is_open: str = "TRUE",
        is_listed: str = "TRUE",
        used_at: str = "last_used_at",
        owner: str = "user",
        found_by: str = "hash",
    ) -> None:
        self._columns = Columns(kind)
        self._told, self._from = ", ".join(self._columns.types), f"FROM {table}"
        self.statements: list[str] = []  # those that its columns allow
        columns = self._columns.types
        names = dict.fromkeys((*columns, "hash"))
        values = f"VALUES ({', '.join(f':{name}' for name in names)})"
        self._put = self._statement(f"INSERT INTO {table} ({', '.join(names)}) {values}")
        is_it = f"{found_by} = :{found_by} AND {is_open}"
        self._open = self.select(is_it)
        if "id" in columns:
            self._of_id = self.select("id = :id")
        if "tenant" in columns:
            self._page = self.select(f"{_OF_TENANT} AND {is_listed} ORDER BY created_at, id LIMIT :limit")
        if used_at in columns:
            noted = f"SET {used_at} = :now WHERE id = :id AND ({used_at} IS NULL OR {used_at} < :now)"
            self._note_use = self._statement(f"UPDATE {table} {noted}")
        if "revoked_at" in columns:
            at = "CASE WHEN revoked_at < :now THEN revoked_at ELSE :now END"
            self._revoke = self._statement(f"UPDATE {table} SET revoked_at = {at} WHERE id = :id")  # noqa: S608  # names of ours
            return
        delete, is_other = f"DELETE FROM {table} WHERE", "TRUE"  # noqa: S608  # the same
        self._take = self._statement(f"{delete} {is_it} RETURNING {self._told}")
        if "id" in columns:
            self._end, is_other = self._statement(f"{delete} id = :id"), "id != :but"
        if owner in columns:
            self._end_all = self._statement(f"{delete} {owner} = :owner AND {is_other}")
        if "expires_at" in columns:
            surplus = f"(SELECT hash {self._from} ORDER BY expires_at DESC LIMIT {_ALL} OFFSET :most)"
            self._drop_ended = self._statement(f"{delete} expires_at <= :now OR hash IN {surplus}")

    def select(self, condition: str) -> str:
        """A query for the tokens that fit a condition, with what stands behind that."""
        return self._statement(f"SELECT {self._told} {self._from} WHERE {condition}")

    def rows(self, sql: Sql, query: str, **values: Value) -> list[T]:
        """The tokens of a query that `select` made. Raises Damaged."""
        return [self._columns.value(row) for row in sql.rows(query, **values)]

    def put(self, sql: Sql, token: T, hash: bytes) -> None:
        """Store a token."""
        sql.run(self._put, **{**self._columns.cells(token), "hash": hash})

    def open(self, sql: Sql, **values: Value) -> T | None:
        """The token, if it is open; None for none. `values` are what it is found by and what `is_open` names."""
        return self._first(sql, self._open, values)

    def take(self, sql: Sql, **values: Value) -> T | None:
        """The same, which is used up: its row goes."""
        return self._first(sql, self._take, values)

    def of_id(self, sql: Sql, id: str) -> T | None:
        """The token of that id, open or not; None for none."""
        return self._first(sql, self._of_id, {"id": id})

    def page(self, sql: Sql, tenant: str | None, limit: int, after: Place | None = None, **values: Value) -> list[T]:
        """Those listed of a tenant, None for all, oldest first; `values` are what `is_listed` names."""
        at, id = after or ("", "")
        return self.rows(sql, self._page, tenant=tenant, limit=limit, after=at, after_id=id, **values)

    def note_use(self, sql: Sql, id: str, now: datetime) -> bool:
        """Note that a token was used; False when a later use was noted, and for none."""
        return bool(sql.run(self._note_use, id=id, now=to_text(now)))

    def revoke(self, sql: Sql, id: str, at: datetime) -> None:
        """Revoke the token of that id, from a time on, unless it is revoked before."""
        sql.run(self._revoke, id=id, now=to_text(at))

    def end(self, sql: Sql, id: str) -> bool:
        """Remove the token of that id; False for none."""
        return bool(sql.run(self._end, id=id))

    def end_all(self, sql: Sql, owner: str, *, but: str = "") -> None:
        """Remove the tokens of a person, but for the one of that id."""
        sql.run(self._end_all, owner=owner, but=but)

    def drop_ended(self, sql: Sql, now: datetime, *, most: int = _ALL) -> None:
        """Remove those that have expired, and of more than `most` the ones that expire first."""
        sql.run(self._drop_ended, now=to_text(now), most=most)

    def _first(self, sql: Sql, query: str, values: Mapping[str, Value]) -> T | None:
        return next(iter(self.rows(sql, query, **values)), None)

    def _statement(self, text: str) -> str:
        self.statements.append(made_query(text, self._columns.types | _TYPES))
        return text
