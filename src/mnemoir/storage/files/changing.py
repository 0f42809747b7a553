"""One change of a project file, from the lock to the moment readers see it."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from mnemoir.core.clock import Clock
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Applied, IndexEntry, Memory, Provenance
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Receipt
from mnemoir.storage.files.contents import Contents
from mnemoir.storage.files.draft import Done, Draft
from mnemoir.storage.files.index_table import drop, enter, entries_of, move_stamp, put
from mnemoir.storage.files.open_project import OpenProject
from mnemoir.storage.files.record_tables import add_history, add_receipt, earlier_answer, read_removed
from mnemoir.storage.files.rows import Key, key_of
from mnemoir.storage.sql.engine import Engine, Sql

T = TypeVar("T")
_THREADS = 4  # projects that are written at the same time


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be changed: `build` makes the changes on a draft, for the reason and the receipt given.

    `restored` are memories that the draft may take back.
    """

    scope: Scope
    build: Callable[[Draft], None]
    provenance: Provenance
    receipt: Receipt | None = None
    restored: Sequence[MemoryId] = ()


class Changing:
    """Writes in threads of its own, so that a project locked by another program never stops reading."""

    def __init__(self, db: Engine, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="project-files")

    async def change(self, project: OpenProject, wish: Wish) -> list[Applied]:
        """What was changed, durably, or was for this very receipt before. Must not be cancelled (`Unbroken`).

        Raises StorageUnavailable, and StaleChange, InvalidRequest or Conflict with nothing written.
        """
        async with project.writing:
            earlier = await self._earlier(wish)
            return await self._change(project, wish) if earlier is None else earlier

    async def answer(self, project: OpenProject, wish: Wish) -> list[Applied]:
        """Keep a receipt for a request that changes nothing; the file is not touched."""
        async with project.writing:
            earlier = await self._earlier(wish)
            if earlier is None:
                await self._db.write(wish.scope, lambda sql: self._record(sql, wish, []))
        return earlier or []

    def close(self) -> None:
        """End the threads, which are idle by then."""
        self._threads.shutdown()

    async def _earlier(self, wish: Wish) -> list[Applied] | None:
        return await self._db.read(wish.scope, lambda sql: earlier_answer(sql, wish.receipt, self._clock()))

    async def _change(self, project: OpenProject, wish: Wish) -> list[Applied]:
        with ExitStack() as lock:
            await self._in_thread(lambda: lock.enter_context(project.file.locked()))
            before, removed = await self._db.read(
                wish.scope, lambda sql: (current(project, sql), _removed(sql, wish))
            )
            draft = await self._in_thread(lambda: _drafted(before, removed, wish, self._clock))
            with _forgotten_on_failure(project):
                after = await self._in_thread(lambda: _written(project, before, draft))
        with _forgotten_on_failure(project):
            await self._note(project, wish, draft.done, (before, after))
        project.publish(after)
        return [one.applied for one in draft.done]

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _note(
        self, project: OpenProject, wish: Wish, done: list[Done], contents: tuple[Contents, Contents]
    ) -> None:
        before, after = contents

        def note(sql: Sql) -> None:
            self._record(sql, wish, done)
            number = enter(sql, project.project)
            _index(sql, number, done)
            move_stamp(sql, number, before.stamp, after.stamp)

        if done or wish.receipt is not None:
            await self._db.write(wish.scope, note)

    def _record(self, sql: Sql, wish: Wish, done: list[Done]) -> None:
        now = self._clock()
        add_history(sql, wish.scope, done, wish.provenance, now)
        if wish.receipt is not None:
            answer = (wish.provenance.reason, [one.applied for one in done])
            add_receipt(sql, wish.scope, wish.receipt, answer, now)


def current(project: OpenProject, sql: Sql) -> Contents:
    """What the project's file holds, with the entries the database has for it."""
    return project.current(lambda: entries_of(sql, project.project))


def _removed(sql: Sql, wish: Wish) -> dict[MemoryId, Memory]:
    found = {each: read_removed(sql, wish.scope, each) for each in wish.restored}
    return {each: memory for each, memory in found.items() if memory is not None}


def _drafted(before: Contents, removed: Mapping[MemoryId, Memory], wish: Wish, clock: Clock) -> Draft:
    draft = Draft(before, wish.scope, clock, removed)
    wish.build(draft)
    return draft


def _written(project: OpenProject, before: Contents, draft: Draft) -> Contents:
    if not draft.done:
        return before
    after = draft.contents()
    return replace(after, stamp=project.file.replace(after.records(), project.announce))


def _index(sql: Sql, number: int, done: list[Done]) -> None:
    entries: dict[Key, tuple[str, IndexEntry] | None] = {}
    for one in done:
        memory = one.applied.memory
        if one.entry is not None:
            entries[key_of(memory)] = (memory.text, one.entry)
        elif one.applied.event == "DELETE":
            entries[key_of(memory)] = None
    drop(sql, number, [key for key, entry in entries.items() if entry is None])
    put(sql, number, [(key, *entry) for key, entry in entries.items() if entry is not None])


@contextmanager
def _forgotten_on_failure(project: OpenProject) -> Iterator[None]:
    """What is held in memory may be behind the file after a failure, so the file is read anew."""
    try:
        yield
    except BaseException:
        project.forget()
        raise
