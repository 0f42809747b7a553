"""Giving what is kept under one memory user to a person: what was gathered before anybody signed in."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from mnemoir.chats.conversations import Conversations
from mnemoir.chats.people import Everybody
from mnemoir.chats.remembering import queue_of
from mnemoir.core.errors import Conflict, InvalidRequest, NotSupported
from mnemoir.core.scope import Scope
from mnemoir.core.users import User
from mnemoir.memory.background import Background
from mnemoir.ports.index_packs import IndexPacks
from mnemoir.search.recall import Recall
from mnemoir.storage.sql.holds import Holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """The projects in which memories were given to a person, and those in which conversations were."""

    memories: Sequence[str]
    conversations: Sequence[str]


class Adoption:
    """`why_not` says why nothing can be given in this installation; None where it can."""

    def __init__(
        self,
        *,
        everybody: Everybody,
        conversations: Conversations,
        background: Background,
        recall: Recall,
        packs: IndexPacks | None,
        holds: Holds,
        why_not: str | None,
    ) -> None:
        self._everybody = everybody
        self._conversations = conversations
        self._background = background
        self._recall = recall
        self._packs = packs
        self._holds = holds
        self._why_not = why_not

    async def adopt(self, user: User, given: str) -> Adopted:
        """Give everything that is kept under the memory user `given` to a person, in each of their projects.

        A project is given as a whole or not at all, one after the other. Raises NotSupported, InvalidRequest,
        LegalHold, Conflict where the person has anything already or `given` is in use, and StorageUnavailable.
        """
        tenant, own = user.grant.tenant, user.grant.memory_user or ""
        if self._why_not is not None:
            raise NotSupported(self._why_not)
        if own == given:
            raise InvalidRequest(
                f"{user.name} has the memories of {given[:80]!r} already.", code="validation_error", field="from"
            )
        for name in (own, given):
            await self._holds.refuse(Scope(tenant=tenant, project="", user=name))
        projects = await self._everybody.projects_of(tenant, given)
        mine = user.grant.projects
        scopes = [Scope(tenant=tenant, project=name, user=given) for name in projects if mine is None or name in mine]
        for scope in scopes:
            if await self._background.waiting(queue_of(scope), limit=1):
                raise Conflict(
                    f"Memories are still being made of what {given[:80]!r} said. Try again in a moment.",
                    code="memories_in_making",
                )
        return await self._given(scopes, own)

    async def _given(self, scopes: Sequence[Scope], user: str) -> Adopted:
        memories, conversations = [], []
        for scope in scopes:
            async with self._conversations.giving(scope, user) as has_conversations:
                has_memories = await self._everybody.rows.give(scope, user)
            await self._forget_indexes(scope, Scope(tenant=scope.tenant, project=scope.project, user=user))
            memories += [scope.project] if has_memories else []
            conversations += [scope.project] if has_conversations else []
        return Adopted(memories=memories, conversations=conversations)

    async def _forget_indexes(self, *scopes: Scope) -> None:
        for scope in scopes:
            self._recall.forget(scope)
            if self._packs is not None:
                await asyncio.to_thread(self._packs.drop, scope)
