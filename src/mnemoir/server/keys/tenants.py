"""`/api/tenants`: who shares nothing with the others, with quotas and retention of their own."""

import asyncio
from typing import Annotated

from fastapi import Depends, Request

from mnemoir.core.errors import Forbidden
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import Body
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.says import says
from mnemoir.server.keys.grants import note_refusals
from mnemoir.server.keys.routes import managing
from mnemoir.server.rest import BodyOf, Routes, SiteHere

router = Routes(prefix="/api/tenants", tags=["keys"])


class TenantBody(Body):
    """A tenant to add or to change. `suspended`, `limits` and `retention` stay as they are where they are left out.

    `limits` are its own quotas by name. `retention` is for how many days it keeps things, 0 for ever:
    `memories_days`, `history_days`, `deleted_days`; what is not named in it is as in the settings.
    """

    name: str
    suspended: bool | None = None
    limits: dict[str, int] | None = None
    retention: dict[str, int] | None = None


class TenantRecord(JsonObject):
    """A tenant, the number of its keys, ended ones too, and the quotas and retention that it has of its own."""

    name: str
    suspended_at: str | None
    created_at: str
    keys: int
    limits: dict[str, int]
    retention: dict[str, int]


class TenantList(JsonObject):
    """All tenants, by name, and the retention of the settings, which holds for what a tenant does not say."""

    results: list[TenantRecord]
    retention: dict[str, int]


@router.get("", summary="All tenants, for an operator")
@says("manage")
async def tenants(request: Request, site: SiteHere) -> Answer[TenantList]:
    caller = principal_of(request.scope)
    stored = site.parts.access.tenants
    found = await asyncio.to_thread(stored.all_tenants)
    shown = [one for one in found if caller.may("operator") or one.name == caller.tenant]
    own = await asyncio.to_thread(
        lambda: [(stored.limits_of(one.name), stored.retention_of(one.name)) for one in shown]
    )
    return Answer(
        {
            "results": [
                {
                    "name": one.name,
                    "suspended_at": one.suspended_at,
                    "created_at": one.created_at,
                    "keys": one.keys,
                    "limits": {str(what): limit for what, limit in limits.items()},
                    "retention": {str(what): days for what, days in retention.items()},
                }
                for one, (limits, retention) in zip(shown, own, strict=True)
            ],
            "retention": {str(what): days for what, days in site.parts.upkeep.retention.of_settings.items()},
        },
    )


@router.put("", summary="Add a tenant, suspend one or let it go on; for an operator")
@says("manage", act=None)
async def put_tenant(
    request: Request, site: SiteHere, body: Annotated[TenantBody, Depends(BodyOf(TenantBody))]
) -> Answer[TenantList]:
    caller = managing(request, site)
    async with note_refusals(request, site, "tenants.put", body.name):
        if not caller.may("operator"):
            raise Forbidden("Tenants are managed by an operator, such as the admin key (ADMIN_API_KEY).")
    await asyncio.to_thread(
        site.parts.access.tenants.put,
        body.name,
        suspended=body.suspended,
        limits=body.limits,
        retention=body.retention,
    )
    return await tenants(request, site)
