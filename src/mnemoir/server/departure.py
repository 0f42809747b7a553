"""A client that leaves, or asks for an end, ends the work that was done for it alone."""

import asyncio
from types import TracebackType

from starlette.types import Receive


class Departure:
    """`async with Departure(receive) as departure:` cancels its body when the client disconnects.

    The body is then left without an exception and `happened` is True. The request body must have been read before.
    `asked` tells that the client is still there, and had the end asked for by another request.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.happened = False
        self.asked = False

    def ask(self) -> None:
        """End the body as if the client had left."""
        self.asked = self.happened = True
        self._task.cancel()

    async def __aenter__(self) -> "Departure":
        task = asyncio.current_task()
        assert task is not None  # an `async with` runs in a task
        self._task = task
        self._watch = asyncio.create_task(self._wait(), name="watch for the client leaving")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._watch.cancel()
        # somebody else may have cancelled the task too, and then it stays cancelled
        return self.happened and self._task.uncancel() == 0 and kind is asyncio.CancelledError

    async def _wait(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.happened = True
        self._task.cancel()
