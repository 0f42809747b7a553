"""Memories in the database: each method is one piece of work for the writer, or one look by a reader."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import apsw

from mnemoir.core.clock import Clock, utc_now
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Applied, Change, HistoryEntry, IndexEntry, Memory, Provenance
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import (
    MemoryStore,
    Owned,
    Place,
    Project,
    Receipt,
    Redeemed,
    StoreCounts,
    Unembedded,
    Visible,
    Wanted,
)
from mnemoir.ports.search_rows import SearchRows, SearchSnapshot
from mnemoir.storage.sqlite import backlog, lists, receipts
from mnemoir.storage.sqlite.commit import Commit
from mnemoir.storage.sqlite.database import Database
from mnemoir.storage.sqlite.queries import queries
from mnemoir.storage.sqlite.rows import history_of, memory_of, narrowing, owner_values, removed_of, scope_number
from mnemoir.storage.sqlite.search_snapshot import SqliteSearchSnapshot

T = TypeVar("T")
_QUERIES = queries("memories")
_MOST_ROWS = 2**62  # SQLite takes any 64-bit number; a caller's may be larger


class SqliteMemoryStore:
    """`db` is the caller's, who closes it after this store."""

    def __init__(self, db: Database, clock: Clock = utc_now) -> None:
        self._db = db
        self._clock = clock

    async def commit(
        self,
        scope: Scope,
        changes: Sequence[Change],
        provenance: Provenance,
        *,
        receipt: Receipt | None = None,
        degrade: bool = False,
    ) -> list[Applied]:
        """Apply all changes in one transaction. A replaced state stays as a closed memory."""

        def work(connection: apsw.Connection) -> list[Applied]:
            now = self._clock()
            number = _entered(connection, scope)
            if receipt and (earlier := receipts.already_applied(connection, number, receipt, now)) is not None:
                return earlier
            commit = Commit(connection, scope, number, now)
            commit.apply(changes, provenance, degrade=degrade)
            commit.finish()
            if receipt:
                receipts.keep(connection, number, receipt, (provenance.reason, commit.applied), now)
            return commit.applied

        return await self._db.write(work) if changes or receipt else []

    async def redeem(self, scope: Scope, key: str) -> Redeemed | None:
        """What was answered under this idempotency key in the last 24 hours."""

        def look(connection: apsw.Connection) -> Redeemed | None:
            number = scope_number(connection, scope)
            return None if number is None else receipts.find(connection, number, key, self._clock())

        return await self._db.read(look)

    async def locate(self, project: Project, memory_id: MemoryId) -> Scope | None:
        """The scope of the memory's owner; None when the project holds no such memory."""
        which = {"tenant": project.tenant, "project": project.project, "id": memory_id}
        rows = await self._rows("owner_of", which)
        return _owner(project, rows[0][0]) if rows else None

    async def get(self, scope: Scope, memory_id: MemoryId) -> Memory | None:
        """The memory, decayed or not, or a closed state; None outside the scope."""
        found = await self._memories("memory", scope, {"id": memory_id})
        return found[0] if found else None

    async def page(self, scope: Scope, visible: Visible, *, limit: int, offset: int = 0) -> list[Memory]:
        """Newest `created_at` first, unreadable ones last, ties by id descending."""
        query = "page" if visible.at is None else "page_of_the_past"
        window = {"limit": min(limit, _MOST_ROWS), "offset": min(offset, _MOST_ROWS)}
        return await self._memories(query, scope, {**_visible_values(visible), **window})

    async def count(self, scope: Scope, visible: Visible) -> int:
        """How many `page` would give without a limit."""
        query = "count" if visible.at is None else "count_of_the_past"
        (count,) = await self._made(query, scope, _visible_values(visible), lambda row: int(row[0]))
        return count

    async def select(self, scope: Scope, wanted: Wanted, *, limit: int, after: Place | None = None) -> list[Memory]:
        """What is wanted, in its order, behind the place where the page before ended."""
        return await self._db.read(lambda connection: lists.select(connection, scope, wanted, limit, after))

    async def select_count(self, scope: Scope, wanted: Wanted) -> int:
        """How many `select` would give without a limit."""
        return await self._db.read(lambda connection: lists.count(connection, scope, wanted))

    async def owners(self, tenant: str) -> list[Owned]:
        """Every user of the tenant that has current memories, by project, then by name."""
        return await self._db.read(lambda connection: lists.owners(connection, tenant))

    async def same_text(self, scope: Scope, hashes: Sequence[bytes]) -> dict[bytes, Memory]:
        """Current facts of the scope by content hash, decayed ones included."""

        def look(connection: apsw.Connection) -> dict[bytes, Memory]:
            within = {**narrowing(scope), "scope_id": scope_number(connection, scope)}
            rows = {
                wanted: connection.execute(_QUERIES["same_text"], {**within, "content_hash": wanted}).fetchone()
                for wanted in hashes
            }
            return {wanted: memory_of(row, scope.user) for wanted, row in rows.items() if row is not None}

        return await self._db.read(look)

    async def last_messages(self, scope: Scope, count: int) -> list[Memory]:
        """The messages stored last in the scope's conversation, oldest first."""
        return (await self._memories("last_messages", scope, {"limit": count}))[::-1]

    async def delete(self, scope: Scope, memory_id: MemoryId) -> Memory | None:
        """Remove one, with closed states that it replaced; its history stays. None when there was none."""
        return await self._remove(scope, lambda commit: commit.delete(memory_id, "request"), none=None)

    async def delete_all(self, scope: Scope) -> int:
        """Remove all of the scope in one step, with every trace of its words; how many there were."""
        deleted = await self._remove(scope, lambda commit: commit.delete_all(), none=0)

        await self._db.empty_log()
        return deleted

    async def forget_session(self, scope: Scope, session: str) -> int:
        """Remove all that came from a session, with every trace of its words; how many current memories."""
        forgotten = await self._remove(scope.owner, lambda commit: commit.forget(session), none=0)
        await self._db.empty_log()
        return forgotten

    async def history(self, scope: Scope, memory_id: MemoryId) -> list[HistoryEntry]:
        """Oldest first; also of a deleted memory; [] outside the scope."""
        return await self._made("history", scope, {"id": memory_id}, history_of)

    async def removed(self, scope: Scope, memory_id: MemoryId) -> Memory | None:
        """The memory as it was when it was removed; None when it is current, was never there, or is forgotten."""
        found = await self._made(
            "last_event", scope, {"id": memory_id}, lambda row: removed_of(row, memory_id, scope.user)
        )
        return found[0] if found else None

    async def users(self, project: Project) -> list[Scope]:
        """One scope a user that has memories, in name order."""
        rows = await self._rows("users", {"tenant": project.tenant, "project": project.project})
        return [_owner(project, user) for (user,) in rows]

    async def without_vector(self, model: str, *, limit: int) -> list[Unembedded]:
        """Texts still to be embedded with `model`, of all scopes, oldest first."""
        return await self._db.read(lambda connection: backlog.without_vector(connection, model, limit))

    async def put_vectors(self, model: str, filled: Sequence[tuple[Unembedded, IndexEntry]]) -> int:
        """Keep vectors of texts that still read the same; how many were kept."""
        return await self._db.write(lambda connection: backlog.put_vectors(connection, model, filled))

    async def backlog(self, model: str) -> tuple[int, int]:
        """(texts without a vector of `model`, all texts)."""
        return await self._db.read(lambda connection: backlog.backlog(connection, model))

    async def counts(self) -> StoreCounts:
        """How much there is of everybody."""
        ((projects, users, memories),) = await self._rows("counts_of_all", {})
        return StoreCounts(projects=projects, users=users, memories=memories)

    async def check(self) -> None:
        """Do one small read; raises StorageUnavailable when that fails."""
        await self._rows("any_memory", {})

    async def aclose(self) -> None:
        """Nothing of its own to let go of: the database is the caller's."""

    async def reading(self, work: Callable[[SearchSnapshot], T]) -> T:
        """Run `work` in a reader thread over one snapshot."""
        return await self._db.read(lambda connection: work(SqliteSearchSnapshot(connection)))

    async def _remove(self, scope: Scope, remove: Callable[[Commit], T], *, none: T) -> T:
        def work(connection: apsw.Connection) -> T:
            number = scope_number(connection, scope)
            if number is None:
                return none
            commit = Commit(connection, scope, number, self._clock())
            removed = remove(commit)
            commit.finish()
            return removed

        return await self._db.write(work)

    async def _memories(self, query: str, scope: Scope, values: dict[str, Any]) -> list[Memory]:
        return await self._made(query, scope, values, lambda row: memory_of(row, scope.user))

    async def _made(self, query: str, scope: Scope, values: dict[str, Any], make: Callable[[Any], T]) -> list[T]:
        """What is made, in the reader's thread, of each row of a query within a scope."""
        within = narrowing(scope)

        def look(connection: apsw.Connection) -> list[T]:
            number = scope_number(connection, scope)
            rows = connection.execute(_QUERIES[query], {**values, **within, "scope_id": number})
            return [make(row) for row in rows]

        return await self._db.read(look)

    async def _rows(self, query: str, values: dict[str, Any]) -> list[Any]:
        return await self._db.read(lambda connection: connection.execute(_QUERIES[query], values).fetchall())


def _entered(connection: apsw.Connection, scope: Scope) -> int:
    connection.execute(_QUERIES["enter_scope"], owner_values(scope))
    number = scope_number(connection, scope)
    assert number is not None
    return number


def _owner(project: Project, user: str) -> Scope:
    return Scope(tenant=project.tenant, project=project.project, user=user)


def _visible_values(visible: Visible) -> dict[str, float | None]:
    instants = {"now": visible.now, "horizon": visible.horizon, "at": visible.at}
    return {name: None if instant is None else instant.timestamp() for name, instant in instants.items()}


_: type[MemoryStore] = SqliteMemoryStore  # checked, never run
_rows: type[SearchRows] = SqliteMemoryStore
