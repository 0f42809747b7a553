"""Forgetting a conversation: what was said in it, and everything that was made of it, wherever that is kept.

Or what was remembered of a user: the conversations stay then, and nothing more is learned of what was said before.
Every kind of memory forgets its own, in the order of their list.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnemoir.app.conversations import Conversations
from mnemoir.core.errors import NotFound
from mnemoir.core.scope import Scope
from mnemoir.ports.memory_kinds import MemoryKind

_PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """One for all users. Gives how many there were: of conversations, messages, memories, node memories and so on."""

    conversations: Conversations
    kinds: Sequence[MemoryKind]

    async def forget(self, scope: Scope, session_id: str) -> Counter[str]:
        """Raises NotFound, Conflict while memories are being made of it, StorageUnavailable."""
        async with self.conversations.deciding(scope, session_id), self.conversations.of(scope) as own:
            if await asyncio.to_thread(own.log.get_session, session_id) is None:
                raise not_found(session_id)
            return await self._forget(replace(scope.owner, conversation=session_id))

    async def forget_all(self, scope: Scope) -> Counter[str]:
        """All conversations of the scope's owner, and all files they are in. Raises Conflict and StorageUnavailable.

        What somebody begins meanwhile goes too. Nothing of what was forgotten before a failure comes back.
        """
        total: Counter[str] = Counter()
        if not await self.conversations.exist(scope):
            return total
        while True:
            for session_id in await self._some_of(scope):
                total.update(await self._forget_if_there(scope, session_id))
            if await self.conversations.remove_empty(scope):
                return total

    async def forget_memories(self, scope: Scope) -> int:
        """All memories of the scope's owner and the traces of its runs; how many memories there were.

        What waits to be learned from is withdrawn first. Raises Conflict while something is being learned at this
        moment, and StorageUnavailable; the memories are in place then.
        """
        return (await self._forget(scope.owner))["memories"]

    async def _forget(self, scope: Scope) -> Counter[str]:
        total: Counter[str] = Counter()
        for kind in self.kinds:
            total.update(await kind.forget(scope))
        return total

    async def _some_of(self, scope: Scope) -> list[str]:
        async with self.conversations.of(scope) as own:
            return [record.id for record in await asyncio.to_thread(own.log.list_sessions, _PAGE)]

    async def _forget_if_there(self, scope: Scope, session_id: str) -> Counter[str]:
        try:
            return await self.forget(scope, session_id)
        except NotFound:  # somebody else was quicker
            return Counter()


def not_found(session_id: str) -> NotFound:
    """The answer about a conversation that is not there, or not the caller's."""
    return NotFound(
        f"There is no conversation {session_id[:80]!r} here. List the user's conversations to see their ids.",
        code="conversation_not_found",
    )
