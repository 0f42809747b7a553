"""How long memory takes, noted where chats wait for it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic

from mnemoir.app.latencies import Latencies
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_service import ChatTurn, MemoryChange, MemoryService, RecallResult


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTimes:
    """`recall` is how long chats waited for memories, `write` how long one add took to be stored."""

    recall: Latencies = field(default_factory=Latencies)
    write: Latencies = field(default_factory=Latencies)


class TimedMemory:
    """A memory service, with the time that each search took. `writes` too where they are stored elsewhere."""

    def __init__(self, service: MemoryService, times: MemoryTimes, *, writes: bool) -> None:
        self._service = service
        self._times = times
        self._writes = writes

    async def search(self, scope: Scope, query: str, *, limit: int, credential: str | None) -> RecallResult:
        """See the port. A search that failed was waited for as well."""
        began = monotonic()
        try:
            return await self._service.search(scope, query, limit=limit, credential=credential)
        finally:
            self._times.recall.note(monotonic() - began)

    async def remember(self, scope: Scope, turn: ChatTurn, *, key: str) -> Sequence[MemoryChange]:
        """See the port."""
        if not self._writes:  # the route that stores them notes it
            return await self._service.remember(scope, turn, key=key)
        with self._times.write.measured():
            return await self._service.remember(scope, turn, key=key)


_: type[MemoryService] = TimedMemory  # checked, never run
