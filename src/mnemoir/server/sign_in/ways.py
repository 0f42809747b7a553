"""What all ways to sign in share: the count of tries, the session they begin, and the refusal."""

import asyncio
from typing import Any

from fastapi import Request

from mnemoir.access.sign_in.sessions import SignedIn
from mnemoir.chats.memory_users import has_something
from mnemoir.core.errors import Conflict, Forbidden, Unauthorized
from mnemoir.core.users import Invitation, User, comparable_name, password
from mnemoir.server.door.sessions import signed_in_of
from mnemoir.server.rest import Answer, Site
from mnemoir.server.sign_in.shapes import address_of, begin_session, person_json


async def open_invitation(request: Request, site: Site, token: str | bytes) -> Invitation:
    """The invitation with that token, or hash of it.

    Raises NotFound, Forbidden while its tenant is suspended, and RateLimited after too many wrong tokens.
    """
    limits = site.guard.rate_limits
    limits.try_sign_in(request.scope, "")
    found = await asyncio.to_thread(site.parts.access.users.invitation, token)
    limits.has_signed_in(request.scope, "")
    if await asyncio.to_thread(site.parts.access.tenants.is_suspended, found.grant.tenant):
        raise Forbidden(
            f"Nobody signs in to {found.grant.tenant!r} now: it is suspended. The link counts again once it is not.",
            code="tenant_suspended",
        )
    return found


async def check_memories(site: Site, tenant: str, name: str) -> None:
    """Raise Conflict where a chosen name would give its user the memories of somebody else."""
    parts = site.parts
    if await has_something(
        parts.memory.store, parts.chats.conversations, tenant, name.lower(), site.options.default_project
    ):
        raise Conflict(
            f"There are memories of {name!r} already. Choose another name, or ask to be invited to these memories.",
            code="name_taken",
        )


async def of_password(request: Request, site: Site, typed: str, said: str) -> User:
    """The user of that name and password. Raises Unauthorized, and RateLimited after too many tries."""
    users, passwords, name = site.parts.access.users, site.parts.access.passwords, comparable_name(typed)
    site.guard.rate_limits.try_sign_in(request.scope, name)
    user, hash = await asyncio.to_thread(users.with_hash, typed) or (None, None)
    is_right = await passwords.is_right(said, hash)
    if user is None or hash is None or not is_right:
        raise wrong_sign_in(request, site)
    if passwords.is_outdated(hash):
        await asyncio.to_thread(users.rehash, user, hash, await passwords.hash(password(said)))
    return user


async def check_may_sign_in(request: Request, site: Site, user: User) -> None:
    """Raise Unauthorized for a user who is disabled, or whose tenant is suspended."""
    if user.disabled_at is not None or await asyncio.to_thread(
        site.parts.access.tenants.is_suspended, user.grant.tenant
    ):
        raise wrong_sign_in(request, site)


async def signed_in(request: Request, site: Site, user: User, how: str, name: str, **more: Any) -> Answer[Any]:
    """Begin a session of a user who showed who they are by `how`. Raises Unauthorized for one who may not sign in.

    `name` is the one that the try was counted for, and `more` is told besides.
    """
    await check_may_sign_in(request, site, user)
    csrf, headers = await asyncio.to_thread(begin_session, request, site, user, how)
    site.guard.rate_limits.has_signed_in(request.scope, name)
    return Answer({"user": person_json(user), "csrf": csrf} | more, headers=headers)


def wrong_sign_in(request: Request, site: Site) -> Unauthorized:
    """The refusal of a try, the same for all causes; the audit log counts it."""
    if site.parts.access.audit.is_on:
        site.parts.access.audit.note_refusal(401, "sign_in.refused", address_of(request, site))
    return Unauthorized("The name or what goes with it is wrong, or this user may not sign in.", code="wrong_sign_in")


def confirmed_user(request: Request, site: Site) -> SignedIn:
    """The user of this request, confirmed within the last ten minutes, with the session. Raises Forbidden."""
    me = signed_in_user(request)
    if not site.parts.access.sessions.is_fresh(me.session):
        raise Forbidden(
            "Show again who you are: POST /api/me/confirm takes your password or a passkey; or sign in again.",
            code="confirmation_needed",
        )
    return me


def signed_in_user(request: Request) -> SignedIn:
    """The user of this request, with the session. Raises Forbidden for a caller with a key, or without any."""
    signed_in = signed_in_of(request.scope)
    if signed_in is None:
        raise Forbidden(
            "This is for people who signed in to the page; a key has no such things.", code="not_signed_in"
        )
    return signed_in
