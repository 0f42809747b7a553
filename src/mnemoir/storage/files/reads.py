"""Reads of the memories in project files, each over the files as they are and one snapshot of the database."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Memory
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import ListCursor, ListFilter, OwnerSummary, Project, Visible, WeekCount, Worded
from mnemoir.ports.search_rows import SearchSnapshot
from mnemoir.storage.files.changing import current
from mnemoir.storage.files.contents import Contents
from mnemoir.storage.files.lists import FileSearchSnapshot, behind, meeting, owners_of, select, sizes_of, week_of
from mnemoir.storage.files.open_project import OpenProjects
from mnemoir.storage.files.rows import Row, is_shown
from mnemoir.storage.files.workspace import project_of, projects
from mnemoir.storage.planning import is_within, newest_memory
from mnemoir.storage.sql.engine import Engine, Sql

T = TypeVar("T")
RowsOf = Callable[[Contents, Sql, Scope, ListFilter], list[Row]]


class FileMemoryReads:
    """`db` is the caller's; what of a project file was read stays in memory until the file changes."""

    def __init__(self, workspace_root: Path, db: Engine) -> None:
        self._root = workspace_root
        self._db = db
        self._open = OpenProjects(workspace_root)

    async def locate(self, project: Project, memory_id: MemoryId) -> Scope | None:
        """The scope of the memory's owner; None when the project holds no such memory."""
        user = await self._read(project, lambda contents: contents.owner_of(memory_id))
        return None if user is None else _owner(project, user)

    async def get(self, scope: Scope, memory_id: MemoryId) -> Memory | None:
        """The memory, decayed or not; None outside the scope."""
        row = await self._read(project_of(scope), lambda contents: contents.get(scope, memory_id))
        return None if row is None else row.memory

    async def current(self, scope: Scope, visible: Visible, memory_ids: Sequence[MemoryId]) -> list[Worded]:
        """Those of these memories that are visible now, in no order.

        A project file has no time of the words alone: a memory that is said again has another wording, too.
        """

        def shown_memories(contents: Contents) -> list[Worded]:
            rows = [row for one in memory_ids if (row := contents.get(scope, one)) is not None]
            shown = (row.memory for row in _shown_rows(rows, scope, visible))
            return [Worded(memory, memory.updated_at or memory.created_at) for memory in shown]

        return await self._read(project_of(scope), shown_memories)

    async def page(self, scope: Scope, visible: Visible, *, limit: int, offset: int = 0) -> list[Memory]:
        """Newest `created_at` first, ties by id descending; unreadable times last."""

        def memories_on_page(contents: Contents) -> list[Memory]:
            rows = contents.of_user(scope.user).by_age
            first, last = (min(place, len(rows)) for place in (offset, offset + limit))
            return [row.memory for row in islice(_shown_rows(rows, scope, visible), first, last)]

        return await self._read(project_of(scope), memories_on_page)

    async def count(self, scope: Scope, visible: Visible) -> int:
        """The number of memories that `page` returns without a limit."""
        return await self._read(
            project_of(scope),
            lambda contents: sum(1 for _ in _shown_rows(contents.of_user(scope.user).rows, scope, visible)),
        )

    async def select(
        self, scope: Scope, wanted: ListFilter, *, limit: int, after: ListCursor | None = None
    ) -> list[Memory]:
        """A page of matching memories in the requested order, after the cursor of the previous page."""
        rows = await self._matching_rows(select, scope, wanted)
        return [row.memory for row in islice(behind(rows, wanted, after), min(limit, len(rows)))]

    async def select_count(self, scope: Scope, wanted: ListFilter) -> int:
        """The number of memories that `select` returns without a limit."""
        return len(await self._matching_rows(meeting, scope, wanted))

    async def weeks(self, scope: Scope, wanted: ListFilter) -> list[WeekCount]:
        """The number of memories that `select` returns without a limit, by week and origin."""
        counted = Counter(map(week_of, await self._matching_rows(meeting, scope, wanted)))
        return [WeekCount(*week, number) for week, number in counted.items()]

    async def owners(self, tenant: str) -> list[OwnerSummary]:
        """Every user of the tenant with memories, sorted by project, then by name."""

        def owner_summaries(sql: Sql) -> list[OwnerSummary]:
            here = sorted((each for each in projects(self._root) if each.tenant == tenant), key=lambda p: p.project)
            return [one for each in here for one in owners_of(each, current(self._open[each], sql))]

        return await self._db.read(None, owner_summaries)

    async def bytes_by_user(self, tenant: str) -> Mapping[str, int]:
        """The bytes of the texts of memories of each user of the tenant."""

        def sizes(sql: Sql) -> Counter[str]:
            counted = Counter[str]()
            for each in projects(self._root):
                if each.tenant == tenant:
                    counted.update(sizes_of(current(self._open[each], sql)))
            return counted

        return await self._db.read(None, sizes)

    async def same_text(self, scope: Scope, hashes: Sequence[bytes]) -> dict[bytes, Memory]:
        """Facts of the scope by content hash, decayed ones included."""

        def memories_by_hash(contents: Contents) -> dict[bytes, Memory]:
            found = ((hashed, newest_memory(contents.same_text(scope, hashed))) for hashed in hashes)
            return {hashed: memory for hashed, memory in found if memory is not None}

        return await self._read(project_of(scope), memories_by_hash)

    async def last_messages(self, scope: Scope, count: int) -> list[Memory]:
        """The last stored messages of the scope's conversation, oldest first."""

        def newest_messages(contents: Contents) -> list[Memory]:
            rows = reversed(contents.of_user(scope.user).rows)
            newest = islice((row.memory for row in rows if _said_in(row, scope)), count)
            return list(newest)[::-1]

        return await self._read(project_of(scope), newest_messages)

    async def users(self, project: Project, *, agent: str | None = None, app: str | None = None) -> list[Scope]:
        """One scope for each user with memories, in name order."""

        def owners_with_memories(contents: Contents) -> list[Scope]:
            owners = [_owner(project, user) for user in sorted(contents.by_user)]
            return [owner for owner in owners if contents.in_scope(replace(owner, agent=agent, app=app))]

        return await self._read(project, owners_with_memories)

    async def reading(self, work: Callable[[SearchSnapshot], T]) -> T:
        """Run `work` in a reader thread over one snapshot."""
        return await self._db.read(None, lambda sql: work(FileSearchSnapshot(self._open, sql)))

    async def _matching_rows(self, rows_of: RowsOf, scope: Scope, wanted: ListFilter) -> list[Row]:
        opened = self._open[project_of(scope)]
        return await self._db.read(scope, lambda sql: rows_of(current(opened, sql), sql, scope, wanted))

    async def _read(self, project: Project, look: Callable[[Contents], T]) -> T:
        opened = self._open[project]
        return await self._db.read(None, lambda sql: look(current(opened, sql)))


def _owner(project: Project, user: str) -> Scope:
    return Scope(tenant=project.tenant, project=project.project, user=user)


def _shown_rows(rows: Iterable[Row], scope: Scope, visible: Visible) -> Iterable[Row]:
    shown = is_shown(visible)
    return (row for row in rows if shown(row) and is_within(row.memory, scope))


def _said_in(row: Row, scope: Scope) -> bool:
    memory = row.memory  # messages outside any conversation form one group as well
    said_in = (memory.agent, memory.app, memory.conversation) == (scope.agent, scope.app, scope.conversation)
    return row.search.is_message and said_in
