"""The owner of the conversations a request is about, and the lookup of one of them.

Each user's conversations lie in a folder of their own, so another user's id is answered like an id that does not
exist. A lookup creates no folder.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, Query, Request

from mnemoir.chats.forgetting import unknown_conversation
from mnemoir.conversations.users import OwnConversations
from mnemoir.core.errors import InvalidRequest, MnemoirError, StorageDamaged
from mnemoir.core.scope import Scope as Owner
from mnemoir.server.door.routing import register_names
from mnemoir.server.door.scopes import default_user, owner, project_in
from mnemoir.server.rest import ProjectHere, SiteHere
from mnemoir.server.site import Site

CONVERSATIONS = "/api/conversations"
ONE = "/{id:conversation}"
register_names("conversation", "search", "export", "import", "prune", "node-memory")

UserQuery = Annotated[str | None, Query(alias="user_id", description="whose conversations; else the server's user's")]


async def _owner(request: Request, site: SiteHere, project: ProjectHere, user: UserQuery = None) -> Owner:
    if len(request.query_params.getlist("user_id")) > 1:
        raise InvalidRequest("user_id is there more than once. Send one.", code="validation_error", field="user_id")
    return owner(project, default_user(site.options) if user is None else user)


OwnerHere = Annotated[Owner, Depends(_owner)]


def owner_in_body(request: Request, scope: Owner, user: str | None) -> Owner:
    """The owner named by the body or else by the query. Raises InvalidRequest where the two differ."""
    if user is None or user == scope.user:
        return scope
    if "user_id" in request.query_params:
        raise InvalidRequest("user_id in the body is another one than in the query.", field="user_id")
    return owner(project_in(scope), user)


@asynccontextmanager
async def open_conversations(site: Site, scope: Owner) -> AsyncIterator[OwnConversations | None]:
    """The owner's conversations, open until the context ends; None for an owner that never had any."""
    if not await site.parts.chats.conversations.exist(scope):
        yield None
        return
    async with site.parts.chats.conversations.of(scope) as own:
        yield own


@asynccontextmanager
async def holding(site: Site, scope: Owner, id: str) -> AsyncIterator[OwnConversations]:
    """The owner's conversations, when one of them has this id. Raises NotFound."""
    async with open_conversations(site, scope) as own:
        if own is None or await asyncio.to_thread(own.log.get_session, id) is None:
            raise await missing(site, own, id)
        yield own


@asynccontextmanager
async def room_for(site: Site, scope: Owner, messages: int) -> AsyncIterator[None]:
    """Room for so many messages, and their files, while the body stores them. Raises QuotaExceeded."""
    quotas = site.parts.chats.quotas
    await quotas.check(scope, "attachment_bytes", "disk_bytes")
    async with quotas.adding(scope, {"messages": messages}):
        yield
    quotas.has_stored(scope, "attachment_bytes")


async def missing(site: Site, own: OwnConversations | None, id: str) -> MnemoirError:
    """The error for a conversation that is not there: unknown, or perhaps in a file that was damaged."""
    return (await damage_of(site, own)) or unknown_conversation(id)


async def damage_of(site: Site, own: OwnConversations | None) -> StorageDamaged | None:
    """The error for what a damaged file of the owner may have held; None where none was set aside."""
    name = None if own is None else await asyncio.to_thread(site.parts.chats.conversations.set_aside, own.folder)
    return None if name is None else damage_error(name)


def damage_error(name: str) -> StorageDamaged:
    """The error for a record that may have been in the damaged file, which was set aside as `name`."""
    return StorageDamaged(
        f"This user's conversations were damaged, and are set aside as {name}: what they held cannot be told. "
        "Run `mnemoir doctor`, and put a backup in their place; see docs/storage.md."
    )


async def lacking(site: Site, own: OwnConversations, *, nothing: bool) -> list[str]:
    """What a list of the owner's lacks: `damaged`, where a damaged file was set aside; [] for all is there.

    Raises StorageDamaged in place of a list of `nothing`.
    """
    damage = await damage_of(site, own)
    if damage is not None and nothing:
        raise damage
    return [] if damage is None else ["damaged"]
