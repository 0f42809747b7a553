"""Work spread over several workers that may be of different speed, and of which any may fail."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from mnemoir.core.errors import MnemoirError

T = TypeVar("T")
Worker = Callable[[int, T], Awaitable[str]]


async def spread(items: Sequence[T], workers: Sequence[Worker[T]]) -> list[str]:
    """What the workers make of the items, in the order of the items.

    Each worker is given an index and its item, one after the other, as soon as it has done the one before. One that
    raises MnemoirError hands its item to the others and stops. Raises the last worker's error when none is left;
    cancelling ends all.
    """
    spreading = _Spreading(items, workers)
    while spreading.waiting:
        await spreading.round()
    return spreading.results


class _Spreading(Generic[T]):
    def __init__(self, items: Sequence[T], workers: Sequence[Worker[T]]) -> None:
        self._items = items
        self._workers = list(workers)
        self._failure: MnemoirError | None = None
        self.waiting = deque(range(len(items)))
        self.results = [""] * len(items)

    async def round(self) -> None:
        """Until all are done, or nobody is left who could; a further one when an item came back to an empty queue."""
        if not self._workers:
            raise self._failure or ValueError("No worker was given.")
        try:
            async with asyncio.TaskGroup() as group:
                for worker in tuple(self._workers):
                    group.create_task(self._pull(worker))
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from failed  # callers know single errors

    async def _pull(self, worker: Worker[T]) -> None:
        while self.waiting:
            index = self.waiting.popleft()
            try:
                self.results[index] = await worker(index, self._items[index])
            except MnemoirError as exc:
                self.waiting.appendleft(index)
                self._workers.remove(worker)
                self._failure = exc
                return
