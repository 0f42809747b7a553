"""Discussions as HTTP routes and the command line use them: finding, listing, removing and rebuilding them."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress

from mnemoir.app.tree import Served
from mnemoir.core.discussion_id import is_allowed
from mnemoir.core.discussions import Discussion, DiscussionListed
from mnemoir.core.errors import Conflict, InvalidRequest, NotFound
from mnemoir.core.ids import new_request_id
from mnemoir.core.messages import Message
from mnemoir.core.scope import Scope
from mnemoir.memory.discussions.parts import DiscussionMemory, Plan
from mnemoir.memory.discussions.writing import asides, remove_asides
from mnemoir.workflows.config.tree import UserTree
from mnemoir.workflows.discussion_files import DiscussionPlaces
from mnemoir.workflows.rebuilding import Rebuilding, RebuildProgress
from mnemoir.workflows.run import Caller

_PATIENCE_S = 10.0


class Discussions:
    """The discussions of every user of the served config tree; without a tree they belong to no user.

    `user` is a user name of the tree; None means the first one. With an `owner`, the discussions are those of callers
    whose keys are bound to that owner.
    """

    def __init__(
        self,
        memory: DiscussionMemory,
        places: DiscussionPlaces,
        rebuilding: Rebuilding,
        served: Served | None,
        scope: Scope,
    ) -> None:
        self.memory = memory
        self._places = places
        self._rebuilding = rebuilding
        self._served = served
        self._scope = scope

    async def discussion(self, user: str | None, id: str, owner: Scope | None = None) -> Discussion:
        """The discussion with that id, stored or not. Raises InvalidRequest for a bad user name or id."""
        if not is_allowed(id):
            raise InvalidRequest(f"{id[:80]!r} is not a valid id of a discussion.", field="id")
        return await self._places.of(self._tree(user), id, owner)

    async def require(self, user: str | None, id: str, owner: Scope | None = None) -> Discussion:
        """Like `discussion`, but raises NotFound when nothing is stored of it."""
        discussion = await self.discussion(user, id, owner)
        if not await self.memory.files.exists(discussion):
            raise nothing_kept(id)
        return discussion

    async def listed(self, user: str | None, owner: Scope | None = None) -> Sequence[DiscussionListed]:
        """All discussions of the user, ordered by id; an id in two places is listed as `discussion` finds it."""
        tree = self._tree(user)
        found: dict[str, DiscussionListed] = {}
        for root in self._places.roots(tree, owner):
            legacy = None if tree is None or owner is not None else tree.tree.public
            listed = await self.memory.files.listed(root, legacy)
            found |= {one.id: one for one in listed if is_allowed(one.id)}
        return [found[id] for id in sorted(found)]

    async def remove(self, user: str | None, id: str, owner: Scope | None = None) -> None:
        """Remove everything stored of it, and what an interrupted rebuild or import has left.

        Raises NotFound, and Conflict while memories are being made from it.
        """
        discussion = await self.discussion(user, id, owner)
        if not any([await self.memory.files.exists(kept) for kept in (discussion, *asides(discussion))]):
            raise nothing_kept(id)
        async with self.memory.files.making(discussion, patience_s=_PATIENCE_S) as is_ours:
            if not is_ours:
                raise Conflict(f"Memories of discussion {id[:80]!r} are being made. Try again later.")
            await remove_asides(self.memory.files, discussion)
            await self.memory.files.remove(discussion)

    async def is_kept(self, id: str) -> bool:
        """True when anything is stored of a discussion with that id, for any user of the tree."""
        if not is_allowed(id):
            return False
        for user in self._users():
            discussion = await self.discussion(user, id)
            for kept in (discussion, *asides(discussion)):
                if await self.memory.files.exists(kept):
                    return True
        return False

    async def remove_everywhere(self, id: str, owner: Scope | None = None) -> None:
        """Remove what is stored of a discussion with that id, for every user of the tree. Raises Conflict."""
        if not is_allowed(id):
            return
        for user in self._users():
            with suppress(NotFound):
                await self.remove(user, id, owner)

    async def of_owner(self, owner: Scope) -> Sequence[Discussion]:
        """The discussions in the folder of an owner, for every user of the tree."""
        found = []
        for user in self._users():
            found += [await self.discussion(user, one.id, owner) for one in await self.listed(user, owner)]
        return list(dict.fromkeys(found))

    async def shared(self, id: str) -> Sequence[Discussion]:
        """What is stored of a discussion with that id outside the folders of owners, for every user of the tree."""
        if not is_allowed(id):
            return []
        found = dict.fromkeys([await self.discussion(user, id) for user in self._users()])
        return [one for one in found if await self.memory.files.exists(one)]

    async def remove_owner(self, owner: Scope) -> int:
        """Remove the folder of an owner with all its discussions; their number. Raises Conflict."""
        discussions = await self.of_owner(owner)
        for user in self._users():
            for one in discussions:
                with suppress(NotFound):
                    await self.remove(user, one.id, owner)
            (root,) = self._places.roots(self._tree(user), owner)
            await asyncio.to_thread(shutil.rmtree, root, ignore_errors=True)  # with what is none of theirs
        return len(discussions)

    def _users(self) -> Sequence[str | None]:
        return self._served.users if self._served else (None,)

    async def plan(
        self, user: str | None, id: str, messages: Sequence[Message] | None, owner: Scope | None = None
    ) -> Plan:
        """The model calls that a rebuild would make. Raises as `rebuild` does."""
        discussion = await self.discussion(user, id, owner)
        return await self._rebuilding.plan(self._caller(owner), self._required_tree(user), discussion, messages)

    async def rebuild(
        self, user: str | None, id: str, messages: Sequence[Message] | None, owner: Scope | None = None
    ) -> AsyncGenerator[RebuildProgress, None]:
        """Make the memories anew; see `Rebuilding.rebuild`."""
        discussion = await self.discussion(user, id, owner)
        rebuild = self._rebuilding.rebuild(self._caller(owner), self._required_tree(user), discussion, messages)
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
        return Caller(scope=owner or self._scope, request_id=new_request_id(), is_bound=owner is not None)


def nothing_kept(id: str) -> NotFound:
    """The error for a discussion that does not exist."""
    return NotFound(f"Nothing is kept of a discussion {id[:80]!r}.", code="discussion_not_found")
