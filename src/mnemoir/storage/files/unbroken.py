"""Tasks that finish even when their caller is cancelled, as a change must not stop half way."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from mnemoir.core.errors import StorageUnavailable

T = TypeVar("T")


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
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    async def aclose(self) -> None:
        """Wait for the running tasks."""
        self._closed = True
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # seen here, because a cancelled caller cannot see it any more
