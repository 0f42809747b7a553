"""What all ways to sign in share: the count of tries, the session they begin, and the refusal."""

import asyncio
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from mnemoir.access.sign_in.sessions import SignedIn
from mnemoir.core.errors import Conflict, Forbidden, Unauthorized
from mnemoir.core.users import Invitation, User, comparable_name, password, user_name
from mnemoir.server.answer import Answer
from mnemoir.server.door.sessions import signed_in_of
from mnemoir.server.keys.grants import has_anything, is_empty
from mnemoir.server.sign_in.shapes import address_of, begin_session, person_json, with_cookies
from mnemoir.server.site import Site


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


async def check_join(site: Site, invitation: Invitation, name: str) -> None:
    """Raise Conflict where somebody would get what an invitation is not for: something that is there already."""
    grant = invitation.grant
    if invitation.gives_new_memory and grant.memory_user is None:
        await check_memories(site, grant.tenant, user_name(name))
    elif invitation.gives_new_memory and await has_anything(site, grant.tenant, grant.memory_user or ""):
        raise Conflict(
            f"There is something of {grant.memory_user!r} by now, and an operator invites to new memory users alone. "
            "Ask an admin for an invitation.",
            code="memory_user_taken",
        )
    if invitation.only_new and grant.role == "admin" and not await is_empty(site, grant.tenant, but=invitation):
        raise Conflict(
            f"There is somebody or something in the tenant {grant.tenant!r} by now, so an operator cannot invite its "
            "admin. Ask an admin of it for an invitation.",
            code="tenant_taken",
        )


async def check_memories(site: Site, tenant: str, name: str) -> None:
    """Raise Conflict where a chosen name would give its user the memories of somebody else."""
    if await has_anything(site, tenant, name.lower()):
        raise Conflict(
            f"There are memories of {name!r} already. Choose another name, or ask to be invited to these memories.",
            code="name_taken",
        )


@dataclass(frozen=True, slots=True)
class Tried:
    """What a try to sign in was counted for: a name, "" for none, and the device, if it signed in before."""

    name: str = ""
    device: str = ""

    def take_back(self, request: Request, site: Site) -> None:
        """Count it no more: it was right."""
        site.guard.rate_limits.has_signed_in(request.scope, self.name, self.device)


async def try_name(request: Request, site: Site, typed: str, *, device: str | None = None) -> Tried:
    """Count a try for a name, on a `device` that signed in before: by its cookie, unless it is named.

    Known and unknown names get the same words after the same time. The audit log tells when no further try is let
    through. Raises RateLimited, and InvalidRequest for a device with two cookies.
    """
    name, access = comparable_name(typed), site.parts.access
    user, _ = await asyncio.to_thread(access.users.with_hash, typed) or (None, None)
    if device is None:
        device = await asyncio.to_thread(_device_of, request, site, user)
    is_last = site.guard.rate_limits.try_sign_in(request.scope, name, device)
    if is_last and access.audit.is_on and access.users.are_there:
        await access.audit.note_lockout(user, address_of(request, site))
    return Tried(name, device)


def _device_of(request: Request, site: Site, user: User | None) -> str:
    """The token of this device, if that user signed in on it before; "" else. Blocks."""
    devices, user_id = site.parts.access.devices, "" if user is None else user.id
    if not site.parts.access.users.are_there:
        return ""
    token = site.guard.cookies.device(request.scope, devices.name_of(user_id))
    return token if devices.has_signed_in(user_id, token) else ""


async def of_password(request: Request, site: Site, typed: str, said: str) -> tuple[User, Tried]:
    """The user of that name and password. Raises Unauthorized, and RateLimited after too many tries."""
    users, passwords = site.parts.access.users, site.parts.access.passwords
    tried = await try_name(request, site, typed)
    user, hash = await asyncio.to_thread(users.with_hash, typed) or (None, None)
    is_right = await passwords.is_right(said, hash)
    if user is None or hash is None or not is_right:
        raise wrong_sign_in(request, site)
    if passwords.is_outdated(hash):
        await asyncio.to_thread(users.rehash, user, hash, await passwords.hash(password(said)))
    return user, tried


async def check_may_sign_in(request: Request, site: Site, user: User) -> None:
    """Raise Unauthorized for a user who is disabled, or whose tenant is suspended."""
    if user.disabled_at is not None or await asyncio.to_thread(
        site.parts.access.tenants.is_suspended, user.grant.tenant
    ):
        raise wrong_sign_in(request, site)


async def signed_in(request: Request, site: Site, user: User, how: str, tried: Tried, **more: Any) -> Answer[Any]:
    """Begin a session of a user who showed who they are by `how`. Raises Unauthorized for one who may not sign in.

    `tried` is what the try was counted for, and `more` is told besides.
    """
    await check_may_sign_in(request, site, user)
    csrf, cookies = await asyncio.to_thread(begin_session, request, site, user, how)
    tried.take_back(request, site)
    return with_cookies(Answer({"user": person_json(user), "csrf": csrf} | more), cookies)


def wrong_sign_in(request: Request, site: Site) -> Unauthorized:
    """The refusal of a try, the same for all causes; the audit log counts it."""
    if site.parts.access.audit.is_on:
        site.parts.access.audit.note_refusal(401, "sign_in.refused", address_of(request, site))
    return Unauthorized(
        "The name, password, code or passkey is wrong, or this user may not sign in.", code="wrong_sign_in"
    )


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
