"""Memories in project files: the file is authoritative, the database holds the derived index, history and receipts.

A change takes the project's lock, reads the file again, writes it whole, and then enters index, history and receipt
in one transaction. A crash between the two is repaired from the file: the next load makes missing entries from the
texts, the backlog their vectors. Such a crash does lose the change's history and receipt. The change had not been
acknowledged; a repeated request finds the same facts by their content hash and stores none twice (verbatim messages
are stored again, as repeated messages are valid). The same holds when the database fails after the file was written:
the request fails, and may be repeated.

A superseded memory is not kept: the file holds only what is current.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TypeVar

from mnemoir.core.clock import Clock, to_text, utc_now
from mnemoir.core.ids import ChangeId, MemoryId
from mnemoir.core.memories import (
    Applied,
    Change,
    HistoryEntry,
    IndexEntry,
    LoggedChange,
    Memory,
    Provenance,
    Restore,
    growth_of,
    lacks_vector,
    waits_of,
)
from mnemoir.core.proposals import NO_STEP, QueueStep
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import (
    ChangePage,
    MemoryStore,
    Old,
    Project,
    Receipt,
    RedeemedReceipt,
    Room,
    SpaceVectors,
    StoreCounts,
    Unembedded,
    any_room,
)
from mnemoir.ports.search_rows import SearchRows
from mnemoir.storage.files.backlog import Backlog
from mnemoir.storage.files.changing import Changing, Unbroken, Wish, standing_in
from mnemoir.storage.files.contents import Contents, ScopeOfFile
from mnemoir.storage.files.index_table import synced_stamps
from mnemoir.storage.files.reads import FileMemoryReads
from mnemoir.storage.files.spaces import FileSpaceVectors
from mnemoir.storage.files.workspace import project_of, projects
from mnemoir.storage.planning import Effect, is_within, planned_effects, removal
from mnemoir.storage.sql.engine import Engine, Sql
from mnemoir.storage.sql.forgetting import derived_from, drop_traces, drop_words, erase_traces
from mnemoir.storage.sql.memory_store import SqlMemoryStore

T = TypeVar("T")


class FileMemoryStore(FileMemoryReads):
    """One `memories.json` a project below `workspace_root`; `db` is the caller's, who closes it after this store.

    `note_pending` is called when a text was stored without a vector, `note_waiting` with the name of a further space
    when without one there. `of_all_facts` are the spaces in which the first text of a user that needs a vector has
    one made of each text of that user. `room` is asked before memories are added.
    Receipts end by their age only while the clock is trusted.
    """

    def __init__(
        self,
        workspace_root: Path,
        db: Engine,
        clock: Clock = utc_now,
        *,
        note_pending: Callable[[], None] = lambda: None,
        note_waiting: Callable[[str], None] = lambda space: None,
        of_all_facts: Collection[str] = (),
        room: Room = any_room,
        trusts_clock: Callable[[], bool] = lambda: True,
    ) -> None:
        self._room = room
        self._note_pending = note_pending
        self._note_waiting = note_waiting
        super().__init__(workspace_root, db)
        self._clock = clock
        self._told = SqlMemoryStore(db, clock, trusts_clock=trusts_clock)  # history and receipts
        self._changing = Changing(db, clock, of_all_facts, receipt_time=self._told.receipt_time)
        self._backlog = Backlog(workspace_root, self._open, db)
        self._unbroken = Unbroken()

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
        """Apply all changes in one replacement of the file, or none. An Update and a Remove keep no closed copy."""

        def plan(standing: ScopeOfFile) -> Sequence[Effect]:
            return planned_effects(standing, scope, changes, self._now(), degrade=degrade, expected=expected)

        wish = Wish(
            scope=scope,
            plan=plan,
            provenance=provenance,
            receipt=receipt,
            queue=queue,
            restored=_restored_ids(changes),
        )
        if changes:
            async with self._room(scope, growth_of(changes)):
                applied = await self._change(wish)
            if lacks_vector(changes):
                self._note_pending()
            for space in waits_of(changes):
                self._note_waiting(space)
            return applied
        if receipt is None and queue == NO_STEP:
            return []
        return await self._unbroken.run(self._changing.answer(self._open[project_of(scope)], wish))

    def in_space(self, space: str) -> SpaceVectors:
        """The vectors of a further space, by its name."""
        return FileSpaceVectors(self._db, Backlog(self._root, self._open, self._db, space), self._unbroken, space)

    async def preview(self, scope: Scope, changes: Sequence[Change], *, degrade: bool = False) -> list[Applied]:
        """What a commit would do to the file as it is; takes no lock."""
        opened, restored = self._open[project_of(scope)], _restored_ids(changes)

        def planned_changes(sql: Sql) -> list[Applied]:
            standing = standing_in(opened, sql, scope, restored)
            return [one.outcome for one in planned_effects(standing, scope, changes, self._now(), degrade=degrade)]

        return await self._db.read(scope, planned_changes)

    async def redeem(self, scope: Scope, key: str) -> RedeemedReceipt | None:
        """The answer to this idempotency key in the last 24 hours; None without one."""
        return await self._told.redeem(scope, key)

    async def delete(self, scope: Scope, memory_id: MemoryId) -> Memory | None:
        """Remove a memory; its history stays. Returns it; None when there was none."""
        if await self.get(scope, memory_id) is None:
            return None

        def plan(standing: ScopeOfFile) -> list[Effect]:
            memory = standing.find(memory_id)
            return [removal(memory, "request")] if memory is not None and is_within(memory, scope) else []

        removed = await self._change(_request(scope, plan))
        return removed[0].memory if removed else None

    async def delete_all(self, scope: Scope) -> int:
        """Remove all memories of the scope in one replacement of the file, with all traces of their texts; count."""

        def plan(standing: ScopeOfFile) -> list[Effect]:
            return [removal(memory, "request") for memory in standing.memories()]

        return await self._without_trace(_request(scope, plan), lambda sql: erase_traces(sql, scope))

    async def forget_session(self, scope: Scope, session: str) -> int:
        """Remove all memories that came from a session, with all copies of its texts; how many."""
        owner = scope.owner

        def ids_of_session(contents: Contents) -> list[str]:
            rows = contents.in_scope(owner)
            return [row.memory.id for row in rows if (row.memory.metadata or {}).get("session_id") == session]

        names = await self._read(project_of(owner), ids_of_session)
        derived = await self._db.read(owner, lambda sql: derived_from(sql, session, names))
        going = set(derived.gone)

        def plan(standing: ScopeOfFile) -> list[Effect]:
            return [removal(memory, "request") for memory in standing.memories() if memory.id in going]

        return await self._without_trace(_request(owner, plan), lambda sql: drop_words(sql, session, derived))

    async def expunge(self, scope: Scope, memory_ids: Sequence[MemoryId]) -> int:
        """Delete memories of the user with all that is stored about them; how many there were."""
        owner, going = scope.owner, frozenset(memory_ids)

        def plan(standing: ScopeOfFile) -> list[Effect]:
            return [removal(memory, "request") for memory in standing.memories() if memory.id in going]

        return await self._without_trace(_request(owner, plan), lambda sql: drop_traces(sql, memory_ids))

    async def age(self, scope: Scope, old: Old, *, limit: int) -> Mapping[str, int]:
        """Delete at most so many rows of each kind that are too old."""
        return await self._told.age(scope, old, limit=limit)

    async def aged(self, scope: Scope, old: Old) -> Mapping[str, int]:
        """How many rows of each kind are too old."""
        return await self._told.aged(scope, old)

    async def history(self, scope: Scope, memory_id: MemoryId) -> list[HistoryEntry]:
        """Oldest first; also of a deleted memory; [] outside the scope. Edits by other programs are not in it."""
        return await self._told.history(scope, memory_id)

    async def changes(self, scope: Scope, *, limit: int, before: int | None = None) -> ChangePage:
        """Changes before a place, newest first. Edits by other programs are none of them."""
        return await self._told.changes(scope, limit=limit, before=before)

    async def change(
        self, project: Project, change_id: ChangeId, user: str | None = None
    ) -> tuple[Scope, LoggedChange] | None:
        """A change and its user; None when no user of the project, or not the given one, has it in the log."""
        return await self._told.change(project, change_id, user)

    async def last_change(self, scope: Scope, memory_id: MemoryId) -> ChangeId | None:
        """The change that changed the user's memory last."""
        return await self._told.last_change(scope, memory_id)

    async def change_from(self, scope: Scope, message_uid: str) -> LoggedChange | None:
        """The change that was learned from a message; None when nothing was."""
        return await self._told.change_from(scope, message_uid)

    async def changes_from(self, scope: Scope, message_uids: Sequence[str]) -> list[LoggedChange]:
        """The changes that were learned from these messages, newest first."""
        return await self._told.changes_from(scope, message_uids)

    async def memory_at_removal(self, scope: Scope, memory_id: MemoryId) -> Memory | None:
        """The memory as it was when it was removed; None when it is current, was never there, or is forgotten."""
        if await self.get(scope, memory_id) is not None:
            return None
        return await self._told.memory_at_removal(scope, memory_id)

    async def without_vector(self, model: str, *, limit: int) -> list[Unembedded]:
        """Texts without a vector of `model`, of all projects, oldest entry first."""
        return await self._backlog.without_vector(model, limit=limit)

    async def put_vectors(self, model: str, filled: Sequence[tuple[Unembedded, IndexEntry]]) -> int:
        """Store vectors of texts that have not changed since; how many were stored."""
        return await self._unbroken.run(self._backlog.put(model, filled))

    async def forget_other_lengths(self, model: str, length: int) -> int:
        """Forget the vectors of `model`, if they have another length; how many there were."""
        return await self._unbroken.run(self._backlog.forget_other_lengths(model, length))

    async def backlog(self, model: str) -> tuple[int, int]:
        """(texts without a vector of `model`, all texts)."""
        return await self._backlog.count(model)

    async def counts(self) -> StoreCounts:
        """The totals over all users."""
        return await self._backlog.counts()

    async def additions_by_day(self, since: date) -> Mapping[str, int]:
        """The memories added on each day, over all users."""
        return await self._backlog.additions_by_day(since)

    async def check(self) -> None:
        """List the workspace and read one small table."""

        def read_everything(sql: Sql) -> None:
            projects(self._root)
            synced_stamps(sql)

        await self._db.read(None, read_everything)

    async def aclose(self) -> None:
        """Finish the running changes; later ones are refused."""
        await self._unbroken.aclose()
        self._changing.close()

    def _now(self) -> str:
        return to_text(self._clock())

    async def _without_trace(self, wish: Wish, drop: Callable[[Sql], None]) -> int:
        """Make the change and delete its traces; again if another caller restored a memory in between."""
        count = 0
        while True:
            removed = await self._change(wish) if await self._would_change(wish) else []
            await self._db.write(wish.scope, drop)
            count += len(removed)
            if not await self._would_change(wish):
                await self._db.empty_log()
                return count

    async def _would_change(self, wish: Wish) -> bool:
        """True when the change has effects now; takes no lock and creates no folder."""

        def has_effects(contents: Contents) -> bool:
            return bool(wish.plan(ScopeOfFile(contents=contents, scope=wish.scope)))

        return await self._read(project_of(wish.scope), has_effects)

    async def _change(self, wish: Wish) -> list[Applied]:
        return await self._unbroken.run(self._changing.change(self._open[project_of(wish.scope)], wish))


def _restored_ids(changes: Sequence[Change]) -> list[MemoryId]:
    return [change.target for change in changes if isinstance(change, Restore)]


def _request(scope: Scope, plan: Callable[[ScopeOfFile], Sequence[Effect]]) -> Wish:
    return Wish(scope=scope, plan=plan, provenance=Provenance(reason="request"))


_: type[MemoryStore] = FileMemoryStore  # checked, never run
_rows: type[SearchRows] = FileMemoryStore
