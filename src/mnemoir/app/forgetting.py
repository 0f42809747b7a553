"""Deletes a conversation with its messages and everything derived from it, in every store.

Or deletes only the memories of a user: the conversations stay, and nothing more is learned from earlier turns.
Each kind of memory deletes its own data, in the order of the list of kinds.
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
    """Serves every user. Returns counts of what was deleted: conversations, messages, memories, node memories etc."""

    conversations: Conversations
    kinds: Sequence[MemoryKind]

    async def forget(self, scope: Scope, session_id: str) -> Counter[str]:
        """Forget a conversation. Raises NotFound, StorageUnavailable, Conflict while memories are made from it."""
        async with self.conversations.deciding(scope, session_id), self.conversations.of(scope) as own:
            if await asyncio.to_thread(own.log.get_session, session_id) is None:
                raise not_found(session_id)
            return await self._forget(replace(scope.owner, conversation=session_id))

    async def forget_all(self, scope: Scope) -> Counter[str]:
        """Forget all conversations of the scope's owner, with their files. Raises Conflict and StorageUnavailable.

        Conversations that begin during the deletion are deleted too. What was deleted before a failure stays deleted.
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
        """Delete all memories of the scope's owner and the traces of its runs; return the number of memories.

        Waiting jobs that would learn from its turns are withdrawn first. Raises Conflict while such a job runs, and
        StorageUnavailable; no memory is deleted then.
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
        except NotFound:  # another request deleted it first
            return Counter()


def not_found(session_id: str) -> NotFound:
    """The error for a conversation that does not exist or is not the caller's."""
    return NotFound(
        f"There is no conversation {session_id[:80]!r} here. List the user's conversations to see their ids.",
        code="conversation_not_found",
    )
