"""One change of a project file, from taking the lock to publishing it to readers.

It finishes even when its caller is cancelled, as a change must not stop half way.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from mnemoir.core.clock import Clock, to_text
from mnemoir.core.errors import StorageUnavailable
from mnemoir.core.ids import MemoryId
from mnemoir.core.memories import Applied, IndexEntry, Memory, Provenance
from mnemoir.core.proposals import NO_STEP, QueueStep
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_store import Receipt
from mnemoir.storage.files.contents import Contents, ScopeOfFile
from mnemoir.storage.files.index_table import drop, enter, entries_of, move_stamp, put, want_vectors
from mnemoir.storage.files.open_project import OpenProject
from mnemoir.storage.files.rows import Key, key_of
from mnemoir.storage.files.stored_file import ATTEMPTS, EditedMeanwhile
from mnemoir.storage.planning import Effect
from mnemoir.storage.sql.commit import add_history, removed_memory
from mnemoir.storage.sql.engine import Engine, Sql, enter_scope
from mnemoir.storage.sql.receipts import earlier_outcome, keep_receipt
from mnemoir.storage.sql.spaces import mark_space

T = TypeVar("T")
_THREADS = 4  # projects that are written at the same time


class Unbroken:
    """Owns the tasks it runs; `aclose` waits for them and refuses new ones."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()  # results of every kind
        self._closed = False

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result or exception of `work`. Cancelling the caller leaves the work running."""
        if self._closed:
            work.close()
            raise StorageUnavailable("The project files are closed: the server is stopping. Try again later.")
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._drop_task)
        return await asyncio.shield(task)

    async def aclose(self) -> None:
        """Wait for the running tasks."""
        self._closed = True
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _drop_task(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # seen here, because a cancelled caller cannot see it any more


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A requested change: `plan` returns its effects; provenance, receipt and queue are stored with it.

    `restored` are memories that the plan may restore.
    """

    scope: Scope
    plan: Callable[[ScopeOfFile], Sequence[Effect]]
    provenance: Provenance
    receipt: Receipt | None = None
    queue: QueueStep = NO_STEP
    restored: Sequence[MemoryId] = ()


