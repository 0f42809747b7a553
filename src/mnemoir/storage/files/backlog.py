"""The backlog of vectors for project files, over all projects.

The index in the database is synced with each file whose stamp has changed, so one table lists the texts without a
vector. A damaged file is skipped: it must not delay the others.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import structlog

from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.memories import IndexEntry, Space
from mnemoir.core.scope import Scope
from mnemoir.core.text import CONTEXT_MESSAGES, context_of
from mnemoir.ports.memory_store import Project, StoreCounts, Unembedded
from mnemoir.storage.files import index_table
from mnemoir.storage.files.changing import current
from mnemoir.storage.files.contents import Contents
from mnemoir.storage.files.index_table import Wanted, stamp_text
from mnemoir.storage.files.open_project import OpenProjects
from mnemoir.storage.files.project_file import ProjectFile
from mnemoir.storage.files.rows import Key, Row
from mnemoir.storage.files.workspace import project_of, projects
from mnemoir.storage.sql.engine import Engine, Sql

Filled = Sequence[tuple[Unembedded, IndexEntry]]

_NUMBER_BYTES = 2  # of a stored vector
_log = structlog.get_logger(__name__)


class Backlog:
    """Raises StorageUnavailable only when the database or the workspace as a whole fails."""

    def __init__(self, root: Path, open_projects: OpenProjects, db: Engine, space: str | None = None) -> None:
        """Of a further `space`, the backlog of its vectors."""
        self._space = space
        self._root = root
        self._open = open_projects
        self._db = db
        self._told: set[Project] = set()

    async def without_vector(self, model: str, *, limit: int) -> list[Unembedded]:
        """Texts that lack a vector of the model, oldest entry first."""
        damaged = await self._sync()
        return await self._db.read(
            None,
            lambda sql: self._texts(
                sql, index_table.without_vector(sql, model, passed_over=damaged, limit=limit, space=self._space)
            ),
        )

    async def count(self, model: str) -> tuple[int, int]:
        """(texts without a vector of the model, all texts)."""
        await self._sync()
        return await self._db.read(None, lambda sql: index_table.backlog(sql, model, space=self._space))

    async def counts(self) -> StoreCounts:
        """The totals over all users."""
        await self._sync()
        return await self._db.read(None, index_table.counts)

    async def additions_by_day(self, since: date) -> Mapping[str, int]:
        """The memories added on each day, over all users."""
        await self._sync()
        return await self._db.read(None, lambda sql: index_table.additions_by_day(sql, since))

    async def put(self, model: str, filled: Filled) -> int:
        """Store vectors whose texts are unchanged; the number stored. Must not be cancelled (`Unbroken`)."""
        of_project: defaultdict[Project, list[tuple[Unembedded, IndexEntry]]] = defaultdict(list)
        for unembedded, entry in filled:
            if entry.model == model:
                of_project[project_of(unembedded.scope)].append((unembedded, entry))
        return sum([await self._put(project, entries) for project, entries in of_project.items()])

    async def forget_other_lengths(self, model: str, length: int) -> int:
        """Forget the vectors of the model, if the oldest has another length. Must not be cancelled (`Unbroken`)."""
        await self._sync()
        oldest = await self._db.read(None, lambda sql: index_table.oldest_with_vector(sql, model))
        if oldest is None or await self._length_of(oldest) in (None, length):
            return 0
        projects = list(await self._db.read(None, index_table.synced_stamps))
        return sum([await self._forget_vectors(name, model) for name in projects])

    async def _length_of(self, wanted: Wanted) -> int | None:
        project = self._open[wanted.project]
        contents = await self._db.read(None, lambda sql: current(project, sql))
        row = contents.by_key.get(wanted.key)
        vector = None if row is None else row.search.entry.vector
        return None if vector is None else len(vector) // _NUMBER_BYTES

    async def _forget_vectors(self, name: Project, model: str) -> int:
        project = self._open[name]
        async with project.writing:
            contents = await self._db.read(None, lambda sql: current(project, sql))
            rows = {key: row for key, row in contents.by_key.items() if row.search.entry.model == model}
            entries = {key: _without_vector(row.search.entry) for key, row in rows.items()}

            def put(sql: Sql) -> None:
                number = index_table.enter(sql, name)
                index_table.put(sql, number, [(row.memory, entries[key]) for key, row in rows.items()])

            if rows:
                await self._db.write(None, put)
                project.publish(contents.with_entries(entries))
        return len(rows)

    async def _put(self, name: Project, filled: Filled) -> int:
        project = self._open[name]
        async with project.writing:
            contents = await self._db.read(None, lambda sql: current(project, sql))
            kept = [(unembedded, entry) for unembedded, entry in filled if _reads_the_same(contents, unembedded)]

            def put(sql: Sql) -> None:
                number = index_table.enter(sql, name)
                if self._space is None:
                    index_table.put(sql, number, [(contents.by_key[key].memory, entries[key]) for key in entries])
                else:
                    made = [(contents.by_key[_key(one)].memory, entry) for one, entry in kept]
                    index_table.put_in_space(sql, number, self._space, made)

            if kept:
                entries = {_key(one): self._with_vector(contents.by_key[_key(one)], entry) for one, entry in kept}
                await self._db.write(None, put)
                project.publish(contents.with_entries(entries))
        return len(kept)

    def _with_vector(self, row: Row, made: IndexEntry) -> IndexEntry:
        """The row's entry with the vector that was made; those of other spaces are kept."""
        held = row.search.entry
        if self._space is None or made.model is None or made.vector is None:
            return replace(made, names=held.names, vectors=held.vectors, waits=held.waits)
        others = {space: vector for space, vector in held.vectors.items() if space.name != self._space}
        vectors = {**others, Space(self._space, made.model): made.vector}
        return replace(held, vectors=vectors, waits=held.waits - {self._space})

    async def _sync(self) -> list[Project]:
        """Sync the index with every changed file; the projects with an unreadable file."""
        damaged = []
        for project in await self._db.read(None, self._out_of_step):
            try:
                await self._sync_one(project)
            except StorageUnavailable as exc:
                damaged.append(project)
                self._tell_once(project, exc)
        self._told.intersection_update(damaged)
        return damaged

    async def _sync_one(self, name: Project) -> None:
        project = self._open[name]
        async with project.writing:
            contents = await self._db.read(None, lambda sql: current(project, sql))
            await self._db.write(None, lambda sql: index_table.sync(sql, name, contents))

    def _out_of_step(self, sql: Sql) -> list[Project]:
        synced = index_table.synced_stamps(sql)
        known = dict.fromkeys((*synced, *projects(self._root)))
        return [project for project in known if not self._in_step(project, synced.get(project))]

    def _in_step(self, project: Project, synced: str | None) -> bool:
        try:
            return stamp_text(ProjectFile(self._root, project).stamp()) == synced
        except StorageUnavailable:
            return False  # reading it raises the cause

    def _tell_once(self, project: Project, exc: StorageUnavailable) -> None:
        if project not in self._told:
            self._told.add(project)
            _log.warning("project passed over, its vectors wait", project=project.project, error=exc.message)

    def _texts(self, sql: Sql, wanted: Iterable[Wanted]) -> list[Unembedded]:
        found: list[Unembedded] = []
        contexts: dict[tuple[Project, str], dict[int, str]] = {}
        for one in wanted:
            contents = current(self._open[one.project], sql)
            row = contents.by_key.get(one.key)
            if row is None:
                continue  # removed by an edit since the query of the index
            user = (one.project, row.memory.user)
            if user not in contexts:
                contexts[user] = _contexts(contents.of_user(row.memory.user).rows)
            found.append(_unembedded_memory(one.project, row, contexts[user].get(row.seq, "")))
        return found


