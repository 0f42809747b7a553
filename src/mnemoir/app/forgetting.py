"""Forgetting a conversation: what was said in it, and everything that was made of it, wherever that is kept.

First what was derived, so that a failure leaves the conversation to be forgotten again; the messages themselves last.
Facts that were learned from it go too, unless another conversation has changed them since. Where the memory service
is another server's, its facts are that server's to forget.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from mnemoir.app.conversations import Conversations
from mnemoir.app.discussions import Discussions
from mnemoir.conversations.removal import remove_conversation
from mnemoir.core.errors import NotFound
from mnemoir.core.scope import Scope
from mnemoir.memory.background import Background
from mnemoir.memory.facts import Facts
from mnemoir.ports.jobs import Job
from mnemoir.ports.run_store import RunStore

_PATIENCE_S = 30.0  # for a memory that is being made of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """How much there was."""

    messages: int
    memories: int
    node_memories: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """`queue_of` names the queue of jobs that derive memories from a user's turns."""

    conversations: Conversations
    facts: Facts
    background: Background
    runs: RunStore
    discussions: Discussions
    queue_of: Callable[[Scope], str]

    async def forget(self, scope: Scope, session_id: str) -> Forgotten:
        """Raises NotFound, Conflict while memories are being made of it, StorageUnavailable."""
        async with self.conversations.of(scope) as own:
            if not await asyncio.to_thread(own.manager.session_exists, session_id):
                raise not_found(session_id)
            memories = await self._forget_derived(replace(scope.owner, conversation=session_id), session_id)
            removed = await asyncio.to_thread(remove_conversation, own, session_id)
        if removed is None:
            raise not_found(session_id)
        return Forgotten(messages=removed.messages, memories=memories, node_memories=removed.node_memories)

    async def _forget_derived(self, scope: Scope, session_id: str) -> int:
        await self.background.withdraw(
            self.queue_of(scope), lambda job: _conversation_of(job) == session_id, patience_s=_PATIENCE_S
        )
        memories = await self.facts.forget_session(scope, session_id)
        await self.runs.forget(scope)
        await self.discussions.remove_everywhere(session_id)
        return memories


def not_found(session_id: str) -> NotFound:
    """The answer about a conversation that is not there, or not the caller's."""
    return NotFound(
        f"There is no conversation {session_id[:80]!r} here. List the user's conversations to see their ids.",
        code="conversation_not_found",
    )


def _conversation_of(job: Job) -> str | None:
    named = (job.payload.get("scope") or {}).get("conversation")
    return named if isinstance(named, str) else None
