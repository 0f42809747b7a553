"""Who may give whom which rights, and what is written down of who may not.

Contents are given by an admin of their tenant alone. An operator, who sees none, ends any key, makes operators, and
invites people to memory users that nobody has yet; as admins only to a tenant in which there is nothing and nobody.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fastapi import Request

from mnemoir.core.errors import Forbidden
from mnemoir.core.scope import Principal, Role, acting, entity_name
from mnemoir.core.users import Invitation
from mnemoir.ports.run_store import RunFilter
from mnemoir.server.door.access import principal_of
from mnemoir.server.door.auditing import note_refusal_told
from mnemoir.server.site import Site
from mnemoir.storage.holdings import ACCESS

_MOST_KEYS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What a key or a person is to be bound to; None for all."""

    tenant: str
    projects: Sequence[str] | None = None
    user: str | None = None
    configs: Sequence[str] | None = None


@asynccontextmanager
async def note_refusals(request: Request, site: Site, action: str, target: str) -> AsyncIterator[None]:
    """Write into the audit log, before it is answered, that the body refused the caller by Forbidden."""
    try:
        yield
    except Forbidden:
        note_refusal_told(request.scope)
        audit, caller = site.parts.access.audit, principal_of(request.scope)
        if audit.is_on and caller.key:
            await audit.note(caller, action, target[:500], acting.get().address, result="403")
        raise


def is_within(caller: Principal, reach: Reach) -> bool:
    """Whether an admin decides about all of what is reached in the caller's tenant."""
    if caller.manages_contents:
        return True
    projects, configs = reach.projects, reach.configs
    has_projects = caller.projects is None or (projects is not None and set(projects) <= set(caller.projects))
    may_call = caller.configs is None or (configs is not None and all(map(caller.may_call, configs)))
    return has_projects and may_call and caller.user in (None, reach.user)


def check_key(caller: Principal, role: Role, reach: Reach) -> None:
    """Raise Forbidden for a key that the caller may not make."""
    if role == "operator":
        if not caller.may("operator"):
            raise Forbidden("A key can be given no more than your own key has: its tenant, projects, user and role.")
        return
    if not caller.may("admin"):
        raise Forbidden("An operator makes keys of operators alone. Let an admin of the tenant make this one.")
    if reach.tenant != caller.tenant or not is_within(caller, reach):
        raise Forbidden("A key can be given no more than your own key has: its tenant, projects, user and role.")


def check_end(caller: Principal, role: Role) -> None:
    """Raise Forbidden for a key, or an invitation, with a role that the caller may not take away."""
    if role == "operator" and not caller.may("operator"):
        raise Forbidden("Who is operator is decided by operators. Let one of them end this.")


def check_person(caller: Principal, tenant: str, *, operator: bool) -> None:
    """Raise Forbidden for a person about whom, or rights of an operator that, the caller does not decide."""
    if operator and not caller.may("operator"):
        raise Forbidden("You cannot decide about more rights than your own: your tenant and role.")
    if not caller.manages_contents or tenant != caller.tenant:
        raise Forbidden("You cannot decide about people with contents of a tenant whose admin you are not.")


async def check_invitation(
    site: Site, caller: Principal, role: Role, tenant: str, memory_user: str | None, *, operator: bool
) -> None:
    """Raise Forbidden for a person whom the caller may not invite."""
    if not invites_only_new(caller, tenant):
        check_person(caller, tenant, operator=operator or role == "operator")
    elif role == "admin" and not await is_empty(site, tenant):
        raise Forbidden(
            "An operator invites an admin only to a tenant in which there is nobody. Let an admin of it do that."
        )
    elif memory_user is not None and not await _is_new(site, tenant, entity_name(memory_user, "memory_user")):
        raise Forbidden(
            f"An operator invites people to new memory users, and {memory_user[:80]!r} is none. Let an admin do it."
        )


def invites_only_new(caller: Principal, tenant: str) -> bool:
    """Whether the caller invites to a tenant as an operator alone, and so only to what is new when somebody joins."""
    return caller.may("operator") and not (caller.manages_contents and tenant == caller.tenant)


async def is_empty(site: Site, tenant: str, but: Invitation | None = None) -> bool:
    """Whether there is nothing of anybody in a tenant, nobody, no other open invitation and no key to contents."""
    access = site.parts.access

    def has_nobody() -> bool:
        keys = access.api_keys.keys_page(tenant, limit=_MOST_KEYS)
        invited = [one for one in access.users.invitations(tenant) if but is None or one.id != but.id]
        people = access.users.users_page(tenant, limit=1) or invited
        return not people and all(key.role == "operator" for key in keys)

    if await site.parts.upkeep.subjects.everybody.names(tenant, but=ACCESS.name):
        return False
    if await site.parts.trees.runs.latest(limit=1, only=RunFilter(tenant=tenant)):
        return False
    return await asyncio.to_thread(has_nobody)


async def has_anything(site: Site, tenant: str, user: str) -> bool:
    """Whether anything is, or was, stored of a memory user, or is held; keys and people are not asked for."""
    if any((hold.tenant, hold.user) == (tenant, user) for hold in await site.parts.upkeep.holds.all()):
        return True
    return await site.parts.upkeep.subjects.everybody.knows(tenant, user, but=ACCESS.name)


async def _is_new(site: Site, tenant: str, user: str) -> bool:
    """Whether a memory user has nothing, and is nobody's."""
    access = site.parts.access
    if (tenant, user) in await asyncio.to_thread(access.users.memory_users):
        return False
    if await asyncio.to_thread(access.api_keys.of_user, tenant, user):
        return False
    return not await has_anything(site, tenant, user)
