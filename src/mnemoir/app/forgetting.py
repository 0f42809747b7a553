"""Forgetting a conversation: what was said in it, and everything that was made of it, wherever that is kept.

Or what was remembered of a user: the conversations stay then, and nothing more is learned of what was said before.

First what was derived, so that a failure leaves the conversation to be forgotten again; the messages themselves last.
Facts that were learned from it go too, unless another conversation has changed them since. Where the memory service
is another server's, its facts are that server's to forget.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mnemoir.app.conversations import Conversations
from mnemoir.app.discussions import Discussions
from mnemoir.app.in_thread import in_thread
from mnemoir.app.remembering import queue_of
from mnemoir.conversations.removal import Removed, remove_conversation
from mnemoir.core.errors import NotFound
from mnemoir.core.scope import Scope
from mnemoir.memory.background import Background
from mnemoir.memory.facts import Facts
from mnemoir.ports.jobs import Job
from mnemoir.ports.run_store import RunStore

_PATIENCE_S = 30.0  # for a memory that is being made of it
_NO_QUEUE = ""  # where what is added over the memory API waits
_PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """How much there was."""

    conversations: int = 0
    messages: int = 0
    memories: int = 0
    node_memories: int = 0

    def __add__(self, other: "Forgotten") -> "Forgotten":
        return Forgotten(
            conversations=self.conversations + other.conversations,
            messages=self.messages + other.messages,
            memories=self.memories + other.memories,
            node_memories=self.node_memories + other.node_memories,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """One for all users."""

    conversations: Conversations
    facts: Facts
    background: Background
    runs: RunStore
    discussions: Discussions

    async def forget(self, scope: Scope, session_id: str) -> Forgotten:
        """Raises NotFound, Conflict while memories are being made of it, StorageUnavailable."""
        async with self.conversations.deciding(scope, session_id), self.conversations.of(scope) as own:
            if not await asyncio.to_thread(own.manager.session_exists, session_id):
                raise not_found(session_id)
            memories = await self._forget_derived(replace(scope.owner, conversation=session_id), session_id)
            removed = await in_thread(remove_conversation, own, session_id) or Removed()
        return Forgotten(
            conversations=1, messages=removed.messages, memories=memories, node_memories=removed.node_memories
        )

    async def forget_all(self, scope: Scope) -> Forgotten:
        """All conversations of the scope's owner, and the folder they are in. Raises Conflict and StorageUnavailable.

        What somebody begins meanwhile goes too. Nothing of what was forgotten before a failure comes back.
        """
        total = Forgotten()
        if not await asyncio.to_thread(self.conversations.folder_of(scope).exists):
            return total
        while True:
            for session_id in await self._some_of(scope):
                total += await self._forget_if_there(scope, session_id)
            if await self.conversations.remove_empty(scope):
                return total

    async def forget_memories(self, scope: Scope) -> int:
        """All memories of the scope's owner and the traces of its runs; how many memories there were.

        What waits to be learned from is withdrawn first. Raises Conflict while something is being learned at this
        moment, and StorageUnavailable; the memories are in place then.
        """
        owner = scope.owner
        await self._withdraw(owner)
        await self.runs.forget(owner)  # traces quote what the user said
        return await self.facts.delete_all(owner)

    async def _some_of(self, scope: Scope) -> list[str]:
        async with self.conversations.of(scope) as own:
            return [record.id for record in await asyncio.to_thread(own.manager.list_sessions, _PAGE)]

    async def _forget_if_there(self, scope: Scope, session_id: str) -> Forgotten:
        try:
            return await self.forget(scope, session_id)
        except NotFound:  # somebody else was quicker
            return Forgotten()

    async def _forget_derived(self, scope: Scope, session_id: str) -> int:
        await self._withdraw(scope, session_id)
        memories = await self.facts.forget_session(scope, session_id)
        await self.runs.forget(scope)
        # a discussion is known by its id alone; few are kept, so few deletions look at the files of others
        if await self.discussions.is_kept(session_id) and not await self.conversations.others_have(scope, session_id):
            await self.discussions.remove_everywhere(session_id)
        return memories

    async def _withdraw(self, scope: Scope, session_id: str | None = None) -> None:
        """Of the jobs of the scope's owner, those about one conversation or all; and what is kept of ended ones."""

        def unwanted(job: Job) -> bool:
            about = _about(job)
            whose = about.get("scope")
            if not isinstance(whose, dict) or Scope(**whose).owner != scope.owner:
                return False
            return session_id is None or session_id in (whose.get("conversation"), _session_of(about))

        for queue in (queue_of(scope), _NO_QUEUE):
            await self.background.withdraw(queue, unwanted, patience_s=_PATIENCE_S)


def not_found(session_id: str) -> NotFound:
    """The answer about a conversation that is not there, or not the caller's."""
    return NotFound(
        f"There is no conversation {session_id[:80]!r} here. List the user's conversations to see their ids.",
        code="conversation_not_found",
    )


def _about(job: Job) -> Mapping[str, Any]:
    """What the job is to do or, once that is done, what it did; each names its scope where it quotes anybody."""
    return job.payload or job.result or {}


def _session_of(about: Mapping[str, Any]) -> object:
    """The session that what is added says itself it is from."""
    request = about.get("request") or {}
    return about.get("session") or (request.get("metadata") or {}).get("session_id")
