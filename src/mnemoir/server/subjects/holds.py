"""`/api/holds`: users whose data nothing may delete until the hold is lifted."""

from typing import Annotated

from fastapi import Depends, Request
from pydantic import AfterValidator, Field

from mnemoir.core.clock import now_text
from mnemoir.core.errors import Forbidden, NotFound
from mnemoir.core.scope import Principal
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.body import Body, not_blank
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.rest_routes import RouteAsSent
from mnemoir.server.door.says import says
from mnemoir.server.door.scopes import tenant_of
from mnemoir.server.rest import BodyOf, Routes, SiteHere
from mnemoir.server.site import Site
from mnemoir.server.subjects.whose import PersonEverywhere, Tenant, is_for_everybody
from mnemoir.storage.sql.holds import Hold

router = Routes(prefix="/api/holds", tags=["subjects"], route_class=RouteAsSent)


class HoldBody(Body):
    """Why the data must stay."""

    reason: Annotated[str, Field(max_length=500), AfterValidator(not_blank)]


class HoldRecord(JsonObject):
    """A hold on a user, in all projects of the tenant. `set_by` is the id of a key."""

    user_id: str
    tenant: str
    reason: str
    set_at: str
    set_by: str


class HoldList(JsonObject):
    """All holds, by tenant and user."""

    results: list[HoldRecord]


@router.get("", summary="The users of your tenant who are on legal hold")
@says("admin")
async def list_holds(request: Request, site: SiteHere, tenant: Tenant = None) -> Answer[HoldList]:
    caller = principal_of(request.scope)
    named = tenant_of(caller, tenant)
    found = [hold for hold in await site.parts.upkeep.holds.all() if hold.tenant == named]
    return Answer({"results": [_json(hold) for hold in found if await _may_see(site, caller, hold)]})


@router.put("/{user_id}", summary="Put a user on legal hold: nothing of theirs is deleted until it is lifted")
@says("admin", act="holds.change", about="user_id")
async def put_hold(
    request: Request, site: SiteHere, person: PersonEverywhere, body: Annotated[HoldBody, Depends(BodyOf(HoldBody))]
) -> Answer[HoldRecord]:
    caller = _free(principal_of(request.scope))
    hold = Hold(
        tenant=person.tenant,
        user=person.user,
        reason=body.reason,
        set_at=now_text(),
        set_by=caller.key or "command line",
    )
    await site.parts.upkeep.holds.put(hold)
    return Answer(_json(hold))


@router.delete("/{user_id}", summary="Lift a legal hold")
@says("admin", act="holds.change", about="user_id")
async def clear_hold(request: Request, site: SiteHere, person: PersonEverywhere) -> Answer[HoldList]:
    caller = _free(principal_of(request.scope))
    if not await site.parts.upkeep.holds.clear(person.tenant, person.user):
        raise NotFound(f"{person.user[:80]!r} is not on legal hold.", code="hold_not_found")
    return await list_holds(request, site, None if person.tenant == caller.tenant else person.tenant)


async def _may_see(site: Site, caller: Principal, hold: Hold) -> bool:
    """Whether the hold is on the caller's user or, for a key of some projects, on a user of one of these."""
    if is_for_everybody(caller):
        return True
    if caller.user not in (None, hold.user):
        return False
    if caller.projects is None:
        return True
    return not {*caller.projects}.isdisjoint(
        await site.parts.upkeep.subjects.everybody.projects_of(hold.tenant, hold.user)
    )


def _free(caller: Principal) -> Principal:
    """The caller, unless its key is for a user or some projects alone. Raises Forbidden."""
    if not is_for_everybody(caller):
        raise Forbidden("A legal hold is on a user in all projects. It takes a key for the whole tenant.")
    return caller


def _json(hold: Hold) -> HoldRecord:
    return {
        "user_id": hold.user,
        "tenant": hold.tenant,
        "reason": hold.reason,
        "set_at": hold.set_at,
        "set_by": hold.set_by,
    }
