"""Distributes items over several workers, which may differ in speed and may fail."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Generic, TypeVar

from mnemoir.core.errors import MnemoirError

T = TypeVar("T")
R = TypeVar("R")
Worker = Callable[[int, T], Awaitable[R]]


async def spread(items: Sequence[T], workers: Sequence[Worker[T, R]]) -> list[R]:
    """The results of all items, in the order of the items. Raises if any item cannot be done."""
    async with aclosing(spread_in_order(items, workers)) as results:
        return [result async for _, result in results]


async def spread_in_order(items: Sequence[T], workers: Sequence[Worker[T, R]]) -> AsyncGenerator[tuple[int, R], None]:
    """Yield each index with the result of its item, in order, as soon as all earlier items are done.

    A worker gets the next index and item as soon as it has finished the last, also while the caller is busy with a
    result. After a MnemoirError its item goes to the others and it stops. When no worker is left, the last error is
    raised after all results before the first undone item. Any other error ends all at once. Closing or cancelling
    ends the workers: a caller that may stop early uses `aclosing`.
    """
    spreading = _Spreading(items, workers)
    try:
        spreading.start()
        for index in range(len(items)):
            yield index, await spreading.result(index)
    finally:
        await spreading.end()


class _Spreading(Generic[T, R]):
    def __init__(self, items: Sequence[T], workers: Sequence[Worker[T, R]]) -> None:
        self._items = items
        self._idle = deque(workers)
        self._waiting = deque(range(len(items)))
        self._running: dict[asyncio.Task[R], tuple[int, Worker[T, R]]] = {}
        self._results: dict[int, R] = {}
        self._changed = asyncio.Event()
        self._failure: MnemoirError | None = None
        self._fault: BaseException | None = None

    def start(self) -> None:
        """Assign waiting items to idle workers."""
        while self._waiting and self._idle:
            index, worker = self._waiting.popleft(), self._idle.popleft()
            task = asyncio.create_task(_work(worker, index, self._items[index]))
            self._running[task] = index, worker
            task.add_done_callback(self._note_result)

    async def result(self, index: int) -> R:
        while index not in self._results:
            if self._fault:
                raise self._fault
            if not self._running:
                raise self._failure or ValueError("No worker was given.")
            self._changed.clear()
            await self._changed.wait()
        return self._results.pop(index)

    async def end(self) -> None:
        self._waiting.clear()
        if self._running:
            for task in self._running:
                task.cancel()
            await asyncio.wait(tuple(self._running))

    def _note_result(self, task: asyncio.Task[R]) -> None:
        index, worker = self._running.pop(task)
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is None:
            self._results[index] = task.result()
            self._idle.append(worker)
        elif isinstance(error, MnemoirError):
            self._waiting.appendleft(index)
            self._failure = error
        else:
            self._waiting.clear()
            self._fault = error
        self.start()
        self._changed.set()


async def _work(worker: Worker[T, R], index: int, item: T) -> R:
    return await worker(index, item)
