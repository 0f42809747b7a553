"""`/api/keys` and `/api/me`: the keys of callers, and what the key of a request is for.

An admin manages the keys of its own tenant, and may give no more than its own key has; an operator ends all keys,
makes those of operators, and manages the tenants. A key that a bound admin makes has the quotas of its maker. The
first key is made by `mnemoir keys create` on the machine: a server that lets everybody in makes none. A key's text is
in the answer to its making and nowhere else.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

from fastapi import Depends, Query, Request
from pydantic import BeforeValidator, Field

from mnemoir.access.api_keys import ApiKeys
from mnemoir.core.api_keys import ApiKey, Env
from mnemoir.core.errors import Forbidden, NotFound
from mnemoir.core.scope import Principal, Role
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import Body, Instant, whole_number
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.says import has_right, says
from mnemoir.server.keys.grants import Reach, check_end, check_key, is_within, note_refusals
from mnemoir.server.keys.records import KeyRecord, key_json, limits_json
from mnemoir.server.rest import BodyOf, Cursor, Routes, SiteHere
from mnemoir.server.site import Site
from mnemoir.upkeep.rekeying import warning_of_rotation

router = Routes(prefix="/api", tags=["keys"])

_MOST_LISTED = 1000
_LONGEST_OVERLAP_H = 30 * 24

Limit = Annotated[int, BeforeValidator(whole_number(100, _MOST_LISTED)), Query(description=f"0 means {_MOST_LISTED}")]


class KeyBody(Body):
    """A key to make. Without `tenant` it is for the caller's; without `projects`, `user` or `configs` for all.

    `configs` are config users of the workflow tree. `limits` are quotas by name, in place of those that users have.
    """

    role: Role
    tenant: str | None = None
    projects: Annotated[list[str], Field(min_length=1, max_length=100)] | None = None
    user: str | None = None
    configs: Annotated[list[str], Field(min_length=1, max_length=100)] | None = None
    label: str = ""
    expires_at: Instant | None = None
    env: Env = "live"
    limits: dict[str, int] | None = None


class RotateBody(Body):
    """For how many hours the former key goes on."""

    overlap_h: Annotated[float, Field(ge=0, le=_LONGEST_OVERLAP_H, allow_inf_nan=False)] = 24


class May(JsonObject):
    """Which rights a caller has. `manage` is for keys and the models, `server` for health and counts of everybody."""

    read: bool
    write: bool
    admin: bool
    manage: bool
    server: bool


class Me(JsonObject):
    """A caller. `projects`, `user` and `configs` are what it is bound to, null for all; `key` is null without a key.

    `signed_in`: a person in the page, whose `name` it is.
    """

    tenant: str
    roles: list[Role]
    projects: list[str] | None
    user: str | None
    configs: list[str] | None
    key: str | None
    name: str | None
    signed_in: bool
    may: May


class NewKey(KeyRecord):
    """A key that was just made. `key` is its text, which is shown this once."""

    key: str


class RotatedKey(NewKey):
    """The same in the place of another; `warning` tells what its discussions need, null for nothing."""

    warning: str | None


class KeyPage(JsonObject):
    """Keys, oldest first; `next` is the cursor of the following page."""

    results: list[KeyRecord]
    next: str | None


@router.get("/me", summary="What the key of this request is for, and what it may do")
@says("any")
async def me(request: Request, site: SiteHere) -> Answer[Me]:
    caller = principal_of(request.scope)
    names = await asyncio.to_thread(site.parts.access.users.names, [caller.person]) if caller.person else {}
    return Answer(
        {
            "tenant": caller.tenant,
            "roles": list(caller.roles),
            "projects": None if caller.projects is None else list(caller.projects),
            "user": caller.user,
            "configs": None if caller.configs is None else list(caller.configs),
            "key": caller.key or None,
            "name": names.get(caller.person),
            "signed_in": bool(caller.person),
            "may": {
                "read": has_right(caller, "read"),
                "write": has_right(caller, "write"),
                "admin": has_right(caller, "admin"),
                "manage": has_right(caller, "manage"),
                "server": has_right(caller, "server"),
            },
        },
    )


@router.get("/keys", summary="The keys of your tenant; for an operator those of all")
@says("manage")
async def list_keys(
    request: Request, site: SiteHere, limit: Limit = 100, cursor: Cursor = None, tenant: str | None = None
) -> Answer[KeyPage]:
    keys, caller = site.parts.access.api_keys, principal_of(request.scope)
    wanted = tenant if caller.may("operator") else caller.tenant
    if tenant not in (None, wanted):
        return Answer({"results": [], "next": None})
    after = None if cursor is None else await _key(keys, cursor, caller)
    found = await asyncio.to_thread(_manageable_keys, keys, wanted, caller, limit + 1, after)
    page = found[:limit]
    following = page[-1].id if len(found) > limit else None
    return Answer({"results": await _records(keys, *page), "next": following})


@router.post("/keys", summary="Make a key; its text is in this answer and nowhere else", status_code=201)
@says("manage", act=None)
async def create(
    request: Request, site: SiteHere, body: Annotated[KeyBody, Depends(BodyOf(KeyBody))]
) -> Answer[NewKey]:
    caller = managing(request, site)
    tenant = caller.tenant if body.tenant is None else body.tenant
    reach = Reach(tenant=tenant, projects=body.projects, user=body.user, configs=body.configs)
    async with note_refusals(request, site, "keys.create", f"role={body.role} tenant={tenant}"):
        check_key(caller, body.role, reach)
        if body.limits and not caller.manages_tenant:
            raise Forbidden("Limits of keys are set by whoever manages all users of the tenant.")
    made, text = await asyncio.to_thread(
        site.parts.access.api_keys.create,
        role=body.role,
        tenant=tenant,
        projects=body.projects,
        user=body.user,
        configs=body.configs,
        label=body.label,
        expires_at=body.expires_at,
        env=body.env,
        limits=body.limits if caller.manages_tenant else limits_json(caller.limits),
        by=caller.key,
    )
    [record] = await _records(site.parts.access.api_keys, made)
    return Answer[NewKey]({**record, "key": text}, 201)


@router.post("/keys/{key_id}/rotate", summary="Make a key in place of another, which goes on for some hours")
@says("manage", act=None)
async def rotate(
    request: Request,
    site: SiteHere,
    key_id: str,
    body: Annotated[RotateBody, Depends(BodyOf(RotateBody, required=False))],
) -> Answer[RotatedKey]:
    caller = managing(request, site)
    old = await _key(site.parts.access.api_keys, key_id, caller)
    [limits] = await asyncio.to_thread(site.parts.access.api_keys.limits_of, [old])
    may_use_more = any(limits.get(what, most + 1) > most for what, most in caller.limits.items())
    async with note_refusals(request, site, "keys.rotate", old.id):
        check_key(caller, old.role, _reach_of(old))
        if may_use_more and not caller.manages_tenant:
            raise Forbidden(
                "This key may use more than your own. Let whoever manages all users of the tenant rotate it."
            )
    overlap = timedelta(hours=body.overlap_h)
    made, text = await asyncio.to_thread(site.parts.access.api_keys.rotate, key_id, overlap=overlap, by=caller.key)
    [record] = await _records(site.parts.access.api_keys, made)
    warning = await asyncio.to_thread(warning_of_rotation, site.parts.settings, made)
    return Answer[RotatedKey]({**record, "key": text, "warning": warning}, 201)


@router.delete("/keys/{key_id}", summary="End a key at once")
@says("manage", act=None)
async def revoke(request: Request, site: SiteHere, key_id: str) -> Answer[KeyRecord]:
    caller = managing(request, site)
    found = await _key(site.parts.access.api_keys, key_id, caller)
    async with note_refusals(request, site, "keys.revoke", found.id):
        check_end(caller, found.role)
    revoked = await asyncio.to_thread(site.parts.access.api_keys.revoke, key_id)
    [record] = await _records(site.parts.access.api_keys, revoked)
    return Answer(record)


def _manageable_keys(
    keys: ApiKeys, tenant: str | None, caller: Principal, limit: int, after: ApiKey | None
) -> Sequence[ApiKey]:
    """The keys that the caller may manage, oldest first. Blocks."""
    if caller.manages_tenant:
        return keys.keys_page(tenant, limit=limit, after=after)
    shown: list[ApiKey] = []
    while len(shown) < limit and (more := keys.keys_page(tenant, limit=_MOST_LISTED, after=after)):
        shown += [key for key in more if is_within(caller, _reach_of(key))]
        after = more[-1]
    return shown


async def _records(keys: ApiKeys, *shown: ApiKey) -> list[KeyRecord]:
    limits = await asyncio.to_thread(keys.limits_of, shown)
    return [key_json(key, own) for key, own in zip(shown, limits, strict=True)]


def managing(request: Request, site: Site) -> Principal:
    """The caller of a change. Raises Forbidden on a server that lets everybody in."""
    caller = principal_of(request.scope)
    if not caller.key and not site.options.is_in_process:
        raise Forbidden(
            "The first key is made on the machine of the server: run `mnemoir keys create` there.",
            code="first_key_on_machine",
        )
    return caller


async def _key(keys: ApiKeys, key_id: str, caller: Principal) -> ApiKey:
    """The key of that id, if the caller may manage it. Raises NotFound."""
    found = await asyncio.to_thread(keys.get, key_id, None if caller.may("operator") else caller.tenant)
    if not caller.may("operator") and not is_within(caller, _reach_of(found)):
        raise NotFound(f"There is no key {key_id[:64]!r} here.", code="key_not_found")
    return found


def _reach_of(key: ApiKey) -> Reach:
    return Reach(tenant=key.tenant, projects=key.projects, user=key.user, configs=key.configs)
