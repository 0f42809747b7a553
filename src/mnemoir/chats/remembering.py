"""Queues users' turns for memory: each is stored as a job in order, then sent to the memory service.

Nothing is learned from a stored conversation that was forgotten before the answer was complete.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mnemoir.chats.conversations import Conversations
from mnemoir.core.ids import JobId, new_job_id
from mnemoir.core.scope import Scope
from mnemoir.core.text import digest
from mnemoir.memory.background import Background, Handler
from mnemoir.ports.jobs import Job
from mnemoir.ports.memory_service import ChatTurn, MemoryService
from mnemoir.storage.user_pool import in_thread
from mnemoir.workflows.run import Caller

KIND = "remember"
_MOST_WAITING = 5  # unprocessed turns that go into a prompt


class Turns:
    """The turns that no memory was derived from yet.

    The turn of a stored conversation is queued after its answer was stored, which shows whether the conversation
    still exists.
    """

    def __init__(self, background: Background, conversations: Conversations) -> None:
        self._background = background
        self._conversations = conversations
        self._behind: dict[str, tuple[JobId, ChatTurn] | None] = {}  # of runs whose answer is still to be stored

    async def keep(self, caller: Caller, turn: ChatTurn) -> str:
        """Queue a turn, unless its conversation was forgotten. Raises StorageUnavailable.

        Returns the id of the job that derives memories from it; "" for none.
        """
        if caller.run_id in self._behind:
            job_id = _job_of(caller)
            self._behind[caller.run_id] = job_id, turn
            return job_id
        if caller.recorded is None:
            return await self._put(caller.scope, turn)
        stored = caller.recorded
        async with self._conversations.deciding(caller.scope, stored.conversation_id):
            async with self._conversations.of(caller.scope) as own:
                found = await in_thread(own.manager.get_message, stored.conversation_id, stored.message_id)
            return "" if found is None else await self._put(caller.recorded_scope, turn, _job_of(caller))

    def wait_for_answer(self, caller: Caller) -> None:
        """Postpone queueing the turn of this run until its answer is stored."""
        self._behind[caller.run_id] = None

    async def behind(self, caller: Caller, store: Callable[[], Awaitable[bool]]) -> bool:
        """Store the answer of a run, then queue its turn, if it is to be remembered.

        `store` returns whether the conversation still exists, and so does this. Raises StorageUnavailable.
        """
        waiting = self._behind.pop(caller.run_id, None)
        if waiting is None:
            return await store()
        job_id, turn = waiting
        scope = caller.recorded_scope
        async with self._conversations.deciding(scope, scope.conversation or ""):
            is_there = await store()
            if is_there:
                await self._put(scope, turn, job_id)
        return is_there

    async def waiting(self, scope: Scope) -> Sequence[ChatTurn]:
        """The user's newest unprocessed turns, oldest first, without those of the scope's own conversation.

        A conversation shows its turns itself; what it does not show was edited, or stands on a branch that was left.
        """
        jobs = await self._background.waiting(queue_of(scope), limit=_MOST_WAITING)
        own = scope.conversation
        return [
            ChatTurn(**job.payload["turn"])
            for job in jobs
            if own is None or job.payload["scope"]["conversation"] != own
        ]

    async def _put(self, scope: Scope, turn: ChatTurn, job_id: JobId | None = None) -> str:
        payload = {"scope": asdict(scope), "turn": asdict(turn)}
        return await self._background.put(KIND, payload, queue=queue_of(scope), job_id=job_id)


def job_of_answer(uid: str) -> JobId:
    """The id of the job that learns from the turn ending with the stored answer `uid`."""
    return JobId(f"evt_{digest(uid).hex()}")


def _job_of(caller: Caller) -> JobId:
    return new_job_id() if caller.recorded is None else job_of_answer(caller.recorded.answer_uid)


def queue_of(scope: Scope) -> str:
    """The queue of one user, which keeps the order of turns: "moved to B" must not come before "lives in A"."""
    return json.dumps([scope.tenant, scope.project, scope.user])


def past_queue_of(scope: Scope) -> str:
    """The queue of what is learned of one user's imports, so that no turn of a chat waits behind these."""
    return json.dumps([scope.tenant, scope.project, scope.user, "past"])


def rememberer(service: MemoryService) -> Handler:
    """The handler of these jobs. A result names memories but quotes none, since it outlives them."""

    async def remember_turn(job: Job) -> Mapping[str, Any]:
        scope, turn = Scope(**job.payload["scope"]), ChatTurn(**job.payload["turn"])
        told = await service.remember(scope, turn, key=job.id)
        proposed = [asdict(change) for change in told.proposed]
        result = {"learned": [asdict(change) for change in told.changes], "known": list(told.known)}
        more = {"proposed": proposed, "left_out": dict(told.left_out)}
        return result | {name: value for name, value in more.items() if value}

    return remember_turn
