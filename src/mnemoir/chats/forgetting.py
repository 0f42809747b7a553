"""Forgetting a conversation, all of a user, or the memories alone, which goes through the list of holdings.

The list is in the order in which a conversation is forgotten: derived data goes first and messages last, so that
after a failure the conversation can be forgotten again. Facts learned from it go too, unless another conversation
has changed them since. When the memory service is another server, that server deletes its own facts. Forgetting
only the memories of a user leaves the conversations, and nothing more is learned from earlier turns.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mnemoir.chats.conversations import Conversations
from mnemoir.core.errors import NotFound
from mnemoir.core.scope import Scope
from mnemoir.ports.holdings import OpenHolding
from mnemoir.storage.sql.holds import Holds

_PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """Serves every user. Returns counts of what was deleted: conversations, messages, memories, node memories etc.

    Raises LegalHold, with nothing deleted, for a user on hold.
    """

    conversations: Conversations
    holdings: Sequence[OpenHolding]
    holds: Holds

    async def forget(self, scope: Scope, session_id: str) -> Counter[str]:
        """Forget a conversation. Raises NotFound, StorageUnavailable, Conflict while memories are made from it."""
        await self.holds.refuse(scope)
        async with self.conversations.deciding(scope, session_id), self.conversations.of(scope) as own:
            if await asyncio.to_thread(own.log.get_session, session_id) is None:
                raise unknown_conversation(session_id)
            return await self._forget(replace(scope.owner, conversation=session_id))

    async def forget_all(self, scope: Scope) -> Counter[str]:
        """Forget all conversations of the scope's owner, with their files, and all their discussions.

        Conversations that begin during the deletion are deleted too. What was deleted before a failure stays deleted.
        Raises Conflict and StorageUnavailable.
        """
        await self.holds.refuse(scope)
        total: Counter[str] = Counter()
        total.update(await self._forget_rest(scope))  # first, so that no conversation is looked for in it
        is_done = not await self.conversations.exist(scope)
        while not is_done:
            for session_id in await self._some_of(scope):
                total.update(await self._forget_if_there(scope, session_id))
            is_done = await self.conversations.remove_empty(scope)
        total.update(await self._forget_rest(scope))
        return total

    async def forget_memories(self, scope: Scope) -> int:
        """Delete all memories of the scope's owner and the traces of its runs; return the number of memories.

        Waiting jobs that would learn from its turns are withdrawn first. Raises Conflict while such a job runs, and
        StorageUnavailable; no memory is deleted then.
        """
        await self.holds.refuse(scope)
        return (await self._forget(scope.owner))["memories"]

    async def forget_part(self, scope: Scope, metadata: Mapping[str, Any] | None) -> int:
        """Delete the memories of an agent, app or run, as the scope names them, with such metadata; how many.

        Waiting jobs that would add such memories are withdrawn first; conversations and traces of runs stay. Raises
        as `forget_memories` does.
        """
        await self.holds.refuse(scope.owner)
        total: Counter[str] = Counter()
        for holding in self.holdings:
            if holding.forget_part is not None:
                total.update(await holding.forget_part(scope, metadata))
        return total["memories"]

    async def _forget(self, scope: Scope) -> Counter[str]:
        total: Counter[str] = Counter()
        for holding in self.holdings:
            if holding.forget is not None:
                total.update(await holding.forget(scope))
        return total

    async def _forget_rest(self, scope: Scope) -> Counter[str]:
        total: Counter[str] = Counter()
        for holding in self.holdings:
            if holding.forget_rest is not None:
                total.update(await holding.forget_rest(scope.owner))
        return total

    async def _some_of(self, scope: Scope) -> list[str]:
        async with self.conversations.of(scope) as own:
            return [record.id for record in await asyncio.to_thread(own.log.list_sessions, _PAGE)]

    async def _forget_if_there(self, scope: Scope, session_id: str) -> Counter[str]:
        try:
            return await self.forget(scope, session_id)
        except NotFound:  # another request deleted it first
            return Counter()


def unknown_conversation(session_id: str) -> NotFound:
    """The error for a conversation that does not exist or is not the caller's."""
    return NotFound(
        f"There is no conversation {session_id[:80]!r} here. List the user's conversations to see their ids.",
        code="conversation_not_found",
    )
