"""`GET /api/usage`: what has been stored and used, with the quotas on it, and how it stands with the rate limits.

Everybody sees what is theirs: a key of one user that user, a key of a whole tenant the tenant, an admin of it each
user, too, and an operator all tenants. A key of some projects and all users sees nothing, as use is not counted by
project.
"""

import asyncio
from collections.abc import Sequence

from fastapi import Request

from mnemoir.chats.quotas import Quotas, Standing
from mnemoir.core.clock import to_text
from mnemoir.core.scope import Principal
from mnemoir.server.answer import Answer, JsonObject
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.says import says
from mnemoir.server.rest import Routes, SiteHere
from mnemoir.server.site import Site

router = Routes(prefix="/api/usage", tags=["keys"])

_MOST_USERS = 1000


class Period(JsonObject):
    """The UTC day and month that budgets of tokens are counted in."""

    day: str
    month: str


class Use(JsonObject):
    """What a user, or with `user` null a tenant, has `used` of something. `limit` is null without a quota.

    `resets_at` is null for what is stored, which only deleting makes less.
    """

    tenant: str
    user: str | None
    what: str
    used: int
    limit: int | None
    resets_at: str | None


class BucketState(JsonObject):
    """How many requests of a kind the key may still make, and the seconds until it may make all of them again."""

    bucket: str
    limit: int
    remaining: int
    reset_s: int


class UsageAnswer(JsonObject):
    """The use of this moment. `buckets` are empty unless rate limits are on and the request has a key."""

    period: Period
    results: list[Use]
    buckets: list[BucketState]


@router.get("", summary="What is stored and used, and how much of it may be")
@says("any")
async def usage(request: Request, site: SiteHere) -> Answer[UsageAnswer]:
    caller, quotas = principal_of(request.scope), site.parts.chats.quotas
    found: list[Standing] = []
    for tenant, user in await _whose(site, caller, quotas):
        found += await quotas.standings(tenant, user)
    today = quotas.spent.today.isoformat()
    buckets = await site.guard.rate_limits.standing(caller.key)
    return Answer(
        {
            "period": {"day": today, "month": today[:7]},
            "results": [_use(one) for one in found],
            "buckets": [
                {"bucket": bucket, "limit": size, "remaining": rest, "reset_s": reset_s}
                for bucket, size, rest, reset_s in buckets
            ],
        },
    )


async def _whose(site: Site, caller: Principal, quotas: Quotas) -> Sequence[tuple[str, str | None]]:
    """The tenants, and the users, whose use the caller may see."""
    if caller.user is not None and not caller.manages_tenant:
        return [(caller.tenant, caller.user)]
    if caller.projects is not None:  # use is counted over all projects
        return []
    tenants = {caller.tenant} if caller.may("read") else set[str]()
    if caller.may("operator"):
        tenants |= {*await asyncio.to_thread(site.parts.access.tenants.names), *quotas.spent.tenants()}
    seen: list[tuple[str, str | None]] = [(tenant, None) for tenant in sorted(tenants)]
    if caller.may("admin"):
        seen += [(caller.tenant, user) for user in (await quotas.users(caller.tenant))[:_MOST_USERS]]
    return seen


def _use(standing: Standing) -> Use:
    resets_at = standing.resets_at
    return {
        "tenant": standing.tenant,
        "user": standing.user,
        "what": standing.what,
        "used": standing.used,
        "limit": standing.limit,
        "resets_at": None if resets_at is None else to_text(resets_at),
    }
