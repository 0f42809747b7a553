"""What each user has used on each day, in the database."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from mnemoir.core.usage import Tokens
from mnemoir.storage.sql.engine import Engine, Sql, queries

_QUERIES = queries("usage")


class OfDay(NamedTuple):
    """A user of a tenant on a UTC day, written as `2026-03-04`."""

    tenant: str
    user: str
    day: str


class SqlUsage:
    """`db` is the caller's. Raises StorageUnavailable."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    async def add(self, used: Mapping[OfDay, Tokens]) -> None:
        """Add tokens to what is stored."""

        def add_tokens(sql: Sql) -> None:
            for of, tokens in used.items():
                for what, amount in (("input_tokens", tokens.input), ("output_tokens", tokens.output)):
                    sql.run(
                        _QUERIES["add_usage"], tenant=of.tenant, user=of.user, what=what, day=of.day, amount=amount
                    )

        await self._db.write(None, add_tokens)

    async def since(self, day: date) -> Sequence[tuple[OfDay, Tokens]]:
        """What was used on that day and later, unsorted; a user and day may come twice."""
        rows = await self._db.read(None, lambda sql: sql.rows(_QUERIES["usage_since"], since=day.isoformat()))
        return [
            (OfDay(tenant, user, at), Tokens(amount, 0) if what == "input_tokens" else Tokens(0, amount))
            for tenant, user, what, at, amount in rows
        ]

    async def make_nobodys(self, tenant: str, user: str) -> int:
        """Count what a user has used as nobody's, so that no row names them; how many rows did."""
        of = {"tenant": tenant, "user": user}

        def move_to_nobody(sql: Sql) -> int:
            sql.run(_QUERIES["keep_usage_of_nobody"], **of)
            return sql.run(_QUERIES["drop_usage_of"], **of)

        count = await self._db.write(None, move_to_nobody)
        await self._db.empty_log()
        return count

    async def drop_before(self, day: date) -> None:
        """Delete what was used before that day."""
        await self._db.write(None, lambda sql: sql.run(_QUERIES["drop_usage_before"], before=day.isoformat()))
