"""What all users of a database have of conversations: whose they are, and how many."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from mnemoir.core.scope import Scope
from mnemoir.storage.sql.conversations.store import Row, time_text
from mnemoir.storage.sql.engine import Engine, LogAmounts, Value, queries

_QUERIES = queries("all_logs")


class AllLogs:
    """`db` is the caller's. Raises StorageUnavailable."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    async def owners(self) -> Sequence[Scope]:
        """Everybody who has conversations, by tenant, project and user."""
        return await self._owners("owners")

    async def owners_with(self, session_id: str) -> Sequence[Scope]:
        """Those who have a conversation of that id, in the same order."""
        return await self._owners("owners_with", session=session_id)

    async def owners_used_before(self, time: datetime) -> Sequence[Scope]:
        """Those who have one that was last used before a time (UTC), in the same order."""
        return await self._owners("owners_used_before", before=time_text(time))

    async def totals(self) -> LogAmounts:
        """What all of them have together."""
        return amounts_of(await self._db.read(None, lambda sql: sql.row(_QUERIES["totals"])))

    async def totals_by_user(self, tenant: str) -> Mapping[str, LogAmounts]:
        """What each user of a tenant has who has any, in all projects together."""
        rows = await self._db.read(None, lambda sql: sql.rows(_QUERIES["totals_by_user"], tenant=tenant))
        return {user: amounts_of(tuple(amounts)) for user, *amounts in rows}

    async def messages_by_day(self, since: date) -> Mapping[str, int]:
        """The messages of each UTC day since `since` that has any."""
        values = {"since": since.isoformat()}
        return await self._db.read(None, lambda sql: dict(sql.rows(_QUERIES["messages_by_day"], **values)))

    async def _owners(self, query: str, **values: Value) -> Sequence[Scope]:
        rows = await self._db.read(None, lambda sql: sql.rows(_QUERIES[query], **values))
        return [Scope(tenant=tenant, project=project, user=user) for tenant, project, user in rows]


def amounts_of(row: Row) -> LogAmounts:
    """The counters in a row."""
    conversations, messages, size, last_used = row
    return LogAmounts(conversations=conversations, messages=messages, bytes=size, last_used=last_used)
