"""Gives memory back to the system that the C library holds on to after large requests.

The library keeps what was freed between blocks that are in use, for each thread. Giving it back takes some
milliseconds in which few threads wait, so it is done where the process has grown, and not after each request.
"""

import asyncio
import ctypes
from pathlib import Path

_LOOK_S = 15.0
_GROWN = 16 * 2**20
_PAGE = 4096  # larger ones are rare, and only make it look less often
_STATM = Path("/proc/self/statm")


class MemoryUpkeep:
    """Looks at the process every quarter of a minute; where there is nothing to look at, or to call, does nothing."""

    def __init__(self) -> None:
        self._trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if _STATM.exists() else None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start looking."""
        if self._trim is not None:
            self._task = asyncio.create_task(self._look_on(), name="give memory back")

    async def aclose(self) -> None:
        """Stop looking."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _look_on(self) -> None:
        after = _resident_pages()
        while True:
            await asyncio.sleep(_LOOK_S)
            if _resident_pages() > after + _GROWN // _PAGE:
                await asyncio.to_thread(self._give_back)
                after = _resident_pages()

    def _give_back(self) -> None:
        if self._trim is not None:
            self._trim(0)


def _resident_pages() -> int:
    return int(_STATM.read_bytes().split()[1])
