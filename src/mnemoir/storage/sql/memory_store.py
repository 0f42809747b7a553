"""Memories in the database: each method is one write or one read of the engine."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypeVar

from mnemoir.core.clock import Clock, day_text, midnight, utc_now
from mnemoir.core.ids import ChangeId, MemoryId
from mnemoir.core.memories import (
    Applied,
    Change,
    HistoryEntry,
    LoggedChange,
    Memory,
    Provenance,
    growth_of,
    lacks_vector,
)
from mnemoir.core.proposals import NO_STEP, QueueStep
from mnemoir.core.scope import Scope
from mnemoir.ports.index_packs import IndexPacks
from mnemoir.ports.memory_store import (
    ChangePage,
    ListCursor,
    ListFilter,
    MemoryStore,
    Old,
    OwnerSummary,
    Project,
    Receipt,
    RedeemedReceipt,
    Room,
    SpaceVectors,
    StoreCounts,
    Visible,
    WeekCount,
    Worded,
    any_room,
)
from mnemoir.ports.search_rows import SearchRows, SearchSnapshot
from mnemoir.storage.sql import lists
from mnemoir.storage.sql.ageing import old_in
from mnemoir.storage.sql.backlogs import TERMS, SqlBacklog, SqlMainVectors
from mnemoir.storage.sql.change_log import change_from, change_of, changes_before, changes_from, last_change_of
from mnemoir.storage.sql.commit import Commit, history_of_memory, preview, removed_memory
from mnemoir.storage.sql.engine import Engine, Sql, enter_scope, queries
from mnemoir.storage.sql.forgetting import erase_some, make_nobodys
from mnemoir.storage.sql.receipts import earlier_outcome, find_receipt, keep_receipt
from mnemoir.storage.sql.rows import as_json, memory_of, narrowing
from mnemoir.storage.sql.search_snapshot import SqlSearchSnapshot
from mnemoir.storage.sql.spaces import SqlSpaceVectors

T = TypeVar("T")
_QUERIES = queries("memories")
_MOST_ROWS = 2**62  # SQLite takes any 64-bit number; a caller's may be larger


class SqlMemoryStore(SqlMainVectors):
    """`db` is the caller's, who closes it after this store. `packs` are of its rows.

    `note_pending` is called when a text was stored without a vector, `note_waiting` with the name of a further space
    when without one there. `of_all_facts` are the spaces in which the first text of a user that needs a vector has
    one made of each fact of that user. `room` is asked before memories are added.
    Receipts end by their age only while the clock is trusted.
    """

    def __init__(
        self,
        db: Engine,
        clock: Clock = utc_now,
        *,
        packs: IndexPacks | None = None,
        note_pending: Callable[[], None] = lambda: None,
        note_waiting: Callable[[str], None] = lambda space: None,
        of_all_facts: Collection[str] = (),
        room: Room = any_room,
        trusts_clock: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(db)
        self.terms = SqlBacklog(db, TERMS)
        self.of_all_times = _RowsOfAllTimes(db)
        self._note_waiting = note_waiting
        self._of_all_facts = of_all_facts
        self._packs = packs
        self._note_pending = note_pending
        self._clock = clock
        self._room = room
        self._trusts_clock = trusts_clock

    async def commit(
        self,
        scope: Scope,
        changes: Sequence[Change],
        provenance: Provenance,
        *,
        receipt: Receipt | None = None,
        degrade: bool = False,
        expected: Sequence[Applied] | None = None,
        queue: QueueStep = NO_STEP,
    ) -> list[Applied]:
        """Apply all changes in one transaction. A replaced state stays as a closed memory."""

        def apply_changes(sql: Sql) -> tuple[list[Applied], set[str]]:
            now = self._clock()
            within = enter_scope(sql, scope)
            if receipt and (earlier := earlier_outcome(within, receipt, self.receipt_time())) is not None:
                return earlier, set()
            commit = Commit(within, scope, now, self._of_all_facts)
            applied = commit.apply(changes, provenance, degrade=degrade, expected=expected, queue=queue)
            commit.finish()
            if receipt:
                keep_receipt(within, receipt, (provenance.reason, applied), now, queue.proposed)
            return applied, commit.waits

        is_wanted = bool(changes or receipt or queue != NO_STEP)
        async with self._room(scope, growth_of(changes)):
            applied, waits = await self._db.write(scope, apply_changes) if is_wanted else ([], set())
        if lacks_vector(changes):
            self._note_pending()
        for space in waits:
            self._note_waiting(space)
        return applied

    def in_space(self, space: str) -> SpaceVectors:
        """The vectors of a further space, by its name."""
        return SqlSpaceVectors(self._db, space)

    async def preview(self, scope: Scope, changes: Sequence[Change], *, degrade: bool = False) -> list[Applied]:
        """What a commit would do, worked out over one snapshot."""
        return await self._db.read(scope, lambda sql: preview(sql, scope, changes, self._clock(), degrade=degrade))

    async def redeem(self, scope: Scope, key: str) -> RedeemedReceipt | None:
        """The answer to this idempotency key in the last 24 hours; None without one."""
        return await self._db.read(scope, lambda sql: find_receipt(sql, key, self.receipt_time()))

    def receipt_time(self) -> datetime | None:
        """The time by which receipts end; None while the clock may not decide that."""
        return self._clock() if self._trusts_clock() else None

    async def locate(self, project: Project, memory_id: MemoryId) -> Scope | None:
        """The scope of the memory's owner; None when the project holds no such memory."""
        which = {"tenant": project.tenant, "project": project.project, "id": memory_id}
        rows = await self._rows("owner_of", which)
        return _owner(project, rows[0][0]) if rows else None

    async def get(self, scope: Scope, memory_id: MemoryId) -> Memory | None:
        """The memory, decayed or not, or a closed state; None outside the scope."""
        found = await self._memories("memory", scope, {"id": memory_id})
        return found[0] if found else None

    async def current(self, scope: Scope, visible: Visible, memory_ids: Sequence[MemoryId]) -> list[Worded]:
        """Those of these memories that are visible now, in no order."""
        values = _visible_values(visible) | {"ids": as_json(list(memory_ids))}

        def wording_of_row(row: Any) -> Worded:
            *columns, since = row
            return Worded(memory_of(columns, scope.user), "" if since is None else str(since))

        return await self._made_rows("current", scope, values, wording_of_row)

    async def page(self, scope: Scope, visible: Visible, *, limit: int, offset: int = 0) -> list[Memory]:
        """Newest `created_at` first, unreadable ones last, ties by id descending."""
        query = "page" if visible.at is None else "page_of_the_past"
        window = {"limit": min(limit, _MOST_ROWS), "offset": min(offset, _MOST_ROWS)}
        return await self._memories(query, scope, {**_visible_values(visible), **window})

    async def count(self, scope: Scope, visible: Visible) -> int:
        """The number of memories that `page` returns without a limit."""
        query = "count" if visible.at is None else "count_of_the_past"
        (count,) = await self._made_rows(query, scope, _visible_values(visible), lambda row: int(row[0]))
        return count

    async def select(
        self, scope: Scope, wanted: ListFilter, *, limit: int, after: ListCursor | None = None
    ) -> list[Memory]:
        """A page of matching memories in the requested order, after the cursor of the previous page."""
        return await self._db.read(scope, lambda sql: lists.select(sql, scope, wanted, limit, after))

    async def select_count(self, scope: Scope, wanted: ListFilter) -> int:
        """The number of memories that `select` returns without a limit."""
        return await self._db.read(scope, lambda sql: lists.count(sql, scope, wanted))

    async def weeks(self, scope: Scope, wanted: ListFilter) -> list[WeekCount]:
        """The number of memories that `select` returns without a limit, by week and origin."""
        return await self._db.read(scope, lambda sql: lists.weeks(sql, scope, wanted))

    async def owners(self, tenant: str) -> list[OwnerSummary]:
        """Every user of the tenant with current memories, sorted by project, then by name."""
        return await self._db.read(None, lambda sql: lists.owners(sql, tenant))

    async def bytes_by_user(self, tenant: str) -> Mapping[str, int]:
        """The bytes of the texts of current memories of each user of the tenant, as they are stored."""
        return await self._db.read(None, lambda sql: lists.bytes_by_user(sql, tenant))

    async def same_text(self, scope: Scope, hashes: Sequence[bytes]) -> dict[bytes, Memory]:
        """Current facts of the scope by content hash, decayed ones included."""

        def memories_by_hash(sql: Sql) -> dict[bytes, Memory]:
            within = narrowing(scope)
            rows = {wanted: sql.row(_QUERIES["same_text"], **within, content_hash=wanted) for wanted in hashes}
            return {wanted: memory_of(row, scope.user) for wanted, row in rows.items() if row is not None}

        return await self._db.read(scope, memories_by_hash)

    async def last_messages(self, scope: Scope, count: int) -> list[Memory]:
        """The last stored messages of the scope's conversation, oldest first."""
        return (await self._memories("last_messages", scope, {"limit": count}))[::-1]

    async def delete(self, scope: Scope, memory_id: MemoryId) -> Memory | None:
        """Remove a memory, with closed states that it replaced; its history stays. None when there was none."""
        return await self._remove(scope, lambda commit: commit.delete(memory_id, "request"), none=None)

    async def delete_all(self, scope: Scope) -> int:
        """Remove all memories of the scope in one step, with all traces of their texts; how many there were.

        A whole user's rows become invisible at once and are deleted in small transactions; after a crash the next
        `erase` continues.
        """
        if scope == scope.owner:
            deleted = await self._make_nobodys(scope)
        else:
            deleted = await self._remove(scope, lambda commit: commit.delete_all(), none=0)
        await self.erase()
        return deleted

    async def erase(self) -> None:
        """Delete all detached rows, so that no byte of them is left."""
        while await self._db.write(None, erase_some):
            pass
        await self._db.empty_log()

    async def forget_session(self, scope: Scope, session: str) -> int:
        """Remove all memories that came from a session, with all traces of its texts; how many were current."""
        forgotten = await self._remove(scope.owner, lambda commit: commit.forget(session), none=0)
        await self._db.empty_log()
        return forgotten

    async def expunge(self, scope: Scope, memory_ids: Sequence[MemoryId]) -> int:
        """Delete memories of the user with all that is stored about them; how many there were."""
        count = await self._remove(scope.owner, lambda commit: commit.expunge(memory_ids), none=0)
        await self._db.empty_log()
        return count

    async def age(self, scope: Scope, old: Old, *, limit: int) -> Mapping[str, int]:
        """Delete at most so many rows of each kind that are too old."""
        none: Mapping[str, int] = {}
        aged = await self._remove(scope.owner, lambda commit: commit.age(old, limit), none=none)
        if any(aged.values()):
            await self._db.empty_log()
        return aged

    async def aged(self, scope: Scope, old: Old) -> Mapping[str, int]:
        """How many rows of each kind are too old."""
        return await self._db.read(scope.owner, lambda sql: old_in(sql, old))

    async def history(self, scope: Scope, memory_id: MemoryId) -> list[HistoryEntry]:
        """Oldest first; also of a deleted memory; [] outside the scope."""
        return await self._db.read(scope, lambda sql: history_of_memory(sql, scope, memory_id))

    async def changes(self, scope: Scope, *, limit: int, before: int | None = None) -> ChangePage:
        """Changes before a place, newest first; those with erased words are not listed."""
        return await self._db.read(scope, lambda sql: changes_before(sql, scope, limit, before))

    async def change(
        self, project: Project, change_id: ChangeId, user: str | None = None
    ) -> tuple[Scope, LoggedChange] | None:
        """A change and its user; None when no user of the project, or not the given one, has it in the log."""
        return await self._db.read(None, lambda sql: change_of(sql, project, change_id, user))

    async def last_change(self, scope: Scope, memory_id: MemoryId) -> ChangeId | None:
        """The change that changed the user's memory last."""
        return await self._db.read(scope, lambda sql: last_change_of(sql, memory_id))

    async def change_from(self, scope: Scope, message_uid: str) -> LoggedChange | None:
        """The change that was learned from a message; None when nothing was."""
        return await self._db.read(scope, lambda sql: change_from(sql, scope, message_uid))

    async def changes_from(self, scope: Scope, message_uids: Sequence[str]) -> list[LoggedChange]:
        """The changes that were learned from these messages, newest first."""
        return await self._db.read(scope, lambda sql: changes_from(sql, scope, message_uids))

    async def memory_at_removal(self, scope: Scope, memory_id: MemoryId) -> Memory | None:
        """The memory as it was when it was removed; None when it is current, was never there, or is forgotten."""
        return await self._db.read(scope, lambda sql: removed_memory(sql, scope, memory_id))

    async def users(self, project: Project, *, agent: str | None = None, app: str | None = None) -> list[Scope]:
        """One scope for each user with memories, in name order."""
        query = "users_of_agent" if agent is not None else "users" if app is None else "users_of_app"
        which = {"tenant": project.tenant, "project": project.project, "agent": agent, "app": app}
        rows = await self._rows(query, which)
        return [_owner(project, user) for (user,) in rows]

    async def counts(self) -> StoreCounts:
        """The totals over all users."""
        ((projects, users, memories),) = await self._rows("counts_of_all", {})
        return StoreCounts(projects=projects, users=users, memories=memories)

    async def additions_by_day(self, since: date) -> Mapping[str, int]:
        """The memories added on each day."""
        rows = await self._rows("added", {"since": midnight(since)})
        return {day_text(day): count for day, count in rows}

    async def check(self) -> None:
        """Do one small read; raises StorageUnavailable when that fails."""
        await self._rows("any_memory", {})

    async def aclose(self) -> None:
        """Does nothing: the caller closes the database."""

    async def reading(self, work: Callable[[SearchSnapshot], T]) -> T:
        """Run `work` in a reader thread over one snapshot."""
        return await self._db.read(None, lambda sql: work(SqlSearchSnapshot(sql)))

    async def _make_nobodys(self, scope: Scope) -> int:
        def detach_memories(sql: Sql) -> int:
            return 0 if sql.scope_id is None else make_nobodys(sql, scope, self._clock())

        return await self._removing(scope, detach_memories)

    async def _remove(self, scope: Scope, remove: Callable[[Commit], T], *, none: T) -> T:
        def remove_and_finish(sql: Sql) -> T:
            if sql.scope_id is None:
                return none
            commit = Commit(sql, scope, self._clock())
            removed = remove(commit)
            commit.finish()
            return removed

        return await self._removing(scope, remove_and_finish)

    async def _removing(self, scope: Scope, work: Callable[[Sql], T]) -> T:
        await self._drop_packs(scope)
        removed = await self._db.write(scope, work)
        await self._drop_packs(scope)  # one may have been made meanwhile of rows that still existed
        return removed

    async def _drop_packs(self, scope: Scope) -> None:
        if self._packs is not None:
            await asyncio.to_thread(self._packs.drop, scope.owner)

    async def _memories(self, query: str, scope: Scope, values: dict[str, Any]) -> list[Memory]:
        return await self._made_rows(query, scope, values, lambda row: memory_of(row, scope.user))

    async def _made_rows(self, query: str, scope: Scope, values: dict[str, Any], make: Callable[[Any], T]) -> list[T]:
        """The results of `make`, run in the reader's thread, for each row of a query within a scope."""
        within = narrowing(scope)
        return await self._db.read(
            scope, lambda sql: [make(row) for row in sql.rows(_QUERIES[query], **values, **within)]
        )

    async def _rows(self, query: str, values: dict[str, Any]) -> list[Any]:
        return await self._db.read(None, lambda sql: sql.rows(_QUERIES[query], **values))


class _RowsOfAllTimes:
    """Search rows with the closed ones."""

    def __init__(self, db: Engine) -> None:
        self._db = db

    async def reading(self, work: Callable[[SearchSnapshot], T]) -> T:
        """Run `work` in a reader thread over one snapshot."""
        return await self._db.read(None, lambda sql: work(SqlSearchSnapshot(sql, of_all_times=True)))


def _owner(project: Project, user: str) -> Scope:
    return Scope(tenant=project.tenant, project=project.project, user=user)


def _visible_values(visible: Visible) -> dict[str, float | None]:
    instants = {"now": visible.now, "horizon": visible.horizon, "at": visible.at}
    return {name: None if instant is None else instant.timestamp() for name, instant in instants.items()}


_: type[MemoryStore] = SqlMemoryStore  # checked, never run
_rows: type[SearchRows] = SqlMemoryStore
__: type[SearchRows] = _RowsOfAllTimes
