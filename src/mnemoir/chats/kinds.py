"""The list of memory kinds, everything stored of a user, and forgetting, which goes through it.

The list is in the order in which a conversation is forgotten: derived data goes first and messages last, so that
after a failure the conversation can be forgotten again. Facts learned from it go too, unless another conversation
has changed them since. When the memory service is another server, that server deletes its own facts. Forgetting
only the memories of a user leaves the conversations, and nothing more is learned from earlier turns.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from mnemoir.chats.conversations import Conversations
from mnemoir.chats.discussions import Discussions
from mnemoir.chats.remembering import queue_of
from mnemoir.conversations.users import Removed, remove_conversation
from mnemoir.core.errors import NotFound
from mnemoir.core.scope import Scope, acting
from mnemoir.memory.background import Background
from mnemoir.ports.jobs import Job
from mnemoir.ports.memory_kinds import Amounts, ByDay, MemoryKind
from mnemoir.ports.run_store import RunStore
from mnemoir.storage.sql.holds import Holds
from mnemoir.storage.user_pool import in_thread

_PATIENCE_S = 30.0  # for a memory that is being made from it
_COUNT_TALK_AGAIN_S = 15.0  # every open file is read again
_NO_QUEUE = ""  # the queue of turns added over the memory API
_PAGE = 100
_TOKENS = ("input_tokens", "output_tokens")


def job_kind(background: Background, tables: Mapping[str, tuple[str, ...]]) -> MemoryKind:
    """Jobs that learn from turns, waiting and ended. Forgetting raises Conflict while one runs."""

    async def forget(scope: Scope) -> Amounts:
        def unwanted(job: Job) -> bool:
            about = _about(job)
            whose = about.get("scope")
            if not isinstance(whose, dict) or Scope(**whose).owner != scope.owner:
                return False
            return scope.conversation is None or scope.conversation in (whose.get("conversation"), _session_of(about))

        for queue in (queue_of(scope), _NO_QUEUE):
            await background.withdraw(queue, unwanted, patience_s=_PATIENCE_S)
        return {}

    return MemoryKind(name="job", tables=tables, forget=forget)


def run_kind(runs: RunStore) -> MemoryKind:
    """Traces of runs, which quote what the user said."""

    async def forget(scope: Scope) -> Amounts:
        await runs.forget(scope)
        return {}

    async def counts() -> Amounts:
        return {"runs": await runs.count()}

    async def daily(since: date) -> Mapping[str, ByDay]:
        tokens = await runs.tokens(since)
        return {name: {day: each[at] for day, each in tokens.items()} for at, name in enumerate(_TOKENS)}

    return MemoryKind(name="run", forget=forget, counts=counts, daily=daily)


def discussion_kind(discussions: Discussions, conversations: Conversations) -> MemoryKind:
    """Chunks, records and summaries of a discussion: files that go together, under one lock."""

    async def forget(scope: Scope) -> Amounts:
        id = scope.conversation
        if id is not None:
            await discussions.remove_everywhere(id, scope.owner)
        if acting.get().principal.is_bound:  # what all others share is not the caller's
            return {}
        # discussions have no owner but their id; few are stored, so few deletions look at other users
        if id is not None and await discussions.is_kept(id) and not await conversations.others_have(scope, id):
            await discussions.remove_everywhere(id)
        return {}

    return MemoryKind(name="discussion", forget=forget)


def conversation_kind(
    conversations: Conversations, tables: Mapping[str, tuple[str, ...]], *, embeds: bool
) -> MemoryKind:
    """Conversations with their messages, vectors, attachments and node memories. `embeds`: messages get vectors.

    Pruning deletes no memories that were learned from a conversation.
    """

    async def forget(scope: Scope) -> Amounts:
        if scope.conversation is None:
            return {}
        async with conversations.of(scope) as own:
            removed = await in_thread(remove_conversation, own, scope.conversation) or Removed()
        return {"conversations": 1, "messages": removed.messages, "node_memories": removed.node_memories}

    async def counts() -> Amounts:
        found = await conversations.counts()
        return found if embeds else {name: found[name] for name in ("conversations", "messages")}

    async def daily(since: date) -> Mapping[str, ByDay]:
        return {"messages": await conversations.messages_by_day(since)}

    return MemoryKind(
        name="conversation",
        tables=tables,
        forget=forget,
        counts=counts,
        counts_last_s=_COUNT_TALK_AGAIN_S,
        daily=daily,
        prune=conversations.prune,
        ageing=conversations.ageing,
    )


def _about(job: Job) -> Mapping[str, Any]:
    """The payload of a job or, once it has ended, its result; both name their scope if they quote a user."""
    return job.payload or job.result or {}


def _session_of(about: Mapping[str, Any]) -> object:
    """The session id in the metadata of an added turn."""
    request = about.get("request") or {}
    return about.get("session") or (request.get("metadata") or {}).get("session_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """Serves every user. Returns counts of what was deleted: conversations, messages, memories, node memories etc.

    Raises LegalHold, with nothing deleted, for a user on hold.
    """

    conversations: Conversations
    kinds: Sequence[MemoryKind]
    holds: Holds

    async def forget(self, scope: Scope, session_id: str) -> Counter[str]:
        """Forget a conversation. Raises NotFound, StorageUnavailable, Conflict while memories are made from it."""
        await self.holds.refuse(scope)
        async with self.conversations.deciding(scope, session_id), self.conversations.of(scope) as own:
            if await asyncio.to_thread(own.log.get_session, session_id) is None:
                raise not_found(session_id)
            return await self._forget(replace(scope.owner, conversation=session_id))

    async def forget_all(self, scope: Scope) -> Counter[str]:
        """Forget all conversations of the scope's owner, with their files. Raises Conflict and StorageUnavailable.

        Conversations that begin during the deletion are deleted too. What was deleted before a failure stays deleted.
        """
        await self.holds.refuse(scope)
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
        await self.holds.refuse(scope)
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