def _contexts(rows: Iterable[Row]) -> dict[int, str]:
    """The messages just before each message, by `seq`: the same context as at its first embedding."""
    before: defaultdict[tuple[str | None, ...], deque[Row]] = defaultdict(lambda: deque(maxlen=CONTEXT_MESSAGES))
    found: dict[int, str] = {}
    for row in rows:
        if row.search.is_message:
            said = before[row.memory.agent, row.memory.app, row.memory.conversation]
            found[row.seq] = context_of(row.search.said_at, [(one.memory.text, one.search.said_at) for one in said])
            said.append(row)
    return found


def _unembedded_memory(project: Project, row: Row, context: str) -> Unembedded:
    memory = row.memory
    scope = Scope(
        tenant=project.tenant,
        project=project.project,
        user=memory.user,
        agent=memory.agent,
        app=memory.app,
        conversation=memory.conversation,
    )
    is_fact = memory.kind == "fact"
    return Unembedded(scope=scope, memory_id=memory.id, text=memory.text, context=context, is_fact=is_fact)


def _reads_the_same(contents: Contents, unembedded: Unembedded) -> bool:
    row = contents.by_key.get(_key(unembedded))
    return row is not None and row.memory.text == unembedded.text


def _key(unembedded: Unembedded) -> Key:
    return unembedded.scope.user, unembedded.memory_id


def _without_vector(entry: IndexEntry) -> IndexEntry:
    """The entry without its vector of the embedding model; those of other spaces are kept."""
    return replace(entry, model=None, vector=None, token_ids=None, token_codes=None)