class Changing:
    """The writer of project files. It has its own threads, so that a project locked by another never blocks reads."""

    def __init__(
        self,
        db: Engine,
        clock: Clock,
        of_all_facts: Collection[str] = (),
        *,
        receipt_time: Callable[[], datetime | None],
    ) -> None:
        """`of_all_facts` are the further spaces in which one text has a vector made of each text of its user.

        `receipt_time` is the time by which receipts end, None while no clock decides that.
        """
        self._receipt_time = receipt_time
        self._of_all_facts = frozenset(of_all_facts)
        self._db = db
        self._clock = clock
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="project-files")

    async def change(self, project: OpenProject, wish: Wish) -> list[Applied]:
        """Make the change durably; the outcome, or that of this receipt before. Must not be cancelled (`Unbroken`).

        Raises StorageUnavailable, and StaleChange, InvalidRequest or Conflict with nothing written.
        """
        async with project.writing:
            earlier = await self._earlier(wish)
            return await self._change(project, wish) if earlier is None else earlier

    async def answer(self, project: OpenProject, wish: Wish) -> list[Applied]:
        """Store a receipt, and what is proposed, for a request that changes nothing; the file stays untouched."""
        async with project.writing:
            earlier = await self._earlier(wish)
            if earlier is None:
                await self._db.write(wish.scope, lambda sql: self._record(sql, wish, []))
        return earlier or []

    def close(self) -> None:
        """End the threads, which must be idle."""
        self._threads.shutdown()

    async def _earlier(self, wish: Wish) -> list[Applied] | None:
        receipt = wish.receipt
        if receipt is None:
            return None
        return await self._db.read(wish.scope, lambda sql: earlier_outcome(sql, receipt, self._receipt_time()))

    async def _change(self, project: OpenProject, wish: Wish) -> list[Applied]:
        with ExitStack() as lock:
            await self._in_thread(lambda: lock.enter_context(project.file.hold_lock()))
            before, effects, after = await self._replace_contents(project, wish)
        with _forgotten_on_failure(project):
            await self._note(project, wish, effects, (before, after))
        project.publish(after)
        return [effect.outcome for effect in effects]

    async def _replace_contents(
        self, project: OpenProject, wish: Wish
    ) -> tuple[Contents, Sequence[Effect], Contents]:
        """Write the file; the contents before, the effects, and the contents after."""
        for _ in range(ATTEMPTS):
            standing = await self._db.read(
                wish.scope, lambda sql: standing_in(project, sql, wish.scope, wish.restored)
            )
            effects = await self._in_thread(partial(wish.plan, standing))
            with _forgotten_on_failure(project), suppress(EditedMeanwhile):
                after = await self._in_thread(partial(_write_effects, project, standing, effects))
                return standing.contents, effects, after
        raise project.file.concurrent_edit_error()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _note(
        self, project: OpenProject, wish: Wish, effects: Sequence[Effect], contents: tuple[Contents, Contents]
    ) -> None:
        before, after = contents

        def note(sql: Sql) -> None:
            self._record(sql, wish, effects)
            number = enter(sql, project.project)
            _index(sql, number, effects)
            waits = frozenset().union(*(effect.entry.waits for effect in effects if effect.entry is not None))
            for space in waits & self._of_all_facts:
                mark_space(enter_scope(sql, wish.scope.owner), space)
            want_vectors(sql, number, project.project)
            move_stamp(sql, number, before.stamp, after.stamp)

        if effects or wish.receipt is not None or wish.queue != NO_STEP:
            await self._db.write(wish.scope, note)

    def _record(self, sql: Sql, wish: Wish, effects: Sequence[Effect]) -> None:
        now, within = self._clock(), enter_scope(sql, wish.scope)
        add_history(within, wish.scope, effects, wish.provenance, to_text(now), wish.queue)
        if wish.receipt is not None:
            answer = (wish.provenance.reason, [effect.outcome for effect in effects])
            keep_receipt(within, wish.receipt, answer, now, wish.queue.proposed)


def current(project: OpenProject, sql: Sql) -> Contents:
    """The present contents of the project's file, with index entries from the database."""
    return project.current(lambda: entries_of(sql, project.project))


def standing_in(project: OpenProject, sql: Sql, scope: Scope, restored: Sequence[MemoryId]) -> ScopeOfFile:
    """The scope's memories for the planner, and those removed ones that may be restored."""
    found = {each: removed_memory(sql, scope, each) for each in restored}
    taken_back = {each: memory for each, memory in found.items() if memory is not None}
    return ScopeOfFile(contents=current(project, sql), scope=scope, taken_back=taken_back)


def _write_effects(project: OpenProject, standing: ScopeOfFile, effects: Sequence[Effect]) -> Contents:
    """Write the effects to the file; the contents after. Raises EditedMeanwhile with the file unchanged."""
    if not effects:
        return standing.contents
    before = standing.contents
    after = before.after(standing.scope.user, effects)
    return replace(after, stamp=project.file.replace(after.records(), project.announce, over=before.stamp))


def _index(sql: Sql, number: int, effects: Sequence[Effect]) -> None:
    entries: dict[Key, tuple[Memory, IndexEntry] | None] = {}
    for effect in effects:
        memory = effect.memory
        if effect.entry is not None:
            entries[key_of(memory)] = (memory, effect.entry)
        elif effect.event == "DELETE":
            entries[key_of(memory)] = None
    drop(sql, number, [key for key, entry in entries.items() if entry is None])
    put(sql, number, [entry for entry in entries.values() if entry is not None])


@contextmanager
def _forgotten_on_failure(project: OpenProject) -> Iterator[None]:
    """After a failure drop the contents in memory, which may be older than the file, so that it is read again."""
    try:
        yield
    except BaseException:
        project.forget()
        raise
