"""`/api/users` and `/api/invitations`: the people of a tenant, for its admins, and of all tenants, for operators."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from pydantic import BeforeValidator, Field
from starlette.responses import Response

from mnemoir.access.leaving import Left, left_by, remove
from mnemoir.chats.memory_users import memory_users as named_in
from mnemoir.core.errors import Conflict, Forbidden, NotFound
from mnemoir.core.scope import Principal, Role
from mnemoir.core.users import Grant, Invitation, User
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import Body, whole_number
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.says import says
from mnemoir.server.keys.grants import check_end, check_invitation, check_person, invites_only_new, note_refusals
from mnemoir.server.keys.records import LiveKey, live_key_json
from mnemoir.server.rest import BodyOf, Cursor, Routes, SiteHere
from mnemoir.server.sign_in.shapes import Names, is_operator, kept_out, names_json, time_json
from mnemoir.server.site import Site

router = Routes(prefix="/api", tags=["sign-in"])

_MOST_LISTED = 1000
_MOST_DAYS = 90

Limit = Annotated[int, BeforeValidator(whole_number(100, _MOST_LISTED)), Query(description=f"0 means {_MOST_LISTED}")]


class InvitationBody(Body):
    """Whom to invite. Without `memory_user` it is the name that they choose, in lower case, if nobody has it yet."""

    name: str | None = None
    role: Role
    operator: bool = False
    memory_user: str | None = None
    projects: Names | None = None
    configs: Names | None = None
    tenant: str | None = None
    expires_in_days: Annotated[float, Field(gt=0, le=_MOST_DAYS, allow_inf_nan=False)] = 7


class UserBody(Body):
    """What to change of a user; what is left out stays. `projects` and `configs` of null mean all."""

    role: Role | None = None
    operator: bool | None = None
    memory_user: str | None = None
    projects: Names | None = None
    configs: Names | None = None
    disabled: bool | None = None


class UserRecord(JsonObject):
    """A user. `memory_user` is whose memories and conversations are theirs."""

    id: str
    name: str
    tenant: str
    role: Role
    operator: bool
    memory_user: str | None
    projects: list[str] | None
    configs: list[str] | None
    created_at: str | None
    created_by: str
    disabled: bool
    last_seen_at: str | None
    has_password: bool
    passkeys: int


class LeftInvitation(JsonObject):
    """An open invitation that somebody sent."""

    id: str
    name: str | None
    role: Role
    end: str


class ChangedUser(UserRecord):
    """A user after a change, and the keys and invitations that it did not end.

    `live_keys` are those that they made, also by keys that they made, or that are bound to their memory user.
    """

    live_keys: list[LiveKey]
    open_invitations: list[LeftInvitation]


class RemovedUser(JsonObject):
    """Who was removed, the ids of the keys that ended with that, and what did not end, as in `ChangedUser`."""

    removed: str
    ended_keys: list[str]
    live_keys: list[LiveKey]
    open_invitations: list[LeftInvitation]


class UserPage(JsonObject):
    """Users, oldest first; `next` is the cursor of the following page."""

    results: list[UserRecord]
    next: str | None


class MemoryUsers(JsonObject):
    """Names of users that have memories, in order."""

    results: list[str]


class InvitationRecord(JsonObject):
    """An open invitation, without its token."""

    id: str
    name: str | None
    tenant: str
    role: Role
    operator: bool
    memory_user: str | None
    projects: list[str] | None
    configs: list[str] | None
    created_at: str | None
    created_by: str
    expires_at: str | None


class InvitationList(JsonObject):
    """The open invitations, oldest first."""

    results: list[InvitationRecord]


class Link(JsonObject):
    """A link to send. Its token counts once, and is in this answer and nowhere else."""

    id: str
    link: str
    token: str
    expires_at: str | None


@router.get("/users", summary="The users of your tenant; for an operator those of all")
@says("manage")
async def list_users(
    request: Request, site: SiteHere, limit: Limit = 100, cursor: Cursor = None, tenant: str | None = None
) -> Answer[UserPage]:
    users, caller = site.parts.access.users, _manager(request)
    wanted = tenant if caller.may("operator") else caller.tenant
    if tenant not in (None, wanted):
        return kept_out({"results": [], "next": None})
    after = None if cursor is None else await asyncio.to_thread(users.get, cursor, wanted)
    found = await asyncio.to_thread(users.users_page, wanted, limit=limit + 1, after=after)
    page = found[:limit]
    following = page[-1].id if len(found) > limit else None
    return kept_out({"results": [user_json(user) for user in page], "next": following})


@router.get("/users/memory", summary="Names of users that have memories in your tenant")
@says("manage")
async def memory_users(request: Request, site: SiteHere) -> Answer[MemoryUsers]:
    return kept_out({"results": list(await named_in(site.parts.memory.store, _manager(request).tenant))})


@router.patch("/users/{user_id}", summary="Change what a user may, or whether they may sign in")
@says("manage", act=None)
async def change_user(
    request: Request, site: SiteHere, user_id: str, body: Annotated[UserBody, Depends(BodyOf(UserBody))]
) -> Answer[ChangedUser]:
    caller, user = await caller_and_user(request, site, user_id, "users.change")
    sent = {name: value for name, value in body.model_dump().items() if name in body.model_fields_set}
    is_disabled = sent.pop("disabled", None)
    if user.id == caller.person and (is_disabled or "role" in sent or "operator" in sent):
        raise Conflict("You cannot take your own rights. Let another admin do it.", code="own_user")
    granted: Mapping[str, Any] = {
        "is_operator" if name == "operator" else name: value for name, value in sent.items()
    }
    may_be_none = ("projects", "configs")
    granted = {name: value for name, value in granted.items() if value is not None or name in may_be_none}
    async with note_refusals(request, site, "users.change", user.id):
        check_person(caller, user.grant.tenant, operator=bool(body.operator) or body.role == "operator")
    changing = partial(site.parts.access.users.change, user, is_disabled=is_disabled, **granted)
    changed = await asyncio.to_thread(changing)
    left = await asyncio.to_thread(left_by, [user, changed], site.parts.access.users, site.parts.access.api_keys)
    keys, invitations = left_json(left, caller)
    return kept_out({**user_json(changed), "live_keys": keys, "open_invitations": invitations})


@router.delete("/users/{user_id}", summary="Remove a user with their own keys; what is remembered of them stays")
@says("manage", act=None)
async def remove_user(request: Request, site: SiteHere, user_id: str) -> Answer[RemovedUser]:
    caller, user = await caller_and_user(request, site, user_id, "users.remove")
    if user.id == caller.person:
        raise Conflict("You cannot remove yourself. Let another admin do it.", code="own_user")
    access = site.parts.access
    ended, left = await asyncio.to_thread(remove, user, access.users, access.api_keys)
    keys, invitations = left_json(left, caller)
    return kept_out(
        {
            "removed": user.name,
            "ended_keys": [key.id for key in ended],
            "live_keys": keys,
            "open_invitations": invitations,
        }
    )


@router.post("/users/{user_id}/reset", summary="Make a link by which a user chooses a new password", status_code=201)
@says("manage", act=None)
async def reset_user(request: Request, site: SiteHere, user_id: str) -> Answer[Link]:
    caller, user = await caller_and_user(request, site, user_id, "users.reset")
    made, token = await asyncio.to_thread(site.parts.access.users.reset, user, by=caller.key)
    return kept_out(_link(request, site, made, token), 201)


@router.post("/invitations", summary="Invite somebody by a link", status_code=201)
@says("manage", act=None)
async def invite(
    request: Request, site: SiteHere, body: Annotated[InvitationBody, Depends(BodyOf(InvitationBody))]
) -> Answer[Link]:
    caller = _changing(request, site)
    tenant = caller.tenant if body.tenant is None else body.tenant
    asked = f"role={body.role} tenant={tenant}"
    async with note_refusals(request, site, "invitations.create", asked):
        await check_invitation(site, caller, body.role, tenant, body.memory_user, operator=body.operator)
    grant = Grant(
        tenant=tenant,
        role=body.role,
        is_operator=body.operator,
        memory_user=body.memory_user,
        projects=body.projects,
        configs=body.configs,
    )
    lasting = timedelta(days=body.expires_in_days)
    inviting = partial(site.parts.access.users.invite, grant, name=body.name, by=caller.key, lasting=lasting)
    made, token = await asyncio.to_thread(inviting, only_new=invites_only_new(caller, tenant))
    return kept_out(_link(request, site, made, token), 201)


@router.get("/invitations", summary="The open invitations of your tenant; for an operator those of all")
@says("manage")
async def list_invitations(request: Request, site: SiteHere) -> Answer[InvitationList]:
    caller = _manager(request)
    wanted = None if caller.may("operator") else caller.tenant
    found = await asyncio.to_thread(site.parts.access.users.invitations, wanted)
    return kept_out({"results": [invitation_json(one) for one in found]})


@router.delete("/invitations/{invitation_id}", summary="Take an invitation back", status_code=204)
@says("manage", act=None)
async def withdraw(request: Request, site: SiteHere, invitation_id: str) -> Response:
    caller = _changing(request, site)
    wanted = None if caller.may("operator") else caller.tenant
    found: Sequence[Invitation] = await asyncio.to_thread(site.parts.access.users.invitations, wanted)
    known = next((one for one in found if one.id == invitation_id), None)
    if known is None:
        raise NotFound(f"There is no open invitation {invitation_id[:64]!r} here.", code="invitation_not_found")
    async with note_refusals(request, site, "invitations.withdraw", known.id):
        check_end(caller, "operator" if is_operator(known.grant) else known.grant.role)
    await asyncio.to_thread(site.parts.access.users.withdraw, known)
    return Response(None, 204)


def user_json(user: User) -> UserRecord:
    """The record of a user."""
    return {
        "id": user.id,
        "name": user.name,
        "tenant": user.grant.tenant,
        "role": user.grant.role,
        "operator": is_operator(user.grant),
        "memory_user": user.grant.memory_user,
        "projects": names_json(user.grant.projects),
        "configs": names_json(user.grant.configs),
        "created_at": time_json(user.created_at),
        "created_by": user.created_by,
        "disabled": user.disabled_at is not None,
        "last_seen_at": time_json(user.last_seen_at),
        "has_password": user.has_password,
        "passkeys": user.passkeys,
    }


def left_json(left: Left, caller: Principal) -> tuple[list[LiveKey], list[LeftInvitation]]:
    """The records of what somebody has left, as far as the caller manages it."""
    is_shown = caller.may("operator")
    keys = [live_key_json(key) for key in left.keys if is_shown or key.tenant == caller.tenant]
    invitations: list[LeftInvitation] = [
        {"id": one.id, "name": one.name, "role": one.grant.role, "end": f"DELETE /api/invitations/{one.id}"}
        for one in left.invitations
        if is_shown or one.grant.tenant == caller.tenant
    ]
    return keys, invitations


def invitation_json(invitation: Invitation) -> InvitationRecord:
    """The record of an invitation."""
    return {
        "id": invitation.id,
        "name": invitation.name,
        "tenant": invitation.grant.tenant,
        "role": invitation.grant.role,
        "operator": is_operator(invitation.grant),
        "memory_user": invitation.grant.memory_user,
        "projects": names_json(invitation.grant.projects),
        "configs": names_json(invitation.grant.configs),
        "created_at": time_json(invitation.created_at),
        "created_by": invitation.created_by,
        "expires_at": time_json(invitation.expires_at),
    }


def _manager(request: Request) -> Principal:
    """The caller, who decides about all users of their tenant. Raises Forbidden for a key that is bound to a part."""
    caller = principal_of(request.scope)
    if not caller.manages_tenant:
        raise Forbidden("Users are managed by an admin of the whole tenant, and this key is for a part of it.")
    return caller


def _changing(request: Request, site: Site) -> Principal:
    """The same for a change. Raises Forbidden on a server that lets everybody in."""
    caller = _manager(request)
    if not caller.key and not site.options.is_in_process:
        raise Forbidden(
            "The first user is invited on the machine of the server: run `mnemoir users invite` there, or ask for "
            "the code in its terminal.",
            code="first_user_on_machine",
        )
    return caller


async def caller_and_user(request: Request, site: Site, user_id: str, action: str) -> tuple[Principal, User]:
    """The caller of a change and the user to change. Raises NotFound, and Forbidden for a user with more rights."""
    caller = _changing(request, site)
    wanted = None if caller.may("operator") else caller.tenant
    user = await asyncio.to_thread(site.parts.access.users.get, user_id, wanted)
    async with note_refusals(request, site, action, user.id):
        check_person(caller, user.grant.tenant, operator=is_operator(user.grant))
    return caller, user


def _link(request: Request, site: Site, invitation: Invitation, token: str) -> Link:
    return {
        "id": invitation.id,
        "link": f"{site.guard.cookies.base_url(request.scope)}/join#{token}",
        "token": token,
        "expires_at": time_json(invitation.expires_at),
    }
