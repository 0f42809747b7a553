"""Discussions as HTTP routes and the command line use them: finding, listing, removing and rebuilding them."""

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mnemoir.core.discussion_id import is_allowed
from mnemoir.core.discussions import ClientKeys, Discussion, DiscussionListed
from mnemoir.core.errors import Conflict, InvalidRequest, KeyUnavailable, NotFound
from mnemoir.core.ids import new_request_id
from mnemoir.core.messages import Message
from mnemoir.core.scope import Scope
from mnemoir.memory.discussions.parts import DiscussionMemory, Plan
from mnemoir.memory.discussions.writing import Kind, asides, forget_chunk, remove_asides
from mnemoir.storage.files.workspace import file_errors
from mnemoir.trees.served import Served
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.discussion_files import OWNERS, DiscussionPlaces, named_owner
from mnemoir.workflows.lock_files import LockFiles
from mnemoir.workflows.run import Caller

if TYPE_CHECKING:
    from mnemoir.workflows.rebuilding import Rebuilding, RebuildProgress

_PATIENCE_S = 10.0


class Discussions:
    """The discussions of every user of the served config tree; without a tree they belong to no user.

    `user` is a user name of the tree; None means the first one. The `owner` is the one whose discussions they are, as
    `DiscussionPlaces` has it. `keys` are those of the request, for the format's own encryption. `locks` are the files
    of the locks that runs over discussions take. `rebuilding` is called when it is first needed.
    """

    def __init__(
        self,
        memory: DiscussionMemory,
        places: DiscussionPlaces,
        rebuilding: "Callable[[], Rebuilding]",
        served: Served | None,
        locks: LockFiles,
    ) -> None:
        self.memory = memory
        self.locks = locks
        self._places = places
        self._rebuilding = rebuilding
        self._served = served

    async def discussion(
        self, user: str | None, id: str, owner: Scope | None = None, keys: ClientKeys | None = None
    ) -> Discussion:
        """The discussion with that id, stored or not.

        Raises InvalidRequest for a bad user name or id, and KeyUnavailable.
        """
        return await self._places.of(self._tree(user), _valid_id(id), owner, keys)

    async def require(
        self, user: str | None, id: str, owner: Scope | None = None, keys: ClientKeys | None = None
    ) -> Discussion:
        """Like `discussion`, but raises NotFound when nothing is stored of it.

        Who has no key is told when only the key of a client opens it.
        """
        tree = self._tree(user)
        found = await self._places.stored_discussion(tree, _valid_id(id), owner, keys)
        if found is None and keys is None and await self._places.is_of_a_key(tree, id, owner):
            raise NotFound(
                f"Discussion {id[:80]!r} belongs to the key of a client, and this request has no key. Send that key.",
                code="client_key_needed",
            )
        if found is None:
            raise unknown_discussion(id)
        return found

    async def discussions_of_user(
        self, user: str | None, owner: Scope | None = None, keys: ClientKeys | None = None
    ) -> Sequence[DiscussionListed]:
        """All discussions of the user, ordered by id; an id in two places is listed as `discussion` finds it."""
        tree = self._tree(user)
        found: dict[str, DiscussionListed] = {}
        for root, client in await self._places.folders(tree, owner, keys):
            legacy = None if client is not None else self._places.legacy(tree, owner)
            listed = await self.memory.files.discussions_in(root, legacy, client)
            found |= {one.id: one for one in listed if is_allowed(one.id)}
        return [found[id] for id in sorted(found)]

    async def remove(
        self, user: str | None, id: str, owner: Scope | None = None, keys: ClientKeys | None = None
    ) -> None:
        """Remove everything stored of it, and what an interrupted rebuild or import has left.

        Raises NotFound, and Conflict while memories are being made from it.
        """
        discussion = await self.discussion(user, id, owner, keys)
        if not await self._has_files(discussion):
            raise unknown_discussion(id)
        await self._remove(discussion)

    async def remove_everywhere(self, id: str, owner: Scope) -> None:
        """Remove what an owner has of a discussion with that id, for every user of the tree and every key.

        Raises Conflict.
        """
        for discussion in await self._discussions_with_files(id, owner):
            await self._remove(discussion)

    async def forget_messages(self, discussion: Discussion, uids: Collection[str]) -> None:
        """Forget the chunks that hold any of these messages, by their uids in conversations; all, if none is left.

        A discussion that only the key of a client opens stays as it is. Raises Conflict.
        """
        kinds: tuple[Kind, ...] = ("summaries", "records")
        has_forgotten = False
        with suppress(KeyUnavailable):
            for kind in kinds:
                store = self.memory.ledger if kind == "summaries" else self.memory.records
                for key, said in (await store.sources(discussion)).items():
                    if any(message.uid in uids for message in said):
                        has_forgotten |= await forget_chunk(self.memory, discussion, key, kind=kind)
            if has_forgotten and not await self._holds_memories(discussion):
                await self._remove(discussion)

    async def of_owner(self, owner: Scope) -> Sequence[Discussion]:
        """The discussions of an owner, for every user of the tree; none can be decrypted."""
        files, found = self.memory.files, []
        for user in self._users():
            tree = self._tree(user)
            for root in self._places.roots(tree, owner):
                clients = [] if tree is None else await files.client_folders(root)
                for place, client in [(root, None), *((root / one.name, one) for one in clients)]:
                    legacy = None if client is not None else self._places.legacy(tree, owner)
                    listed = [one for one in await files.discussions_in(place, legacy, client) if is_allowed(one.id)]
                    found += [await files.named_discussion(place, one.id, legacy, client) for one in listed]
        return list(dict.fromkeys(found))

    async def owners(self) -> Sequence[Scope]:
        """Who has any: `nobody` of the places, and those whose folder tells who they are."""
        folders = dict.fromkeys(self._places.common(self._tree(user)) / OWNERS for user in self._users())
        names = {name for folder in folders for name in await asyncio.to_thread(_names_in, folder)}
        found = [owner for name in sorted(names) if (owner := named_owner(name)) is not None]
        return [*([self._places.nobody] if await self.of_owner(self._places.nobody) else []), *found]

    async def projects_of(self, tenant: str, user: str, known: Collection[str]) -> Sequence[str]:
        """The projects of a tenant in which a user has any; of those whose folder does not tell, the known ones."""
        told = {owner.project for owner in await self.owners() if (owner.tenant, owner.user) == (tenant, user)}
        others = sorted({*known, self._places.nobody.project} - told)
        scopes = [Scope(tenant=tenant, project=project, user=user) for project in others]
        return [*sorted(told), *[scope.project for scope in scopes if await self.of_owner(scope)]]

    async def remove_owner(self, owner: Scope) -> int:
        """Remove all discussions of an owner, with the folder that they have for themselves; their number.

        Raises Conflict.
        """
        discussions = await self.of_owner(owner)
        for discussion in discussions:
            await self._remove(discussion)
        if not self._places.is_of_nobody(owner):
            for user in self._users():
                for root in self._places.roots(self._tree(user), owner):
                    await asyncio.to_thread(shutil.rmtree, root, ignore_errors=True)  # with what is none of theirs
        return len(discussions)

    async def _discussions_with_files(self, id: str, owner: Scope) -> list[Discussion]:
        if not is_allowed(id):
            return []
        found: dict[Discussion, None] = {}
        for user in self._users():
            found |= dict.fromkeys(await self._places.everywhere(self._tree(user), id, owner))
        return [one for one in found if await self._has_files(one)]

    async def _holds_memories(self, discussion: Discussion) -> bool:
        summaries = await self.memory.ledger.all(discussion)
        is_any = any(summary.forgotten_at is None for summary in summaries)
        return is_any or bool(await self.memory.records.newest(discussion, limit=1))

    async def _has_files(self, discussion: Discussion) -> bool:
        return any([await self.memory.files.exists(kept) for kept in (discussion, *asides(discussion))])

    async def _remove(self, discussion: Discussion) -> None:
        async with self.memory.files.making(discussion, patience_s=_PATIENCE_S) as is_ours:
            if not is_ours:
                raise Conflict(f"Memories of discussion {discussion.id[:80]!r} are being made. Try again later.")
            await remove_asides(self.memory.files, discussion)
            await self.memory.files.remove(discussion)

    def _users(self) -> Sequence[str | None]:
        return self._served.users if self._served else (None,)

    async def plan(
        self,
        user: str | None,
        id: str,
        messages: Sequence[Message] | None,
        owner: Scope | None = None,
        keys: ClientKeys | None = None,
    ) -> Plan:
        """The model calls that a rebuild would make. Raises as `rebuild` does."""
        discussion = await self.discussion(user, id, owner, keys)
        return await self._rebuilding().plan(self._caller(owner), self._required_tree(user), discussion, messages)

    async def rebuild(
        self,
        user: str | None,
        id: str,
        messages: Sequence[Message] | None,
        owner: Scope | None = None,
        keys: ClientKeys | None = None,
    ) -> "AsyncGenerator[RebuildProgress, None]":
        """Make the memories anew; see `Rebuilding.rebuild`."""
        discussion = await self.discussion(user, id, owner, keys)
        rebuild = self._rebuilding().rebuild(self._caller(owner), self._required_tree(user), discussion, messages)
        async with aclosing(rebuild) as steps:
            async for progress in steps:
                yield progress

    def _tree(self, user: str | None) -> UserTree | None:
        if self._served is None:
            if user:
                raise InvalidRequest("No config tree is served, so discussions have no users.", field="user")
            return None
        name = user or self._served.users[0]
        found = next((known for known in self._served.users if known.lower() == name.lower()), None)
        if found is None:
            raise InvalidRequest(
                f"user must name one of the users served here: {', '.join(self._served.users)}. It is {name[:80]!r}.",
                field="user",
            )
        return self._served.tree.user(found)

    def _required_tree(self, user: str | None) -> UserTree:
        tree = self._tree(user)
        if tree is None:
            raise InvalidRequest(
                "Memories of discussions are made as a config tree says; start the server with --config-dir."
            )
        return tree

    def _caller(self, owner: Scope | None) -> Caller:
        return Caller(scope=owner or self._places.nobody, request_id=new_request_id())


def _names_in(folder: Path) -> list[str]:
    with file_errors(f"The folder {OWNERS} of discussions", "listed"), suppress(FileNotFoundError):
        return os.listdir(folder)
    return []


def _valid_id(id: str) -> str:
    if not is_allowed(id):
        raise InvalidRequest(f"{id[:80]!r} is not a valid id of a discussion.", field="id")
    return id


def unknown_discussion(id: str) -> NotFound:
    """The error for a discussion that does not exist."""
    return NotFound(f"Nothing is kept of a discussion {id[:80]!r}.", code="discussion_not_found")
